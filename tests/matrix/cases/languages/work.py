"""work -- PyPy: compiled at run time, threads, garbage, fork"""

import gc
import os
import threading


def fibonacci(n):
    """The nth number, the long way."""
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


print(fibonacci(27))
sums = []
threads = [threading.Thread(target=lambda k=k: sums.append(sum(i % k for i in range(300000)))) for k in range(2, 6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(sums))
gc.collect()
child = os.fork()
if child == 0:
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

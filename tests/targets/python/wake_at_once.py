"""wake_at_once -- as many threads as the first argument says sleep, each in a function nap_N of its own, until they all wake at the same moment, a second later"""

import sys
import threading
import time

functions = {"time": time}
for number in range(int(sys.argv[1])):
    filler = "".join(f"    name_{i} = {i}\n" for i in range(300))  # a table of lines that takes its time to be told
    exec(f"def nap_{number}(end):\n{filler}    time.sleep(max(0, end - time.monotonic()))\n", functions)
end = time.monotonic() + 1
threads = [threading.Thread(target=functions[f"nap_{number}"], args=(end,)) for number in range(int(sys.argv[1]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

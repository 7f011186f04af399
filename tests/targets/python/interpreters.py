"""interpreters -- truth: CPU time of functions in the main interpreter and in sub-interpreters, by the same thread and by another one

    interpreters.py MILLISECONDS
"""

import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import time

def {name}(limit_ns):
    begun = now = time.thread_time_ns()
    while now - begun < limit_ns:
        for number in range(20000):
            number * number % 7
        now = time.thread_time_ns()
    return now - begun

print("{name}", {name}({limit_ns}), flush=True)
"""


def run_elsewhere(name, limit_ns):
    number = interpreters.create()
    interpreters.run_string(number, CODE.format(name=name, limit_ns=limit_ns))
    interpreters.destroy(number)


def main():
    limit_ns = int(sys.argv[1]) * 1_000_000
    exec(CODE.format(name="in_the_main_one", limit_ns=limit_ns), {})
    run_elsewhere("in_another_one", limit_ns)
    thread = threading.Thread(target=run_elsewhere, args=("in_another_ones_thread", limit_ns))
    thread.start()
    thread.join()
    exec(CODE.format(name="in_the_main_one_again", limit_ns=limit_ns), {})


main()

"""known_waits -- threads that wait for known times, in functions of their own; two compute meanwhile, and wait for each other's GIL

Prints for each function how long its thread was on no processor (ns) and, of those that wait once, the line that waits.
"""

import inspect
import sys
import threading
import time

S = int(sys.argv[1]) / 1000
held = threading.Lock()
held.acquire()
told = {}


def sleeping():
    told["sleeping.line"] = inspect.currentframe().f_lineno + 1
    time.sleep(S)


def locking():
    told["locking.line"] = inspect.currentframe().f_lineno + 1
    held.acquire(timeout=S)


def computing():
    end = time.monotonic() + S
    while time.monotonic() < end:
        sum(range(50))


def wait(function):
    begin_ns, cpu_ns = time.monotonic_ns(), time.thread_time_ns()
    function()
    off_ns = time.monotonic_ns() - begin_ns - (time.thread_time_ns() - cpu_ns)
    told[function.__name__] = told.get(function.__name__, 0) + off_ns


threads = [threading.Thread(target=wait, args=[function]) for function in (sleeping, locking, computing, computing)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name, number in told.items():
    print(name, number)

"""threads -- truth: CPU time of threads that hold the GIL, that release it in zlib, and that began in C, each in a function of its own name

    threads.py MILLISECONDS
"""

import ctypes
import sys
import threading
import time
import zlib

TEXT = b"".join(b"%d " % (number * 7919 % 10007) for number in range(40000))
LIMIT_NS = int(sys.argv[1]) * 1_000_000
SPENT = {}


def spins(limit_ns):
    number = 0
    while True:
        for number in range(20000):
            number * number % 7
        if time.thread_time_ns() > limit_ns:
            return number


def one_part():
    spins(LIMIT_NS)
    SPENT["one_part"] = time.thread_time_ns()


def two_parts():
    spins(2 * LIMIT_NS)
    SPENT["two_parts"] = time.thread_time_ns()


def four_parts():
    spins(4 * LIMIT_NS)
    SPENT["four_parts"] = time.thread_time_ns()


def compresses():
    while time.thread_time_ns() < LIMIT_NS:
        zlib.compress(TEXT, 9)
    SPENT["compresses"] = time.thread_time_ns()


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def begun_by_c(_):
    spins(LIMIT_NS)
    SPENT["begun_by_c"] = time.thread_time_ns()
    return None


def main():
    threads = [threading.Thread(target=target) for target in (one_part, two_parts, four_parts, compresses, compresses)]
    for thread in threads:
        thread.start()
    library = ctypes.CDLL(None)
    handle = ctypes.c_ulong()
    assert library.pthread_create(ctypes.byref(handle), None, begun_by_c, None) == 0
    library.pthread_join(handle, None)
    for thread in threads:
        thread.join()
    SPENT["compresses"] *= 2
    for name, ns in SPENT.items():
        print(name, ns)
    print("process", time.process_time_ns())


main()

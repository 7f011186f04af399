"""too_deep -- truth: `descent ns`, and then all CPU time is that of a function in C, which a recursion of more functions than a stack has room for calls at its bottom

    too_deep.py MILLISECONDS DEPTH
"""

import sys
import threading
import time
import zlib

DATA = bytes(1_000_000)


def sink(depth, limit_ns):
    if depth > 1:
        return sink(depth - 1, limit_ns)
    begun = time.thread_time_ns()
    while time.thread_time_ns() - begun < limit_ns:
        zlib.crc32(DATA)
    print("descent", begun)


sys.setrecursionlimit(100_000)
threading.stack_size(512 << 20)
thread = threading.Thread(target=sink, args=(int(sys.argv[2]), int(sys.argv[1]) * 1_000_000))
thread.start()
thread.join()

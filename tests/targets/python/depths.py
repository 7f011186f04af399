"""depths -- truth: CPU time at the bottom of recursions, through Python alone and through C, and exceptions that unwind them

    depths.py MILLISECONDS DEPTH...

Prints for each depth how many calls deep it was, and the CPU time there.
"""

import functools
import sys
import threading
import time


def bottom(limit_ns):
    begun = now = time.thread_time_ns()
    while now - begun < limit_ns:
        for number in range(20000):
            number * number % 7
        now = time.thread_time_ns()
    return now - begun


def make(name):
    """A recursion of its own name, that ends at the bottom."""
    code = f"def {name}(depth, limit_ns):\n    return {name}(depth - 1, limit_ns) if depth > 1 else bottom(limit_ns)\n"
    exec(compile(code, f"<{name}>", "exec"), globals())
    return globals()[name]


def through_c(depth, limit_ns):
    return functools.reduce(lambda _, deeper: through_c(deeper, limit_ns), [0, depth - 1]) if depth > 1 else bottom(limit_ns)


def raises(depth, limit_ns):
    if depth > 1:
        return raises(depth - 1, limit_ns)
    raise ValueError(bottom(limit_ns))


def caught(depth, limit_ns):
    try:
        raises(depth, limit_ns)
    except ValueError as error:
        return error.args[0]


def main():
    limit_ns = int(sys.argv[1]) * 1_000_000
    for depth in map(int, sys.argv[2:]):
        sys.setrecursionlimit(max(1000, 2 * depth))
        print(f"pure_{depth}", make(f"pure_{depth}")(depth, limit_ns), flush=True)
    print("through_c", through_c(40, limit_ns))
    print("raises", caught(60, limit_ns))


threading.stack_size(512 << 20)
thread = threading.Thread(target=main)
thread.start()
thread.join()

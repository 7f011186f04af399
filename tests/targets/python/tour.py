"""tour -- a little of everything to look at: threads with phases and a pause, functions that call each other in turn, a tree of processes, a program in C++

    tour.py MILLISECONDS PROGRAM: each part is so long; PROGRAM gets the milliseconds as its argument. Run with `child` for PROGRAM it only works.
"""

import subprocess
import sys
import threading
import time

import collector

MS = int(sys.argv[1])


def spin(limit_ms):
    end = time.thread_time_ns() + limit_ms * 1_000_000
    while time.thread_time_ns() < end:
        sum(range(500))


def even(depth):
    spin(max(1, MS // 40))
    if depth:
        odd(depth - 1)


def odd(depth):
    if depth % 3 == 0:
        leaf()
    even(depth)


def leaf():
    spin(max(1, MS // 40))


def parse():
    spin(MS)


def solve():
    even(9)


def in_thread():
    spin(MS)
    solve()


def main():
    collector.sample("read input")
    parse()
    with collector.paused():
        spin(MS // 2)
    collector.sample("solve")
    thread = threading.Thread(target=in_thread, name="solver")
    thread.start()
    solve()
    thread.join()
    collector.sample("children")
    if sys.argv[2] != "child":
        subprocess.run([sys.executable, __file__, sys.argv[1], "child"], check=True)
        subprocess.run(["sh", "-c", f"'{sys.argv[2]}' {MS}; exit 0"], check=True)


main()

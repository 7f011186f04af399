"""processes -- truth: CPU time of functions in children of every kind: fork, fork beside a thread, multiprocessing, subprocess, -c, -m

    processes.py MILLISECONDS
"""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

LIMIT_NS = int(sys.argv[1]) * 1_000_000 if len(sys.argv) > 1 and sys.argv[1].isdigit() else 50_000_000


def burns():
    begun = now = time.thread_time_ns()
    while now - begun < LIMIT_NS:
        for number in range(20000):
            number * number % 7
        now = time.thread_time_ns()
    return now - begun


def told(name):
    """Do this process's work and say so, in one write."""
    os.write(1, f"{name} {burns()}\n".encode())


def in_the_parent():
    told("in_the_parent")


def in_a_fork():
    told("in_a_fork")


def in_a_fork_of_a_fork():
    told("in_a_fork_of_a_fork")


def in_a_fork_beside_a_thread():
    told("in_a_fork_beside_a_thread")


def in_a_fork_by_a_thread():
    told("in_a_fork_by_a_thread")


def by_multiprocessing(_=None):
    told("by_multiprocessing")


def by_spawning():
    told("by_spawning")


def forked(*functions):
    """Run the first function in a child, the others in its children."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            functions[0]()
            if functions[1:]:
                forked(*functions[1:])
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


def main():
    in_the_parent()
    forked(in_a_fork, in_a_fork_of_a_fork)
    stop = threading.Event()
    waits = threading.Thread(target=stop.wait)
    waits.start()
    forked(in_a_fork_beside_a_thread)
    by = threading.Thread(target=forked, args=(in_a_fork_by_a_thread,))
    by.start()
    by.join()
    stop.set()
    waits.join()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(by_multiprocessing, [1])
    process = multiprocessing.get_context("spawn").Process(target=by_spawning)
    process.start()
    process.join()
    place = os.path.dirname(os.path.abspath(__file__))
    code = "import os, processes\ndef by_code():\n    processes.told('by_code')\nby_code()"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=place)
    subprocess.run([sys.executable, "-m", "as_module"], check=True, cwd=place)


if __name__ == "__main__":
    main()

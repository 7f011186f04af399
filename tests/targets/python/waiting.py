"""waiting -- threads that wait in Python, and where each of them waits

Prints a line when all do: for each thread its id and the functions with the lines that they are at, innermost first. It ends when its standard input does.
"""

import json
import queue
import select
import sys
import threading
import time

LONG = 100_000
held = threading.Lock()
held.acquire()
empty: "queue.Queue[int]" = queue.Queue()


def recursive(depth):
    if depth == 0:
        time.sleep(LONG)
    recursive(depth - 1)


class Waiter:
    def method(self):
        return [self.inner(x) for x in [1]]

    def inner(self, x):
        return list(map(self.innermost, [x]))

    def innermost(self, x):
        return empty.get()


def generator():
    yield held.acquire()


def in_generator():
    for _ in generator():
        pass


def naïve():
    select.select([], [], [], LONG)


def in_c():
    sorted([2, 1], key=lambda x: time.sleep(LONG))


WAITS = (lambda: recursive(3), lambda: recursive(300), Waiter().method, in_generator, naïve, in_c)


def stack_of(frame):
    while frame is not None:
        yield frame.f_code.co_name if sys.version_info < (3, 11) else frame.f_code.co_qualname, frame.f_lineno
        frame = frame.f_back


def main():
    threads = [threading.Thread(target=wait, daemon=True) for wait in WAITS]
    for thread in threads:
        thread.start()
    stacks = before = None
    while stacks is None or stacks != before:  # until nobody has gone on meanwhile
        time.sleep(0.05)
        before, frames = stacks, sys._current_frames()
        stacks = {thread.native_id: list(stack_of(frames[thread.ident])) for thread in threads}
    print(json.dumps(stacks), flush=True)
    sys.stdin.read()


main()

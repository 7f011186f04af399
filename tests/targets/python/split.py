"""split -- truth: a thread's CPU time in six functions that work 40, 25, 15, 10, 7 and 3 percent of it, and make no system calls

    split.py MILLISECONDS

How much work fits into a millisecond is found first, in `calibrate`; each burst is timed as a whole.
"""

import sys
import time

UNIT = 10000
"""Turns of a loop."""


def forty(turns):
    for number in range(turns):
        number * number % 7


def twenty_five(turns):
    for number in range(turns):
        number * number % 7


def fifteen(turns):
    for number in range(turns):
        number * number % 7


def ten(turns):
    for number in range(turns):
        number * number % 7


def seven(turns):
    for number in range(turns):
        number * number % 7


def three(turns):
    for number in range(turns):
        number * number % 7


PARTS = ((forty, 40), (twenty_five, 25), (fifteen, 15), (ten, 10), (seven, 7), (three, 3))


def burst(spent, part, turns):
    """Let a part work, and note for how long."""
    begun = time.thread_time_ns()
    part(turns)
    spent[part] += time.thread_time_ns() - begun


def calibrate(spent):
    """Turns in a millisecond; every function has run often enough to be specialised."""
    turns = 0
    while sum(spent.values()) < 20_000_000:
        for part, _ in PARTS:
            burst(spent, part, UNIT)
            turns += UNIT
    return turns * 1_000_000 // sum(spent.values())


def main():
    spent = {part: 0 for part, _ in PARTS}
    turns_a_ms = calibrate(spent)
    chance = 1
    left_ms = int(sys.argv[1])
    while left_ms > 0:
        chance = chance * 1103515245 + 12345 & 0x7FFFFFFF
        burst_ms = 30 + chance % 37  # in step with no clock
        for part, share in PARTS:
            burst(spent, part, turns_a_ms * burst_ms * share // 100)
        left_ms -= burst_ms
    for part, _ in PARTS:
        print(part.__name__, spent[part])
    print("process", time.process_time_ns())


main()

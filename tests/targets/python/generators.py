"""generators -- truth: CPU time of generators that feed each other, one of them by `yield from`, one that is sent values, one that is dropped half-way

    generators.py MILLISECONDS
"""

import sys
import time
from random import random

SPENT = {}
UNIT = 3000


def burns(name, turns):
    """Work that belongs to the caller: from a half to three halves of so many turns, by chance, in step with no clock."""
    begun = time.thread_time_ns()
    for number in range(turns // 2 + int(turns * random())):
        number * number % 7
    SPENT[name] = SPENT.get(name, 0) + time.thread_time_ns() - begun


def source():
    while True:
        burns("source", UNIT)
        yield 1


def delegate():
    yield from source()


def doubled(values):
    for value in values:
        burns("doubled", 2 * UNIT)
        yield 2 * value


def collector_of_sums():
    total = 0
    while True:
        total += yield total
        burns("collector_of_sums", UNIT)


def dropped():
    try:
        yield 1
        yield 2
    finally:
        burns("dropped", UNIT)


def main():
    sums = collector_of_sums()
    next(sums)
    until = time.thread_time_ns() + int(sys.argv[1]) * 1_000_000
    for value in doubled(delegate()):
        sums.send(value)
        next(dropped())
        if time.thread_time_ns() > until:
            break
    del sums
    for name, ns in SPENT.items():
        print(name, ns)
    print("process", time.process_time_ns())


main()

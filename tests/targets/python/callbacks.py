"""callbacks -- truth: C that calls Python back for each element: sort's key, re.sub's function, qsort and a comparison, map, json's default

    callbacks.py MILLISECONDS

The callers' time includes what they cause: C, the callback, and the way between the two.
"""

import ctypes
import functools
import json
import re
import sys
import time

NUMBERS = [number * 7919 % 10007 for number in range(5000)]
TEXT = " ".join(map(str, NUMBERS[:2000]))
COUNT = 600
KIND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
QSORT = ctypes.CDLL(None).qsort


class Strange:
    pass


STRANGE = [Strange() for _ in range(500)]


def key_of(number):
    for turn in range(20):
        turn * number % 7
    return number


def sorting():
    return sorted(NUMBERS, key=key_of)


def order(one, other):
    return one[0] - other[0]


def sorting_in_c():
    QSORT((ctypes.c_int * COUNT)(*NUMBERS[:COUNT]), ctypes.c_size_t(COUNT), ctypes.c_size_t(4), KIND(order))


def compared(one, other):
    return one - other


def comparing():
    return sorted(NUMBERS[:1000], key=functools.cmp_to_key(compared))


def doubled(match):
    return str(int(match.group()) * 2)


def replacing():
    return re.sub(r"\d+", doubled, TEXT)


def described(strange):
    return str(id(strange))


def encoding():
    return json.dumps(STRANGE, default=described)


CALLS = {sorting: key_of, sorting_in_c: order, comparing: compared, replacing: doubled, encoding: described}


def burst(work, limit_ns):
    begun = now = time.thread_time_ns()
    while now - begun < limit_ns:
        work()
        now = time.thread_time_ns()
    return now - begun


def main():
    spent = dict.fromkeys(CALLS, 0)
    for _ in range(max(1, int(sys.argv[1]) // 37)):
        for work in CALLS:
            spent[work] += burst(work, 37_000_000 // len(CALLS))
    for work in CALLS:
        print(work.__name__, spent[work])
    print("process", time.process_time_ns())


main()

"""reuse -- truth: functions that are made, run and dropped, so that the next one lies at the address of the last; two kinds, 3 to 1

    reuse.py MILLISECONDS

The file's name and the function's carry the same number: a stack on which the two differ was named by what lay there before. Half of them have the same
name, file and first line as the one before, and differ only in the line that burns; then it is the function's variable that tells.
"""

import sys
import time
from random import random

BODY = "    for number in range(turns):\n        number * number % 7\n"
SPENT = {"long": 0, "short": 0, "later": 0, "sooner": 0}


def calibrate():
    code = {}
    exec("def burns(turns):\n" + BODY, code)
    begun = time.thread_time_ns()
    for _ in range(20):
        code["burns"](20000)
    return 400_000 * 1_000_000 // (time.thread_time_ns() - begun)


def run_once(kind, number, turns):
    """Make one of its own name, run it and let it go."""
    namespace = {}
    exec(compile(f"def {kind}_{number}(turns):\n{BODY}", f"<{kind} {number}>", "exec"), namespace)
    begun = time.thread_time_ns()
    namespace.popitem()[1](turns)
    SPENT[kind] += time.thread_time_ns() - begun


def run_same(kind, blank_lines, turns):
    """Make one whose name, file and first line are always the same, run it and let it go."""
    namespace = {}
    exec(compile("def same(turns):\n" + "\n" * blank_lines + BODY, "<same>", "exec"), namespace)
    begun = time.thread_time_ns()
    namespace.popitem()[1](turns)
    SPENT[kind] += time.thread_time_ns() - begun


def main():
    turns_a_ms = calibrate()
    for number in range(int(sys.argv[1]) // 4):
        turns = int(turns_a_ms * (0.5 + random()))  # in step with no clock
        run_once("long", number, turns * 2)
        run_once("short", number, turns * 2 // 3)
        run_same("later", 10, turns)
        run_same("sooner", 2, turns // 3)
    for kind, ns in SPENT.items():
        print(kind, ns)
    print("process", time.process_time_ns())


main()

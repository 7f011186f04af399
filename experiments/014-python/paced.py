"""paced -- calls.py's work in turns of a few milliseconds, every other one with recording paused: paced.py TURNS; prints the CPU time of both kinds

With a second argument nothing is paused.
"""

import ctypes
import sys
import time

sys.argv, turns, is_always_on = [sys.argv[0], "1"], int(sys.argv[1]), len(sys.argv) > 2
import calls  # noqa: E402

LIBRARY = ctypes.CDLL(None)
SWITCHES = ("collector_pause", "collector_resume")
ACCOUNTS = [calls.Account(str(number), 100) for number in range(100)]


def turn_of(rounds):
    begun = time.thread_time_ns()
    for number in range(rounds):
        calls.round_of(ACCOUNTS, number)
    return time.thread_time_ns() - begun


for _ in range(10):
    turn_of(20)
for number in range(turns):
    times = {}
    for switch in SWITCHES if number % 2 else SWITCHES[::-1]:
        if not is_always_on:
            getattr(LIBRARY, switch)()
        times[switch] = turn_of(40)
    print(*(times[switch] for switch in SWITCHES))

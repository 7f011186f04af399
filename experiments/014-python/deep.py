"""deep -- so many Python functions on the stack, and a loop at the bottom for so many milliseconds: deep.py FRAMES MILLISECONDS"""

import sys
import time


def down(level, until):
    if level:
        return down(level - 1, until)
    while time.thread_time() < until:
        for number in range(100000):
            number * number % 7


down(int(sys.argv[1]) - 2, int(sys.argv[2]) / 1000)

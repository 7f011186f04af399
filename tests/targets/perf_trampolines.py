"""perf_trampolines -- for PYTHONPERFSUPPORT=1: all the time passes in burns, called by calls_it, 20 deep"""

import time


def burns(rounds: int) -> int:
    return sum(number * number % 7 for number in range(rounds))


def calls_it(depth: int) -> int:
    return calls_it(depth - 1) + 1 if depth else burns(3000)


end = time.process_time() + 1.0
while time.process_time() < end:
    calls_it(20)

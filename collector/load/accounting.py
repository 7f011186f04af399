"""accounting -- make the samples of a thread add up to the CPU time that the kernel accounts for it

The clock cannot ask a thread what it used after its last tick. What is missing (or too much) by no more than a
few ticks is spread over the thread's samples in proportion. More than that has a reason, such as a pause: it
stays out of the samples and is stated. Only the sum of user and system time is made to agree: the kernel
itself guesses how a short time divides.
"""

from __future__ import annotations

from typing import Final

_TICKS: Final = 4
_SHARE: Final = 0.01


def balance(sampled_ns: int, accounted_ns: int | None, tick_ns: int) -> tuple[float, int]:
    """The factor for all samples of a thread, and the nanoseconds of its account that no sample stands for.

    `accounted_ns` is None where the thread's end was not seen: then nothing changes. `tick_ns` is the longest
    time between two ticks of its clock.
    """
    if accounted_ns is None:
        return 1.0, 0
    if not sampled_ns:
        return 1.0, accounted_ns
    if abs(accounted_ns - sampled_ns) > max(_TICKS * tick_ns, _SHARE * accounted_ns):
        return 1.0, max(0, accounted_ns - sampled_ns)
    return accounted_ns / sampled_ns, 0

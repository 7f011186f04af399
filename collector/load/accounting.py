"""accounting -- make the samples of a thread add up to the CPU time that the kernel accounts for it

The clock cannot ask a thread what it used after its last tick. What is missing (or too much) by no more than a
few ticks is spread over the thread's samples in proportion. More than that has a reason, such as a pause: it
stays out of the samples and is stated. Only the sum of user and system time is made to agree: the kernel
itself guesses how a short time divides.
"""

from __future__ import annotations

from typing import Final

TOLERATED_TICKS: Final = 4
"""So many ticks may be missing from a thread without a reason."""

_SHARE: Final = 0.01


def balance(sampled_ns: int, accounted_ns: int, tick_ns: int, has_gaps: bool = False, pending_ns: int = 0) -> tuple[float, int]:
    """The factor for all samples of a thread, and the nanoseconds of its account that no sample stands for.

    `tick_ns` is the longest time between two ticks of its clock. `pending_ns` is what the recorder said belongs to
    all samples. `has_gaps`: recording was off for a while, so no more than that is spread, or what was to be hidden
    would come back as a little more of everything else.
    """
    if not sampled_ns:
        return 1.0, max(0, accounted_ns)
    if has_gaps:
        recorded_ns = max(sampled_ns, min(sampled_ns + pending_ns, accounted_ns))
        return recorded_ns / sampled_ns, max(0, accounted_ns - recorded_ns)
    if abs(accounted_ns - sampled_ns) > max(TOLERATED_TICKS * tick_ns, _SHARE * accounted_ns) + pending_ns:
        return 1.0, max(0, accounted_ns - sampled_ns)
    return accounted_ns / sampled_ns, 0

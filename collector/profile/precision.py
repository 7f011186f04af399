"""precision -- how far off a figure may be because it was sampled: how many samples hit a place is chance"""

from __future__ import annotations

from math import sqrt
from typing import Final

from collector.profile.metrics import CPU_METRICS, Values

_SAMPLES = [metric.name for metric in CPU_METRICS].index("samples")
_DEVIATIONS = 1.96  # of a normal distribution, 95 % lie within so many
_UPPER_BOUNDS: Final = (3.6889, 5.5716, 7.2247, 8.7673, 10.2416, 11.6683, 13.0595, 14.4227, 15.7632, 17.0848)
"""By number of samples: a Poisson distribution of this mean has so few, or fewer, in 2.5 % of all cases."""


def sampling_error(values: Values) -> float | None:
    """Half the width of the range, in seconds, in which the time lies with 95 % probability; None without samples.

    Of few samples it is the way to the upper end of the exact range, the longer one: the range lies askew.
    """
    count = round(values[_SAMPLES])
    if not count:
        return None
    error = _DEVIATIONS * sqrt(count) if count >= len(_UPPER_BOUNDS) else _UPPER_BOUNDS[count] - count
    return error * values[0] / count

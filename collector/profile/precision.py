"""precision -- how far off a figure may be because it was sampled: how many samples hit a place is chance"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Final

from collector.profile.metrics import CPU_METRICS, OWN_SAMPLES, VARIANCE, VARIANCE_S2, Metric, Values
from collector.profile.model import Profile

_SAMPLES = [metric.name for metric in CPU_METRICS].index("samples")
_TOLD_BY_SAMPLES = ("cpu", "samples")
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


def waiting_error(variance: float, whole: float) -> float:
    """The same of time waiting (s). All rows together are exact, if their variance is `whole`: then a row is as far off as all others are."""
    return _DEVIATIONS * sqrt(max(0.0, min(variance, whole - variance)) * VARIANCE_S2)


def error_of(metrics: Sequence[Metric], values: Values, whole: float = inf) -> float | None:
    """How far off the first of some metrics may be; `whole` as for `waiting_error`. None if there is nothing of it, or that is not known.

    Known it is of what the number of samples tells: of CPU time, which each sample has its part of, and of events that have samples of their own.
    """
    if metrics[0].name in _TOLD_BY_SAMPLES:
        return sampling_error(values)
    if not is_error_known(metrics) or not values[0]:
        return None
    return waiting_error(values[-1], whole) if metrics[-1].name == VARIANCE else sampling_error((values[0], 0.0, 0.0, values[-1]))


def is_error_known(metrics: Sequence[Metric]) -> bool:
    """Whether the metrics, as `shown_metrics` gives them with errors, tell how far off the first one may be."""
    first, last = metrics[0].name, metrics[-1].name
    return first in _TOLD_BY_SAMPLES or (first == "blocked" and last == VARIANCE) or last == f"{first}{OWN_SAMPLES}"


def exact_variance(profile: Profile, total: Values) -> float:
    """The variance that all rows have together where what they add up to is exact: of whole threads. Infinite elsewhere."""
    return total[-1] if profile.metrics[-1].name == VARIANCE and not profile.filters else inf

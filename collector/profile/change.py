"""change -- how a time changed from some runs to others, and whether by more than chance

Compared is exclusive CPU time, or another metric. With one run on each side, chance is that of the samples: their counts are Poisson, and two of them are
compared exactly. With more, it is the spread between runs of one side (both sides' together), by Student's t; yet never less than what
sampling leaves uncertain, for few runs can agree by luck. That is the binomial variance, which for the total is none: the kernel accounts it.
As whole runs are faster or slower, a row is looked at beside the rest of its program as well (`beside_rest`): the surer of the two counts. One run
on each side does not tell how runs differ: there both count, but for what changed by more than a factor of SPEED.
Of other metrics nobody knows what chance their samples have, so that only several runs tell; of events it is no less than that of as many by accident.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, inf, sqrt
from statistics import fmean
from typing import Any, Final

from collector.profile.beside_rest import BesideRest, Sides
from collector.profile.compared_run import NOTHING, Measure, is_sampled
from collector.profile.metrics import CPU_METRICS, Metric
from collector.profile.significance import counts_p, holm, student_quantile, t_p

CONFIDENCE: Final = 0.95
LEVEL: Final = 0.01  # of what is called significant
LEAST_SAMPLES: Final = 10  # of both sides together; fewer can hardly tell two functions apart, and a test less makes all others sharper
SPEED: Final = 1.1
"""By this factor the only run of a side may be faster or slower as a whole than the next one would be: nothing tells."""
_WIDEST = 1000.0  # a ratio known no better than that is not known


@dataclass(frozen=True, slots=True)
class Change:
    """Mean time of a run before and after, their difference and ratio, each with the ends of its confidence interval, None if nothing is known of it.

    `rest_ratio` is by how much more it changed than the rest of the program, with its interval; None if that is not known, as of a program of one function.
    `p` is how likely chance alone makes such a difference, with the number of comparisons taken into account; None if there are too few
    samples to compare. `verdict`: `slower`, `faster`, `new` or `gone` where that is significant, else `none`.
    """

    before: float
    after: float
    before_samples: int
    after_samples: int
    difference: float
    difference_low: float | None
    difference_high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p: float | None
    verdict: str
    rest_ratio: float | None = None
    rest_low: float | None = None
    rest_high: float | None = None


def judged_total(totals: Sequence[Sequence[Measure]], metric: Metric) -> Change:
    """How the total changed from the runs before to those after: a question of its own, which takes no others into account."""
    return _judged(*_change(totals, totals, metric))


def judged_changes(
    tables: Sequence[Sequence[Mapping[Any, Measure]]], totals: Sequence[Sequence[Measure]], keys: Iterable[Any],
    metric: Metric = CPU_METRICS[0], has_rest: bool = False,
) -> dict[Any, Change]:
    """How each changed from the tables of the runs before to those after, all judged together.

    If it `has_rest`, the total is that of all of them, so that what is no part of one is the rest of the program.
    """
    changes = {key: _change([[table.get(key, NOTHING) for table in side] for side in tables], totals, metric) for key in keys}
    least = LEAST_SAMPLES if is_sampled(metric) else 0
    tested = {key: p for key, (change, p) in changes.items() if p is not None and change.before_samples + change.after_samples >= least}
    if not has_rest:
        adjusted = dict(zip(tested, holm(list(tested.values()))))
        return {key: _judged(change, adjusted.get(key)) for key, (change, _) in changes.items()}
    if sum(map(len, tables)) == 2:  # nothing tells how runs differ: what changed has done so by itself and beside the rest, or by far
        found = list(tested)
        beside = Sides(tables, totals, CONFIDENCE).judged(found, (), LEVEL / 2)
        by_far = {key: _change([[table.get(key, NOTHING) for table in side] for side in tables], totals, metric, SPEED)[1] or 0.0 for key in tested}
        both = {key: 2 * min(max(p, _p_of_same(changes[key][0], beside.get(key))), by_far[key]) for key, p in tested.items()}
    else:  # two questions are asked of each row; the answer that is surer counts
        found = [key for key, p in zip(tested, holm([2 * p for p in tested.values()])) if p <= LEVEL]
        beside = Sides(tables, totals, CONFIDENCE).judged(list(tested), found, LEVEL / 2)
        both = {key: 2 * min(p, beside[key].p if key in beside else 1.0) for key, p in tested.items()}
    adjusted = dict(zip(both, holm(list(both.values()))))
    return {
        key: _judged(change, adjusted.get(key), beside.get(key), key in found) for key, (change, _) in changes.items()
    }


def _p_of_same(change: Change, beside: BesideRest | None) -> float:
    """That of the change beside the rest: 0 if there is no rest to speak of, 1 if it is a change to the other side."""
    if beside is None:
        return 0.0
    return 1.0 if beside.ratio is not None and (beside.ratio > 1) != (change.difference > 0) else beside.p


def _judged(change: Change, p: float | None, beside: BesideRest | None = None, is_sure: bool = True) -> Change:
    """The change with its p and what that says; `beside` the rest unless it `is_sure` by itself."""
    if beside is not None:
        change = replace(change, rest_ratio=beside.ratio, rest_low=beside.low, rest_high=beside.high)
    if p is None or p > LEVEL:
        return replace(change, p=p)
    is_slower = change.difference > 0 if is_sure or beside is None or beside.ratio is None else beside.ratio > 1
    return replace(change, p=p, verdict="new" if not change.before else "gone" if not change.after else "slower" if is_slower else "faster")


def _change(
    sides: Sequence[Sequence[Measure]], totals: Sequence[Sequence[Measure]], metric: Metric, speed: float = 1.0
) -> tuple[Change, float | None]:
    """How a row changed, and its p among no others; None if that cannot be told. One run on each side may differ by a factor of `speed` in any case."""
    counts = [len(side) for side in sides]
    before, after = (fmean(measure.time for measure in side) for side in sides)
    samples = [sum(measure.samples for measure in side) for side in sides]
    ratio = after / before if before else None
    freedom = sum(counts) - 2
    difference = after - before
    if not freedom and not is_sampled(metric):
        return Change(before, after, round(samples[0]), round(samples[1]), difference, None, None, ratio, None, None, None, "none"), None
    weights = _weights(sides, totals)
    p: float | None
    if freedom:
        # Both of the same program, if nothing changed: then the best guess at its time is that of all samples.
        exposures = [count / weight for count, weight in zip(counts, weights)]
        time, whole = (_common_time(one, exposures) for one in (sides, totals))
        sampling = time * (1 - time / whole) * sum(1 / exposure for exposure in exposures) if whole else 0.0
        if not is_sampled(metric):
            sampling = 0.0 if metric.unit else before / counts[0] + after / counts[1]
        squares = sum((measure.time - mean) ** 2 for side, mean in zip(sides, (before, after)) for measure in side)
        variance = max(sampling, squares / freedom * sum(1 / count for count in counts))
        p = t_p(difference, sqrt(variance), freedom)
        errors = [variance / sum(1 / count for count in counts) / count for count in counts]
    else:
        same = min(max(ratio, 1 / speed), speed) if ratio is not None else speed
        share = weights[1] / (same * weights[0] + weights[1])
        p = 1.0 if ratio == same else counts_p(before / weights[0], after / weights[1], share)
        errors = [before * weights[0], after * weights[1]]
    reach = _reach(freedom)
    error = reach * sqrt(sum(errors))
    low, high = _ratio_ends(before, after, errors, reach)
    ends = difference - error, difference + error
    return Change(before, after, round(samples[0]), round(samples[1]), difference, *ends, ratio, low, high, None, "none"), p


@cache
def _reach(freedom: int) -> float:
    return student_quantile(CONFIDENCE, freedom or inf)


def _common_time(sides: Sequence[Sequence[Measure]], exposures: Sequence[float]) -> float:
    means = (fmean(measure.time for measure in side) for side in sides)
    return sum(mean * exposure for mean, exposure in zip(means, exposures)) / sum(exposures)


def _weights(sides: Sequence[Sequence[Measure]], totals: Sequence[Sequence[Measure]]) -> list[float]:
    """The time that a sample of the row stands for on each side.

    Usually as much as any sample of that side. Where a row's samples stand for more, as when ticks were withheld, the same is
    assumed of the other side, which may have none of them.
    """
    usual = [sum(one.time for one in side) / max(1.0, sum(one.samples for one in side)) for side in totals]
    heavy = 1.0
    for side, weight in zip(sides, usual):
        samples = sum(measure.samples for measure in side)
        if weight:
            heavy = max(heavy, sum(measure.time for measure in side) / max(1.0, samples) / weight)
    least = max(usual) or 1.0  # a side without any samples is measured by the other
    return [heavy * (weight or least) for weight in usual]


def _ratio_ends(before: float, after: float, errors: Sequence[float], reach: float) -> tuple[float | None, float | None]:
    """The interval of after / before, from that of its logarithm; None where hardly anything is known of it."""
    if not before or not after:
        return None, None
    factor = exp(min(reach * sqrt(errors[0] / before**2 + errors[1] / after**2), 100.0))
    return (after / before / factor, after / before * factor) if factor <= _WIDEST else (None, None)

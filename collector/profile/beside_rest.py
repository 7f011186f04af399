"""beside_rest -- how the time of each row changed beside that of the rest of the program

Runs on a busy machine are now faster, now slower, as a whole: by more than what one function's change makes of it. Beside the rest of its own run
a function's time is free of that. What has been found to differ is no part of the rest, one finding after the other, the surest
first: if one function of five is slower, the four others are not faster beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, inf, sqrt
from statistics import fmean
from typing import Any, Final, NamedTuple

from collector.profile.significance import counts_p, student_quantile, t_p

LEAST_REST: Final = 100.0
"""Samples of the rest on each side, to be something to compare with."""
_SMALL: Final = 0.005  # of the total: what is found to differ and smaller than that hardly changes the rest
_AS_SURE: Final = 100.0  # of two functions each is the other's rest: the one whose own time changed more is meant
_MOST_ROUNDS: Final = 32
_WIDEST: Final = 7.0  # the logarithm of a ratio
_NOTHING: Final = (0.0, 0.0)

Measured = tuple[float, float]  # time and samples


class BesideRest(NamedTuple):
    """By how much more a row's time changed than the rest's, the ends of its confidence interval, and how likely chance alone does that."""

    ratio: float | None
    low: float | None
    high: float | None
    p: float


class Sides:
    """The tables of the runs before and after, and their totals; intervals have this confidence."""

    def __init__(
        self, tables: Sequence[Sequence[Mapping[Any, Measured]]], totals: Sequence[Sequence[Measured]], confidence: float
    ) -> None:
        self._tables = tables
        self._totals = totals
        self._weights = [sum(one[0] for one in side) / max(1.0, sum(one[1] for one in side)) for side in totals]
        self._freedom = sum(map(len, tables)) - 2
        self._reach = student_quantile(confidence, self._freedom or inf)

    def judged(self, keys: Sequence[Any], found: Iterable[Any], level: float) -> dict[Any, BesideRest]:
        """Each row beside the rest of the program: without those `found` to differ, nor those that are at this level, all taken together."""
        out = set(found)
        times = {key: [[table.get(key, _NOTHING)[0] for table in side] for side in self._tables] for key in {*keys, *out}}
        judged: dict[Any, BesideRest] = {}
        for _ in range(_MOST_ROUNDS):
            rest = [[total[0] for total in side] for side in self._totals]
            for key in out:
                rest = [[whole - own for whole, own in zip(*sides)] for sides in zip(rest, times[key])]
            judged = {key: one for key in keys if (one := self._judge(times[key], rest, key in out)) is not None}
            new = [key for key, one in judged.items() if key not in out and one.p * len(keys) <= level and self._share(times[key]) >= _SMALL]
            if not new:
                break
            surest = min(judged[key].p for key in new)
            out.add(max((key for key in new if judged[key].p <= _AS_SURE * surest), key=lambda key: abs(_difference(times[key]))))
        return judged

    def _share(self, times: Sequence[Sequence[float]]) -> float:
        return sum(map(sum, times)) / sum(total[0] for side in self._totals for total in side)

    def _judge(self, own: Sequence[Sequence[float]], rest: Sequence[Sequence[float]], is_out: bool) -> BesideRest | None:
        others = rest if is_out else [[whole - time for whole, time in zip(*sides)] for sides in zip(rest, own)]
        rest_samples = [sum(side) / weight if weight else 0.0 for side, weight in zip(others, self._weights)]
        if min(rest_samples) < LEAST_REST or min(map(min, others)) <= 0:
            return None
        ratios = [[time / other for time, other in zip(*sides)] for sides in zip(own, others)]
        before, after = map(fmean, ratios)
        if not self._freedom:
            return self._judge_counts(own, rest_samples, after / before if before else 0.0)
        # If nothing changed both sides have the same ratio, and the best guess at it is that of all samples.
        common = sum(sum(side) / weight for side, weight in zip(own, self._weights)) / sum(rest_samples)
        sampling = common * (1 + common) * sum(1 / count for count in rest_samples)
        squares = sum((ratio - mean) ** 2 for side, mean in zip(ratios, (before, after)) for ratio in side)
        error = sqrt(max(sampling, squares / self._freedom * sum(1 / len(side) for side in ratios)))
        return self._with_interval(after / before if before else 0.0, error / sqrt(before * after or 1.0), t_p(after - before, error, self._freedom))

    def _judge_counts(self, own: Sequence[Sequence[float]], rest_samples: Sequence[float], ratio: float) -> BesideRest:
        """One run on each side: by the samples of the row and of the rest, of which the row's stand for as much time as any."""
        counts = [sum(side) / weight for side, weight in zip(own, self._weights)]
        # As if the rest were known, by as many samples less as it is not.
        known = sum(rest_samples) / (sum(rest_samples) + sum(counts))
        first, second = (count * known for count in counts)
        p = counts_p(first, second, rest_samples[0] / sum(rest_samples))
        return self._with_interval(ratio, sqrt(1 / first + 1 / second) if first and second else 0.0, p)

    def _with_interval(self, ratio: float, error: float, p: float) -> BesideRest:
        """`error` is that of the ratio's logarithm; of what is on one side only there is no ratio."""
        if not ratio:
            return BesideRest(None, None, None, p)
        factor = exp(min(self._reach * error, _WIDEST))
        return BesideRest(ratio, ratio / factor, ratio * factor, p)


def _difference(times: Sequence[Sequence[float]]) -> float:
    before, after = map(fmean, times)
    return after - before

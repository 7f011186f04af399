"""comparison -- runs of a program before and after a change: what differs in the whole, and in which rows"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from collector.profile.change import Change, judged_changes, judged_total
from collector.profile.compared_run import ComparedPlace, Key, Measure, Run, is_sampled, other_modules
from collector.profile.metrics import Metric


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A function, line or call path, and how its time changed."""

    key: Key
    place: ComparedPlace
    change: Change


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it; rows with the significant first, then by the size of the difference. `compared` of them had samples enough.

    Rows go by their keys before; `renamed` has those of the after side that differ.
    """

    before: tuple[Run, ...]
    after: tuple[Run, ...]
    by: str
    total: Change
    rows: tuple[ComparedRow, ...]
    compared: int
    renamed: Mapping[Key, Key]

    @property
    def kind(self) -> str:
        """What a row is, in words."""
        return "call path" if self.by == "path" else self.by

    @property
    def metric(self) -> Metric:
        """What is compared."""
        return self.before[0].metric

    @property
    def is_sampled(self) -> bool:
        """Whether the number of samples says how certain it is."""
        return is_sampled(self.metric)

    @property
    def has_spread(self) -> bool:
        """Whether there are runs to see a spread between."""
        return len(self.before) + len(self.after) > 2


def compare(before: Sequence[Run], after: Sequence[Run], by: str = "function") -> Comparison:
    """Compare runs of the same program by the metric of the first, one or several on each side."""
    metric = before[0].metric
    renamed = other_modules(*({key for run in side for key in run.times} for side in (before, after)))
    totals = [[run.total for run in side] for side in (before, after)]
    places = {key: place for run in before for key, place in run.places.items()}
    places |= {renamed.get(key, key): place for run in after for key, place in run.places.items()}
    tables: list[list[Mapping[Key, Measure]]] = [
        [run.times for run in before],
        [{renamed.get(key, key): time for key, time in run.times.items()} for run in after],
    ]
    changes = judged_changes(tables, totals, places, metric, has_rest=is_sampled(metric))
    rows = [ComparedRow(key, places[key], change) for key, change in changes.items()]
    rows.sort(key=lambda row: (row.change.verdict == "none", -_weight(row.change, metric), row.place.function.name))
    compared = sum(row.change.p is not None for row in rows)
    return Comparison(tuple(before), tuple(after), by, judged_total(totals, metric), tuple(rows), compared, renamed)


def _weight(change: Change, metric: Metric) -> float:
    """What rows are sorted by. A ratio is largest where there is hardly anything to divide by, so that it is not that."""
    return change.before_samples + change.after_samples if is_ratio(metric) else abs(change.difference)


def is_ratio(metric: Metric) -> bool:
    """Whether it is one metric divided by another."""
    return not metric.parts


def slower_than(comparison: Comparison, limit: float) -> tuple[Change | ComparedRow, ...]:
    """The total, and functions of at least that share of it, that got significantly slower by more than `limit` of themselves.

    What is new is not among them: it is slower than nothing by any measure, and where it costs time the total shows it.
    """
    total = comparison.total
    found: list[Change | ComparedRow] = [total] if _exceeds(total, limit) else []
    for row in comparison.rows:
        change = row.change
        if _exceeds(change, limit) and (change.before >= limit * total.before or change.after >= limit * total.after):
            found.append(row)
    return tuple(found)


def _exceeds(change: Change, limit: float) -> bool:
    return change.verdict == "slower" and change.ratio is not None and change.ratio > 1 + limit


SORT_KEYS: Final[dict[str, Callable[[ComparedRow], Any]]] = {
    "difference": lambda row: -abs(row.change.difference),
    "ratio": lambda row: -(inf if row.change.ratio is None else row.change.ratio),
    "before": lambda row: -row.change.before,
    "after": lambda row: -row.change.after,
    "p": lambda row: (row.change.p is None, row.change.p),
    "function": lambda row: row.place.function.name,
    "module": lambda row: row.place.module.name,
    "line": lambda row: (row.place.file or "", row.place.line or 0),
}
"""What the rows can be sorted by."""

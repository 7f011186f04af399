"""metrics -- what is measured: the stored columns, and the figures that reports make of them.

A sample stores one value for each *base* metric. A reported metric is the sum of some of them:
`cpu` is `user` and `system` together. How many samples a figure rests on is a metric like the others.
New base metrics are added at the end of both tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Values = tuple[float, ...]
"""One figure for each reported metric of a profile, in the order of `Profile.metrics`."""

Figures = dict[str, float]
"""The same by the metrics' names."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that reports show; `parts` are the positions of the base columns it adds up."""

    name: str
    unit: str
    title: str
    parts: tuple[int, ...]


USER: Final = 0
SYSTEM: Final = 1
SAMPLES: Final = 2

CPU_METRICS: Final = (
    Metric("cpu", "s", "CPU time", (USER, SYSTEM)),
    Metric("user", "s", "user CPU time", (USER,)),
    Metric("system", "s", "system CPU time", (SYSTEM,)),
    Metric("samples", "", "number of samples", (SAMPLES,)),
)


def reported_values(metrics: Sequence[Metric], base: Sequence[float]) -> Values:
    """The reported metrics of one row of base values."""
    return tuple(sum(base[part] for part in metric.parts) for metric in metrics)


def reported_rows(metrics: Sequence[Metric], columns: Sequence[Sequence[float]]) -> list[Values]:
    """The reported metrics of many rows, from columns of base values."""
    return list(zip(*[_added([columns[part] for part in metric.parts]) for metric in metrics]))


def _added(columns: list[Sequence[float]]) -> Sequence[float]:
    return columns[0] if len(columns) == 1 else list(map(sum, zip(*columns)))


def figures(metrics: Sequence[Metric], values: Values) -> Figures:
    """The figures by their names, without what adding them up cost in precision."""
    return {metric.name: round(value, 9) if metric.unit else round(value) for metric, value in zip(metrics, values)}


def cpu_time(base: Sequence[float]) -> float:
    """The CPU time of one row of base values, in seconds."""
    return base[USER] + base[SYSTEM]


def add_values(left: Sequence[float], right: Sequence[float]) -> Values:
    """The sum of two rows, figure by figure."""
    return tuple(a + b for a, b in zip(left, right))

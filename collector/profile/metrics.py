"""metrics -- what is measured: the stored columns, and the figures that reports make of them.

A sample stores one value for each *base* metric. A reported metric is the sum of some of them:
`cpu` is `user` and `system` together. How many samples a figure rests on is a metric like the others.
Ratios of two metrics are made when a row is shown, of its sums: they cannot be added up themselves.
User and system time and the number of samples are in every profile, and first; what else there is sources declare.
"""

from collections.abc import Iterable, Sequence
from operator import add
from typing import Final, NamedTuple, TypeVar

from collector.readings import READINGS

T = TypeVar("T")

Values = tuple[float, ...]
"""One figure for each reported metric of a profile, in the order of `Profile.metrics`. Views sort by the first; the next three are user time,
system time and the number of samples."""

Figures = dict[str, "float | None"]
"""The same by the metrics' names, and ratios of them, None where there is nothing to divide by."""


class Metric(NamedTuple):
    """A figure that reports show; `parts` are the positions of the base columns it adds up."""

    name: str
    unit: str
    title: str
    parts: tuple[int, ...]


USER: Final = 0
SYSTEM: Final = 1
SAMPLES: Final = 2


class Value(NamedTuple):
    """A value that samples stand for; times have the unit ns. One that `is_count` counts samples that are not among `samples`."""

    name: str
    unit: str = ""
    is_count: bool = False

    @property
    def is_time(self) -> bool:
        """Whether it is stored in nanoseconds, and shown in seconds."""
        return self.unit == _NS


_NS: Final = "ns"
CPU_VALUES: Final = (Value("user", _NS), Value("system", _NS))
MISSING: Final = Value("missing", _NS)
"""The CPU time of ticks that did not come right before a sample. No figure: as much of it as the thread's samples leave open is added to user time."""
MOST_VALUES: Final = 64

CPU_METRICS: Final = (
    Metric("cpu", "s", "CPU time", (USER, SYSTEM)),
    Metric("user", "s", "user CPU time", (USER,)),
    Metric("system", "s", "system CPU time", (SYSTEM,)),
    Metric("samples", "", "number of samples", (SAMPLES,)),
)


CPU_NAMES: Final = tuple(metric.name for metric in CPU_METRICS)
_SHOWN: Final = 4  # the position of the second metric that is shown, in `shown_metrics`

WAITED_FOR: Final = {
    "lock": "a lock, or another thread",
    "gil": "Python's global interpreter lock",
    "timer": "a time",
    "events": "one of several files, or an event",
    "socket": "a socket",
    "pipe": "a pipe",
    "file": "a file",
    "terminal": "a terminal or another device",
    "child": "a child process",
    "signal": "a signal",
    "message": "a message or a semaphore",
    "page_fault": "a page of memory",
    "other": "something else",
    "unseen": "what nobody saw",
}
"""What threads wait for, as words of metrics: `blocked_lock` is part of `blocked`."""

_BLOCKED: Final = "blocked"
CAUSE: Final = "blocked_"
"""What the names of these metrics begin with."""

VARIANCE: Final = "variance"
"""The metric that says how far off `blocked` may be; shown only where that is asked for."""
VARIANCE_S2: Final = 1e-10
"""Its unit."""
STAND_INS: Final = "stand-ins"
"""The metric that counts what stands for a thread which ended before its first sample: none of the samples, although it has CPU time."""
OWN_SAMPLES: Final = "-samples"
"""Behind the name of a metric that has samples of its own, the one that counts them."""


def is_hidden(name: str) -> bool:
    """Whether no view shows a metric: what it tells is how good others are, or that samples are not those of CPU time."""
    return name in (VARIANCE, STAND_INS, "wait-rows") or name.endswith(OWN_SAMPLES)


_TITLES: Final = {
    _BLOCKED: "time waiting for something",
    **{CAUSE + cause: f"time waiting for {what}" for cause, what in WAITED_FOR.items()},
    "runnable": "time ready and waiting for a processor",
    **{name: meaning.removesuffix(" so far") for name, _, meaning in READINGS if name.endswith(("_faults", "_switches"))},
    "looks": "number of looks at waiting threads",
    "waits": "number of waits",
    "wait-rows": "number of records of waits",
    STAND_INS: "number of threads that ended before their first sample",
    "variance": "variance of time waiting, as far as looks say whose it was",
}


class Ratio(NamedTuple):
    """One metric divided by another, by their names; `is_share`: it is shown in percent."""

    name: str
    part: str
    whole: str
    is_share: bool = True

    @property
    def unit(self) -> str:
        """What is divided by what."""
        return f"{self.part}/{self.whole}"

    @property
    def metric(self) -> Metric:
        """What is compared where the ratio itself is."""
        return Metric(self.name, "%" if self.is_share else self.unit, self.name, ())


RATIOS: Final = (
    Ratio("IPC", "instructions", "cycles", is_share=False),
    Ratio("cache-miss-rate", "cache-misses", "cache-references"),
    Ratio("branch-miss-rate", "branch-misses", "branches"),
    Ratio("L1-dcache-miss-rate", "L1-dcache-load-misses", "L1-dcache-loads"),
    Ratio("LLC-miss-rate", "LLC-load-misses", "LLC-loads"),
    Ratio("dTLB-miss-rate", "dTLB-load-misses", "dTLB-loads"),
    Ratio("iTLB-miss-rate", "iTLB-load-misses", "iTLB-loads"),
)
"""What is shown wherever both parts were recorded."""


class RatioPlace(NamedTuple):
    """A ratio, and where its parts are among the metrics."""

    ratio: Ratio
    part: int
    whole: int

    def of(self, values: Values) -> float | None:
        """The ratio of a row."""
        return values[self.part] / values[self.whole] if values[self.whole] else None


def ratios_of(metrics: Sequence[Metric]) -> list[RatioPlace]:
    """The ratios whose parts are among these metrics."""
    if len(metrics) < len(CPU_METRICS) + 1:
        return []
    places = {metric.name: place for place, metric in reversed(list(enumerate(metrics)))}
    found = [ratio for ratio in RATIOS if ratio.part in places and ratio.whole in places and ratio.name not in places]
    return [RatioPlace(ratio, places[ratio.part], places[ratio.whole]) for ratio in found]


def ordered_values(declared: Iterable[Value]) -> tuple[Value, ...]:
    """All values that sources declare, each name once: CPU time, then those that have a fixed order, then others as they come, and MISSING last."""
    found: dict[str, Value] = {}
    for value in (*CPU_VALUES, *declared):
        found.setdefault(value.name, value)
    names = [value.name for value in CPU_VALUES] + [name for name in _TITLES if name in found]
    values = tuple(found[name] for name in dict.fromkeys((*names, *found)) if found[name] != MISSING)
    return (*values[: MOST_VALUES - 1], MISSING) if MISSING in found.values() else values[:MOST_VALUES]


def in_base_order(columns: Sequence[T]) -> tuple[T, ...]:
    """The columns of base metrics, from those of values and, last, the number of samples."""
    return (*columns[:SAMPLES], columns[-1], *columns[SAMPLES:-1])


def metrics_of(values: Sequence[Value]) -> tuple[Metric, ...]:
    """What is reported of these values: each of them, and what they add up to."""
    positions = {value.name: position + (position >= SAMPLES) for position, value in enumerate(values)}
    others = [
        Metric(value.name, "s" if value.is_time else value.unit, _TITLES.get(value.name, value.name), (positions[value.name],))
        for value in values[len(CPU_VALUES) :]
        if value != MISSING
    ]
    blocked = tuple(position for name, position in positions.items() if name.startswith(CAUSE))
    waiting = (*blocked, *(positions[name] for name in ("runnable", _BLOCKED) if name in positions))
    sums = [Metric("wall", "s", "wall time", (USER, SYSTEM, *waiting))] if waiting else []
    if blocked and _BLOCKED not in positions:
        sums.append(Metric(_BLOCKED, "s", _TITLES[_BLOCKED], blocked))
    return (*CPU_METRICS, *sums, *others)


def values_of(metrics: Sequence[Metric]) -> tuple[Value, ...]:
    """The values that a profile's metrics are made of."""
    by_position = {metric.parts[0]: metric for metric in metrics if len(metric.parts) == 1}
    return tuple(Value(metric.name, _NS if metric.unit == "s" else metric.unit) for position, metric in sorted(by_position.items()) if position != SAMPLES)


def has_waits(metric: Metric) -> bool:
    """Whether there is time in it that threads waited."""
    return metric.unit == "s" and (metric.name in ("wall", _BLOCKED, "runnable") or metric.name.startswith(CAUSE))


def reported_values(metrics: Sequence[Metric], base: Sequence[float]) -> Values:
    """The reported metrics of one row of base values."""
    return tuple(sum(base[part] for part in metric.parts) for metric in metrics)


def reported_rows(metrics: Sequence[Metric], columns: Sequence[Sequence[float]]) -> list[Values]:
    """The reported metrics of many rows, from columns of base values."""
    return list(zip(*[_added([columns[part] for part in metric.parts]) for metric in metrics]))


def _added(columns: list[Sequence[float]]) -> Sequence[float]:
    return columns[0] if len(columns) == 1 else list(map(add, *columns)) if len(columns) == 2 else list(map(sum, zip(*columns)))


def has_figures(values: Values) -> bool:
    """Whether there is anything of the metrics that are shown, however many samples there are."""
    return bool(values[0]) or any(values[_SHOWN:])


def figures(metrics: Sequence[Metric], values: Values) -> Figures:
    """The figures by their names, and their ratios, without what adding them up cost in precision."""
    found: Figures = {metric.name: round(value, 9) if metric.unit else round(value) for metric, value in zip(metrics, values)}
    for place in ratios_of(metrics):
        value = place.of(values)
        found[place.ratio.name] = None if value is None else round(value, 9)
    return found


def primary(metrics: Sequence[Metric], base: Sequence[float]) -> float:
    """The metric that views sort by, of one row of base values."""
    return sum(base[part] for part in metrics[0].parts)


def shown_metrics(metrics: Sequence[Metric], names: Sequence[str] = (), has_errors: bool = False) -> tuple[Metric, ...]:
    """The metrics of these names, the one that views sort by first. Without names all are shown, and wall time comes first if there is any.

    User time, system time and the number of samples keep their positions, 1 to 3; other metrics that are shown stand behind them.
    With `has_errors` what says how far off the first one may be is the last one, if there is such. LookupError if there is no metric of a name.
    """
    known = {metric.name: metric for metric in metrics}
    if not names:
        others = [name for name in known if name not in CPU_NAMES and not is_hidden(name)]
        names = ["wall", "cpu", *others[1:]] if "wall" in known else ["cpu", *others]
    first, *others = names
    judge = VARIANCE if first == _BLOCKED else f"{first}{OWN_SAMPLES}"
    if has_errors and judge in known:
        others = [*(name for name in others if name != judge), judge]
    return (known[first], *CPU_METRICS[1:], *(known[name] for name in others))


def add_values(left: Sequence[float], right: Sequence[float]) -> Values:
    """The sum of two rows, figure by figure."""
    return tuple(a + b for a, b in zip(left, right))

"""metric_series -- values of plugin metrics over time: of each process, and of all of them together

A *reading* is what a getter gave, with the time of it and the interval since the one before. What is shown of a metric depends on its kind:

    rate    the getter gives the increment in the interval; the value is reading / interval (times 100 if the units are %)
    total   the getter gives an increment, and that is shown: a metric that another names as its integral
    level   the value is the reading

None is no value: 2^64-1 of an integer, NaN of a real (docs/metric-plugins.md).
"""

from collections.abc import Iterable, Sequence
from math import fsum, isinf, isnan
from typing import Final, NamedTuple

from collector.profile.counted_row import CountedRow
from collector.units import NS_PER_S

Value = float | int | None

NO_VALUE: Final = (1 << 64) - 1
_MOST_STEPS: Final = 1000


class PluginMetric(NamedTuple):
    """What the definition of a metric says; `kind` is rate, total or level."""

    id: str
    title: str
    units: str = ""
    kind: str = "level"
    category: str = "other"
    colour: str = ""
    group: str = ""
    group_title: str = ""
    description: str = ""
    integral: str = ""
    per_node: bool = False
    file: str = ""


class MetricSeries(NamedTuple):
    """The readings of one metric in one process, as columns in the order of time.

    `process` is a position in `Profile.processes`, None where the launcher read a metric of the node; `experiment` one in
    `Profile.recordings`, and `node` the machine's name.
    """

    metric: PluginMetric
    process: int | None
    times_ns: Sequence[int]
    intervals_ns: Sequence[int]
    readings: Sequence[float | int]
    experiment: int = 0
    node: str = ""

    @property
    def values(self) -> list[Value]:
        """The values to show, one a reading."""
        return [_value(self.metric, reading, interval) for reading, interval in zip(self.readings, self.intervals_ns)]


class Summary(CountedRow):
    """Least, mean and greatest value, and for rates and totals the increment over the whole recording. None: there is no value."""

    least: Value
    mean: Value
    greatest: Value
    total: Value
    count: int
    gap_count: int

    __slots__ = __match_args__ = ("least", "mean", "greatest", "total", "count", "gap_count")

    def __init__(self, least: Value, mean: Value, greatest: Value, total: Value, count: int, gap_count: int) -> None:
        self._set(least, mean, greatest, total, count, gap_count)


class Overview(NamedTuple):
    """A metric over the processes: at each step of time the least, mean, greatest and the sum of their values."""

    times_ns: tuple[int, ...]
    least: tuple[Value, ...]
    mean: tuple[Value, ...]
    greatest: tuple[Value, ...]
    total: tuple[Value, ...]


def known_or_none(number: Value) -> Value:
    """None for NaN: what comes of opposite infinities is no value."""
    return None if isinstance(number, float) and isnan(number) else number


def total_of(values: Iterable[float | int]) -> float | int:
    """The sum, in the same digits with every Python: that of floats by sum() has had a smaller error since 3.12."""
    numbers = list(values)
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    try:
        return fsum(numbers)
    except (OverflowError, ValueError):  # more than a float holds on the way, or opposite infinities
        return sum(numbers)


def is_value(reading: float | int) -> bool:
    """Whether a reading holds a value."""
    return reading != NO_VALUE and not (isinstance(reading, float) and isnan(reading))


def total_units(metric: PluginMetric) -> str:
    """The units of that increment, B of B/s; the seconds that a share in percent is made of."""
    if metric.kind != "rate":
        return metric.units
    if metric.units.endswith("/s"):
        return metric.units[:-2]
    return {"%": "s", "W": "J"}.get(metric.units, f"{metric.units} s".strip())


def summarise(series: MetricSeries) -> Summary:
    """The summary of one process. The mean is weighted by time, so that intervals of any length count as they should."""
    good = [(r, i, v) for r, i, v in zip(series.readings, series.intervals_ns, series.values) if v is not None]
    count, gap_count = len(good), len(series.readings) - len(good)
    if not good:
        return Summary(None, None, None, None, 0, gap_count)
    values = [value for _, _, value in good]
    time_ns = sum(interval for _, interval, _ in good)
    total = total_of(reading for reading, _, _ in good) if series.metric.kind != "level" else None
    if series.metric.kind == "total" or not time_ns:
        mean = total_of(values) / count
    else:
        mean = total_of(value * interval for _, interval, value in good if interval) / time_ns
    return Summary(min(values), known_or_none(mean), max(values), known_or_none(total), count, gap_count)


def resample(group: Sequence[MetricSeries], steps: int | None = None) -> Overview:
    """One metric over its processes, in steps of equal length: as many as there are readings, or `steps`.

    In a step a process has its mean; the sum counts the part of the step in which it had a value, so that sum times time
    is exact. A total is the increment in the step.
    """
    segments = [_segments(series) for series in group]
    ends = [end for parts in segments for _, end, _ in parts]
    if not ends:
        return Overview((), (), (), (), ())
    start_ns = min(begin for parts in segments for begin, _, _ in parts)
    span_ns = max(1, max(ends) - start_ns)
    count = steps or max(1, min(_MOST_STEPS, round(span_ns / _typical_ns(group))))
    is_total = group[0].metric.kind == "total"
    columns: list[list[tuple[float, float]]] = [[] for _ in range(count)]
    for parts in segments:
        for step, weighted, covered in _spread(parts, start_ns, span_ns, count):
            columns[step].append((weighted, covered))
    width_ns = span_ns / count
    rows = [_row(column, width_ns, is_total) for column in columns]
    times = tuple(start_ns + span_ns * (step + 1) // count for step in range(count))
    return Overview(times, *(tuple(row[place] for row in rows) for place in range(4)))


def _value(metric: PluginMetric, reading: float | int, interval_ns: int) -> Value:
    if not is_value(reading):
        return None
    if metric.kind != "rate":
        return reading
    if interval_ns <= 0:
        return None
    return reading * NS_PER_S / interval_ns * (100 if metric.units == "%" else 1)


def _segments(series: MetricSeries) -> list[tuple[int, int, float]]:
    """(from, to, value) of each reading that has a value; one that covers no time counts as a moment."""
    return [
        (time - max(1, interval), time, value)
        for time, interval, value in zip(series.times_ns, series.intervals_ns, series.values)
        if value is not None
    ]


def _typical_ns(group: Sequence[MetricSeries]) -> int:
    intervals = [interval for series in group for interval in series.intervals_ns if interval]
    if not intervals:
        return 1
    from statistics import median  # brings half of the standard library's numbers with it

    return max(1, round(median(intervals)))


def _spread(parts: Sequence[tuple[int, int, float]], start_ns: int, span_ns: int, count: int) -> list[tuple[int, float, float]]:
    """(step, value times time, time) of each step that the segments of one process touch."""
    sums: dict[int, list[float]] = {}
    for begin, end, value in parts:
        first, last = (begin - start_ns) * count // span_ns, max(0, (end - start_ns) * count - 1) // span_ns
        for step in range(first, min(last, count - 1) + 1):
            low, high = start_ns + step * span_ns / count, start_ns + (step + 1) * span_ns / count
            covered = min(end, high) - max(begin, low)
            if covered > 0:
                sum_ = sums.setdefault(step, [0.0, 0.0])
                sum_[0] += value * covered
                sum_[1] += covered
    return [(step, weighted, covered) for step, (weighted, covered) in sorted(sums.items())]


def _row(column: Sequence[tuple[float, float]], width_ns: float, is_total: bool) -> tuple[Value, Value, Value, Value]:
    means = [mean for weighted, covered in column if not isnan(mean := weighted / covered)]
    if not means:
        return None, None, None, None
    total = total_of(means) if is_total else total_of(weighted for weighted, _ in column) / width_ns
    return min(means), known_or_none(total_of(means) / len(means)), max(means), known_or_none(total)


def sparkline(values: Sequence[Value]) -> str:
    """The values as a line of eight heights from 0 (or the least, below 0) to the greatest; a blank where there is none."""
    known = [value for value in values if value is not None and not isinf(value)]
    low, high = min([0, *known]), max([0, *known])
    return "".join(_bar(value, low, high) for value in values)


def _bar(value: Value, low: float, high: float) -> str:
    if value is None:
        return " "
    if isinf(value):
        return "█" if value > 0 else "▁"
    return "▁▂▃▄▅▆▇█"[min(7, int(8 * (value - low) / (high - low)))] if high > low else "▁"

"""thinning -- fewer values over time, where there are very many processes: neighbouring readings of a metric as one, and fewer periodic sample points

What a metric gave in all is the same afterwards, and so is its mean; its least and greatest value are those of longer intervals. Sample points are
what was used up to a moment: without one, the difference from the one before it to the next is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collector.experiment.events import Metric, Sample
from collector.experiment.records import MetricRecord, row_of, split_metric
from collector.format import SampleCause
from collector.profile.metric_series import is_value


def thin_readings(readings: Sequence[Metric], kind: str, most: int) -> list[Metric]:
    """At most so many readings of a metric; `kind` is that of `PluginMetric`."""
    if len(readings) <= most:
        return list(readings)
    return [_joined(readings[len(readings) * part // most : len(readings) * (part + 1) // most], kind) for part in range(most)]


def thin_rows(rows: Sequence[MetricRecord], kinds: Mapping[int, str], most: int) -> list[MetricRecord]:
    """The same of all metrics of a log, of which `kinds` are those that it defines; each row is then of one metric."""
    readings: dict[int, list[Metric]] = {}
    for row in rows:
        for reading in split_metric(row):
            readings.setdefault(reading.source or 0, []).append(reading)
    return [row_of(reading) for source, kind in kinds.items() for reading in thin_readings(readings.get(source, ()), kind, most)]


def _joined(readings: Sequence[Metric], kind: str) -> Metric:
    if len(readings) == 1:
        return readings[0]
    good = [(reading.value, reading.interval_ns or 0) for reading in readings if reading.value is not None and is_value(reading.value)]
    if not good:
        return replace(readings[-1], interval_ns=sum(reading.interval_ns or 0 for reading in readings))
    time_ns = sum(interval_ns for _, interval_ns in good)
    total = sum(value for value, _ in good)
    if kind == "level":
        mean = sum(value * interval_ns for value, interval_ns in good) / time_ns if time_ns else total / len(good)
        total = round(mean) if all(type(value) is int for value, _ in good) else mean
    return replace(readings[-1], interval_ns=time_ns, value=total)


def thin_points(points: Sequence[Sample], most: int) -> list[Sample]:
    """The first and the last, all that somebody asked for, and of the others at most so many."""
    periodic = [place for place, point in enumerate(points) if point.cause is SampleCause.PERIODIC and not point.label]
    kept = set(range(len(points))) - set(periodic[1:-1])
    inner = periodic[1:-1]
    count = min(most, len(inner))
    kept.update(inner[len(inner) * part // count] for part in range(count))
    return [point for place, point in enumerate(points) if place in kept]

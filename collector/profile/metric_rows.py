"""metric_rows -- what plugins measured, as rows for Python programs, JSON and CSV: metrics, and their values over time

Times are seconds; moments are seconds since the experiment began. None is no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collector.profile.metric_groups import MetricRow
from collector.profile.metric_series import MetricSeries, Value, summarise, total_units
from collector.profile.model import Profile
from collector.profile.process_rows import moment
from collector.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """A metric: what its definition says, and its values in short; `total` is the increment over the whole recording (None for levels)."""

    id: str
    name: str
    description: str
    units: str
    total_units: str
    kind: str
    type: str
    colour: str
    group: str
    per_node: bool
    integral: str | None
    file: str
    processes: int
    min: Value
    mean: Value
    max: Value
    total: Value
    readings: int
    gaps: int


@dataclass(frozen=True, slots=True)
class SeriesValues:
    """A metric in one process: a time, an interval and a value for each reading.

    `pid` and `image` are None of a metric of the machine that the launcher read, or several processes one after the other.
    """

    id: str
    experiment: str
    pid: int | None
    image: int | None
    min: Value
    mean: Value
    max: Value
    total: Value
    readings: int
    gaps: int
    times: list[float]
    intervals: list[float]
    values: list[Value]


@dataclass(frozen=True, slots=True)
class OverProcesses:
    """A metric over the processes: the ends of steps of equal length, and in each the values of all that had one."""

    id: str
    times: list[float]
    min: list[Value]
    mean: list[Value]
    max: list[Value]
    sum: list[Value]


@dataclass(frozen=True, slots=True)
class MetricValues(MetricFacts):
    """A metric with its values: of one process they are its readings, of several their sum in steps of equal length."""

    times: list[float]
    values: list[Value]
    series: list[SeriesValues]


def metric_facts(group: str, row: MetricRow) -> MetricFacts:
    """A row of the view `metrics`."""
    metric, summary = row.metric, row.summary
    return MetricFacts(
        id=metric.id,
        name=metric.title,
        description=metric.description,
        units=metric.units,
        total_units=total_units(metric),
        kind=metric.kind,
        type=metric.category,
        colour=metric.colour,
        group=group,
        per_node=metric.per_node,
        integral=metric.integral or None,
        file=metric.file,
        processes=len(row.parts),
        min=summary.least,
        mean=summary.mean,
        max=summary.greatest,
        total=summary.total,
        readings=summary.count,
        gaps=summary.gap_count,
    )


def series_values(profile: Profile, series: MetricSeries) -> SeriesValues:
    """The readings of one process."""
    process = profile.processes[series.process] if series.process is not None else None
    summary = summarise(series)
    return SeriesValues(
        id=series.metric.id,
        experiment=profile.recordings[series.experiment].name,
        pid=process.pid if process else None,
        image=process.image if process else None,
        min=summary.least,
        mean=summary.mean,
        max=summary.greatest,
        total=summary.total,
        readings=summary.count,
        gaps=summary.gap_count,
        times=_moments(profile, series.experiment, series.times_ns),
        intervals=[interval / NS_PER_S for interval in series.intervals_ns],
        values=series.values,
    )


def over_processes(profile: Profile, row: MetricRow) -> OverProcesses:
    """The values of one metric in all processes."""
    known = row.overview
    times = _moments(profile, row.parts[0].series.experiment, known.times_ns)
    return OverProcesses(row.metric.id, times, list(known.least), list(known.mean), list(known.greatest), list(known.total))


def metric_values(profile: Profile, group: str, row: MetricRow) -> MetricValues:
    """One metric with all its values."""
    facts = metric_facts(group, row)
    series = [series_values(profile, part.series) for part in row.parts]
    times, values = series[0].times, series[0].values
    if len(series) > 1:
        together = over_processes(profile, row)
        times, values = together.times, together.sum
    return MetricValues(**{name: getattr(facts, name) for name in MetricFacts.__slots__}, times=times, values=values, series=series)


def _moments(profile: Profile, experiment: int, times_ns: Sequence[int]) -> list[float]:
    return [moment(profile, experiment, time_ns) for time_ns in times_ns]

"""metric_columns -- a metric's values as columns for analysis in Python: `experiment.metrics["id"]`"""

from __future__ import annotations

from dataclasses import dataclass

from collector.profile.metric_groups import MetricRow
from collector.profile.metric_series import Value
from collector.profile.model import Profile
from collector.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class ProcessValues:
    """A metric in one process: a time, an interval (both in seconds) and a value for each reading.

    `pid` and `image` are None of a metric of the machine that the launcher read, or several processes one after the other.
    """

    pid: int | None
    image: int | None
    times: list[float]
    intervals: list[float]
    values: list[Value]


@dataclass(frozen=True, slots=True)
class MetricValues:
    """A metric: `values` at `times` (seconds since the experiment began) in `units`; None where there is no value.

    Of one process they are its readings; of several their sum in steps of equal length. `kind` is rate, total or level;
    `total` the increment over the whole recording (None for levels).
    """

    id: str
    title: str
    units: str
    kind: str
    times: list[float]
    values: list[Value]
    total: Value
    processes: list[ProcessValues]


def metric_values(profile: Profile, row: MetricRow) -> MetricValues:
    """The columns of one metric."""
    processes = []
    for part in row.parts:
        process = profile.processes[part.series.process] if part.series.process is not None else None
        start_ns = profile.recordings[part.series.experiment].start_ns
        times = [(time_ns - start_ns) / NS_PER_S for time_ns in part.series.times_ns]
        intervals = [interval / NS_PER_S for interval in part.series.intervals_ns]
        pid, image = (process.pid, process.image) if process else (None, None)
        processes.append(ProcessValues(pid, image, times, intervals, part.series.values))
    times, values = processes[0].times, processes[0].values
    if len(processes) > 1:
        start_ns = profile.recordings[row.parts[0].series.experiment].start_ns
        times = [(time_ns - start_ns) / NS_PER_S for time_ns in row.overview.times_ns]
        values = list(row.overview.total)
    metric = row.metric
    return MetricValues(metric.id, metric.title, metric.units, metric.kind, times, values, row.summary.total, processes)

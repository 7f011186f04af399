"""metric_document -- the view `metrics` as one plain structure: every metric, and the whole series beside them (docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from collector.exports import document
from collector.profile.metric_groups import MetricRow, metric_groups
from collector.profile.metric_series import MetricSeries, Summary, Value, summarise, total_units
from collector.profile.model import Profile
from collector.units import NS_PER_S


def metrics(profile: Profile) -> document.Document:
    """The view `metrics`: a row a metric; beside them the values over all processes, and the readings of each process."""
    rows = [(group.title, row) for group in metric_groups(profile) for row in group.rows]
    frame = document.functions(profile, ())  # what all views share
    frame["rows"] = [_metric_row(group, row) for group, row in rows]
    frame["over_processes"] = [_overview(profile, row) for _, row in rows]
    frame["series"] = [_series(profile, series) for series in profile.series]
    return frame


def _metric_row(group: str, row: MetricRow) -> dict[str, Any]:
    metric = row.metric
    return {
        "id": metric.id,
        "name": metric.title,
        "description": metric.description,
        "units": metric.units,
        "total_units": total_units(metric),
        "kind": metric.kind,
        "type": metric.category,
        "colour": metric.colour,
        "group": group,
        "per_node": metric.per_node,
        "integral": metric.integral or None,
        "file": metric.file,
        "processes": len(row.parts),
        **_summary(row.summary),
    }


def _overview(profile: Profile, row: MetricRow) -> dict[str, Any]:
    overview = row.overview
    return {
        "id": row.metric.id,
        "times": _moments(profile, row.parts[0].series.experiment, overview.times_ns),
        "min": _plains(overview.least),
        "mean": _plains(overview.mean),
        "max": _plains(overview.greatest),
        "sum": _plains(overview.total),
    }


def _series(profile: Profile, series: MetricSeries) -> dict[str, Any]:
    process = profile.processes[series.process] if series.process is not None else None
    return {
        "id": series.metric.id,
        "experiment": profile.recordings[series.experiment].name,
        "pid": process.pid if process else None,
        "image": process.image if process else None,
        **_summary(summarise(series)),
        "times": _moments(profile, series.experiment, series.times_ns),
        "intervals": [interval / NS_PER_S for interval in series.intervals_ns],
        "values": _plains(series.values),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "min": _plain(summary.least),
        "mean": _plain(summary.mean),
        "max": _plain(summary.greatest),
        "total": _plain(summary.total),
        "readings": summary.count,
        "gaps": summary.gap_count,
    }


def _moments(profile: Profile, experiment: int, times_ns: Sequence[int]) -> list[float]:
    start_ns = profile.recordings[experiment].start_ns
    return [round((time_ns - start_ns) / NS_PER_S, 9) for time_ns in times_ns]


def _plains(values: Iterable[Value]) -> list[Any]:
    return [_plain(value) for value in values]


def _plain(value: Value) -> Any:
    """JSON has neither infinities nor NaN: they are the words inf, -inf and nan."""
    return f"{value:g}" if isinstance(value, float) and not isfinite(value) else value

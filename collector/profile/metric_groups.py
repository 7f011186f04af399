"""metric_groups -- the metrics of a profile in their groups, each over all processes and in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collector.profile.metric_series import MetricSeries, Overview, PluginMetric, Summary, Value, known_or_none, resample, summarise, total_of
from collector.profile.model import Profile
from collector.profile.node_series import join_by_node

_CATEGORY_TITLES = {
    "cpu_time": "CPU time",
    "energy": "Energy",
    "instructions": "Instructions",
    "io": "Input and output",
    "memory": "Memory",
    "mpi": "MPI",
}


@dataclass(frozen=True, slots=True)
class MetricPart:
    """A metric in one process; `steps` are its values in steps of equal length over the whole time."""

    series: MetricSeries
    summary: Summary
    steps: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric: over all processes (`summary` and `steps` are of their sum), and in each of them.

    Of a metric of the node, the parts are nodes: what several processes of one read is not added.
    """

    metric: PluginMetric
    summary: Summary
    steps: tuple[Value, ...]
    overview: Overview
    parts: tuple[MetricPart, ...]


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics that are shown together."""

    title: str
    rows: tuple[MetricRow, ...]


def metric_groups(profile: Profile, steps: int = 32) -> list[MetricGroup]:
    """All metrics; groups, and the metrics in them, in the order in which they were first defined."""
    by_metric: dict[str, list[MetricSeries]] = {}
    for series in profile.series:
        by_metric.setdefault(series.metric.id, []).append(series)
    groups: dict[str, list[MetricRow]] = {}
    for members in by_metric.values():
        metric = members[0].metric
        title = metric.group_title or _CATEGORY_TITLES.get(metric.category, "Other")
        groups.setdefault(title, []).append(_row(members, steps))
    return [MetricGroup(title, tuple(rows)) for title, rows in groups.items()]


def _row(members: Sequence[MetricSeries], steps: int) -> MetricRow:
    if members[0].metric.per_node:
        members = join_by_node(members)
    parts = tuple(MetricPart(series, summarise(series), resample([series], steps).total) for series in members)
    if len(parts) == 1:
        return MetricRow(members[0].metric, parts[0].summary, parts[0].steps, resample(members), parts)
    overview = resample(members)
    return MetricRow(members[0].metric, _sum_up(overview, parts), resample(members, steps).total, overview, parts)


def _sum_up(overview: Overview, parts: Sequence[MetricPart]) -> Summary:
    """The summary of the sum of all processes at each time."""
    known = [value for value in overview.total if value is not None]
    totals = [part.summary.total for part in parts if part.summary.total is not None]
    count, gap_count = (sum(getattr(part.summary, name) for part in parts) for name in ("count", "gap_count"))
    if not known:
        return Summary(None, None, None, None, count, gap_count)
    total = known_or_none(total_of(totals)) if totals else None
    return Summary(min(known), known_or_none(total_of(known) / len(known)), max(known), total, count, gap_count)

"""node_series -- the readings of a metric of the node, whoever made them, as one series for each node

A metric of the node is the same thing whichever process reads it. So readings of several processes follow one another in time
and are never added: where two cover the same time, what the earlier one covers is taken from it, and of the later one the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.metric_series import MetricSeries, is_value


def join_by_node(members: Sequence[MetricSeries]) -> list[MetricSeries]:
    """The series of each node, in the order in which nodes come first. A joined series belongs to no process."""
    nodes: dict[str, list[MetricSeries]] = {}
    for series in members:
        nodes.setdefault(series.node, []).append(series)
    return [group[0] if len(group) == 1 else _join(group) for group in nodes.values()]


def _join(group: Sequence[MetricSeries]) -> MetricSeries:
    readings = sorted(row for series in group for row in zip(series.times_ns, series.intervals_ns, series.readings))
    is_counted = group[0].metric.kind != "level"
    rows: list[tuple[int, int, float | int]] = []
    covered_ns = 0
    for time_ns, interval_ns, reading in readings:
        left_ns = min(interval_ns, max(0, time_ns - covered_ns))
        if rows and (time_ns <= covered_ns or (is_counted and not left_ns)):
            continue
        if is_counted and left_ns < interval_ns and is_value(reading):
            reading = reading * left_ns / interval_ns
        rows.append((time_ns, left_ns, reading))
        covered_ns = time_ns
    times, intervals, values = zip(*rows)
    return group[0]._replace(process=None, times_ns=times, intervals_ns=intervals, readings=values)

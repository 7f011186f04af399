"""metrics -- what plugins measured: least, mean, greatest, total, and a line over time of each metric, in groups."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby

from collector.profile.metric_groups import MetricRow, metric_groups
from collector.profile.metric_series import MetricSeries, Summary, Value, sparkline, total_units
from collector.profile.model import Profile
from collector.reports import layout
from collector.reports.style import Style, printable
from collector.reports.table import INDENT, figure, name, table_lines
from collector.units import format_count, format_units

_STEPS, _FEW_STEPS, _WIDE_PAGE = 32, 16, 110
_PROCESSES_SHOWN = 5

COLUMNS = (
    name("Metric", least=14),
    figure("Min", rank=3),
    figure("Mean"),
    figure("Max"),
    figure("Total", rank=2),
    figure("Readings", rank=4),
    name("Over time", least=8, keep="start", rank=1),
)


def render(profile: Profile, limit: int | None, style: Style) -> str:
    """The table of metrics. Of several processes: their sum over time, then each of them, the `limit` greatest first."""
    lines = [layout.title_line(profile, "Metrics", style)]
    groups = metric_groups(profile, _STEPS if style.width >= _WIDE_PAGE else _FEW_STEPS)
    if not groups:
        return "\n".join([*lines, "", *layout.paragraph("No metrics were recorded.", style)])
    shown = _PROCESSES_SHOWN if limit is None else limit
    rows = [(group.title, cells) for group in groups for row in group.rows for cells in _cells(profile, row, shown)]
    table = table_lines(COLUMNS, [cells for _, cells in rows], style)
    heading, body = table[: len(table) - len(rows)], iter(table[len(table) - len(rows) :])
    lines += ["", *heading]
    for title, members in groupby(rows, key=lambda row: row[0]):
        lines += ["", INDENT + style.bold(printable(title)), *(next(body) for _ in members)]
    return "\n".join(lines)


def _cells(profile: Profile, row: MetricRow, shown: int) -> list[list[str]]:
    cells = [_figures(row.metric.title, row, row.summary, row.steps)]
    if len(row.parts) == 1 or row.metric.per_node:
        return cells
    parts = sorted(row.parts, key=lambda part: -_size(part.summary))
    for part in parts[: shown or None]:
        cells.append(_figures(f"  {_reader_of(profile, part.series)}", row, part.summary, part.steps))
    hidden = len(parts) - len(cells) + 1
    if hidden > 0:
        cells.append([f"  ... and {hidden:,} more", *[""] * (len(COLUMNS) - 1)])
    return cells


def _reader_of(profile: Profile, series: MetricSeries) -> str:
    """The process that read a series, or the node where the launcher did."""
    if series.process is None:
        return series.node
    process = profile.processes[series.process]
    rank = "" if process.rank is None else f"rank {process.rank}: "
    return f"{rank}{process.pid} {os.path.basename(process.executable)}"


def _size(summary: Summary) -> float:
    size = summary.total if summary.total is not None else summary.mean
    return float(size) if size is not None else float("-inf")


def _figures(title: str, row: MetricRow, summary: Summary, steps: Sequence[Value]) -> list[str]:
    units = row.metric.units
    values = [format_units(value, units) for value in (summary.least, summary.mean, summary.greatest)]
    if summary.count == 0:
        values = ["none"] * 3
    gaps = f" +{summary.gap_count:,}" if summary.gap_count else ""
    return [
        title,
        *values,
        format_units(summary.total, total_units(row.metric)),
        format_count(summary.count) + gaps,
        sparkline(steps).rstrip(),
    ]

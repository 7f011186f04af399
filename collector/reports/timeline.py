"""timeline -- the CPU use of processes or threads over time, a line of bars each."""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.metric_series import sparkline
from collector.profile.model import Profile
from collector.profile.sample_points import SampleReading, labelled_points
from collector.profile.timeline import Timeline, TimelineRow
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style, printable, shorten
from collector.reports.table import INDENT, Column, figure, name, table_lines
from collector.units import format_seconds

BARS = Column("Time", least=0)
_MARKS = "123456789abcdefghijklmnopqrstuvwxyz"
_NAME_WIDTH = 24


def step_count(style: Style) -> int:
    """How many bars a line has on this page."""
    return max(10, min(100, style.width - _NAME_WIDTH - 20))


def render(profile: Profile, chart: Timeline, selection: Selection, style: Style) -> str:
    """Processes or threads in the order in which they began; a blank is no time, a full bar the greatest use of any."""
    metric = profile.metrics[0]
    is_cpu, per_second = metric.name == "cpu", "CPUs" if metric.name == "cpu" else "a second"
    words = "CPU use" if is_cpu else printable(metric.title[:1].upper() + metric.title[1:])
    title = layout.title_line(profile, f"{words} over time", style)
    if not selection.rows:
        return "\n".join([title, "", *layout.nothing_lines(style)])
    most = max(max(row.steps) for row in selection.rows)
    labels = labelled_points(profile)[: len(_MARKS)]
    rows: list[TimelineRow] = selection.rows
    body = [[layout.amount(row.cpu, metric), f"{max(row.steps) / chart.step:.2f}", _title(row), _bars(row.steps, most)] for row in rows]
    if labels:
        body.insert(0, ["", "", "(labels)", _marks(labels, chart, len(rows[0].steps))])
    columns = (
        figure("CPU" if is_cpu else printable(metric.name), printable(metric.unit)),
        figure("Most", per_second),
        name("Thread" if rows[0].tid else "Process", least=10),
        BARS,
    )
    lines = [title, "", *table_lines(columns, body, style)]
    lines += layout.hidden_line(selection.hidden, "thread|threads" if rows[0].tid else "process|processes", style)
    lines += [shorten(printable(f"{INDENT}{mark}  {format_seconds(point.time)} s  {point.label}"), style.width) for mark, point in zip(_MARKS, labels)]
    untimed = [recording.name for recording in profile.recordings if not recording.has_times]
    if untimed:
        lines += ["", *layout.paragraph(f"The samples of {', '.join(untimed)} have no times: all are shown at the beginning.", style)]
    remark = f"Each column is {format_seconds(chart.step)} s; a full bar is {most / chart.step:.2f} {per_second}."
    remark += f" Blank is also where recording was paused: {layout.pauses_text(profile)}." if profile.pauses else ""
    return "\n".join([*lines, "", *layout.paragraph(remark, style)])



def _title(row: TimelineRow) -> str:
    rank = "" if row.rank is None else f"rank {row.rank}: "
    return f"{rank}{row.name or 'thread'} {row.tid or row.pid}"


def _bars(steps: Sequence[float], most: float) -> str:
    """A blank for no time at all, and bars up to the greatest of all rows."""
    return sparkline([*(step or None for step in steps), most])[:-1]


def _marks(labels: Sequence[SampleReading], chart: Timeline, count: int) -> str:
    marks = [" "] * count
    for mark, point in zip(_MARKS, labels):
        step = min(count - 1, int(point.time / chart.step))
        marks[step] = mark if marks[step] == " " else "+"
    return "".join(marks)

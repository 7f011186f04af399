"""threads -- what each thread used."""

from __future__ import annotations

from collector.profile.aggregate import ThreadRow, total_values
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import NS_PER_S, format_count, format_percent, format_seconds

_LOCK = figure("GIL", "%", rank=3)  # where there is one
COLUMNS = (
    figure("CPU time", "s"),
    figure("CPU time", "%"),
    figure("User", "s", rank=3),
    figure("System", "s", rank=2),
    _LOCK,
    figure("Samples", rank=1),
    figure("Began", "s", rank=5),
    figure("Wall", "s", rank=4),
    figure("Off-CPU", "s", rank=2),
    figure("Thread"),
    figure("Process", rank=1),
    name("Name", least=15),
)


def render(profile: Profile, selection: Selection, style: Style) -> str:
    """The table of threads."""
    total = total_values(profile)
    lines = [layout.title_line(profile, "Threads", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    has_lock = any(row.lock_held_s is not None for row in selection.rows)
    columns = [column for column in COLUMNS if has_lock or column is not _LOCK]
    whole = layout.whole_of(profile, total)
    places = layout.place_columns(profile)
    cells = [[*(show(row.process) for show in places.values()), *_cells(profile, row, whole, has_lock)] for row in selection.rows]
    lines += table_lines([*places, *layout.measured_columns(columns, profile)], cells, style)
    hidden = layout.summed((row.values for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "thread", style, hidden, total[0])
    return "\n".join(lines + layout.stand_in_lines(profile, style))


def _cells(profile: Profile, row: ThreadRow, whole: layout.Whole, has_lock: bool) -> list[str]:
    thread = row.thread
    recording = profile.recordings[row.process.experiment]
    return [
        *layout.time_cells(row.values[0], whole),
        format_seconds(row.values[1]),
        format_seconds(row.values[2]),
        *([format_percent(row.lock_held_s or 0.0, row.values[1] + row.values[2])] if has_lock else []),
        format_count(row.sample_count),
        *layout.other_cells(profile, row.values),
        format_seconds((thread.start_ns - recording.start_ns) / NS_PER_S),
        format_seconds(row.wall_s),
        format_seconds(row.off_cpu_s),
        str(thread.tid),
        str(row.process.pid),
        thread.name or "-",
    ]

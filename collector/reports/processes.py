"""processes -- what each process used, how it ended, and who began it."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from collector.profile.aggregate import ProcessRow, total_values
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import NS_PER_S, format_count, format_seconds, plural

COLUMNS = (
    figure("CPU time", "s"),
    figure("CPU time", "%"),
    figure("User", "s", rank=5),
    figure("System", "s", rank=4),
    figure("Samples", rank=2),
    figure("Threads", rank=3),
    figure("Began", "s", rank=6),
    figure("Wall", "s", rank=5),
    figure("Process"),
    figure("Parent", rank=3),
    name("Ended", least=6, keep="start", rank=4),
    name("Command", least=24, keep="start"),
)


def render(profile: Profile, selection: Selection, style: Style) -> str:
    """The table of processes; a process that ran several programs has a row for each."""
    total = total_values(profile)
    lines = [layout.title_line(profile, "Processes", style), ""]
    whole = layout.whole_of(profile, total)
    places = layout.place_columns(profile)
    others = layout.other_rows(profile, [row.values for row in selection.rows])
    cells = [[*(show(row.process) for show in places.values()), *_cells(profile, row, whole, other)] for row, other in zip(selection.rows, others)]
    lines += table_lines([*places, *layout.measured_columns(COLUMNS, profile)], cells, style)
    hidden = layout.summed((row.values for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "program image|program images", style, hidden, total[0])
    return "\n".join(lines + layout.stand_in_lines(profile, style) + _unrecorded_lines(profile, style))


def _unrecorded_lines(profile: Profile, style: Style) -> list[str]:
    """Descendants in which nothing was recorded, and why: those of one program and one reason together."""
    if not profile.unrecorded:
        return []
    groups = Counter((one.program or "an unknown program", one.reason) for one in profile.unrecorded)
    lines = ["", style.bold("Not recorded"), ""]
    for (program, reason), count in groups.most_common():
        who = plural(count, "process", "processes")
        lines += layout.paragraph(f"{who} of {program}{': ' if reason else ''}{reason}", style)
    return lines


def _cells(profile: Profile, row: ProcessRow, whole: layout.Whole, others: Sequence[str]) -> list[str]:
    process = row.process
    recording = profile.recordings[process.experiment]
    end_ns = process.end_ns or recording.end_ns
    return [
        *layout.time_cells(row.values[0], whole),
        format_seconds(row.values[1]),
        format_seconds(row.values[2]),
        format_count(row.sample_count),
        *others,
        format_count(row.thread_count),
        format_seconds((process.start_ns - recording.start_ns) / NS_PER_S),
        format_seconds(max(0, end_ns - process.start_ns) / NS_PER_S),
        str(process.pid),
        str(process.parent_pid or "-"),
        layout.process_ending(process),
        _command(process.executable, process.arguments),
    ]


@lru_cache(maxsize=1 << 10)  # a loop of a shell runs the same thousands of times
def _command(executable: str, arguments: tuple[str, ...]) -> str:
    """The command line, without the directory of the program."""
    program = os.path.basename(arguments[0] if arguments else executable)
    return shlex.join([program, *arguments[1:]])

"""overview -- one page for somebody who has just recorded a program."""

from __future__ import annotations

import shlex
import time

from collector.profile import aggregate
from collector.profile.call_tree import hot_path
from collector.profile.causes import describe_ending
from collector.profile.model import Profile, Recording
from collector.profile.sample_points import labelled_points
from collector.profile.views import FUNCTIONS, choose
from collector.profile.waiting import longest_waits
from collector.profile.warnings import graded_warnings
from collector.reports import hotpath, layout
from collector.reports.measured import what_is_left, what_was_measured
from collector.reports.spreads import shared_line
from collector.reports.style import Style, printable, shorten
from collector.reports.table import figure, name, table_lines
from collector.units import NS_PER_S, format_count, format_duration, format_percent, format_seconds, plural

_TOP_COUNT = 10
_WAIT_COUNT = 5
_LABEL_COUNT = 12
_MESSAGE_COUNT = 5
_COMMAND_WIDTH = 300
FUNCTION_COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    name("Function", least=32, keep="name"),
    name("Module", least=10, rank=2),
)
WAIT_COLUMNS = (
    figure("Blocked", "s"),
    figure("Blocked", "%"),
    name("For", least=10),
    name("Function", least=20),
    name("Called by", least=20, rank=1),
)
POINT_COLUMNS = (
    figure("Time", "s"),
    figure("User", "s", rank=1),
    figure("System", "s", rank=1),
    figure("Process", rank=2),
    name("Label", least=12),
)


def render(profile: Profile, limit: int | None, style: Style) -> str:
    """What ran, where, how long and with what loss; then the functions and labels worth a look."""
    lines: list[str] = []
    for recording in profile.recordings:
        lines += [style.bold(printable(recording.name)), ""]
        lines += layout.pair_lines([*_what_ran(recording), ("Ranks", _ranks(profile, recording))], style)
        lines.append("")
    lines += layout.pair_lines(what_is_left(profile) if profile.filters else what_was_measured(profile), style)
    lines += _messages(profile, style)
    lines += _top_functions(profile, limit or _TOP_COUNT, style)
    lines += _hot_path(profile, style)
    lines += _top_waits(profile, limit or _WAIT_COUNT, style)
    lines += _labels(profile, style)
    return "\n".join(lines)


def _what_ran(recording: Recording) -> list[tuple[str, str]]:
    how_long = format_duration((recording.end_ns - recording.start_ns) / NS_PER_S)
    system = " ".join(word for word in (recording.machine, recording.kernel) if word)
    where = ", ".join(
        part
        for part in (recording.host, plural(recording.cpu_count, "CPU") if recording.cpu_count else "", system)
        if part
    )
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(recording.wall_ns / NS_PER_S))
    return [
        ("Command", shorten(shlex.join(recording.command), _COMMAND_WIDTH)),
        ("Comment", _option(recording, "comment")),
        ("Ended", "" if recording.status is None else describe_ending(recording.status).removeprefix("exited ")),
        ("Where", where),
        ("When", f"{when}, for {how_long}" if recording.wall_ns else f"for {how_long}"),
    ]


def _ranks(profile: Profile, recording: Recording) -> str:
    """Of a parallel job: how many ranks on how many nodes, and how well their clocks agree."""
    own = [process for process in profile.processes if profile.recordings[process.experiment] is recording and process.rank is not None]
    if not own:
        return ""
    where = f"{len({process.rank for process in own})} on {plural(len({process.node for process in own}), 'node')}"
    if recording.clock_moved_ns is None:
        return "; ".join(filter(None, (where, shared_line(profile))))
    moved, vouched = format_seconds(recording.clock_moved_ns / NS_PER_S), recording.clock_error_ns
    how_wrong = "no time service keeps one of them" if vouched is None else f"apart by {format_seconds(vouched / NS_PER_S)} s at most, say their time services"
    return f"{where}, whose times are put together by their wall clocks: {how_wrong}; one moved by {moved} s as its ranks began"


def _option(recording: Recording, name_of_option: str) -> str:
    pairs = (option.partition("=") for option in recording.options)
    return "; ".join(value for key, _, value in pairs if key == name_of_option)


def _messages(profile: Profile, style: Style) -> list[str]:
    seen = graded_warnings(profile)
    lines: list[str] = []
    for (severity, text), count in list(seen.items())[:_MESSAGE_COUNT]:
        word = "Warning" if severity == 1 else "Error"
        lines += layout.paragraph(f"{word}: {text}" + (f" ({format_count(count)} times)" if count > 1 else ""), style)
    if len(seen) > _MESSAGE_COUNT:
        lines += layout.paragraph(f"... and {len(seen) - _MESSAGE_COUNT} more; the view `header` shows them all.", style)
    return ["", *lines] if lines else []


def _top_functions(profile: Profile, count: int, style: Style) -> list[str]:
    total = aggregate.total_values(profile)
    whole = layout.whole_of(profile, total)
    selection = choose(FUNCTIONS, profile, limit=count)
    if not selection.rows:
        return ["", *layout.nothing_lines(style)]
    body = [
        [
            *layout.time_cells(row.exclusive[0], whole),
            *layout.time_cells(row.inclusive[0], whole),
            layout.function_title(row.function),
            row.module.name,
        ]
        for row in selection.rows
        if row.exclusive[0]
    ]
    lines = ["", style.bold("Top functions"), "", *table_lines(FUNCTION_COLUMNS, body, style)]
    hidden = layout.summed((row.exclusive for row in selection.hidden), len(profile.metrics))
    lines += layout.hidden_line(selection.hidden, "function", style, hidden, whole)
    return lines + layout.few_samples_lines(profile, layout.titled(selection.rows), total, style)


def _top_waits(profile: Profile, count: int, style: Style) -> list[str]:
    """The functions in which threads waited longest, and what for mostly; nothing unless that was recorded."""
    waits = longest_waits(profile)
    if not waits:
        return []
    whole = layout.Whole(sum(wait.blocked for wait in waits), profile.metrics[0])
    body = [
        [
            format_seconds(wait.blocked),
            format_percent(wait.blocked, whole),
            wait.cause.replace("_", " "),
            layout.function_title(wait.function),
            layout.function_title(wait.caller) if wait.caller else "",
        ]
        for wait in waits[:count]
    ]
    lines = ["", style.bold("Top waits"), "", *table_lines(WAIT_COLUMNS, body, style)]
    return lines + layout.hidden_line(waits[count:], "wait", style, (sum(wait.blocked for wait in waits[count:]),), whole)


def _hot_path(profile: Profile, style: Style) -> list[str]:
    lines = hotpath.short_lines(hot_path(profile), layout.whole_of(profile, aggregate.total_values(profile)), style)
    return ["", style.bold("Hot path"), "", *lines] if lines else []


def _labels(profile: Profile, style: Style) -> list[str]:
    rows = labelled_points(profile)
    if not rows:
        return []
    body = [
        [
            format_seconds(row.time),
            "" if row.change.user is None else format_seconds(row.change.user),
            "" if row.change.system is None else format_seconds(row.change.system),
            str(row.pid),
            row.label,
        ]
        for row in rows[:_LABEL_COUNT]
    ]
    lines = ["", style.bold("Labelled samples"), "", *table_lines(POINT_COLUMNS, body, style)]
    return lines + layout.hidden_line(rows[_LABEL_COUNT:], "labelled sample", style)

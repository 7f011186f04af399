"""overview -- one page for somebody who has just recorded a program."""

from __future__ import annotations

import shlex
import time
from collections import Counter

from collector.profile import aggregate
from collector.profile.causes import DROP_CAUSES, NOT_SAMPLED, STACK_ENDS, is_finished
from collector.profile.model import Profile, Recording
from collector.profile.sample_points import labelled_points
from collector.profile.samples import sample_count
from collector.profile.views import FUNCTIONS, choose
from collector.reports import layout
from collector.reports.style import Style, printable, shorten
from collector.reports.table import figure, name, table_lines
from collector.units import (
    NS_PER_S,
    format_count,
    format_duration,
    format_percent,
    format_rate,
    format_seconds,
    plural,
)

_TOP_COUNT = 10
_LABEL_COUNT = 12
_MESSAGE_COUNT = 5
_COMMAND_WIDTH = 300
_WORTH_SAYING_S = 0.0005
_PLAUSIBLE = 1.02
"""Samples may stand for a little more than the kernel accounts for: both round."""
FUNCTION_COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    name("Function", least=32),
    name("Module", least=10, rank=2),
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
        lines += layout.pair_lines(_what_ran(recording), style)
        lines.append("")
    lines += layout.pair_lines(_what_was_measured(profile), style)
    lines += _messages(profile, style)
    lines += _top_functions(profile, limit or _TOP_COUNT, style)
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
        ("Ended", "" if recording.status is None else "with " + layout.ending(recording.status)),
        ("Where", where),
        ("When", f"{when}, for {how_long}" if recording.wall_ns else f"for {how_long}"),
    ]


def _option(recording: Recording, name_of_option: str) -> str:
    pairs = (option.partition("=") for option in recording.options)
    return "; ".join(value for key, _, value in pairs if key == name_of_option)


def _what_was_measured(profile: Profile) -> list[tuple[str, str]]:
    cpu, user, system = aggregate.total_values(profile)
    elapsed = sum(recording.end_ns - recording.start_ns for recording in profile.recordings) / NS_PER_S
    load = f", {cpu / elapsed:.2f} CPUs on average" if elapsed > 0 else ""
    threads, processes = len(profile.threads), len(profile.processes)
    coverage = _coverage(profile, cpu)
    scope = f"{plural(threads, 'thread')} of {plural(processes, 'process', 'processes')}"
    return [
        ("CPU time", f"{format_seconds(cpu)} s: {format_seconds(user)} user, {format_seconds(system)} system{load}"),
        ("Coverage" if coverage else "Unattributed", coverage or _unattributed(profile)),
        ("Samples", f"{format_count(sample_count(profile.cells))} in {scope}"),
        ("Clock", _clocks(profile)),
        ("Stacks", _stacks(profile)),
        ("Lost", _losses(profile)),
        ("Paused", _paused(profile)),
        ("Unrecorded", _unrecorded(profile)),
    ]


def _coverage(profile: Profile, cpu: float) -> str:
    """How much of what the kernel accounts for the whole run the samples stand for, and where the rest went."""
    accounts = [recording.accounted_ns for recording in profile.recordings]
    known = [account for account in accounts if account is not None]
    accounted = sum(known) / NS_PER_S
    if len(known) < len(accounts) or not accounted:
        return ""
    if cpu > accounted * _PLAUSIBLE:
        return f"the samples stand for more than the {format_seconds(accounted)} s that the kernel accounts to the command: it left processes behind that nobody waited for"
    text = f"{format_percent(cpu, accounted)} % of the {format_seconds(accounted)} s that the kernel accounts for"
    before = sum(process.unrecorded_ns for process in profile.processes) / NS_PER_S
    unseen = _unattributed_s(profile)
    parts = [
        f"{format_seconds(value)} s {where}"
        for value, where in (
            (before, "before recording began"),
            (unseen, "paused or without a sample" if profile.pauses else "without a sample"),
            (accounted - cpu - before - unseen, "elsewhere"),
        )
        if value >= _WORTH_SAYING_S
    ]
    return text + (f"; missing: {', '.join(parts)}" if parts else "")


def _unattributed_s(profile: Profile) -> float:
    return sum(thread.unattributed_ns for thread in profile.threads) / NS_PER_S


def _clocks(profile: Profile) -> str:
    rates: dict[str, int] = {}
    for process in profile.processes:
        clock = process.clock
        if clock is None:
            continue
        text = f"{clock.name} at {format_rate(clock.period_ns)}" if clock.name != "off" else "off"
        if clock.effective_period_ns > clock.period_ns * 1.01:
            text += f" ({format_rate(clock.effective_period_ns)} is what it delivers here)"
        rates[text] = rates.get(text, 0) + 1
    if len(rates) <= 1:
        return "".join(rates)
    return "; ".join(f"{text}: {plural(count, 'process', 'processes')}" for text, count in rates.items())


def _stacks(profile: Profile) -> str:
    ends = aggregate.stack_ends(profile)
    count = sum(row.sample_count for row in ends)
    if not count:
        return ""
    unfinished = [row for row in ends if not is_finished(row.cause)]
    missing = sum(row.sample_count for row in unfinished)
    text = f"{format_percent(count - missing, count)} % reach" if missing else "all reach"
    text += " the start of their thread"
    if missing:
        causes = ", ".join(f"{format_count(row.sample_count)} {STACK_ENDS.get(row.cause, row.cause)}" for row in unfinished)
        text += f"; unfinished: {causes}"
    unseen = sum(row.sample_count for row in ends if row.cause == NOT_SAMPLED)
    if unseen:
        text += f"; {plural(unseen, 'thread')} too short for a tick, shown under what they began with"
    return text


def _losses(profile: Profile) -> str:
    counts: dict[str, int] = {}
    for loss in profile.losses:
        counts[loss.cause] = counts.get(loss.cause, 0) + loss.count
    # A log that was cut short while its process went on to an orderly end had no room for its last words.
    open_count = sum(not process.is_closed and process.status is not None and process.status >= 0 for process in profile.processes)
    if open_count:
        return f"unknown: {plural(open_count, 'log')} could not be closed, as when the disk is full" + (f"; {_listed(counts)}" if counts else "")
    return _listed(counts) if counts else "nothing"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{format_count(count)} {DROP_CAUSES.get(cause, cause)}" for cause, count in counts.items())


def _unattributed(profile: Profile) -> str:
    missing = _unattributed_s(profile)
    if missing < _WORTH_SAYING_S:
        return ""
    return f"{format_seconds(missing)} s of CPU time that no sample stands for"


def _paused(profile: Profile) -> str:
    if not profile.pauses:
        return ""
    spans = 0
    for pause in profile.pauses:
        process = profile.processes[pause.process]
        end_ns = pause.end_ns or process.end_ns or profile.recordings[process.experiment].end_ns
        spans += max(0, end_ns - pause.start_ns)
    return f"{plural(len(profile.pauses), 'time')}, {format_duration(spans / NS_PER_S)} in all"


def _unrecorded(profile: Profile) -> str:
    if not profile.unrecorded:
        return ""
    reasons = Counter(one.reason or "nobody knows why" for one in profile.unrecorded)
    reason, count = reasons.most_common(1)[0]
    others = "" if count == len(profile.unrecorded) else f" ({format_count(count)} of them)"
    return f"{plural(len(profile.unrecorded), 'process', 'processes')}: {reason}{others}; see `processes`"


def _messages(profile: Profile, style: Style) -> list[str]:
    words = {1: "Warning", 2: "Error"}
    seen: dict[str, int] = {}
    for message in profile.messages:
        if message.severity in words:
            text = f"{words[message.severity]}: {message.text}"
            if message.subject:
                text += f" ({message.subject})"
            seen[text] = seen.get(text, 0) + message.count
    lines: list[str] = []
    for text, count in list(seen.items())[:_MESSAGE_COUNT]:
        lines += layout.paragraph(text + (f" ({format_count(count)} times)" if count > 1 else ""), style)
    if len(seen) > _MESSAGE_COUNT:
        lines += layout.paragraph(f"... and {len(seen) - _MESSAGE_COUNT} more; the view `header` shows them all.", style)
    return ["", *lines] if lines else []


def _top_functions(profile: Profile, count: int, style: Style) -> list[str]:
    whole = aggregate.total_values(profile)[0]
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
    return lines + layout.hidden_line(selection.hidden, "function", style, hidden, whole)


def _labels(profile: Profile, style: Style) -> list[str]:
    rows = labelled_points(profile)
    if not rows:
        return []
    body = [
        [
            format_seconds(row.time_s),
            "" if row.user_s is None else format_seconds(row.user_s),
            "" if row.system_s is None else format_seconds(row.system_s),
            str(row.point.pid),
            row.point.label,
        ]
        for row in rows[:_LABEL_COUNT]
    ]
    lines = ["", style.bold("Labelled samples"), "", *table_lines(POINT_COLUMNS, body, style)]
    return lines + layout.hidden_line(rows[_LABEL_COUNT:], "labelled sample", style)

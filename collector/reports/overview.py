"""overview -- one page for somebody who has just recorded a program."""

from __future__ import annotations

import shlex
import time
from collections import Counter

from collector.profile import aggregate
from collector.profile.call_tree import hot_path
from collector.profile.causes import DROP_CAUSES, GUESSED, NOT_SAMPLED, STACK_ENDS, describe_ending, exit_status, is_finished
from collector.profile.lock import held_seconds
from collector.profile.metrics import CPU_NAMES, Values, is_hidden, ratios_of
from collector.profile.model import Profile, Recording
from collector.profile.sample_points import labelled_points
from collector.profile.samples import sample_count
from collector.profile.views import FUNCTIONS, choose
from collector.profile.waiting import longest_waits
from collector.profile.warnings import graded_warnings, stand_in_clause
from collector.reports import hotpath, layout
from collector.reports.spreads import shared_line
from collector.reports.style import Style, printable, shorten
from collector.reports.table import figure, name, table_lines
from collector.reports.watched import describe_watching
from collector.units import NS_PER_S, format_count, format_duration, format_percent, format_rate, format_seconds, plural

_TOP_COUNT = 10
_WAIT_COUNT = 5
_LABEL_COUNT = 12
_MESSAGE_COUNT = 5
_WAITS = 0.1  # of its time: less is hardly worth a line
_COMMAND_WIDTH = 300
_WORTH_SAYING_S = 0.0005
_PLAUSIBLE = 1.02
"""Samples may stand for a little more than the kernel accounts for: both round."""
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
    lines += layout.pair_lines(_what_is_left(profile) if profile.filters else _what_was_measured(profile), style)
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


def _what_was_measured(profile: Profile) -> list[tuple[str, str]]:
    _, user, system, *_ = total = aggregate.total_values(profile)
    cpu, waits = user + system, describe_watching(profile, total)
    elapsed = sum(recording.end_ns - recording.start_ns for recording in profile.recordings) / NS_PER_S
    load = f", {cpu / elapsed:.2f} CPUs on average" if elapsed > 0 else ""
    coverage = _coverage(profile, cpu)
    return [
        ("CPU time", f"{format_seconds(cpu)} s: {format_seconds(user)} user, {format_seconds(system)} system{load}"),
        ("Waits" if waits else "Off-CPU", waits or _off_cpu(profile)),
        ("Metrics", _other_metrics(profile, total)),
        ("Coverage" if coverage else "Unattributed", coverage or _unattributed(profile)),
        ("Samples", f"{format_count(sample_count(profile.samples.cells()))} in {_scope(profile)}"),
        ("Clock", _clocks(profile)),
        ("Interpreter", _interpreters(profile)),
        ("Stacks", _stacks(profile)),
        ("Lost", _losses(profile)),
        ("Paused", layout.pauses_text(profile)),
        ("Unrecorded", _unrecorded(profile)),
    ]


def _what_is_left(profile: Profile) -> list[tuple[str, str]]:
    """The same of samples that were chosen: what concerns the whole recording would be wrong of them."""
    _, user, system, samples, *_ = total = aggregate.total_values(profile)
    return [
        ("Only", layout.filters_line(profile)),
        ("CPU time", f"{format_seconds(user + system)} s: {format_seconds(user)} user, {format_seconds(system)} system"),
        ("Metrics", _other_metrics(profile, total)),
        ("Samples", format_count(round(samples))),
        ("Clock", _clocks(profile)),
        ("Stacks", _stacks(profile)),
        ("Lost", _losses(profile)),
    ]


def _other_metrics(profile: Profile, total: Values) -> str:
    """What else can be asked for, with its total; of waits only those there were."""
    named = {metric.name: (metric, value) for metric, value in zip(profile.metrics, total) if metric.name not in CPU_NAMES and not is_hidden(metric.name)}
    told = [
        f"{printable(metric.name)} {layout.amount(value, metric)} {metric.unit}".rstrip()
        for metric, value in named.values()
        if value or metric.unit != "s"
    ]
    for place in ratios_of(profile.metrics):
        told.append(f"{place.ratio.name} {layout.ratio_text(place, total)}{' %' if place.ratio.is_share else ''}")
    return f"{', '.join(told)}; --metric NAME shows one by function" if told else ""


def _off_cpu(profile: Profile) -> str:
    """How long the command's first thread waited or was ready to run; of a tree of processes it mostly waits for them."""
    if len({process.identity for process in profile.processes}) != 1:
        return ""
    mains = [thread for thread in profile.threads if thread.tid == profile.processes[thread.process].pid]
    walls = [aggregate.wall_times(profile, thread) for thread in mains]
    wall, off_cpu = (sum(column) for column in zip(*walls)) if walls else (0.0, 0.0)
    if off_cpu < _WAITS * wall:
        return ""
    return f"the main thread waited, or was ready to run, for {format_seconds(off_cpu)} s ({format_percent(off_cpu, wall)} %) of its {format_seconds(wall)} s"


def _coverage(profile: Profile, cpu: float) -> str:
    """How much of what the kernel accounts for the whole run the samples stand for, and where the rest went."""
    accounts = [recording.accounted_ns for recording in profile.recordings]
    known = [account for account in accounts if account is not None]
    accounted = sum(known) / NS_PER_S
    if len(known) < len(accounts) or not accounted:
        return ""
    if cpu > accounted * _PLAUSIBLE:
        return f"samples exceed the {format_seconds(accounted)} s the kernel charged to the command: some descendants were never waited for"
    text = f"{format_percent(cpu, accounted)} % of the {format_seconds(accounted)} s that the kernel charged to the command"
    before = sum(process.unrecorded_ns for process in profile.processes) / NS_PER_S
    unseen, outside = _unattributed_s(profile), _outside_threads_s(profile)
    parts = [
        f"{format_seconds(value)} s {where}"
        for value, where in (
            (before, "before recording began"),
            (unseen, "paused or without a sample" if profile.pauses else "without a sample"),
            (outside, "in threads on their way out, or in unknown ones"),
            (accounted - cpu - before - unseen - outside, _elsewhere(profile)),
        )
        if value >= _WORTH_SAYING_S
    ]
    return text + (f"; missing: {', '.join(parts)}" if parts else "")


def _elsewhere(profile: Profile) -> str:
    """Where time may have gone that no log accounts for."""
    causes = (
        (any(process.was_terminated for process in profile.processes), "after recording was terminated"),
        (any(not process.is_closed and not process.is_running for process in profile.processes), "in processes whose log was not closed"),
        (bool(profile.unrecorded), "in programs that were not recorded"),
    )
    told = [text for is_so, text in causes if is_so]
    return f"elsewhere ({' or '.join(told)})" if told else "elsewhere"


def _outside_threads_s(profile: Profile) -> float:
    """What processes used beyond the accounts of their threads: ending a thread takes time after its account was read.

    Only of first programs: the thread that goes on after an exec brings its account along, the others do not.
    """
    sums = [0] * len(profile.processes)
    for thread in profile.threads:
        sums[thread.process] += (thread.user_ns or 0) + (thread.system_ns or 0)
    spent = (
        (process.user_ns or 0) + (process.system_ns or 0) + process.before_ns - own_ns
        for process, own_ns in zip(profile.processes, sums, strict=True)
        if process.image == process.first_image and process.is_closed and own_ns
    )
    return sum(max(0, ns) for ns in spent) / NS_PER_S


def _scope(profile: Profile) -> str:
    """How many threads and processes; an execve begins another image of the same process and thread."""
    processes = len({process.identity for process in profile.processes})
    owners = [(thread.tid, profile.processes[thread.process]) for thread in profile.threads]
    threads = sum(tid != process.pid for tid, process in owners) + len({process.identity for tid, process in owners if tid == process.pid})
    text = f"{plural(threads, 'thread')} of {plural(processes, 'process', 'processes')}"
    images = len(profile.processes)
    return text if images == processes else f"{text} ({format_count(images)} program images)"


def _unattributed_s(profile: Profile) -> float:
    return sum(thread.unattributed_ns for thread in profile.threads) / NS_PER_S


def _clocks(profile: Profile) -> str:
    users: dict[str, set[tuple[int, str, int, int]]] = {}
    for process in profile.processes:
        clock = process.clock
        if clock is None:
            continue
        text = f"{clock.name} at {format_rate(clock.period_ns)}" if clock.period_ns else clock.name
        if clock.name == "off" and clock.detail:
            text = f"none is to be had: {clock.detail}"
        if clock.effective_period_ns > clock.period_ns * 1.01:
            text += f" ({format_rate(clock.effective_period_ns)} is what it delivers here)"
        users.setdefault(text, set()).add(process.identity)
    return _by_users(users)


def _interpreters(profile: Profile) -> str:
    users: dict[str, set[tuple[int, str, int, int]]] = {}
    for process in profile.processes:
        if process.interpreter:
            users.setdefault(process.interpreter, set()).add(process.identity)
    text = _by_users(users)
    held = held_seconds(profile)
    if not text or held is None:
        return text
    return f"{text}; its lock (GIL) was held for {format_percent(sum(held), aggregate.total_values(profile)[0])} % of the CPU time"


def _by_users(users: dict[str, set[tuple[int, str, int, int]]]) -> str:
    """What processes have, and how many of them, if it is not the same for all."""
    if len(users) <= 1:
        return "".join(users)
    return "; ".join(f"{text}: {plural(len(pids), 'process', 'processes')}" for text, pids in users.items())


def _stacks(profile: Profile) -> str:
    every = {row.cause: row for row in aggregate.stack_ends(profile)}
    unseen = every.pop(NOT_SAMPLED, None)
    return "; ".join(text for text in (_stacks_taken([*every.values()]), stand_in_clause(profile, unseen.sample_count) if unseen else "") if text)


def _stacks_taken(ends: list[aggregate.StackEndRow]) -> str:
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
    guessed = sum(row.sample_count for row in ends if row.cause == GUESSED)
    if guessed:
        text += f"; {format_percent(guessed, count)} % lead through code without unwind information, by its instructions: callers above it may be wrong"
    return text


def _losses(profile: Profile) -> str:
    counts: dict[str, int] = {}
    for loss in profile.losses:
        counts[loss.cause] = counts.get(loss.cause, 0) + loss.count
    losses = [_listed(counts)] if counts else []
    unclosed = [exit_status(process.status) for process in profile.processes if not process.is_closed and not process.is_running]
    # A process that exited by itself should have closed its log. That of a killed one lacks the counts of what it could not keep.
    exited = sum(status is not None and status >= 0 for status in unclosed)
    if exited:
        why = "because there was no space on the disk" if counts.get("no_space") else f"although {'its process' if exited == 1 else 'their processes'} exited"
        losses.insert(0, f"unknown: {plural(exited, 'log')} not closed {why}")
    if len(unclosed) > exited:
        losses = losses or ["none known"]
        losses.append(f"{plural(len(unclosed) - exited, 'log')} not closed")
    missing = sum(one.is_lost for one in profile.unrecorded)
    if missing:
        losses.append(f"{plural(missing, 'log')} missing")
    return "; ".join(losses) or "nothing"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{format_count(count)} {DROP_CAUSES.get(cause, cause)}" for cause, count in counts.items())


def _unattributed(profile: Profile) -> str:
    missing = _unattributed_s(profile)
    if missing < _WORTH_SAYING_S:
        return ""
    return f"{format_seconds(missing)} s of CPU time without samples"


def _unrecorded(profile: Profile) -> str:
    if not profile.unrecorded:
        return ""
    reasons = Counter(one.reason or "nobody knows why" for one in profile.unrecorded)
    reason, count = reasons.most_common(1)[0]
    others = "" if count == len(profile.unrecorded) else f" ({format_count(count)} of them)"
    return f"{plural(len(profile.unrecorded), 'process', 'processes')}: {reason}{others}; see `processes`"


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

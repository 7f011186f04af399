"""measured -- what was measured and what was missed, each as a word and a text: CPU time, its coverage, clocks, stacks, losses"""

from __future__ import annotations

from collections import Counter

from collector.profile import aggregate
from collector.profile.causes import DROP_CAUSES, GUESSED, NOT_SAMPLED, STACK_ENDS, exit_status, is_finished
from collector.profile.lock import held_seconds
from collector.profile.metrics import CPU_NAMES, Values, is_hidden, ratios_of
from collector.profile.model import Profile
from collector.profile.samples import sample_count
from collector.profile.warnings import stand_in_clause
from collector.reports import layout
from collector.reports.style import printable
from collector.reports.watched import describe_watching
from collector.units import NS_PER_S, format_count, format_percent, format_rate, format_seconds, plural

_WAITS = 0.1  # of its time: less is hardly worth a line
_WORTH_SAYING_S = 0.0005
_PLAUSIBLE = 1.02
"""Samples may stand for a little more than the kernel accounts for: both round."""


def what_was_measured(profile: Profile) -> list[tuple[str, str]]:
    """Of the whole recording; a text is empty where there is nothing to say."""
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


def what_is_left(profile: Profile) -> list[tuple[str, str]]:
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

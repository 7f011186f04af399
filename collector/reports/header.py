"""header -- everything an experiment says of itself before the first sample."""

from __future__ import annotations

import shlex
import time

from collector.profile.causes import DROP_CAUSES, describe_ending
from collector.profile.model import Message, Process, Profile, Recording
from collector.reports import layout
from collector.reports.style import Style, printable
from collector.units import NS_PER_S, format_bytes, format_duration, format_rate, plural


def render(profile: Profile, style: Style) -> str:
    """Each experiment with its machine and options, then its processes with their clocks, and all messages."""
    lines: list[str] = []
    for index, recording in enumerate(profile.recordings):
        if lines:
            lines.append("")
        lines += [style.bold(printable(recording.name)), ""]
        lines += layout.pair_lines(_recording_pairs(recording), style)
        for process in profile.processes:
            if process.experiment == index:
                lines += ["", style.bold(f"Process {process.pid}, image {process.image}"), ""]
                lines += layout.pair_lines(_process_pairs(process), style)
        lines += _notes(profile, index, style)
    return "\n".join(lines)


def _recording_pairs(recording: Recording) -> list[tuple[str, str]]:
    when = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(recording.wall_ns / NS_PER_S))
    return [
        ("Path", recording.path),
        ("Command", shlex.join(recording.command)),
        ("Directory", recording.directory),
        ("Ended", "" if recording.status is None else describe_ending(recording.status).removeprefix("exited ")),
        ("Began", when if recording.wall_ns else ""),
        ("Lasted", format_duration((recording.end_ns - recording.start_ns) / NS_PER_S)),
        ("Host", recording.host),
        ("Machine", recording.machine),
        ("Kernel", recording.kernel),
        ("CPUs", str(recording.cpu_count or "")),
        ("Page", format_bytes(recording.page_bytes) if recording.page_bytes else ""),
        ("Options", ", ".join(recording.options)),
        ("Recorder", recording.library_version),
        ("Format", recording.format_version),
        ("Logs", f"{plural(recording.log_count, 'log')}, {format_bytes(recording.log_bytes)}"),
    ]


def _process_pairs(process: Process) -> list[tuple[str, str]]:
    clock = process.clock
    pairs = [
        ("Program", process.executable),
        ("Arguments", shlex.join(process.arguments)),
        ("Parent", str(process.parent_pid or "")),
        ("Ended", layout.process_ending(process)),
    ]
    if clock is not None:
        rate = f"every {clock.period_ns:,} ns ({format_rate(clock.period_ns)})"
        if clock.effective_period_ns:
            rate += f", at best every {clock.effective_period_ns:,} ns ({format_rate(clock.effective_period_ns)})"
        pairs += [("Clock", f"{clock.name}, {rate}" if clock.period_ns else clock.name), ("", clock.detail)]
    return pairs


def _notes(profile: Profile, experiment: int, style: Style) -> list[str]:
    severities = ("note", "warning", "error")
    lines = [
        line
        for loss in profile.losses
        if loss.experiment == experiment
        for line in layout.paragraph(
            f"lost: {loss.count:,} {DROP_CAUSES.get(loss.cause, loss.cause)}{', ' + loss.where if loss.where else ''}", style
        )
    ]
    for message in profile.messages:
        if message.experiment == experiment:
            about = f" ({message.subject})" if message.subject else ""
            times = f", {message.count:,} times" if message.count > 1 else ""
            when = _first_time(profile, message) if message.count > 1 else ""
            lines += layout.paragraph(f"{severities[min(message.severity, 2)]}: {message.text}{about}{times}{when}", style)
    return ["", style.bold("Losses and messages"), "", *lines] if lines else []


def _first_time(profile: Profile, message: Message) -> str:
    if message.time_ns is None:
        return ""
    start_ns = profile.recordings[message.experiment].start_ns
    return f", first after {format_duration(max(0, message.time_ns - start_ns) / NS_PER_S)}"

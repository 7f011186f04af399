"""live -- what a running program does, on one screen or in one line"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Final

from collector.profile.causes import DROP_CAUSES, describe_ending
from collector.profile.live_totals import LiveTotals
from collector.profile.model import Profile
from collector.reports.style import Style, printable, shorten
from collector.reports.table import figure, name, table_lines
from collector.units import format_duration, format_percent, format_seconds, format_units, plural

VIEWS: Final = {"f": "functions", "t": "threads", "m": "metrics", "l": "log"}
"""By the keys that choose them."""

_FUNCTION_COLUMNS: Final = (
    figure("Recent", "%"), figure("Recent incl.", "%", rank=1), figure("In all", "s"), figure("In all", "%", rank=2),
    figure("In all incl.", "s", rank=4), figure("In all incl.", "%", rank=3), name("Function", good=30, keep="name"), name("Module", rank=5),
)  # fmt: skip
_THREAD_COLUMNS: Final = (
    figure("Recent", "%"), figure("In all", "s"), figure("Thread", rank=1), figure("Process", rank=2),
    name("Name"), name("Program", rank=3), name("", least=5, rank=4),
)  # fmt: skip
_LINE_FUNCTIONS: Final = 4
_LINE_NAME: Final = 48
_LOW: Final = 10


@dataclass(frozen=True, slots=True)
class Choice:
    """What is shown: a view, ordered by inclusive time or not, of the last seconds or of all; `note` is said at the bottom."""

    view: str = "functions"
    is_inclusive: bool = False
    is_recent: bool = True
    is_paused: bool = False
    is_over: bool = False
    note: str = ""


def screen(totals: LiveTotals, choice: Choice, width: int, height: int) -> list[str]:
    """Exactly so many lines: what runs, the view, the note if there is one, the keys. In a low window each has less."""
    profile = totals.profile
    if profile is None:
        lines = [choice.note or "Nothing is recorded yet.", *[""] * max(0, height - 2), _keys(choice, width)]
        return [shorten(line, width, "start") for line in lines[-height:]]
    is_low = height < _LOW
    state = textwrap.wrap(_state(totals, profile, choice.is_over), width, max_lines=1 if is_low else 2, placeholder="…")
    head = [_what(profile), *state, *([] if is_low else [""])]
    foot = [*([choice.note] if choice.note and not is_low else []), _keys(choice, width)]
    room = max(0, height - len(head) - len(foot))
    body = _BODIES[choice.view](totals, choice, Style(max(20, width)), room)[:room]
    lines = [*head, *body, *[""] * (room - len(body)), *foot]
    return [shorten(line, width, "start") for line in lines[-height:]]


def _keys(choice: Choice, width: int) -> str:
    """The keys and what they choose; what is chosen stands in capitals."""
    order = "e exclusive i INCLUSIVE" if choice.is_inclusive else "e EXCLUSIVE i inclusive"
    groups = [
        " ".join(f"{key} {view.upper() if view == choice.view else view}" for key, view in VIEWS.items()),
        order if choice.view == "functions" else "",
        "s RECENT/all" if choice.is_recent else "s recent/ALL",
        "q quit",
        "space PAUSED" if choice.is_paused else "space pause",
    ]
    text = " | ".join(filter(None, groups))
    return text if len(text) <= width else " | ".join(filter(None, groups[:-1]))


def line(totals: LiveTotals) -> str:
    """One line: since when, how much CPU recently, the functions at the top, and what was lost."""
    profile = totals.profile
    if profile is None:
        return ""
    is_recent = totals.recent_s > 0  # not yet at the first look at what runs for long
    key, whole = ("recent_exclusive", totals.recent_cpu_s) if is_recent else ("exclusive", totals.cpu_s)
    rows = sorted(totals.functions(), key=lambda row: -getattr(row, key))[:_LINE_FUNCTIONS]
    top = ", ".join(f"{shorten(printable(row.short_name), _LINE_NAME)} {format_percent(getattr(row, key), whole)} %" for row in rows if getattr(row, key))
    cpus = _cpus(totals) if is_recent else totals.cpu_s / max(totals.age_s(profile), 1e-9)
    running = sum(not thread.is_over for thread in totals.threads())
    return "  ".join([f"{totals.age_s(profile):.1f} s", f"{cpus:.2f} CPUs", plural(running, "thread"), top or "no CPU time", _lost(profile)])


def _what(profile: Profile) -> str:
    return "  ".join(f"{printable(one.name)}  {printable(' '.join(one.command))}" for one in profile.recordings)


def _state(totals: LiveTotals, profile: Profile, is_over: bool) -> str:
    statuses = [one.status for one in profile.recordings if one.status is not None]
    running = not is_over and (not profile.processes or any(process.is_running for process in profile.processes))
    state = "" if running else f"; {describe_ending(statuses[0])}" if statuses else "; ended"
    alive = sum(not thread.is_over for thread in totals.threads())
    recent = f"{_cpus(totals):.2f} CPUs in the last {totals.recent_s:.{1 if totals.recent_s < 1 else 0}f} s, " if totals.recent_s and running else ""
    cpu = f"{recent}{format_seconds(totals.cpu_s)} s CPU time in all"
    return f"{format_duration(totals.age_s(profile))}: {cpu}, {plural(alive, 'thread')}, {_lost(profile)}{state}"


def _cpus(totals: LiveTotals) -> float:
    return totals.recent_cpu_s / totals.recent_s if totals.recent_s else 0.0


def _lost(profile: Profile) -> str:
    counts: dict[str, int] = {}
    for loss in profile.losses:
        counts[loss.cause] = counts.get(loss.cause, 0) + loss.count
    return ", ".join(f"{count:,} lost: {DROP_CAUSES.get(cause, cause)}" for cause, count in counts.items()) or "nothing lost"


def _functions(totals: LiveTotals, choice: Choice, style: Style, room: int) -> list[str]:
    key = ("recent_" if choice.is_recent else "") + ("inclusive" if choice.is_inclusive else "exclusive")
    rows = sorted(totals.functions(), key=lambda row: (-getattr(row, key), -row.exclusive, row.name))[: max(0, room - 2)]
    recent, whole = totals.recent_cpu_s, totals.cpu_s
    cells = [
        [format_percent(row.recent_exclusive, recent), format_percent(row.recent_inclusive, recent),
         format_seconds(row.exclusive), format_percent(row.exclusive, whole),
         format_seconds(row.inclusive), format_percent(row.inclusive, whole), row.short_name, row.module]
        for row in rows
    ]  # fmt: skip
    return table_lines(_FUNCTION_COLUMNS, cells, style) if totals.cpu_s else ["No CPU time yet."]


def _threads(totals: LiveTotals, choice: Choice, style: Style, room: int) -> list[str]:
    rows = sorted(totals.threads(), key=lambda row: (-(row.recent if choice.is_recent else row.total), -row.total, row.tid))[: max(0, room - 2)]
    cells = [
        [format_percent(row.recent, totals.recent_s), format_seconds(row.total), str(row.tid), str(row.pid),
         row.name or "-", row.program, "ended" if row.is_over else ""]
        for row in rows
    ]  # fmt: skip
    return table_lines(_THREAD_COLUMNS, cells, style)


def _metrics(totals: LiveTotals, choice: Choice, style: Style, room: int) -> list[str]:
    cells = [[row.metric.title, format_units(row.now, row.metric.units) or "-", row.metric.id] for row in totals.metrics()]
    columns = name("Metric", good=30), figure("Now"), name("Id", rank=1)
    return table_lines(columns, cells[: max(0, room - 1)], style) if cells else ["No metrics are recorded."]


def _log(totals: LiveTotals, choice: Choice, style: Style, room: int) -> list[str]:
    """Losses and what the recorder had to say."""
    profile = totals.profile
    assert profile is not None
    losses = [f"{loss.count:,} lost in {printable(loss.where)}: {DROP_CAUSES.get(loss.cause, loss.cause)}" for loss in profile.losses]
    messages = [printable(message.text) for message in profile.messages if message.severity > 0 or message.is_hint]
    return [shorten(text, style.width, "start") for text in [*losses, *messages]][-room:] or ["Nothing lost, nothing to say."]


_BODIES: Final = {"functions": _functions, "threads": _threads, "metrics": _metrics, "log": _log}

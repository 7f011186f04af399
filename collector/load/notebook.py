"""notebook -- an experiment as Jupyter and its like show a value at the end of a cell: a small table, no scripts, no colours of its own"""

from __future__ import annotations

import html
from collections.abc import Sequence

from collector.profile import aggregate
from collector.profile.causes import describe_ending
from collector.profile.model import Profile, Recording
from collector.units import NS_PER_S, format_duration, format_percent, format_seconds, plural

_ROWS = 10
_LONGEST_NAME = 200
_FIGURE = ' style="text-align: right"'
_NAME = ' style="text-align: left"'


def summary_html(profile: Profile) -> str:
    """What ran, its CPU time, and the functions with most of it. Every name is escaped."""
    functions = sorted(aggregate.functions(profile), key=lambda row: row.exclusive[0], reverse=True)
    whole = aggregate.total_values(profile)[0]
    rows = [_row(fact, _NAME) for recording in profile.recordings for fact in _facts(recording)]
    threads = f"{format_seconds(whole)} s in {plural(len(profile.threads), 'thread')} of {plural(len(profile.processes), 'process', 'processes')}"
    tables = [_table([*rows, _row(("CPU time", threads), _NAME)])]
    if functions:
        tables.append(_table([_heading(), *(_function(row, whole) for row in functions[:_ROWS])]))
    if len(functions) > _ROWS:
        left = len(functions) - _ROWS
        tables.append(f"<p>and {plural(left, 'function')} more, in <code>functions()</code></p>")
    return f"<div>{''.join(tables)}</div>"


def _facts(recording: Recording) -> list[tuple[str, str]]:
    ended = describe_ending(recording.status) if recording.status is not None else "end not seen"
    took = format_duration((recording.end_ns - recording.start_ns) / NS_PER_S)
    return [("Experiment", recording.name), ("Command", " ".join(recording.command)), ("Took", f"{took}, {ended}")]


def _heading() -> str:
    cells = "".join(f"<th{_FIGURE}>{title}</th>" for title in ("Exclusive s", "%", "Inclusive s", "%"))
    return f"<tr>{cells}<th{_NAME}>Function</th><th{_NAME}>Module</th></tr>"


def _function(row: aggregate.FunctionRow, whole: float) -> str:
    figures = [text for value in (row.exclusive[0], row.inclusive[0]) for text in (format_seconds(value), format_percent(value, whole))]
    cells = "".join(f"<td{_FIGURE}>{text}</td>" for text in figures)
    return f"<tr>{cells}<td{_NAME}>{_shown(row.function.name)}</td><td{_NAME}>{_shown(row.module.name)}</td></tr>"


def _row(texts: Sequence[str], style: str) -> str:
    return "<tr>" + f"<th{style}>{_shown(texts[0])}</th>" + "".join(f"<td{style}>{_shown(text)}</td>" for text in texts[1:]) + "</tr>"


def _table(rows: Sequence[str]) -> str:
    return f"<table>{''.join(rows)}</table>"


def _shown(text: str) -> str:
    cut = text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + "…"
    return html.escape("".join(character if character.isprintable() else "\ufffd" for character in cut))

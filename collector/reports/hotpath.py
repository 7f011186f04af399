"""hotpath -- the heaviest chain of calls, a function a line."""

from __future__ import annotations

from collector.profile.aggregate import total_values
from collector.profile.call_tree import CallNode, HotPath, steps_of
from collector.profile.model import Profile
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import format_percent, plural

COLUMNS = (
    figure("Inclusive", "s"),
    figure("Inclusive", "%"),
    figure("Exclusive", "s", rank=1),
    figure("Exclusive", "%", rank=1),
    name("Function", least=24, good=40, keep="name"),
    name("Module", least=10, rank=2),
    name("Source", least=14, keep="end", rank=3),
)
_SHORT_COLUMNS = (*COLUMNS[:2], *COLUMNS[4:6])
_TOLD = 4
_MOST_STEPS = 6
_LEAST_STEP = 0.01
"""In short: calls that differ by less of the whole are one step."""


def render(profile: Profile, path: HotPath, style: Style) -> str:
    """The chain from the start of its thread down, and where the time goes on from its end."""
    whole = layout.whole_of(profile, total_values(profile))
    lines = [layout.title_line(profile, "Hot path", style), ""]
    if not path.nodes and not path.callees:
        return "\n".join(lines + layout.nothing_lines(style))
    if not path.nodes:
        return "\n".join([*lines, *layout.paragraph(f"Nothing that a thread starts with has half of the time. {_how_it_ends(path, whole)}", style)])
    lines += table_lines(layout.measured_columns(COLUMNS, profile), [_cells(node, whole) for node in path.nodes], style)
    return "\n".join([*lines, "", *layout.paragraph(_what_it_leaves(path, whole) + _how_it_ends(path, whole), style)])


def short_lines(path: HotPath, whole: layout.Whole, style: Style) -> list[str]:
    """The path in a few lines; nothing where it says nothing."""
    steps = steps_of(path, _LEAST_STEP * whole)[-_MOST_STEPS:]
    if not steps:
        return []
    table = table_lines(_SHORT_COLUMNS, [[*layout.time_cells(node.inclusive[0], whole), *_cells(node, whole)[4:6]] for node in steps], style)
    return [*table, "", *layout.paragraph(_what_it_leaves(path, whole, _LEAST_STEP) + _how_it_ends(path, whole, _LEAST_STEP), style)]


def _what_it_leaves(path: HotPath, whole: layout.Whole, least: float = 0.0) -> str:
    """Calls that were passed by although they have nearly as much time, a sentence each; of those of less than `least` of the whole none."""
    left = [(caller, callee) for caller, callee in path.beside if callee.inclusive[0] >= least * whole]
    told = [f"{_title(callee)} {format_percent(callee.inclusive[0], whole)} %{_called_by(caller)}" for caller, callee in left]
    return f"Nearly as heavy, but not on this path: {', '.join(told)}. " if told else ""


def _called_by(caller: CallNode) -> str:
    return f" below {_title(caller)}" if caller.function else ""


def _how_it_ends(path: HotPath, whole: layout.Whole, least: float = 0.0) -> str:
    """Where the time goes on from the end of the path; callees of less than `least` of the whole are only counted."""
    if not path.callees:
        return "This is where it is spent."
    own = path.nodes[-1].exclusive[0] if path.nodes else 0.0
    parts = [f"itself {format_percent(own, whole)} %"] if path.nodes and own >= least * whole else []
    told = [node for node in path.callees[:_TOLD] if node.inclusive[0] >= least * whole]
    parts += [f"{_title(node)} {format_percent(node.inclusive[0], whole)} %" for node in told]
    more = len(path.callees) - len(told)
    if not told:
        return f"Here the time divides: {', '.join([*parts, plural(more, 'callee')])}."
    return f"Here the time divides: {', '.join(parts)}{f' and {more} more' if more else ''}."


def _title(node: CallNode) -> str:
    return node.title if node.function is None else layout.function_title(node.function)


def _cells(node: CallNode, whole: layout.Whole) -> list[str]:
    function = node.function
    return [
        *layout.time_cells(node.inclusive[0], whole),
        *(layout.time_cells(node.exclusive[0], whole) if node.exclusive[0] else ("", "")),
        _title(node),
        node.module.name if node.module else "",
        layout.place(function.file, function.line) if function else "",
    ]

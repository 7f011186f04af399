"""hotpath -- the heaviest chain of calls, a function a line."""

from __future__ import annotations

from collector.profile.aggregate import total_values
from collector.profile.call_tree import CallNode, HotPath
from collector.profile.model import Profile
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import format_percent

COLUMNS = (
    figure("Inclusive", "s"),
    figure("Inclusive", "%"),
    figure("Exclusive", "s", rank=1),
    figure("Exclusive", "%", rank=1),
    name("Function", least=24, good=40),
    name("Module", least=10, rank=2),
    name("Source", least=14, keep="end", rank=3),
)
_TOLD = 4


def render(profile: Profile, path: HotPath, style: Style) -> str:
    """The chain from the start of its thread down, and where the time goes on from its end."""
    whole = total_values(profile)[0]
    lines = [layout.title_line(profile, "Hot path", style), ""]
    if not path.nodes:
        return "\n".join(lines + layout.nothing_lines(style))
    lines += table_lines(COLUMNS, [_cells(node, whole) for node in path.nodes], style)
    last = path.nodes[-1]
    parts = [f"itself {format_percent(last.exclusive[0], whole)} %"]
    parts += [f"{_title(node)} {format_percent(node.inclusive[0], whole)} %" for node in path.callees[:_TOLD]]
    more = f" and {len(path.callees) - _TOLD} more" if len(path.callees) > _TOLD else ""
    remark = f"Here the time divides: {', '.join(parts)}{more}." if path.callees else "This is where it is spent."
    return "\n".join([*lines, "", *layout.paragraph(remark, style)])


def _title(node: CallNode) -> str:
    return node.title if node.function is None else layout.function_title(node.function)


def _cells(node: CallNode, whole: float) -> list[str]:
    function = node.function
    return [
        *layout.time_cells(node.inclusive[0], whole),
        *(layout.time_cells(node.exclusive[0], whole) if node.exclusive[0] else ("", "")),
        _title(node),
        node.module.name if node.module else "",
        layout.place(function.file, function.line) if function else "",
    ]

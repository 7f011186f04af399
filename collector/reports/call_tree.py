"""call_tree -- the program's calls drawn as a tree.

A function that is the only one called stays below its caller without a step to the right, so that a chain of
forty calls does not leave the page; the tree branches where the time does.
"""

from __future__ import annotations

from collector.profile.aggregate import total_values
from collector.profile.call_tree import CallNode
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines

COLUMNS = (
    figure("Inclusive", "s"),
    figure("Inclusive", "%"),
    figure("Samples", rank=2),
    figure("Exclusive", "s", rank=1),
    name("Call tree", least=44, keep="tree"),
    name("Module", least=10, rank=2),
)
BOTTOM_UP_COLUMNS = (
    figure("Time", "s"),
    figure("Time", "%"),
    figure("Samples", rank=2),
    name("Function and its callers", least=44, keep="tree"),
    name("Module", least=10, rank=2),
)
_DEEPEST_INDENT = 48


def render(
    profile: Profile, selection: Selection, threshold: float, style: Style, has_errors: bool = False, is_bottom_up: bool = False
) -> str:
    """The call tree, perhaps from the leaves up; what `threshold` cut off is said below it."""
    total = total_values(profile)
    whole = layout.whole_of(profile, total)
    lines = [layout.title_line(profile, "Bottom-up tree" if is_bottom_up else "Call tree", style), ""]
    if not whole:
        return "\n".join(lines + layout.nothing_lines(style))
    indents = _indents(selection.rows)
    room = min(_DEEPEST_INDENT, max(12, style.width // 4))
    body = []
    for node, indent in zip(selection.rows, indents):
        exclusive = [] if is_bottom_up else [layout.amount(node.exclusive[0], whole.metric) if node.exclusive[0] else ""]
        if has_errors and not is_bottom_up:
            exclusive.append(layout.error_cell(node.exclusive, whole))
        title = node.title if node.function is None else layout.function_title(node.function)
        module = node.module.name if node.module else ""
        inclusive = layout.figure_cells(node.inclusive, whole, has_errors)
        body.append([*inclusive, layout.sample_cell(node.inclusive), *exclusive, _clipped(indent, room) + title, module])
    columns = layout.error_columns(BOTTOM_UP_COLUMNS if is_bottom_up else COLUMNS, has_errors)
    lines += table_lines(layout.measured_columns(columns, profile, has_others=False), body, style)
    lines += layout.hidden_line(selection.hidden, "branch|branches", style)
    own = ((node.title, node.inclusive if is_bottom_up else node.exclusive) for node in selection.rows if not is_bottom_up or node.depth == 1)
    lines += layout.few_samples_lines(profile, own, total, style)
    remark = "Recursion is folded: no function stands below itself."
    if threshold:
        remark = f"Branches below {100 * threshold:g} % are not shown (--threshold 0 shows all). {remark}"
    lines += ["", *map(style.dim, layout.paragraph(remark, style))]
    return "\n".join(lines)


def _clipped(indent: str, room: int) -> str:
    """A long indent without its left part; three columns are one branch."""
    if len(indent) <= room:
        return indent
    kept = room // 3 * 3
    return "⋯ " + indent[-kept:]


def _indents(nodes: list[CallNode]) -> list[str]:
    callee_counts = [0] * len(nodes)
    for node in nodes:
        if node.parent is not None:
            callee_counts[node.parent] += 1
    seen_counts = [0] * len(nodes)
    below: list[str] = []  # what stands before the text of a node's own continuation
    indents = []
    for node in nodes:
        if node.parent is None:
            indents.append("")
            below.append("")
            continue
        seen_counts[node.parent] += 1
        before = below[node.parent]
        if callee_counts[node.parent] == 1:
            indents.append(before)
            below.append(before)
        else:
            is_last = seen_counts[node.parent] == callee_counts[node.parent]
            indents.append(before + ("└─ " if is_last else "├─ "))
            below.append(before + ("   " if is_last else "│  "))
    return indents

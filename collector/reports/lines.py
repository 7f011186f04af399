"""lines -- where the time went, source line by source line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from collector.profile.aggregate import LineRow, total_values
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines

if TYPE_CHECKING:
    from collector.profile.grouped import Group, GroupedRows

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Samples", rank=2),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    name("Line", least=20, keep="end"),
    name("Function", least=24, rank=2, good=40),
    name("Module", least=10, rank=3),
)


def render(profile: Profile, selection: Selection, style: Style, has_errors: bool = False) -> str:
    """The table of lines; code without line information is one row a function."""
    total = total_values(profile)
    lines = [layout.title_line(profile, "Lines", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    columns = layout.error_columns(COLUMNS, has_errors)
    lines += table_lines(columns, [_cells(row, total[0], has_errors) for row in selection.rows], style)
    hidden = layout.summed((row.exclusive for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "line", style, hidden, total[0])
    titles = ((layout.place(row.file, row.line) or layout.function_title(row.function), row.exclusive) for row in selection.rows)
    lines += layout.few_samples_lines(titles, total, style)
    return "\n".join(lines)


def render_grouped(profile: Profile, by: str, groups: Sequence[GroupedRows[LineRow]], limit: int, hidden: Sequence[Group], style: Style) -> str:
    """The table group by group, each with its first `limit` lines (0: all); `hidden` are groups that are not shown."""
    total = total_values(profile)
    lines = [layout.title_line(profile, f"Lines by {by}", style), ""]
    if not groups:
        return "\n".join(lines + layout.nothing_lines(style))
    grouped = []
    for one in groups:
        shown, rest = one.rows[: limit or None], one.rows[limit:] if limit else []
        left = layout.summed((row.exclusive for row in rest), len(total))
        closing = layout.hidden_line(rest, "line", style, left, total[0])
        grouped.append((_group_cells(one.group, total[0]), [_indented(row, total[0]) for row in shown], closing))
    lines += layout.group_lines(_GROUPED_COLUMNS, grouped, style)
    left = layout.summed((group.exclusive for group in hidden), len(total))
    if hidden:
        lines += ["", *layout.hidden_line(hidden, "group", style, left, total[0])]
    return "\n".join(lines)


def _cells(row: LineRow, whole: float, has_errors: bool) -> list[str]:
    return [
        *layout.figure_cells(row.exclusive, whole, has_errors),
        layout.sample_cell(row.exclusive),
        *layout.figure_cells(row.inclusive, whole, has_errors),
        layout.place(row.file, row.line) or "(no line known)",
        layout.function_title(row.function),
        row.module.name,
    ]


def _group_cells(group: Group, whole: float) -> list[str]:
    own = [*layout.time_cells(group.exclusive[0], whole), layout.sample_cell(group.exclusive)]
    return [*own, *layout.time_cells(group.inclusive[0], whole), group.title, "", ""]


def _indented(row: LineRow, whole: float) -> list[str]:
    cells = _cells(row, whole, has_errors=False)
    cells[_NAME] = f"  {cells[_NAME]}"
    return cells


_GROUPED_COLUMNS = tuple(replace(column, good=36) if column.title == "Line" else column for column in COLUMNS)
_NAME = [column.title for column in COLUMNS].index("Line")

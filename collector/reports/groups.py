"""groups -- where the time went, by what code or samples belong to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from collector.profile import over_ranks
from collector.profile.aggregate import total_values
from collector.profile.grouped import Group, GroupedRows, Row
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import functions, layout, lines as lines_text
from collector.reports.spreads import shared_lines, spread_line
from collector.reports.style import Style
from collector.reports.table import Column, figure, name, table_lines
from collector.units import format_seconds

_OF_SAMPLES = ("thread", "process", "label", "rank", "node")
_PLURALS = {"process": "processes", "category": "categories"}
_VIEWS: Final[dict[str, tuple[Sequence[Column], str, Callable[[Profile, Any, layout.Whole, bool], list[list[str]]]]]] = {
    "functions": (functions.COLUMNS, "Function", functions.columns_of),
    "lines": (tuple(column._replace(good=36) if column.title == "Line" else column for column in lines_text.COLUMNS), "Line", lines_text.columns_of),
}
"""Of views whose rows can be grouped: the columns, the one that has the titles of groups, and what makes the cells of rows, column by column."""


def render(profile: Profile, by: str, selection: Selection, style: Style, has_errors: bool = False) -> str:
    """One row a group; a thread, process or phase has no inclusive time besides its own."""
    total = total_values(profile)
    lines = [layout.title_line(profile, f"Time by {by}", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    has_inclusive = by not in _OF_SAMPLES
    own = "Exclusive" if has_inclusive else "CPU time"
    columns = [figure(own, "s"), figure(own, "%"), figure(own, "system", rank=4), figure("Samples", rank=2)]
    columns += [figure("Inclusive", "s", rank=1), figure("Inclusive", "%", rank=1)] if has_inclusive else []
    columns.append(name(by.capitalize(), least=20, keep="end" if by == "file" else "middle"))
    whole = layout.whole_of(profile, total)
    body = [[*_figures(profile, group, whole, has_errors, True, has_inclusive), group.title] for group in selection.rows]
    lines += table_lines(layout.measured_columns(layout.error_columns(columns, has_errors), profile), body, style)
    hidden = layout.summed((group.exclusive for group in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, f"{by}|{_PLURALS.get(by, by + 's')}", style, hidden, total[0])
    if by in (over_ranks.RANK, over_ranks.NODE):
        lines += ["", *layout.paragraph(spread_line(over_ranks.total_spread(profile, by), by, profile.metrics[0]), style)]
        lines += shared_lines(profile, by, style)
    return "\n".join(lines)


def render_rows(
    profile: Profile, view: str, by: str, groups: Sequence[GroupedRows[Row]], limit: int, hidden: Sequence[Group], style: Style, has_errors: bool = False
) -> str:
    """The rows of `view` group by group, the first `limit` of each (0: all); `hidden` are groups that are not shown."""
    total = total_values(profile)
    lines = [layout.title_line(profile, f"{view.capitalize()} by {by}", style), ""]
    if not groups:
        return "\n".join(lines + layout.nothing_lines(style))
    columns, titles, columns_of = _VIEWS[view]
    columns = layout.measured_columns(layout.error_columns(columns, has_errors), profile)
    whole = layout.whole_of(profile, total)
    place = [column.title for column in columns].index(titles)
    grouped = []
    for one in groups:
        shown, rest = one.rows[: limit or None], one.rows[limit:] if limit else []
        left = layout.summed((row.exclusive for row in rest), len(total))
        texts = columns_of(profile, shown, whole, has_errors)
        texts[place] = [f"  {title}" for title in texts[place]]
        own = [*_figures(profile, one.group, whole, has_errors, view == "functions"), one.group.title]
        grouped.append((own + [""] * (len(columns) - len(own)), list(map(list, zip(*texts))), layout.hidden_line(rest, view[:-1], style, left, total[0])))
    lines += layout.group_lines(columns, grouped, style)
    left = layout.summed((group.exclusive for group in hidden), len(total))
    if hidden:
        lines += ["", *layout.hidden_line(hidden, "group", style, left, total[0])]
    return "\n".join(lines)


def _figures(profile: Profile, group: Group, whole: layout.Whole, has_errors: bool, has_system: bool, has_inclusive: bool = True) -> list[str]:
    system = [format_seconds(group.exclusive[2])] if has_system else []
    inclusive = layout.figure_cells(group.inclusive, whole, has_errors) if has_inclusive else []
    counts = [layout.sample_cell(group.exclusive), *layout.other_cells(profile, group.exclusive)]
    return [*layout.figure_cells(group.exclusive, whole, has_errors), *system, *counts, *inclusive]

"""calls -- the calls by which a program came to what it spent time on, and from where."""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.aggregate import total_values
from collector.profile.category_calls import CategoryCallRow
from collector.profile.model import Profile
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name
from collector.units import format_percent

COLUMNS = (
    figure("CPU time", "s"),
    figure("CPU time", "%"),
    figure("Samples", rank=2),
    name("Call", least=24, good=36, keep="name"),
    name("Line", least=14, keep="end", rank=1),
)
_START = "(start of the stack)"


def render(profile: Profile, category: str, rows: Sequence[CategoryCallRow], limit: int | None, style: Style) -> str:
    """Each called function, and below it its callers, `limit` of each (None or 0: all)."""
    total = total_values(profile)
    lines = [layout.title_line(profile, f"Calls of {category}", style), ""]
    if not rows:
        return "\n".join(lines + layout.paragraph(f"No sample is of the category {category}.", style))
    whole = layout.whole_of(profile, total)
    grouped = []
    for called in _by_call(rows):
        called_values = layout.summed((row.values for row in called), len(total))
        shown, hidden = called[: limit or None], called[limit:] if limit else []
        own = [*layout.time_cells(called_values[0], whole), layout.sample_cell(called_values), layout.function_title(called[0].function), ""]
        rest = layout.summed((row.values for row in hidden), len(total))
        grouped.append((own, [_cells(row, whole) for row in shown], layout.hidden_line(hidden, "caller", style, rest, whole)))
    lines += layout.group_lines(layout.measured_columns(COLUMNS, profile, has_others=False), grouped, style)
    share = format_percent(sum(row.values[0] for row in rows), total[0])
    return "\n".join([*lines, "", *layout.paragraph(f"Together {share} % of the whole.", style)])


def _by_call(rows: Sequence[CategoryCallRow]) -> list[list[CategoryCallRow]]:
    """Rows of one called function together, the one with most time first."""
    found: dict[int, list[CategoryCallRow]] = {}
    for row in rows:
        found.setdefault(id(row.function), []).append(row)
    return sorted(found.values(), key=lambda called: -sum(row.values[0] for row in called))


def _cells(row: CategoryCallRow, whole: layout.Whole) -> list[str]:
    caller = layout.function_title(row.caller) if row.caller else _START
    return [*layout.time_cells(row.values[0], whole), layout.sample_cell(row.values), f"  {caller}", layout.place(row.file, row.line)]

"""lines -- where the time went, source line by source line."""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.aggregate import LineRow, total_values
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import column_lines, figure, name

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Samples", rank=2),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    name("Line", least=20, keep="end"),
    name("Function", least=24, rank=2, good=40, keep="name"),
    name("Module", least=10, rank=3),
)


def render(profile: Profile, selection: Selection, style: Style, has_errors: bool = False) -> str:
    """The table of lines; code without line information is one row a function."""
    total = total_values(profile)
    whole = layout.whole_of(profile, total)
    lines = [layout.title_line(profile, "Lines", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    columns = layout.measured_columns(layout.error_columns(COLUMNS, has_errors), profile)
    lines += column_lines(columns, columns_of(profile, selection.rows, whole, has_errors), style)
    hidden = layout.summed((row.exclusive for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "line", style, hidden, total[0])
    titles = ((layout.place(row.file, row.line) or layout.function_title(row.function), row.exclusive) for row in selection.rows)
    lines += layout.few_samples_lines(profile, titles, total, style)
    return "\n".join(lines + layout.stand_in_lines(profile, style))


def columns_of(profile: Profile, rows: Sequence[LineRow], whole: layout.Whole, has_errors: bool) -> list[list[str]]:
    """The cells of the table, column by column."""
    exclusive, inclusive = [row.exclusive for row in rows], [row.inclusive for row in rows]
    return [
        *layout.figure_columns(exclusive, whole, has_errors),
        layout.sample_column(exclusive),
        *layout.other_columns(profile, exclusive),
        *layout.figure_columns(inclusive, whole, has_errors),
        [layout.place(row.file, row.line) or "(no line known)" for row in rows],
        [layout.function_title(row.function) for row in rows],
        [row.module.name for row in rows],
    ]

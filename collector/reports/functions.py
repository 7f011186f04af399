"""functions -- where the time went, function by function."""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.aggregate import FunctionRow, total_values
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import column_lines, figure, name
from collector.units import format_amounts

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Exclusive", "system", rank=4),
    figure("Samples", rank=2),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    name("Function", least=24, good=40, keep="name"),
    name("Module", least=10, rank=2),
    name("Source", least=14, keep="end", rank=3),
)


def render(profile: Profile, selection: Selection, style: Style, has_errors: bool = False) -> str:
    """The table of functions; exclusive is the function alone, inclusive with all it called."""
    total = total_values(profile)
    whole = layout.whole_of(profile, total)
    lines = [layout.title_line(profile, "Functions", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    columns = layout.measured_columns(layout.error_columns(COLUMNS, has_errors), profile)
    lines += column_lines(columns, columns_of(profile, selection.rows, whole, has_errors), style)
    hidden = layout.summed((row.exclusive for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "function", style, hidden, total[0])
    lines += layout.few_samples_lines(profile, layout.titled(selection.rows), total, style)
    return "\n".join(lines + layout.stand_in_lines(profile, style))


def columns_of(profile: Profile, rows: Sequence[FunctionRow], whole: layout.Whole, has_errors: bool) -> list[list[str]]:
    """The cells of the table, column by column."""
    exclusive, inclusive = [row.exclusive for row in rows], [row.inclusive for row in rows]
    functions = [row.function for row in rows]
    return [
        *layout.figure_columns(exclusive, whole, has_errors),
        format_amounts([values[2] for values in exclusive], "s"),
        layout.sample_column(exclusive),
        *layout.other_columns(profile, exclusive),
        *layout.figure_columns(inclusive, whole, has_errors),
        list(map(layout.function_title, functions)),
        [row.module.name for row in rows],
        [layout.place(function.file, function.line) for function in functions],
    ]

"""lines -- where the time went, source line by source line."""

from __future__ import annotations

from collector.profile.aggregate import LineRow, total_values
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Samples", rank=2),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    name("Line", least=20, keep="end"),
    name("Function", least=24, rank=2),
    name("Module", least=10, rank=3),
)


def render(profile: Profile, selection: Selection, style: Style) -> str:
    """The table of lines; code without line information is one row a function."""
    total = total_values(profile)
    lines = [layout.title_line(profile, "Lines", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    lines += table_lines(COLUMNS, [_cells(row, total[0]) for row in selection.rows], style)
    hidden = layout.summed((row.exclusive for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "line", style, hidden, total[0])
    titles = ((layout.place(row.file, row.line) or layout.function_title(row.function), row.exclusive) for row in selection.rows)
    lines += layout.few_samples_lines(titles, total, style)
    return "\n".join(lines)


def _cells(row: LineRow, whole: float) -> list[str]:
    return [
        *layout.time_cells(row.exclusive[0], whole),
        layout.sample_cell(row.exclusive),
        *layout.time_cells(row.inclusive[0], whole),
        layout.place(row.file, row.line) or "(no line known)",
        layout.function_title(row.function),
        row.module.name,
    ]

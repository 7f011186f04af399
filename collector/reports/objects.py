"""objects -- where the time went, module by module."""

from __future__ import annotations

from collector.profile.aggregate import ObjectRow, total_values
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import format_seconds

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Exclusive", "system", rank=4),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    name("Module", least=20),
    name("File", least=20, rank=2),
    name("Build id", least=16, keep="start", rank=3),
)


def render(profile: Profile, selection: Selection, style: Style) -> str:
    """The table of modules: programs, libraries, and code without a file."""
    total = total_values(profile)
    lines = [layout.title_line(profile, "Modules", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    whole = layout.whole_of(profile, total)
    lines += table_lines(layout.measured_columns(COLUMNS, profile), [_cells(row, whole) for row in selection.rows], style)
    hidden = layout.summed((row.exclusive for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "module", style, hidden, total[0])
    return "\n".join(lines)


def _cells(row: ObjectRow, whole: layout.Whole) -> list[str]:
    return [
        *layout.time_cells(row.exclusive[0], whole),
        format_seconds(row.exclusive[2]),
        *layout.time_cells(row.inclusive[0], whole),
        row.module.name,
        row.module.path,
        row.module.build_id,
    ]

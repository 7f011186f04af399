"""pcs -- where the time went, address by address."""

from __future__ import annotations

from collector.profile.aggregate import total_values
from collector.profile.model import Profile
from collector.profile.pcs import PcRow
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Samples", rank=2),
    name("Address", least=20, keep="end"),
    name("Function", least=24, good=40, keep="name"),
    name("Line", least=14, keep="end", rank=3),
)


def render(profile: Profile, selection: Selection, style: Style) -> str:
    """The addresses at which samples were taken."""
    total = total_values(profile)
    lines = [layout.title_line(profile, "Addresses", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    whole = layout.whole_of(profile, total)
    lines += table_lines(layout.measured_columns(COLUMNS, profile, has_others=False), [_cells(row, whole) for row in selection.rows], style)
    hidden = layout.summed((row.exclusive for row in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, "address|addresses", style, hidden, total[0])
    return "\n".join(lines + layout.stand_in_lines(profile, style))


def _cells(row: PcRow, whole: layout.Whole) -> list[str]:
    return [
        *layout.time_cells(row.exclusive[0], whole),
        layout.sample_cell(row.exclusive),
        f"{row.module.name}+{row.address:#x}",
        layout.function_title(row.function),
        layout.place(row.file, row.line),
    ]

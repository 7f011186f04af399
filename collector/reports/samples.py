"""samples -- the sample points in order, each with what was used since the one before."""

from __future__ import annotations

from collector.profile.model import Profile
from collector.profile.sample_points import SampleReading
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import format_bytes, format_count, format_seconds

COLUMNS = (
    figure("Time", "s"),
    figure("User", "s", rank=1),
    figure("System", "s", rank=1),
    figure("Memory", rank=2),
    figure("Faults", rank=4),
    figure("Switches", rank=4),
    figure("Read", rank=3),
    figure("Written", rank=3),
    figure("Process", rank=2),
    name("Label", least=16),
)


def render(profile: Profile, selection: Selection, style: Style) -> str:
    """The table of sample points; what is not a moment or a size is counted since the point before."""
    lines = [layout.title_line(profile, "Sample points", style), ""]
    if not selection.rows:
        return "\n".join(lines + layout.paragraph("No sample points were recorded.", style))
    lines += table_lines(COLUMNS, [_cells(row) for row in selection.rows], style)
    lines += layout.hidden_line(selection.hidden, "sample point", style)
    return "\n".join(lines)


def _cells(row: SampleReading) -> list[str]:
    values, change = row.values, row.change
    return [
        format_seconds(row.time),
        "" if change.user is None else format_seconds(change.user),
        "" if change.system is None else format_seconds(change.system),
        _size(values.resident_bytes),
        _count(change.minor_faults, change.major_faults),
        _count(change.voluntary_switches, change.involuntary_switches),
        _size(change.read_bytes),
        _size(change.written_bytes),
        str(row.pid),
        row.label or f"({row.cause})",
    ]


def _size(value: int | None) -> str:
    return "" if value is None else format_bytes(value)


def _count(*values: int | None) -> str:
    known = [value for value in values if value is not None]
    return format_count(sum(known)) if known else ""

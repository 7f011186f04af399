"""groups -- where the time went, by what code or samples belong to."""

from __future__ import annotations

from collector.profile.aggregate import total_values
from collector.profile.grouped import Group
from collector.profile.model import Profile
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import format_seconds

_OF_SAMPLES = ("thread", "process", "label")


def render(profile: Profile, by: str, selection: Selection, style: Style) -> str:
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
    lines += table_lines(columns, [_cells(group, total[0], has_inclusive) for group in selection.rows], style)
    hidden = layout.summed((group.exclusive for group in selection.hidden), len(total))
    lines += layout.hidden_line(selection.hidden, f"{by}|{_PLURALS.get(by, by + 's')}", style, hidden, total[0])
    return "\n".join(lines)


_PLURALS = {"process": "processes", "category": "categories"}


def _cells(group: Group, whole: float, has_inclusive: bool) -> list[str]:
    cells = [*layout.time_cells(group.exclusive[0], whole), format_seconds(group.exclusive[2]), layout.sample_cell(group.exclusive)]
    return [*cells, *(layout.time_cells(group.inclusive[0], whole) if has_inclusive else ()), group.title]

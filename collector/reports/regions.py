"""regions -- the parallel regions of OpenMP: time, imbalance, waiting."""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.aggregate import total_values
from collector.profile.model import REGION_MARK, Profile
from collector.profile.regions import RegionRow
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import format_percent

COLUMNS = (
    figure("CPU time", "s"),
    figure("CPU time", "%"),
    figure("Samples", rank=3),
    figure("Threads"),
    figure("Imbalance", "%"),
    figure("Wait", "s", rank=1),
    figure("Wait", "%"),
    figure("Overhead", "s", rank=2),
    name("Function", least=16, good=40, keep="name"),
    name("Line", least=14, keep="end"),
)
_NONE = "No parallel region of OpenMP is on any stack: the program opens none, or its runtime is linked into it so that the recorder does not see them open."
_SLEEP = "Times are CPU time: a thread that sleeps while it waits, as with OMP_WAIT_POLICY=passive, has no wait here, but is missing in the time of its region."
_FEWEST = 10
_FEW = f"No imbalance is shown of work that fewer than {_FEWEST} samples saw."


def render(profile: Profile, rows: Sequence[RegionRow], limit: int | None, style: Style) -> str:
    """The first `limit` regions (None or 0: all)."""
    whole = layout.whole_of(profile, total_values(profile))
    lines = [layout.title_line(profile, "Parallel regions", style), ""]
    if not rows:
        return "\n".join(lines + layout.paragraph(_NONE, style))
    shown, hidden = rows[: limit or None], rows[limit:] if limit else []
    lines += table_lines(layout.measured_columns(COLUMNS, profile, has_others=False), [_cells(row, whole) for row in shown], style)
    lines += layout.hidden_line(hidden, "region", style)
    few = ["", *layout.paragraph(_FEW, style)] if any(not _has_imbalance(row) for row in shown) else []
    return "\n".join([*lines, "", *layout.paragraph(_SLEEP, style), *few])


def _has_imbalance(row: RegionRow) -> bool:
    """A single sample of work, beside much waiting, would be an imbalance of 100 %."""
    return layout.sample_number(row.inclusive) - layout.sample_number(row.wait) >= _FEWEST


def _cells(row: RegionRow, whole: layout.Whole) -> list[str]:
    return [
        *layout.time_cells(row.inclusive[0], whole),
        layout.sample_cell(row.inclusive),
        str(row.thread_count),
        format_percent(row.imbalance, 1.0) if _has_imbalance(row) else "-",
        *layout.time_cells(row.wait[0], layout.Whole(row.inclusive[0], whole.metric)),
        layout.amount(row.overhead[0], whole.metric),
        layout.function_title(row.function).removesuffix(REGION_MARK),
        layout.place(row.file, row.line),
    ]

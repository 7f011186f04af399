"""source -- a source file with the time of each line beside it."""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.aggregate import total_values
from collector.profile.model import Profile
from collector.profile.source_lines import SourceRow
from collector.reports import layout
from collector.reports.style import Style, printable
from collector.reports.table import figure, name, table_lines

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Inclusive", "s", rank=1),
    figure("Inclusive", "%", rank=1),
    figure("Line"),
    name("Source", least=24, keep="start"),
)
_CONTEXT_LINES = 3
_HOT_SHARE = 0.05
_GAP = ["", "", "", "", "...", ""]


def render(
    profile: Profile,
    path: str,
    text: Sequence[str],
    rows: Sequence[SourceRow],
    first: int,
    last: int,
    limit: int | None,
    style: Style,
    note: str = "",
    context: int | None = None,
) -> str:
    """Lines `first` to `last` of the file, under a note; with a limit only so many of the costliest, and with it or a `context` a few around each.

    Of lines that `text` has not, those with a time are shown.
    """
    whole = layout.whole_of(profile, total_values(profile))
    by_line = {row.line: row for row in rows}
    cells: list[list[str]] = []
    hot: set[int] = set()
    before = first - 1
    for number in _shown_lines(by_line, first, last, len(text), limit, context):
        if number != before + 1 and text:
            cells.append(_GAP)
        before = number
        row = by_line.get(number)
        if row is not None and row.exclusive[0] > _HOT_SHARE * whole:
            hot.add(len(cells))
        cells.append(_cells(row, number, text[number - 1] if number <= len(text) else "", whole))
    table = table_lines(layout.measured_columns(COLUMNS, profile), cells, style)
    heading = len(table) - len(cells)
    body = [style.bold(line) if place in hot else line for place, line in enumerate(table[heading:])]
    title = layout.title_line(profile, f"Source {printable(path)}", style, "in")
    notes = ["", *layout.paragraph(f"Note: {note}.", style)] if note else []
    return "\n".join([title, *notes, "", *table[:heading], *body])


def _shown_lines(by_line: dict[int, SourceRow], first: int, last: int, line_count: int, limit: int | None, context: int | None) -> list[int]:
    within = [row for row in by_line.values() if first <= row.line <= last]
    every = sorted({*range(first, min(last, line_count) + 1), *(row.line for row in within)})
    if not limit and context is None:
        return every
    margin = _CONTEXT_LINES if context is None else context
    costly = sorted(within, key=lambda row: (-row.exclusive[0], -row.inclusive[0]))[: limit or None]
    near = {number for row in costly for number in range(row.line - margin, row.line + margin + 1)}
    return [number for number in every if number in near]


def _cells(row: SourceRow | None, number: int, text: str, whole: layout.Whole) -> list[str]:
    source = text.expandtabs(8).rstrip()
    if row is None:
        return ["", "", "", "", str(number), source]
    return [*layout.time_cells(row.exclusive[0], whole), *layout.time_cells(row.inclusive[0], whole), str(number), source]

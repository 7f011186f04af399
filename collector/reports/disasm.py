"""disasm -- the instructions of a function with the time of each beside it, below the source line that they were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.profile.aggregate import total_values
from collector.profile.instructions import InstructionRow, Listing
from collector.profile.model import Profile
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines

COLUMNS = (
    figure("Exclusive", "s"),
    figure("Exclusive", "%"),
    figure("Inclusive", "s", rank=2),
    figure("Inclusive", "%", rank=2),
    figure("Address"),
    name("Instruction", least=24, keep="start"),
    name("Source", least=12, keep="end", rank=1),
)
Texts = Mapping[str, Sequence[str]]
"""The lines of source files, by their paths."""

_CONTEXT = 3
_HOT_SHARE = 0.05
_GAP = ["", "", "", "", "...", "", ""]


def render(
    profile: Profile, function: str, listings: Sequence[Listing], limit: int | None, style: Style, texts: Texts | None = None, context: int | None = None
) -> str:
    """Each piece of the function's code, between the source lines of `texts`.

    With a limit only so many of the costliest instructions, and with it or a `context` a few around each.
    """
    lines = [layout.title_line(profile, f"Disassembly of {function}", style, "in")]
    for listing in listings:
        lines += ["", *layout.paragraph(listing.title, style)]
        if listing.note:
            lines += layout.paragraph(listing.note, style)
        if listing.rows:
            lines += ["", *_table(profile, listing.rows, _shown(listing.rows, limit, context), style, texts or {})]
    return "\n".join(lines)


def _table(profile: Profile, rows: Sequence[InstructionRow], shown: Sequence[int], style: Style, texts: Texts) -> list[str]:
    whole = layout.whole_of(profile, total_values(profile))
    cells: list[list[str]] = []
    hot: set[int] = set()
    before, source = -1, ""
    for index in shown:
        if index != before + 1:
            cells.append(_GAP)
        before, row = index, rows[index]
        place = layout.place(row.file, row.line)
        text = _text(row, texts)
        if text and place != source:
            cells.append(["", "", "", "", "", text, place])
        if row.exclusive[0] > _HOT_SHARE * whole:
            hot.add(len(cells))
        cells.append(_cells(row, "" if place == source or text else place, whole))
        source = place or source
    table = table_lines(layout.measured_columns(COLUMNS, profile), cells, style)
    heading = len(table) - len(cells)
    return [*table[:heading], *(style.bold(line) if place in hot else line for place, line in enumerate(table[heading:]))]


def _text(row: InstructionRow, texts: Texts) -> str:
    """The source line of an instruction, without its indentation; empty if it is not known, or blank."""
    lines = texts.get(row.file or "", ())
    return " ".join(lines[row.line - 1].split()) if row.line and row.line <= len(lines) else ""


def _shown(rows: Sequence[InstructionRow], limit: int | None, context: int | None) -> list[int]:
    if not limit and context is None:
        return list(range(len(rows)))
    margin = _CONTEXT if context is None else context
    timed = [index for index, row in enumerate(rows) if any(row.inclusive)]
    costly = sorted(timed, key=lambda index: (-rows[index].exclusive[0], -rows[index].inclusive[0]))[: limit or None]
    near = {other for index in costly for other in range(index - margin, index + margin + 1)}
    return sorted(index for index in near if 0 <= index < len(rows))


def _cells(row: InstructionRow, place: str, whole: layout.Whole) -> list[str]:
    own = layout.time_cells(row.exclusive[0], whole) if any(row.exclusive) else ("", "")
    all_of_it = layout.time_cells(row.inclusive[0], whole) if any(row.inclusive) else ("", "")
    return [*own, *all_of_it, f"{row.address:x}", row.text, place]

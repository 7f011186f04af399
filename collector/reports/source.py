"""source -- a source file with the time of each line beside it."""

from __future__ import annotations

from collections.abc import Sequence

from collector.profile.aggregate import total_values
from collector.profile.model import Profile
from collector.profile.source_lines import SourceRow
from collector.reports import layout
from collector.reports.style import Style, printable, shorten
from collector.reports.table import INDENT
from collector.units import format_percent, format_seconds

_CONTEXT_LINES = 3
_HOT_SHARE = 0.05


def render(
    profile: Profile,
    path: str,
    text: Sequence[str],
    rows: Sequence[SourceRow],
    first: int,
    last: int,
    limit: int | None,
    style: Style,
) -> str:
    """Lines `first` to `last` of the file; with a limit only so many of the costliest, and a few around each."""
    whole = total_values(profile)[0]
    by_line = {row.line: row for row in rows}
    shown = _shown_lines(by_line, first, min(last, len(text)), limit)
    width = max(len("Line"), len(str(last)))
    lines = [layout.title_line(profile, f"Source {printable(path)}", style, "in"), ""]
    lines.append(style.bold(f"{INDENT}{'Exclusive':>16}  {'Inclusive':>16}  {'Line':>{width}}  Source"))
    lines.append(style.bold(f"{INDENT}{'s':>9}  {'%':>5}  {'s':>9}  {'%':>5}"))
    before = first - 1
    for number in shown:
        if number != before + 1:
            lines.append(style.dim(f"{INDENT}{'':>34}  {'...':>{width}}"))
        before = number
        lines.append(_line(by_line.get(number), number, text[number - 1], width, whole, style))
    return "\n".join(lines)


def _shown_lines(by_line: dict[int, SourceRow], first: int, last: int, limit: int | None) -> list[int]:
    if not limit:
        return list(range(first, last + 1))
    costly = sorted(by_line.values(), key=lambda row: (-row.exclusive[0], -row.inclusive[0]))[:limit]
    near = {
        number for row in costly for number in range(row.line - _CONTEXT_LINES, row.line + _CONTEXT_LINES + 1)
    }
    return sorted(number for number in near if first <= number <= last)


def _line(row: SourceRow | None, number: int, text: str, width: int, whole: float, style: Style) -> str:
    source = printable(text.expandtabs(8)).rstrip()
    room = max(16, style.width - len(INDENT) - 34 - 2 - width - 2)
    tail = f"{number:>{width}}  {shorten(source, room, 'start')}".rstrip()
    if row is None:
        return f"{INDENT}{'':>34}  {tail}"
    cells = (
        f"{format_seconds(row.exclusive[0]):>9}  {format_percent(row.exclusive[0], whole):>5}  "
        f"{format_seconds(row.inclusive[0]):>9}  {format_percent(row.inclusive[0], whole):>5}"
    )
    line = f"{INDENT}{cells}  {tail}"
    return style.bold(line) if row.exclusive[0] >= _HOT_SHARE * whole else line

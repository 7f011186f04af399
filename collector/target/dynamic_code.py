"""dynamic_code -- functions that the program made at run time and told the recorder about"""

from __future__ import annotations

import struct
from bisect import bisect_right
from functools import lru_cache

from collector.target.address_space import Mapping

_ENTRY = struct.Struct("<ii")


def line_at(function: Mapping, address: int) -> int | None:
    """The source line of an instruction of a dynamic function; None if it has no line table or begins behind it."""
    return line_in_table(function.lines, address - function.start)


def line_in_table(table: bytes, offset: int) -> int | None:
    """The same by the function's line table and the instruction's offset in it."""
    offsets, lines = _line_table(table)
    place = bisect_right(offsets, offset) - 1
    return lines[place] if place >= 0 else None


def first_line(function: Mapping) -> int | None:
    """The line of the function's first instruction, or of the first that has one."""
    lines = _line_table(function.lines)[1]
    return lines[0] if lines else None


@lru_cache(maxsize=4096)
def _line_table(data: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Offsets in rising order and the lines from each on. Offsets that fall do not rise again: the later entry is left out."""
    offsets: list[int] = []
    lines: list[int] = []
    for offset, line in _ENTRY.iter_unpack(data[: len(data) // _ENTRY.size * _ENTRY.size]):
        if not offsets or offset > offsets[-1]:
            offsets.append(offset)
            lines.append(line)
    return tuple(offsets), tuple(lines)

"""address_ranges -- the three ways in which DWARF lists the code of a unit

.debug_aranges lists it for all units at once (gcc writes it, clang does not), .debug_rnglists
(DWARF 5) and .debug_ranges (before) for one unit each.
Source: DWARF 5 sections 2.17.3 and 6.1.2; DWARF 4 section 2.17.3 for .debug_ranges.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from collector.errors import DamagedImageError
from collector.symbols.byte_cursor import ByteCursor

_HIGHEST = (1 << 64) - 1


def iter_old_ranges(data: bytes, offset: int, base: int) -> Iterator[tuple[int, int]]:
    """[low, high) of the list at `offset` of .debug_ranges, empty for entries that are no range; ends quietly where the data does."""
    rows = memoryview(data)[offset:]
    for low, high in struct.iter_unpack("<QQ", rows[:len(rows) & ~15]):
        if low == 0 == high:
            return
        if low == _HIGHEST:
            base = high
            yield 0, 0
        else:
            yield (base + low, base + high) if low < high and base + high <= _HIGHEST else (0, 0)


def iter_ranges(data: bytes, offset: int, base: int, indexed_address: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """[low, high) of the list at `offset` of .debug_rnglists, empty for entries that are no range; raises DamagedImageError."""
    cursor = ByteCursor(data, offset)
    while kind := cursor.fixed(1):
        low = high = 0
        if kind == 1:
            base = indexed_address(cursor.uleb())
        elif kind == 5:
            base = cursor.fixed(8)
        elif kind == 2:
            low, high = indexed_address(cursor.uleb()), indexed_address(cursor.uleb())
        elif kind == 3:
            low = indexed_address(cursor.uleb())
            high = low + cursor.uleb()
        elif kind == 4:
            low, high = base + cursor.uleb(), base + cursor.uleb()
        elif kind == 6:
            low, high = cursor.fixed(8), cursor.fixed(8)
        elif kind == 7:
            low = cursor.fixed(8)
            high = low + cursor.uleb()
        else:
            raise DamagedImageError(f"DWARF data has an address range of the unknown kind {kind}.")
        yield (low, high) if low < high <= _HIGHEST else (0, 0)


def read_listed_units(data: bytes) -> list[tuple[int, int, int]]:
    """[(low, high, unit offset)] of .debug_aranges; the sets before any damage."""
    found: list[tuple[int, int, int]] = []
    position = 0
    while position + 12 <= len(data):
        cursor = ByteCursor(data, position)
        length, offset_bytes = cursor.fixed(4), 4
        if length == 0xFFFFFFFF:
            length, offset_bytes = cursor.fixed(8), 8
        end = cursor.position + length
        try:
            version = cursor.fixed(2)
            unit_offset = cursor.fixed(offset_bytes)
            address_bytes, segment_bytes = cursor.fixed(1), cursor.fixed(1)
        except DamagedImageError:
            break
        if version != 2 or address_bytes != 8 or segment_bytes or end > len(data):
            break
        first = position + (cursor.position - position + 15 & ~15)
        rows = data[first:end]
        for low, size in struct.iter_unpack("<QQ", rows[:len(rows) & ~15]):
            if size and low + size <= _HIGHEST:
                found.append((low, low + size, unit_offset))
        position = end
    return found

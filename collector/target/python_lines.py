"""python_lines -- the line tables of CPython's code objects: which source line an instruction belongs to

Three encodings, by `LineEncoding`: co_lnotab up to 3.9 (Objects/lnotab_notes.txt there), co_linetable of 3.10 (PEP 626; lnotab_notes.txt) and
from 3.11 on (PEP 657; Objects/locations.md). Any bytes are decoded: in time proportional to their number, and without an error.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache

from collector.format import LineEncoding

_NO_LINE = -128  # of LINETABLE
_UNIT_BYTES = 2  # of an instruction's code, in which LOCATIONS counts
_IS_FIRST_BYTE = 0x80
_SHORT_DELTAS = {10: 0, 11: 1, 12: 2}  # of LOCATIONS, by code
_NO_COLUMNS, _LONG, _NONE = 13, 14, 15
_MOST_VARINT_BITS = 36  # a line fits

Step = tuple[int, int | None]
"""An offset in the code, and the line from there on; None: no line."""


def line_of(encoding: LineEncoding | int, table: bytes, first_line: int, offset: int) -> int | None:
    """The line of the instruction at an offset of the code; None if it has none, or if the encoding is not one of CPython's."""
    decode = _DECODERS.get(encoding)
    if decode is None:
        return None
    offsets, lines = _decoded(decode, table, first_line)
    return lines[bisect_right(offsets, offset) - 1] if offset >= 0 else None


@lru_cache(maxsize=4096)
def _decoded(decode: Callable[[bytes, int], Iterator[Step]], table: bytes, first_line: int) -> tuple[list[int], list[int | None]]:
    """Offsets, rising from 0, and the line from each on. Of several steps at an offset the last one counts."""
    offsets: list[int] = []
    lines: list[int | None] = []
    for offset, line in decode(table, first_line):
        if offsets and offset == offsets[-1]:
            lines[-1] = line
        else:
            offsets.append(offset)
            lines.append(line)
    return offsets, lines


def _lnotab(table: bytes, first_line: int) -> Iterator[Step]:
    """Pairs of bytes: how far the offset, and then the line (signed), move on."""
    offset, line = 0, first_line
    yield offset, line
    for place in range(0, len(table) - 1, 2):
        offset += table[place]
        line += _signed(table[place + 1])
        yield offset, line


def _linetable(table: bytes, first_line: int) -> Iterator[Step]:
    """Pairs of bytes: the length of a range, and by how much its line (signed) differs from the last one, or that it has none."""
    offset, line = 0, first_line
    for place in range(0, len(table) - 1, 2):
        delta = _signed(table[place + 1])
        if delta != _NO_LINE:
            line += delta
        yield offset, None if delta == _NO_LINE else line
        offset += table[place]
    yield offset, None


def _locations(table: bytes, first_line: int) -> Iterator[Step]:
    """Entries that begin with a byte of the bits 1 CCCC LLL: a code and the length of the range less one, in units. Columns are passed over."""
    offset, line = 0, first_line
    for place, byte in enumerate(table):
        if byte < _IS_FIRST_BYTE:
            continue
        code = byte >> 3 & 0xF
        if code in (_NO_COLUMNS, _LONG):
            line += _signed_varint(table, place + 1)
        line += _SHORT_DELTAS.get(code, 0)
        yield offset, None if code == _NONE else line
        offset += ((byte & 7) + 1) * _UNIT_BYTES
    yield offset, None


def _signed(byte: int) -> int:
    return byte - 256 if byte >= 128 else byte


def _signed_varint(table: bytes, place: int) -> int:
    """Six bits a byte, the lowest first, and a bit that says whether another follows; the lowest bit of the number is its sign."""
    number = shift = 0
    while place < len(table) and shift < _MOST_VARINT_BITS:
        number |= (table[place] & 0x3F) << shift
        if not table[place] & 0x40:
            break
        shift += 6
        place += 1
    return -(number >> 1) if number & 1 else number >> 1


_DECODERS: dict[int, Callable[[bytes, int], Iterator[Step]]] = {
    LineEncoding.LNOTAB: _lnotab, LineEncoding.LINETABLE: _linetable, LineEncoding.LOCATIONS: _locations
}

"""unit_entries -- the units of .debug_info, most of a program's debug information: in memory are only those that are in use

What is compressed is gone through from its beginning to its end, once for all units that are wanted. Units that are held lie where they lie
in the section, in memory that takes no more room than they do.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

from collector.errors import DamagedImageError, SymbolError
from collector.symbols.byte_cursor import ByteCursor

LEAST_UNIT_BYTES = 11
LONGEST_ROOT_ENTRY = 1 << 12
_HEADER_BYTES = 32
_HAS_CODE = (1, 4, 5)  # DW_UT_compile, DW_UT_skeleton, DW_UT_split_compile
_PIECES_AHEAD = 16
_MOST_PASSES = 4  # through what is compressed, for single units that nobody had announced


@dataclass(frozen=True, slots=True)
class UnitHeader:
    """One unit of .debug_info; offsets count from the section's start."""

    offset: int
    end: int
    entry_offset: int
    version: int
    offset_bytes: int
    abbreviations_offset: int
    may_have_code: bool = True


class UnitEntries:
    """The units of a .debug_info of `size_bytes`, whose bytes `read(offset, count)` gives, or piece by piece `iter_pieces()` if it is
    compressed. None is held at first. `work` is told of the bytes that are read to find units.
    """

    def __init__(
        self, size_bytes: int, read: Callable[[int, int], bytes], iter_pieces: Callable[[], Iterator[bytes]] | None, work: Callable[[int], None]
    ) -> None:
        self.size_bytes = size_bytes
        self.held: list[UnitHeader] = []
        """Ascending."""
        self._read = read
        self._iter_pieces = iter_pieces
        self._work = work
        self._stream: _Stream | None = None
        self._headers: list[UnitHeader] = []
        self._knows_all = self._holds_all = False
        self._pass_count = 0
        try:
            self.memory = mmap.mmap(-1, max(size_bytes, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0))
        except (OSError, OverflowError, ValueError):
            raise SymbolError(f"{size_bytes >> 20} MiB of debug information do not fit into memory.") from None
        """Bytes of the section, each at its place, as far as they are held."""

    def headers(self) -> list[UnitHeader]:
        """All units in the order of the file, up to any damage."""
        if not self._knows_all:
            self._pass_count += 1
            for _ in self.iter_wanted(lambda unit: False):
                pass
        return self._headers

    def around(self, offset: int) -> UnitHeader | None:
        """The unit that an offset lies in."""
        headers = self.headers()
        index = bisect_right(headers, offset, key=lambda unit: unit.offset) - 1
        return headers[index] if index >= 0 and offset < headers[index].end else None

    def unit_at(self, offset: int) -> UnitHeader | None:
        """The unit whose header is at an offset."""
        return parse_unit_header(self.slice(offset, _HEADER_BYTES), offset)

    def slice(self, offset: int, size_bytes: int) -> bytes:
        """Up to `size_bytes` bytes from `offset` on, of a unit that is not held as well."""
        if self._iter_pieces is None or offset >= self.size_bytes:
            return self._read(offset, size_bytes) if offset < self.size_bytes else b""
        seen = self._stream.peek(offset, size_bytes) if self._stream is not None else None
        if seen is not None:
            return seen
        unit = self._held_around(offset)
        if unit is None:
            unit = self.around(offset)
            if unit is None:
                return b""
            self.hold([unit])
        return self.memory[offset:min(offset + size_bytes, unit.end)]

    def _held_around(self, offset: int) -> UnitHeader | None:
        index = bisect_right(self.held, offset, key=lambda unit: unit.offset) - 1
        return self.held[index] if index >= 0 and offset < self.held[index].end else None

    def hold(self, units: Iterable[UnitHeader]) -> None:
        """Have these units in memory; of what is compressed all, once that has been asked for again and again."""
        wanted = {unit.offset for unit in units}.difference(unit.offset for unit in self.held)
        if not wanted:
            return
        self._pass_count += 1
        if self._iter_pieces is not None and self._pass_count > _MOST_PASSES:
            self._hold_all()
            return
        found = self.held
        self.held = []  # which nobody gives back now
        for unit in self.iter_wanted(lambda unit: unit.offset in wanted):
            found.append(unit)
            self.held = []
        self.held = sorted(found, key=lambda unit: unit.offset)

    def hold_around(self, offsets: Iterable[int]) -> bool:
        """Hold the units that these offsets lie in as well; of what is compressed all. False if that adds none."""
        missing = {unit for offset in offsets if (unit := self.around(offset)) is not None}.difference(self.held)
        if not missing:
            return False
        if self._iter_pieces is not None:
            self._hold_all()
        else:
            self.hold(missing)
        return True

    def iter_wanted(self, is_wanted: Callable[[UnitHeader], bool]) -> Iterator[UnitHeader]:
        """The units, in the order of the file, that `is_wanted` says to be so when it sees their beginning; each is held until the next is asked for."""
        if self._holds_all or self._iter_pieces is None:
            for unit in self._headers if self._knows_all else self._iter_headers(self.slice):
                if is_wanted(unit):
                    self._hold_only(unit, self._copy_to)
                    yield unit
            return
        with closing(_iter_ahead(self._iter_pieces())) as pieces:
            outer, stream = self._stream, _Stream(pieces)
            try:
                self._stream = stream
                for unit in self._iter_headers(stream.slice):
                    if is_wanted(unit):
                        self._hold_only(unit, stream.copy_to)
                        yield unit
                        self._stream = stream
            finally:
                self._stream = outer

    def _iter_headers(self, read: Callable[[int, int], bytes]) -> Iterator[UnitHeader]:
        headers: list[UnitHeader] = []
        offset = 0
        while unit := parse_unit_header(read(offset, _HEADER_BYTES + LONGEST_ROOT_ENTRY), offset):
            self._work(LEAST_UNIT_BYTES)
            headers.append(unit)
            yield unit
            offset = unit.end
        self._headers, self._knows_all = headers, True

    def _hold_only(self, unit: UnitHeader, copy: Callable[[mmap.mmap, int, int], None]) -> None:
        if self._holds_all:
            return
        for held in self.held:  # gives back their pages
            start, end = -(-held.offset // mmap.PAGESIZE) * mmap.PAGESIZE, held.end // mmap.PAGESIZE * mmap.PAGESIZE
            if end > start:
                self.memory.madvise(mmap.MADV_DONTNEED, start, end - start)
        copy(self.memory, unit.offset, min(unit.end, self.size_bytes))
        self.held = [unit]

    def _copy_to(self, memory: mmap.mmap, start: int, end: int) -> None:
        data = self.slice(start, end - start)
        memory[start:start + len(data)] = data

    def _hold_all(self) -> None:
        assert self._iter_pieces is not None
        offset = 0
        for piece in self._iter_pieces():
            end = min(offset + len(piece), self.size_bytes)
            self.memory[offset:end] = piece[:end - offset]
            offset = end
        self.held = self.headers()
        self._holds_all = True


class _Stream:
    """Bytes that come piece by piece; what lies before the last that was asked for may be forgotten. Pieces are copied where they have to be joined only."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._start = 0
        self._data = b""

    def peek(self, offset: int, size_bytes: int) -> bytes | None:
        """So many bytes from `offset` on, if they are there already."""
        start = offset - self._start
        return self._data[start:start + size_bytes] if start >= 0 and start + size_bytes <= len(self._data) else None

    def copy_to(self, memory: mmap.mmap, start: int, end: int) -> None:
        """Copy what is not forgotten of [start, end) to the same place in `memory`, and forget all before the last piece of it."""
        while start < end:
            self._go_to(start)
            part = memoryview(self._data)[start - self._start:end - self._start] if start >= self._start else b""
            if not part:
                return
            memory[start:start + len(part)] = part
            start += len(part)

    def _go_to(self, offset: int) -> None:
        while offset >= self._start + len(self._data):
            self._start += len(self._data)
            self._data = next(self._pieces, b"")
            if not self._data:
                break

    def slice(self, offset: int, size_bytes: int) -> bytes:
        """Up to `size_bytes` bytes from `offset` on; fewer at the end, nothing of what is forgotten."""
        self._go_to(offset)
        if offset < self._start:
            return b""
        parts, end = [self._data], self._start + len(self._data)
        while end < offset + size_bytes and (piece := next(self._pieces, b"")):
            parts.append(piece)
            end += len(piece)
        if len(parts) > 1:
            parts[0] = self._data[offset - self._start:]
            self._start, self._data = offset, b"".join(parts)
        return self._data[offset - self._start:offset - self._start + size_bytes]


def _iter_ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The same pieces, the next of which another thread decompresses in the meantime."""
    with ThreadPoolExecutor(1) as pool:
        coming = deque(pool.submit(next, pieces, b"") for _ in range(_PIECES_AHEAD))
        try:
            while piece := coming.popleft().result():
                coming.append(pool.submit(next, pieces, b""))
                yield piece
        finally:
            for future in coming:
                future.cancel()


def parse_unit_header(head: bytes, offset: int) -> UnitHeader | None:
    """The header that `head` begins with; None where there is none."""
    try:
        cursor = ByteCursor(head)
        length, offset_bytes = cursor.fixed(4), 4
        if length == 0xFFFFFFFF:
            length, offset_bytes = cursor.fixed(8), 8
        end = offset + cursor.position + length
        version = cursor.fixed(2)
        kind = cursor.fixed(1) if version >= 5 else 1
        if version >= 5:
            cursor.fixed(1)
        abbreviations = cursor.fixed(offset_bytes)
        if version < 5:
            cursor.fixed(1)
        if kind in (4, 5):
            cursor.fixed(8)  # the id that joins a skeleton and its .dwo file
    except DamagedImageError:
        return None
    if end < offset + LEAST_UNIT_BYTES:
        return None
    return UnitHeader(offset, end, offset + cursor.position, version, offset_bytes, abbreviations, 2 <= version <= 5 and kind in _HAS_CODE)

"""code_places -- addresses for the locations of a profile, and the records that tell what they stand for

A function's lines become pieces of imported code (docs/format.md): one for each file, and each chain of calls that it was inlined in. Within a
piece addresses are as far from each other as the profile has them. What the profile has no name for keeps its address, if it lies in a module
whose build is known: readers look it up there.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from collector.format import Kind, LineEncoding, MapAction, MapKind
from collector.importing.model import UNKNOWN, ImportedFunction, ImportedLine, ImportedLocation, ImportedMapping, ImportedModule, ImportedProfile
from collector.symbols.symbolizer import Symbolizer

_FIRST: Final = 1 << 56  # no process has memory there
_ALIGNMENT: Final = 16
_SPAN_BITS: Final = 30  # offsets of line tables have 32
_MOST_LINES: Final = 60_000  # of a record, which has to fit a frame
_MOST_LINE: Final = (1 << 31) - 1
_MOST_NAME_BYTES: Final = 65_535
_ENTRY: Final = struct.Struct("<ii")


@dataclass(slots=True, eq=False)
class _Piece:
    """Part of a function: its lines by the profile's addresses. `caller` is where the call stands that it was inlined in."""

    module: ImportedModule
    function: ImportedFunction
    file: str | None
    has_addresses: bool
    caller: tuple[_Piece, int] | None
    lines: dict[int, int | None] = field(default_factory=dict)
    least: int = 0
    greatest: int = 0
    start: int = 0

    def takes(self, given: int, line: int | None) -> bool:
        """Take an address in, if there is room for it."""
        if given in self.lines:
            return self.lines[given] == line
        if not self.lines:
            self.least = self.greatest = given
        if len(self.lines) >= _MOST_LINES:
            return False
        self.least, self.greatest = min(self.least, given), max(self.greatest, given)
        self.lines[given] = line
        return True


_Place = tuple[_Piece, int]
"""A piece, and an address of the profile."""


class CodePlaces:
    """What stands on the stacks of an experiment for the locations of a profile."""

    def __init__(self, profile: ImportedProfile) -> None:
        self._mappings = sorted((one for one in profile.mappings if one.module.build_id and one.end <= _FIRST), key=lambda one: one.start)
        self._mapping_starts = [one.start for one in self._mappings]
        self._symbolizer = Symbolizer()
        self._pieces: dict[tuple[Any, ...], list[_Piece]] = {}
        self._calls: dict[tuple[ImportedModule, ImportedLine, bool, _Place | None], _Place] = {}
        self._used_mappings: dict[ImportedMapping, int] = {}
        self._fields: dict[_Piece, list[Any]] = {}
        placed = [self._place(location) for location in profile.locations]
        start = _FIRST
        for pieces in self._pieces.values():
            for piece in pieces:
                piece.start = start
                start = (start + piece.greatest - piece.least + _ALIGNMENT) // _ALIGNMENT * _ALIGNMENT
        self._placed = placed
        self.addresses = [where if isinstance(where, int) else _address(*where) for where in placed]
        """By the number of the location."""

    def records(self, time_ns: int, locations: Iterable[int]) -> Iterator[list[Any]]:
        """Those that tell what the addresses of some locations are."""
        wanted: dict[_Piece, None] = {}
        for number in sorted(locations):
            place = self._placed[number]
            piece = None if isinstance(place, int) else place[0]
            while piece is not None and piece not in wanted:
                wanted[piece] = None
                piece = piece.caller[0] if piece.caller else None
        for mapping, bias in self._used_mappings.items():
            module = mapping.module
            yield [int(Kind.MAPPINGCHANGE), time_ns, 0, int(MapAction.INSERT), int(MapKind.OBJECT), mapping.start, mapping.end, bias, mapping.file_offset,
                   _text(module.path), module.build_id]  # fmt: skip
        for piece in wanted:
            if piece not in self._fields:
                self._fields[piece] = _fields(piece)
            yield [int(Kind.MAPPINGCHANGE), time_ns, 0, *self._fields[piece]]

    def _place(self, location: ImportedLocation) -> int | _Place:
        mapping = self._mapping_of(location)
        if mapping is not None and not location.lines and location.address is not None:
            self._used_mappings.setdefault(mapping, (mapping.start - self._elf_address(mapping, mapping.start)) % (1 << 64))
            return location.address
        lines = location.lines or (ImportedLine(ImportedFunction(UNKNOWN)),)
        given = location.address
        if mapping is not None and given is not None and os.path.isfile(mapping.module.path):
            given = self._elf_address(mapping, given)
        return self._place_lines(location.module, lines, given)

    def _place_lines(self, module: ImportedModule, lines: tuple[ImportedLine, ...], given: int | None) -> _Place:
        caller: _Place | None = None
        for line in lines[:-1]:  # of what others were inlined in there is one place, at the address of the first
            key = module, line, given is None, caller
            caller = self._calls.get(key) or self._calls.setdefault(key, self._place_line(module, line, caller, given))
        return self._place_line(module, lines[-1], caller, given)

    def _place_line(self, module: ImportedModule, where: ImportedLine, caller: _Place | None, given: int | None) -> _Place:
        function, file, line = where
        key = module, function, file, caller, None if given is None else given >> _SPAN_BITS
        pieces = self._pieces.setdefault(key, [])
        address = given if given is not None else len(pieces[-1].lines) if pieces else 0
        for piece in pieces:
            if piece.takes(address, line):
                return piece, address
        pieces.append(_Piece(module, function, file, given is not None, caller))
        pieces[-1].takes(address, line)
        return pieces[-1], address

    def _mapping_of(self, location: ImportedLocation) -> ImportedMapping | None:
        if location.address is None or not self._mappings:
            return None
        number = bisect_right(self._mapping_starts, location.address) - 1
        return self._mappings[number] if number >= 0 and location.address < self._mappings[number].end else None

    def _elf_address(self, mapping: ImportedMapping, address: int) -> int:
        offset = self._symbolizer.elf_address_of_offset(mapping.module.path, mapping.module.build_id, mapping.file_offset)
        return address - mapping.start + offset


def _address(piece: _Piece, given: int) -> int:
    return piece.start + given - piece.least


def _fields(piece: _Piece) -> list[Any]:
    """What MAPPINGCHANGE says of a piece."""
    end = _address(piece, piece.greatest) + 1
    bias = (piece.start - piece.least) % (1 << 64) if piece.has_addresses else _FIRST
    function, caller = piece.function, piece.caller
    table = bytearray()
    before: int | None = -1
    for given, line in sorted(piece.lines.items()):
        if line != before:
            table += _ENTRY.pack(given - piece.least, _line(line) or 0)
            before = line
    return [int(MapAction.INSERT), int(MapKind.IMPORTED_CODE), piece.start, end, bias, 0,
            _text(piece.module.path), piece.module.build_id, _text(function.name), None, _text(piece.file), bytes(table), b"", None, None, None, None,
            _line(function.line), int(LineEncoding.PAIRS), _text(function.file), None if caller is None else _address(*caller)]  # fmt: skip


def _line(line: int | None) -> int | None:
    return line if line is not None and 0 < line <= _MOST_LINE else None


def _text(text: str | None) -> str | None:
    """A text that readers take."""
    if text is None or len(text) * 4 <= _MOST_NAME_BYTES:
        return text
    return text.encode("utf-8", "surrogateescape")[:_MOST_NAME_BYTES].decode("utf-8", "surrogateescape")

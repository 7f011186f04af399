"""split_units -- units whose entries a compiler put into a .dwo file, or a linker's helper into a .dwp file (split DWARF)

What stays in the program is a skeleton: address ranges, the line table, the table of addresses, and an id that the other part has as well.
Source: DWARF 5 sections 3.1.3, 7.3.2 and 7.3.5; gcc's wiki, DebugFission, for DWARF 4.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collector.errors import SymbolError
from collector.symbols.archive import below
from collector.symbols.dwarf_unit import DW_AT_ADDR_BASE, DW_AT_GNU_ADDR_BASE, Bases, DwarfData, RootReader
from collector.symbols.elf_image import ElfImage, Section
from collector.symbols.unit_entries import UnitEntries, UnitHeader

_DW_AT_DWO_NAME, _DW_AT_GNU_DWO_NAME, _DW_AT_GNU_DWO_ID, _DW_AT_GNU_RANGES_BASE = 0x76, 0x2130, 0x2131, 0x2132
_DW_UT_SKELETON = b"\x04"
_OF_THE_PROGRAM = ("addr", "ranges", "line_str")
_INDEXED = {1: "info", 3: "abbrev", 6: "str_offsets", 8: "rnglists"}  # by their numbers in the index of a .dwp file
_MOST_ROWS = 1 << 24


class MissingSplitError(SymbolError):
    """The .dwo file of a unit is not found."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What the program says of a split unit."""

    name: str
    directory: str
    id: int
    bases: Bases


@dataclass(frozen=True, slots=True)
class SplitUnit:
    """Where the other part of a unit is: the file, the path that the program names, and whether the file is a .dwp file."""

    file: str
    path: str
    is_packaged: bool


class SplitData(DwarfData):
    """The sections of a .dwo file, or of one unit in a .dwp file: `parts` are its [offset, size) in those that units share."""

    def __init__(self, image: ElfImage, program: DwarfData, parts: Mapping[str, tuple[int, int]]) -> None:
        self._program = program
        self._parts = parts
        self._infos = [section for section in image.sections if section.name == ".debug_info.dwo"]  # each unit of types has its own
        self.info = self._infos[0] if self._infos else None
        super().__init__(image)
        self._choose(self.info)

    def _choose(self, info: Section | None) -> None:
        self.info = info
        data = self.whole("info")
        self.entries = UnitEntries(len(data), lambda offset, size_bytes: data[offset:offset + size_bytes], None, self.work)

    @property
    def lowest_code(self) -> int:
        """See `DwarfData`."""
        return self._program.lowest_code

    def is_code(self, elf_address: int) -> bool:
        """See `DwarfData`."""
        return self._program.is_code(elf_address)

    def _section(self, name: str) -> Section | None:
        return self.info if name == "info" else self.image.section(f".debug_{name}.dwo")

    def whole(self, name: str) -> bytes:
        """See `DwarfData`."""
        if name in _OF_THE_PROGRAM:
            return self._program.whole(name)
        data = super().whole(name)
        offset, size_bytes = self._parts.get(name, (0, len(data)))
        return data[offset:offset + size_bytes]

    def slice(self, name: str, offset: int, size_bytes: int) -> bytes:
        """See `DwarfData`."""
        return super().slice(name, offset, size_bytes) if name == "info" else self.whole(name)[offset:offset + size_bytes]

    def unit_of(self, skeleton: Skeleton) -> UnitHeader | None:
        """The unit with the skeleton's id."""
        for info in self._infos:
            self._choose(info)
            for unit in self.iter_units():
                if _id_of(self, unit) == skeleton.id:
                    return unit
        return None


def read_skeleton(dwarf: DwarfData, unit: UnitHeader) -> Skeleton | None:
    """What a unit says of its other part; None if it has none."""
    if not _may_be_skeleton(dwarf, unit):  # ranges are read with the first entry, and there may be thousands
        return None
    root = RootReader(dwarf, unit)
    name = root.text(root.values.get(_DW_AT_DWO_NAME) or root.values.get(_DW_AT_GNU_DWO_NAME))
    if not name:
        return None
    directory, unit_id = root.root.directory or "", _id_of(dwarf, unit, root)
    addresses = _number(root, DW_AT_ADDR_BASE) or _number(root, DW_AT_GNU_ADDR_BASE)
    if unit.version < 5:
        bases = Bases(addresses, 0, _number(root, _DW_AT_GNU_RANGES_BASE), root.code_base)
        return Skeleton(name, directory, unit_id, bases)
    length_bytes = 4 if unit.offset_bytes == 4 else 12
    bases = Bases(addresses, length_bytes + 4, length_bytes + 8, root.code_base)  # behind the headers of those sections
    return Skeleton(name, directory, unit_id, bases)


def _may_be_skeleton(dwarf: DwarfData, unit: UnitHeader) -> bool:
    if unit.version < 5:
        return bool(dwarf.slice("addr", 0, 1))
    return dwarf.slice("info", unit.offset + (6 if unit.offset_bytes == 4 else 14), 1) == _DW_UT_SKELETON


def _id_of(dwarf: DwarfData, unit: UnitHeader, root: RootReader | None = None) -> int:
    """What joins a skeleton and its other part: in the header, or in the first entry before DWARF 5."""
    if unit.version >= 5:
        return int.from_bytes(dwarf.slice("info", unit.entry_offset - 8, 8), "little")
    return _number(root or RootReader(dwarf, unit), _DW_AT_GNU_DWO_ID)


def _number(root: RootReader, attribute: int) -> int:
    value = root.values.get(attribute, (0, 0))[1]
    return value if isinstance(value, int) else 0


class SplitFiles:
    """The .dwo files and the .dwp file of one program; close it. `looked_at` are the paths that were tried."""

    def __init__(self, dwarf: DwarfData, debug_dirs: tuple[str, ...]) -> None:
        self.looked_at: list[str] = []
        self._dwarf = dwarf
        self._debug_dirs = debug_dirs
        self._program = dwarf.image.path.removesuffix(".debug")
        self._packages: list[ElfImage] | None = None
        self._open: ElfImage | None = None

    def close(self) -> None:
        """Close what was opened."""
        for image in (self._open, *(self._packages or ())):
            if image is not None:
                image.close()
        self._open, self._packages = None, None

    def locate(self, skeleton: Skeleton) -> SplitUnit | None:
        """Where the other part of a unit is; None if it is not there."""
        try:
            data, _ = self.find(skeleton)
        except MissingSplitError:
            return None
        return SplitUnit(data.image.path, os.path.join(skeleton.directory, skeleton.name), data.image in (self._packages or ()))

    def find(self, skeleton: Skeleton) -> tuple[SplitData, UnitHeader]:
        """The other part of a unit, until the next is asked for. MissingSplitError if it is not there."""
        for package in self._iter_packages():
            parts = _parts_of(package, skeleton.id)
            if parts:
                data = SplitData(package, self._dwarf, parts)
                unit = data.unit_of(skeleton)
                if unit is not None:
                    return data, unit
        for path in self._iter_paths(skeleton):
            image = self._try(path)
            if image is None:
                continue
            if self._open is not None:
                self._open.close()
            self._open = image
            data = SplitData(image, self._dwarf, {})
            unit = data.unit_of(skeleton)
            if unit is not None:
                return data, unit
        raise MissingSplitError(skeleton.name)

    def _iter_packages(self) -> list[ElfImage]:
        if self._packages is None:
            name = os.path.basename(self._program) + ".dwp"
            paths = [self._program + ".dwp", *(os.path.join(directory, name) for directory in self._debug_dirs)]
            self._packages = [image for path in paths if (image := self._try(path)) is not None]
        return self._packages

    def _iter_paths(self, skeleton: Skeleton) -> Iterator[str]:
        path = os.path.join(skeleton.directory, skeleton.name)
        name = os.path.basename(path)
        for directory in self._debug_dirs:
            yield below(directory, path)
            yield below(directory, skeleton.name)
            yield os.path.join(directory, name)
        if os.path.isabs(path):
            yield path
        yield os.path.join(os.path.dirname(self._program), skeleton.name)
        yield os.path.join(os.path.dirname(self._program), name)

    def _try(self, path: str) -> ElfImage | None:
        self.looked_at.append(path)
        try:
            return ElfImage(path)
        except SymbolError:
            return None


def _parts_of(image: ElfImage, unit_id: int) -> dict[str, tuple[int, int]]:
    """Where in the sections of a .dwp file the unit with that id lies: {section: (offset, size)}."""
    index = image.data(image.section(".debug_cu_index"))
    if len(index) < 16:
        return {}
    columns, rows, slots = struct.unpack_from("<III", index, 4)
    ids_at, tables_at = 16, 16 + 12 * slots
    if max(columns, rows, slots) > _MOST_ROWS or tables_at + 4 * columns * (1 + 2 * rows) > len(index):
        return {}
    try:
        slot = array("Q", index[ids_at:ids_at + 8 * slots]).index(unit_id)
    except ValueError:
        return {}
    (row,) = struct.unpack_from("<I", index, ids_at + 8 * slots + 4 * slot)
    if not 1 <= row <= rows:
        return {}
    table = struct.unpack_from(f"<{columns * (1 + 2 * rows)}I", index, tables_at)
    offsets, sizes = table[columns * row:columns * (row + 1)], table[columns * (rows + row):columns * (rows + row + 1)]
    return {_INDEXED[kind]: (offset, size) for kind, offset, size in zip(table[:columns], offsets, sizes) if kind in _INDEXED}

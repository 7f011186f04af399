"""dwarf_unit -- which compilation unit an address belongs to, and where its line program is

Only the first entry of a unit is read: its address ranges, directory and line program.
pyelftools would parse each unit's whole abbreviation table for that, 7 ms a unit
against 0.1 ms here, and would load every debug section first.
Source: DWARF 5 sections 3.1, 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from collector.errors import DamagedImageError
from collector.symbols import native_modules
from collector.symbols.address_ranges import iter_old_ranges, iter_ranges
from collector.symbols.byte_cursor import ByteCursor
from collector.symbols.elf_image import ElfImage, Section, is_packed
from collector.symbols.unit_entries import LONGEST_ROOT_ENTRY, UnitEntries, UnitHeader

DW_AT_STMT_LIST, DW_AT_LOW_PC, DW_AT_HIGH_PC, DW_AT_NAME = 0x10, 0x11, 0x12, 0x03
DW_AT_COMP_DIR, DW_AT_RANGES = 0x1B, 0x55
DW_AT_STR_OFFSETS_BASE, DW_AT_ADDR_BASE, DW_AT_RNGLISTS_BASE = 0x72, 0x73, 0x74
DW_AT_GNU_ADDR_BASE = 0x2133

_FORM_SIZES = {0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8,
               0x1C: 4, 0x20: 8, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4}
_OFFSET_FORMS = {0x0E, 0x10, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21}
_ULEB_FORMS = {0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02}
_BLOCK_LENGTHS = {0x0A: 1, 0x03: 2, 0x04: 4}
_STRING_INDEX_FORMS = {0x1A, 0x25, 0x26, 0x27, 0x28, 0x1F02}
_ADDRESS_INDEX_FORMS = {0x1B, 0x29, 0x2A, 0x2B, 0x2C, 0x1F01}
_LONGEST_STRING = 1 << 14
_SHARED_BYTES, _SHARED_RATIO = 1 << 24, 4  # of abbreviations, lists of ranges and names: see DwarfData.work
_HIGHEST = (1 << 64) - 1

Value = tuple[int, "int | str | None"]  # form, and the number or string


@dataclass(frozen=True, slots=True)
class UnitRoot:
    """What a unit's first entry says; None where it says nothing."""

    name: str | None
    directory: str | None
    line_offset: int | None
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Bases:
    """What the numbers in a split unit count from: offsets in the sections of addresses, strings and ranges, and the address of its code."""

    addresses: int
    strings: int
    ranges: int
    code: int


class DwarfData:
    """The DWARF sections of one image; `supplement` is its dwz file, if there is one."""

    bases: Bases | None = None
    """Those of the units, if they do not name them themselves."""

    def __init__(self, image: ElfImage, supplement: ElfImage | None = None) -> None:
        self.image = image
        self.supplement = supplement
        self._work = 0
        self._roots: dict[int, UnitRoot] = {}
        self._strings: dict[tuple[str, int], str] = {}
        self.info = self._section("info")
        self.line = self._section("line")

    @property
    def lowest_code(self) -> int:
        """No code lies below: what is said to begin there was thrown away by the linker."""
        return min((start for start, _ in self.image.code_ranges), default=0)

    def is_code(self, elf_address: int) -> bool:
        """Whether the program has instructions at an address."""
        return self.image.is_code(elf_address)

    def _section(self, name: str) -> Section | None:
        return self.image.section(".debug_" + name) or self.image.section(".zdebug_" + name)

    def whole(self, name: str) -> bytes:
        """All of .debug_`name`."""
        return self.image.data(self._section(name))

    def slice(self, name: str, offset: int, size_bytes: int) -> bytes:
        """Up to `size_bytes` bytes of .debug_`name`."""
        if name == "info":
            return self.entries.slice(offset, size_bytes) if self.entries else b""
        return self.image.slice(self._section(name), offset, size_bytes)

    def work(self, size_bytes: int) -> None:
        """Count bytes that units may share: DamagedImageError where reading them again and again becomes the file's only purpose."""
        self._work += size_bytes
        if self._work > _SHARED_BYTES + _SHARED_RATIO * self.image.file_bytes:
            raise DamagedImageError(f"The units of {self.image.path} share more than any compiler makes them share.")

    def string(self, name: str, offset: int) -> str:
        """The string at `offset` of .debug_`name`."""
        text = self._strings.get((name, offset))
        if text is None:
            text = self._strings[name, offset] = _string_at(self.image, self._section(name), offset)
        return text

    def supplement_string(self, offset: int) -> str | None:
        """A string of the dwz file; None where that file is missing."""
        if self.supplement is None:
            return None
        return _string_at(self.supplement, self.supplement.section(".debug_str"), offset)

    @cached_property
    def entries(self) -> UnitEntries | None:
        """The units of .debug_info; None if there is none."""
        if self.info is None:
            return None
        read, pieces = partial(self.image.slice, self.info), partial(self.image.iter_plain_bytes, self.info)
        return UnitEntries(self.image.plain_size(self.info), read, pieces if is_packed(self.info) else None, self.work)

    def iter_units(self) -> Iterator[UnitHeader]:
        """The units that may own code, in file order; ends quietly where damage begins."""
        return (unit for unit in (self.entries.headers() if self.entries else ()) if unit.may_have_code)

    def unit_at(self, offset: int) -> UnitHeader:
        """The unit whose header is at `offset`."""
        header = self.entries.unit_at(offset) if self.entries else None
        if header is None:
            raise DamagedImageError(f"There is no compilation unit at {offset:#x} of {self.image.path}.")
        return header

    def unit_around(self, offset: int) -> UnitHeader:
        """The unit, of any kind, that holds the entry at `offset`."""
        header = self.entries.around(offset) if self.entries else None
        if header is None:
            raise DamagedImageError(f"There is no compilation unit around {offset:#x} of {self.image.path}.")
        return header

    def root(self, unit: UnitHeader) -> UnitRoot:
        """Read the first entry of `unit`."""
        root = self._roots.get(unit.offset)
        if root is None:
            root = self._roots[unit.offset] = RootReader(self, unit).root
        return root


def _string_at(image: ElfImage, section: Section | None, offset: int) -> str:
    piece = image.slice(section, offset, 256)
    if b"\0" not in piece:
        piece = image.slice(section, offset, _LONGEST_STRING)
    return ByteCursor(piece).string()


class RootReader:
    """Reads one unit's first entry, and then what needs it in others: their values are {attribute: (form, number or string)}.

    Raises DamagedImageError.
    """

    def __init__(self, dwarf: DwarfData, unit: UnitHeader) -> None:
        self.dwarf = dwarf
        self.unit = unit
        size = min(unit.end - unit.entry_offset, LONGEST_ROOT_ENTRY)
        self.cursor = ByteCursor(dwarf.slice("info", unit.entry_offset, size))
        self.values: dict[int, Value] = {}
        code = self.cursor.uleb()
        for attribute, form, constant in self._specification(code):
            self.values[attribute] = form, self._value(form, constant)
        self.root = UnitRoot(self.text(self.values.get(DW_AT_NAME)), self.text(self.values.get(DW_AT_COMP_DIR)),
                             self._number(DW_AT_STMT_LIST), tuple(self.ranges(self.values)))

    def _specification(self, wanted: int) -> list[tuple[int, int, int]]:
        """[(attribute, form, implicit constant)] of the abbreviation with that code."""
        if native_modules.library() is not None:
            found, read_bytes = native_modules.find_abbreviation(self.dwarf.whole("abbrev"), self.unit.abbreviations_offset, wanted)
            self.dwarf.work(read_bytes)
            if found is not None:
                return found
            raise DamagedImageError(f"A unit of {self.dwarf.image.path} has no description of its entries.")
        cursor = ByteCursor(self.dwarf.whole("abbrev"), self.unit.abbreviations_offset)
        before = cursor.position
        while code := cursor.uleb():
            self.dwarf.work(cursor.position - before)
            before = cursor.position
            cursor.uleb()
            cursor.fixed(1)
            pairs = []
            while True:
                attribute, form = cursor.uleb(), cursor.uleb()
                constant = cursor.sleb() if form == 0x21 else 0
                if not attribute and not form:
                    break
                pairs.append((attribute, form, constant))
            if code == wanted:
                return pairs
        raise DamagedImageError(f"A unit of {self.dwarf.image.path} has no description of its entries.")

    def _value(self, form: int, constant: int) -> int | str | None:
        cursor, offset_bytes = self.cursor, self.unit.offset_bytes
        if form == 0x16:  # the form stands in the entry itself
            form = cursor.uleb()
        if form in _FORM_SIZES:
            size = _FORM_SIZES[form]
            return cursor.fixed(size)
        if form in _OFFSET_FORMS:
            return cursor.fixed(offset_bytes)
        if form in _ULEB_FORMS:
            return cursor.uleb()
        if form == 0x08:
            return cursor.string()
        if form == 0x0D:
            return cursor.sleb()
        if form == 0x19:
            return 1
        if form == 0x21:
            return constant
        if form in (0x09, 0x18):
            cursor.block(cursor.uleb())
        elif form in _BLOCK_LENGTHS:
            cursor.block(cursor.fixed(_BLOCK_LENGTHS[form]))
        elif form == 0x1E:
            cursor.block(16)
        else:
            raise DamagedImageError(f"{self.dwarf.image.path} uses an unknown form {form:#x}.")
        return None

    def _number(self, attribute: int, default: int | None = None) -> int | None:
        value = self.values.get(attribute, (0, default))[1]
        return value if isinstance(value, int) else default

    def text(self, attribute: Value | None) -> str | None:
        """The string that an attribute's form and number stand for; None where it is in a file that is missing."""
        form, value = attribute or (0, None)
        if value is None or isinstance(value, str):
            return value
        if form == 0x0E:
            return self.dwarf.string("str", value)
        if form == 0x1F:
            return self.dwarf.string("line_str", value)
        if form in (0x1F21, 0x1D):
            return self.dwarf.supplement_string(value)
        if form in _STRING_INDEX_FORMS:
            width = self.unit.offset_bytes
            base = self.dwarf.bases.strings if self.dwarf.bases else self._number(DW_AT_STR_OFFSETS_BASE) or 0
            raw = self.dwarf.slice("str_offsets", base + value * width, width)
            return self.dwarf.string("str", ByteCursor(raw).fixed(width))
        return None

    def _indexed_address(self, index: int) -> int:
        base = self.dwarf.bases.addresses if self.dwarf.bases else self._number(DW_AT_ADDR_BASE) or self._number(DW_AT_GNU_ADDR_BASE) or 0
        raw = self.dwarf.slice("addr", base + 8 * index, 8)
        return ByteCursor(raw).fixed(8)

    def _indexed_list(self, index: int) -> int:
        """Where in .debug_rnglists the list with that number begins."""
        base, width = self.dwarf.bases.ranges if self.dwarf.bases else self._number(DW_AT_RNGLISTS_BASE) or 0, self.unit.offset_bytes
        return base + ByteCursor(self.dwarf.whole("rnglists"), base + index * width).fixed(width)

    def _low_pc(self, values: Mapping[int, Value]) -> int | None:
        form, value = values.get(DW_AT_LOW_PC, (0, None))
        if not isinstance(value, int):
            return None
        return self._indexed_address(value) if form in _ADDRESS_INDEX_FORMS else value

    @property
    def code_base(self) -> int:
        """What addresses in lists of ranges count from."""
        return self.dwarf.bases.code if self.dwarf.bases else self._low_pc(self.values) or 0

    def ranges(self, values: Mapping[int, Value]) -> Iterator[tuple[int, int]]:
        """[low, high) of an entry's code."""
        for low, high in self._entries_of_ranges(values):
            self.dwarf.work(2)
            if low < high:
                yield low, high

    def _entries_of_ranges(self, values: Mapping[int, Value]) -> Iterator[tuple[int, int]]:
        form, offset = values.get(DW_AT_RANGES, (0, None))
        if isinstance(offset, int):
            base = self.code_base
            if self.unit.version < 5:
                offset += self.dwarf.bases.ranges if self.dwarf.bases else 0
                yield from iter_old_ranges(self.dwarf.whole("ranges"), offset, base)
            else:
                offset = self._indexed_list(offset) if form == 0x23 else offset
                yield from iter_ranges(self.dwarf.whole("rnglists"), offset, base, self._indexed_address)
            return
        low = self._low_pc(values)
        form, high = values.get(DW_AT_HIGH_PC, (0, None))
        if low is None or not isinstance(high, int):
            return
        if form in _ADDRESS_INDEX_FORMS:
            high = self._indexed_address(high)
        elif form != 0x01:  # a constant is a size
            high += low
        if low < high <= _HIGHEST:
            yield low, high

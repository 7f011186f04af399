"""native_inlines -- inlined calls, read by libcollector_analysis (libcollector_c/dwarf/inlines.h) where it is there"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import collector.symbols.native_modules as native
from collector.symbols.inline_table import InlineTable

if TYPE_CHECKING:
    from collector.symbols.dwarf_unit import Bases, DwarfData
    from collector.symbols.inline_files import FileNumbers
    from collector.symbols.unit_entries import UnitHeader

_SECTIONS = ("info", "abbrev", "str", "line_str", "str_offsets", "addr", "ranges", "rnglists")


class NativeInlineReader:
    """Reads units of one image; close it. `bases` are those of a split unit, whose part in a .dwo file is then `dwarf`."""

    def __init__(self, dwarf: DwarfData, bases: Bases | None = None) -> None:
        self._dwarf = dwarf
        self._sections = _sections_of(lambda name: b"" if name == "info" else dwarf.whole(name))
        self._entries = dwarf.entries
        if self._entries is not None:
            self._sections[0] = native.bytes_of(self._entries.memory)
        supplement = dwarf.supplement
        self._supplement = _sections_of(lambda name: supplement.data(supplement.section(".debug_" + name))) if supplement else None
        self._handle = native.library().col_dwarf_open(self._sections, self._supplement, dwarf.lowest_code)
        if not self._handle:
            raise MemoryError
        if bases is not None:
            native.library().col_dwarf_set_split(self._handle, bases.addresses, bases.strings, bases.ranges, bases.code)

    def close(self) -> None:
        """Give back its memory."""
        if self._handle:
            native.library().col_dwarf_close(self._handle)
            self._handle = None

    def read(self, unit: UnitHeader, numbers: FileNumbers) -> InlineTable:
        """The inlined calls of a unit, with new `numbers`; raises DamagedImageError."""
        found = self._find(unit)
        while found.missing_count and self._entries and self._entries.hold_around(native.array_at("Q", found.missing, found.missing_count)):
            found = self._find(unit)
        numbers_at, starts, nodes, functions = native.array_at, found.start_count, found.node_count, found.function_count
        call_files = numbers.of_unit(unit.offset, numbers_at("I", found.call_files, nodes))
        declared_units = numbers_at("Q", found.declared_units, functions)
        declared_files = numbers.of_units(declared_units, numbers_at("I", found.declared_files, functions))
        names = native.bytes_at(found.names, found.name_bytes).split(b"\0")[:-1]
        return InlineTable(
            numbers_at("Q", found.starts, starts), numbers_at("I", found.nodes, starts), numbers_at("I", found.parents, nodes),
            numbers_at("I", found.functions, nodes), call_files, numbers_at("I", found.call_lines, nodes), declared_files,
            numbers_at("I", found.declared_lines, functions), tuple(name.decode("utf-8", "backslashreplace") for name in names), tuple(numbers.files),
        )


    def _find(self, unit: UnitHeader) -> Any:
        """What is found with the units that are held now."""
        found = native.Inlines()
        held = array("Q")
        if self._entries is not None:
            self._entries.hold([unit])
            held.extend(unit.offset for unit in self._entries.held)
        library = native.library()
        status = library.col_dwarf_hold(self._handle, held.buffer_info()[0], len(held)) or library.col_dwarf_inlines(
            self._handle, unit.offset, native.by_reference(found)
        )
        native.check(status, f"The debug information of {self._dwarf.image.path} contradicts itself.")
        return found


def _sections_of(section_named: Callable[[str], bytes]) -> Any:
    contents = [section_named(name) for name in _SECTIONS]
    return (native.Bytes * len(_SECTIONS))(*[native.Bytes(data or None, len(data)) for data in contents])

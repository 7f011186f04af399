"""inline_files -- files of inlined calls: from the numbers of units' line tables to numbers of one list of names"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from collector.errors import SymbolError
from collector.symbols.inline_table import NOTHING
from collector.symbols.line_table import read_file_names

if TYPE_CHECKING:
    from collector.symbols.dwarf_unit import DwarfData


class FileNumbers:
    """The names that occur are in `files`. A unit whose names cannot be read has none."""

    def __init__(self, dwarf: DwarfData, unit: int, names: tuple[str, ...]) -> None:
        """`names` are those of the unit at an offset, which are known already."""
        self.files: list[str] = []
        self._dwarf = dwarf
        self._known: dict[str, int] = {}
        self._names = {unit: names}

    def of_unit(self, unit: int, files: Sequence[int]) -> array[int]:
        """The numbers of a unit's files; `unit` is its offset."""
        known = {file: self._number(unit, file) for file in set(files)}
        return array("I", map(known.__getitem__, files))

    def of_units(self, units: Sequence[int], files: Sequence[int]) -> array[int]:
        """The same of files of several units."""
        known = {place: self._number(*place) for place in set(zip(units, files))}
        return array("I", map(known.__getitem__, zip(units, files)))

    def _number(self, unit: int, file: int) -> int:
        names = self._names_of(unit)
        name = names[file] if file < len(names) else ""
        number = self._known.setdefault(name, len(self._known)) if name else NOTHING
        if number == len(self.files):
            self.files.append(name)
        return number

    def _names_of(self, unit: int) -> tuple[str, ...]:
        names = self._names.get(unit)
        if names is None:
            try:
                names = read_file_names(self._dwarf, self._dwarf.root(self._dwarf.unit_at(unit)))
            except SymbolError:
                names = ()
            self._names[unit] = names
        return names

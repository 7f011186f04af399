"""unit_index -- source lines of a whole module: opens only the units that addresses fall into

Three steps, each kept in the cache once done: the ranges of all units, the line table of each
unit that was hit, and, in memory, the tables used last.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from collector.errors import SymbolError
from collector.symbols.cache import SymbolCache
from collector.symbols.inline_table import InlinedCall, InlineTable, empty_table
from collector.symbols.line_table import LineTable, read_line_table
from collector.symbols.terms import Progress, SourceLine

if TYPE_CHECKING:  # what reads a file is imported when the cache does not know what is in it
    from collector.symbols.dwarf_unit import DwarfData
    from collector.symbols.elf_image import ElfImage
    from collector.symbols.native_inlines import NativeInlineReader
    from collector.symbols.split_units import Skeleton, SplitFiles, SplitUnit
    from collector.symbols.unit_entries import UnitHeader

_TABLES_IN_MEMORY = 512
_OVERLAPS_TRIED = 4
_EMPTY = LineTable(array("Q"), array("I"), array("I"), ())


_MOST_LISTED_BYTES = 1 << 26
Ranges = tuple["array[int]", "array[int]", "array[int]"]
"""Where code of units begins, where it ends, and their offsets, in the order of the first."""


def note_digests(known: dict[str, str], new: Mapping[str, str]) -> None:
    """Take in the MD5 sums of files; those that are said to have several have none."""
    for path, digest in new.items():
        if known.setdefault(path, digest) != digest:
            known[path] = ""


def _has_any(addresses: Sequence[int], low: int, high: int) -> bool:
    index = bisect_left(addresses, low)
    return index < len(addresses) and addresses[index] < high


class UnitIndex:
    """Lines of the module whose DWARF lies in `open_image()`.

    `source` identifies that file's contents in cached records; `code_ranges` are the module's
    own, ascending. Damage is told in `complaints` and costs the units it touches.
    """

    def __init__(self, open_image: Callable[[], ElfImage], source: list[object], key: str, cache: SymbolCache,
                 code_ranges: Sequence[tuple[int, int]], debug_dirs: tuple[str, ...]) -> None:
        self.complaints: list[str] = []
        self._open_image = open_image
        self._source = source
        self._key = key
        self._cache = cache
        self._code_ranges = code_ranges
        self._debug_dirs = debug_dirs
        self._tables: dict[int, LineTable] = {}
        self._files: dict[int, tuple[str, ...]] = {}
        self._ranges: Ranges | None = None
        self._claims: dict[int, tuple[int, ...]] = {}
        self._dwarf: DwarfData | None = None
        self._keepers = 0
        self._inlines: dict[int, InlineTable] = {}
        self._inline_reader: NativeInlineReader | None = None
        self._split_files: SplitFiles | None = None
        self._missing_splits: dict[int, str] = {}
        self._has_told_of_splits = False
        self.looked_at: set[str] = set()
        """Paths of .dwo files that were looked for."""
        self.digests: dict[str, str] = {}
        """MD5 sums of source files as they were compiled; "" where units disagree."""

    def read_ahead(self, elf_addresses: Collection[int], entries: Collection[int], has_inlines: bool) -> None:
        """Read what the cache does not know of the units that addresses lie in, one after the other, for there is not always room for all."""
        inside = sorted(set(elf_addresses)) if has_inlines else []
        addresses = sorted({*elf_addresses, *entries})
        with self.kept_open():
            self._ranges = self._ranges or self._cached_ranges()
            if self._ranges is not None:
                claims = {address: self._units_at(address) for address in addresses}
                claiming = {unit for address in inside for unit in claims[address]}
                inlined = {unit for unit in claiming if not self._has_inlines(unit)}
                wanted = inlined | {unit for unit in {unit for units in claims.values() for unit in units[:1]} if not self._has_lines(unit)}
                if wanted:
                    self._read_units(lambda dwarf, unit: unit.offset in wanted, inlined)
                return
            listed = self._read_listed()
            units = {unit for _, _, unit in listed}
            known: dict[tuple[int, int], int] = {}
            wanted, inlined = set(), set()

            def note(low: int, high: int, unit: int) -> None:
                # Units that brought a function along which the linker took from the first of them are bent to its code.
                if self._is_code(low) and known.setdefault((low, high), unit) == unit and _has_any(addresses, low, high):
                    wanted.add(unit)
                    if _has_any(inside, low, high):
                        inlined.add(unit)

            def is_wanted(dwarf: DwarfData, unit: UnitHeader) -> bool:
                if unit.offset not in units and unit.may_have_code:
                    for low, high in self._ranges_of(dwarf, unit):
                        note(low, high, unit.offset)
                return unit.offset in wanted

            for low, high, unit in sorted(listed, key=itemgetter(2)):
                note(low, high, unit)
            self._read_units(is_wanted, inlined)
            self._ranges = self._store_ranges(known)

    def _read_units(self, is_wanted: Callable[[DwarfData, UnitHeader], bool], inlined: Collection[int]) -> None:
        try:
            dwarf = self._open()
            for unit in dwarf.entries.iter_wanted(partial(is_wanted, dwarf)) if dwarf.entries else ():
                self._table(unit.offset)
                if unit.offset in inlined:
                    self._inline_table(unit.offset)
        except SymbolError as error:
            self._complain(error)

    def _has_lines(self, unit: int) -> bool:
        """Whether a unit's lines are known already."""
        table = self._tables.get(unit) or self._cached_table(unit)
        if table is not None:
            self._note_table(unit, table)
        return table is not None

    def _has_inlines(self, unit: int) -> bool:
        """Whether a unit's inlined calls are known already."""
        inlines = self._inlines.get(unit) or self._cached_inlines(unit)
        if inlines is not None:
            self._inlines[unit] = inlines
        return inlines is not None

    def find_inlined(self, elf_addresses: Iterable[int]) -> dict[int, tuple[InlinedCall, ...]]:
        """{address: the inlined calls it lies in, outermost first} for those that lie in one."""
        found = {}
        with self.kept_open():
            for address in elf_addresses:
                for unit in self._units_at(address):
                    chain = self._inline_table(unit).chain_at(address)
                    if chain:
                        found[address] = chain
                        break
            self._complain_of_missing_splits()
        return found

    def find_split_units(self, elf_addresses: Iterable[int]) -> set[SplitUnit]:
        """The .dwo and .dwp files of the units that the addresses lie in, as far as they are there."""
        from collector.symbols.split_units import SplitFiles, read_skeleton

        found: set[SplitUnit] = set()
        with self.kept_open():
            try:
                dwarf = self._open()
                self._split_files = SplitFiles(dwarf, self._debug_dirs)
                units = {unit for address in elf_addresses for unit in self._units_at(address)}
                for unit in dwarf.entries.iter_wanted(lambda unit: unit.offset in units) if dwarf.entries else ():
                    skeleton = read_skeleton(dwarf, unit)
                    located = self._split_files.locate(skeleton) if skeleton else None
                    found |= {located} if located else set()
            except SymbolError as error:
                self._complain(error)
        return found

    def find_lines(self, elf_addresses: Iterable[int], entries: Iterable[int] = (),
                   progress: Progress | None = None) -> tuple[dict[int, SourceLine], dict[int, SourceLine]]:
        """{address: (source path, line or None)} for those of `elf_addresses` that have one; and the same of `entries`, which are
        functions' first instructions, and their lines the functions' own.
        """
        found: tuple[dict[int, SourceLine], dict[int, SourceLine]] = {}, {}
        with self.kept_open():
            waiting = {(address, is_entry): list(self._units_at(address)) for is_entry, asked in enumerate((elf_addresses, entries)) for address in asked}
            while waiting:
                waiting = self._try_next_unit(waiting, found, progress)
        return found

    def are_in_one_unit(self, first: int, second: int) -> bool:
        """Whether two addresses belong to the same compilation unit."""
        with self.kept_open():
            return self._units_at(first)[:1] == self._units_at(second)[:1]

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep what is opened on the way open to the end of the outermost block: sections are then decompressed once."""
        self._keepers += 1
        try:
            yield
        finally:
            self._keepers -= 1
            if self._keepers == 0:
                self._close()

    def _try_next_unit(self, waiting: dict[tuple[int, int], list[int]], found: tuple[dict[int, SourceLine], ...],
                       progress: Progress | None) -> dict[tuple[int, int], list[int]]:
        """Look each address up in the next of its units; what is left has more units to try."""
        by_unit: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for asked, units in waiting.items():
            if units:
                by_unit[units.pop(0)].append(asked)
        missing = {}
        for done, unit in enumerate(sorted(by_unit)):
            table = self._table(unit)
            for address, is_entry in by_unit[unit]:
                line = table.find_entry(address) if is_entry else table.find(address)
                if line is not None:
                    found[is_entry][address] = line
                elif waiting[address, is_entry]:
                    missing[address, is_entry] = waiting[address, is_entry]
            if progress is not None:
                progress(done + 1, len(by_unit), "source lines")
        return missing

    def _units_at(self, address: int) -> tuple[int, ...]:
        """The units that claim `address`, innermost first; more than one only in odd modules. They are asked for again and again."""
        claims = self._claims.get(address)
        if claims is None:
            claims = self._claims[address] = tuple(self._find_units(address))
        return claims

    def _find_units(self, address: int) -> list[int]:
        if self._ranges is None:
            self.read_ahead((), (), has_inlines=False)
        assert self._ranges is not None
        lows, highs, units = self._ranges
        index = bisect_right(lows, address) - 1
        claims: list[int] = []
        for candidate in range(index, max(-1, index - _OVERLAPS_TRIED), -1):
            if address < highs[candidate] and units[candidate] not in claims:
                claims.append(units[candidate])
        return claims

    def _cached_ranges(self) -> Ranges | None:
        record = self._cache.load(self._key, "units")
        if record is None or record[0].get("source") != self._source:
            return None
        arrays = record[1]
        return arrays["lows"], arrays["highs"], arrays["units"]

    def _store_ranges(self, known: Mapping[tuple[int, int], int]) -> Ranges:
        rows = sorted((low, high, unit) for (low, high), unit in known.items())
        lows, highs, units = (array("Q", (row[column] for row in rows)) for column in range(3))
        if not self.complaints:
            self._cache.store(self._key, "units", {"source": self._source}, {"lows": lows, "highs": highs, "units": units})
        return lows, highs, units

    def _read_listed(self) -> list[tuple[int, int, int]]:
        from collector.symbols.address_ranges import read_listed_units

        try:
            return read_listed_units(self._open().whole("aranges")[:_MOST_LISTED_BYTES])
        except SymbolError as error:
            self._complain(error)
            return []

    def _ranges_of(self, dwarf: DwarfData, unit: UnitHeader) -> tuple[tuple[int, int], ...]:
        try:
            return dwarf.root(unit).ranges
        except SymbolError as error:
            self._complain(error)
            return ()

    def _table(self, unit: int) -> LineTable:
        table = self._tables.get(unit)
        if table is None:
            table = self._cached_table(unit) or self._read_table(unit)
            self._note_table(unit, table)
        return table

    def _note_table(self, unit: int, table: LineTable) -> None:
        if unit not in self._tables and len(self._tables) >= _TABLES_IN_MEMORY:
            self._tables.pop(next(iter(self._tables)))
        self._tables[unit] = table
        note_digests(self.digests, table.digests)
        self._files[unit] = table.files

    def _files_of(self, unit: int) -> tuple[str, ...]:
        return self._files.get(unit) or self._table(unit).files

    def _cached_table(self, unit: int) -> LineTable | None:
        record = self._cache.load(self._key, f"lines-{unit:x}")
        if record is None or record[0].get("source") != self._source:
            return None
        header, arrays = record
        return LineTable(arrays["addresses"], arrays["file_ids"], arrays["lines"], tuple(header["files"]), header["digests"])

    def _read_table(self, unit: int) -> LineTable:
        try:
            dwarf = self._open()
            table = read_line_table(dwarf, dwarf.root(dwarf.unit_at(unit)), self._is_code)
        except SymbolError as error:
            self._complain(error)
            return _EMPTY
        self._cache.store(self._key, f"lines-{unit:x}", {"source": self._source, "files": table.files, "digests": dict(table.digests)},
                          {"addresses": table.addresses, "file_ids": table.file_ids, "lines": table.lines})
        return table

    def _inline_table(self, unit: int) -> InlineTable:
        table = self._inlines.get(unit)
        if table is None:
            table = self._inlines[unit] = self._cached_inlines(unit) or self._read_inlines(unit)
        return table

    def _cached_inlines(self, unit: int) -> InlineTable | None:
        record = self._cache.load(self._key, f"inlined-{unit:x}")
        if record is None or record[0].get("source") != self._source:
            return None
        header, arrays = record
        return InlineTable.of_columns(arrays, header["names"], header["files"])

    def _read_inlines(self, unit: int) -> InlineTable:
        from collector.symbols.split_units import MissingSplitError

        try:
            table = self._inlines_of(self._open(), unit)
        except MissingSplitError as error:
            self._missing_splits[unit] = str(error)
            return empty_table()
        except SymbolError as error:
            self._complain(error)
            return empty_table()
        header = {"source": self._source, "names": table.names, "files": table.files}
        self._cache.store(self._key, f"inlined-{unit:x}", header, table.columns)
        return table

    def _inlines_of(self, dwarf: DwarfData, unit: int) -> InlineTable:
        """By the library, or with pyelftools where that is not there."""
        from collector.symbols.native_modules import library
        from collector.symbols.split_units import read_skeleton

        skeleton = read_skeleton(dwarf, dwarf.unit_at(unit))
        if skeleton is not None:
            return self._split_inlines(dwarf, unit, skeleton)
        if library() is None:
            from collector.symbols.inline_reader import read_inline_table

            return read_inline_table(dwarf, dwarf.unit_at(unit))
        from collector.symbols.inline_files import FileNumbers
        from collector.symbols.native_inlines import NativeInlineReader

        if self._inline_reader is None:
            self._inline_reader = NativeInlineReader(dwarf)
        return self._inline_reader.read(dwarf.unit_at(unit), FileNumbers(dwarf, unit, self._files_of(unit)))

    def _split_inlines(self, dwarf: DwarfData, unit: int, skeleton: Skeleton) -> InlineTable:
        """Those of a unit whose entries are in a .dwo file; its files are numbered as in the line table of the skeleton."""
        from collector.symbols.inline_files import FileNumbers
        from collector.symbols.native_inlines import NativeInlineReader
        from collector.symbols.native_modules import library
        from collector.symbols.split_units import SplitFiles

        if self._split_files is None:
            self._split_files = SplitFiles(dwarf, self._debug_dirs)
        try:
            data, split = self._split_files.find(skeleton)
        finally:
            self.looked_at.update(self._split_files.looked_at)
        if library() is None:
            from collector.symbols.inline_reader import read_inline_table

            data.bases = skeleton.bases
            return read_inline_table(data, split, self._table(unit).files)
        reader = NativeInlineReader(data, skeleton.bases)
        try:
            return reader.read(split, FileNumbers(data, split.offset, self._files_of(unit)))
        finally:
            reader.close()

    def _is_code(self, address: int) -> bool:
        index = bisect_right(self._code_ranges, (address, 1 << 64)) - 1
        return index >= 0 and address < self._code_ranges[index][1]

    def _open(self) -> DwarfData:
        if self._dwarf is None:
            from collector.symbols.debug_files import find_supplement
            from collector.symbols.dwarf_unit import DwarfData

            image = self._open_image()
            self._dwarf = DwarfData(image, find_supplement(image, self._debug_dirs))
        return self._dwarf

    def _close(self) -> None:
        if self._inline_reader is not None:
            self._inline_reader.close()
            self._inline_reader = None
        if self._split_files is not None:
            self._split_files.close()
            self._split_files = None
        if self._dwarf is not None:
            self._dwarf.image.close()
            if self._dwarf.supplement is not None:
                self._dwarf.supplement.close()
            self._dwarf = None
        self._files.clear()

    def _complain_of_missing_splits(self) -> None:
        if self._missing_splits and not self._has_told_of_splits:
            self._has_told_of_splits = True
            units = f"{len(self._missing_splits)} units" if len(self._missing_splits) > 1 else "a unit"
            self.complaints.append(f"Inlined functions of {units} of {self._source[0]} are not shown: their .dwo files, such as "
                                   f"{next(iter(self._missing_splits.values()))}, are not found; --debug-dir says where they are.")

    def _complain(self, error: SymbolError) -> None:
        if not self.complaints:
            self.complaints.append(f"Some source lines are missing: {error}")

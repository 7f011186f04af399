"""module_symbols -- all that is known about one module: from its file, its debug files, the cache

The cached table of functions is used while every file that led to it looks as it did then, and
also when the module's own file has gone: a build id names one build for ever.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

from collector.errors import SymbolError
from collector.symbols.archive import place_of_module
from collector.symbols.cache import Record, SymbolCache, signature_of
from collector.symbols.function_table import NO_FUNCTION, FunctionRange, FunctionTable
from collector.symbols.pieces import names_of_whole
from collector.symbols.recorded_file import is_replaced
from collector.symbols.terms import VDSO_PATH, Layout, Progress, SourceLine

if TYPE_CHECKING:
    from collector.symbols.elf_image import ElfImage
    from collector.symbols.inline_table import InlinedCall
    from collector.symbols.module_files import NeededFile
    from collector.symbols.unit_index import UnitIndex
    from collector.target.address_space import RecordedFile

DELETED = " (deleted)"
"""What the kernel adds to the path of a file that has no name any more."""

_NO_FILE_PREFIXES = ("[", "//", "/memfd:", "anon_inode:")
_LONGEST_CODE_BYTES = 1 << 24  # of a function that is disassembled


def has_file(path: str) -> bool:
    """Whether a module of that path has code to be read: in a file, or lent by the kernel."""
    return path == VDSO_PATH or bool(path) and not path.startswith(_NO_FILE_PREFIXES)


class ModuleSymbols:
    """Functions and lines of one module; never raises for what a file contains.

    `archived` is where it is read if not at its path. `complaints` says in a sentence each what was expected and is missing, `looked_at`
    which files that depends on.
    """

    def __init__(self, path: str, build_id: bytes | None, cache: SymbolCache, debug_dirs: tuple[str, ...] = (),
                 layout: Layout = "image", file: RecordedFile | None = None, is_fetching: bool = False, archived: str = "") -> None:
        self._recorded_path = path.removesuffix(DELETED)
        self.path = archived or self._recorded_path
        self.name = os.path.basename(self._recorded_path) or path
        self.complaints: list[str] = []
        self.looked_at = [self.path]
        self._given_up = self._key = ""
        self._is_stripped = False
        self._functions_asked: set[int] = set()
        self._build_id = build_id
        self._cache = cache
        self._debug_dirs = debug_dirs
        self._layout = layout
        self._is_fetching = is_fetching
        self._functions = FunctionTable.from_ranges(())
        self._segments: list[list[Any]] = []
        self._units: UnitIndex | None = None
        self._is_replaced = build_id is None and file is not None and is_replaced(self.path, file)
        if self._is_replaced:
            self._give_up(f"{self.path} has changed since the recording.")
        elif has_file(self.path):
            self._load(f"-{crc32(os.fsencode(archived)):08x}" if archived else "")

    def function_at(self, elf_address: int) -> FunctionRange | None:
        """The function that owns `elf_address`; None when nothing says so."""
        index = self._functions.index_of(elf_address)
        return None if index is None else self._functions.range_at(index)

    def function_numbers(self, elf_addresses: Sequence[int]) -> Sequence[int]:
        """The number of the piece of a function that each address lies in, or NO_FUNCTION."""
        return self._functions.numbers_of(elf_addresses)

    def functions_of(self, numbers: Iterable[int]) -> dict[int, FunctionRange]:
        """{number: function} of numbers that `function_numbers` gave; these functions were asked for."""
        distinct = dict.fromkeys(numbers)
        distinct.pop(NO_FUNCTION, None)
        self._functions_asked.update(distinct)
        return {number: self._functions.range_at(number) for number in distinct}

    @property
    def nameless(self) -> str:
        """A sentence if functions have no names: none at all, or less than half of those that were asked for, because their symbols were taken away."""
        if self._given_up or not self._is_stripped:
            return self._given_up
        asked = {(known.function_start, known.name) for known in map(self._functions.range_at, self._functions_asked)}
        named_count = sum(bool(name) for _, name in asked)
        if 2 * named_count >= len(asked):
            return ""
        return f"{self.name} is shown without {'most ' if named_count else ''}function names: it is stripped, and no debug file of it was found."

    @property
    def digests(self) -> dict[str, str]:
        """MD5 sums of source files as they were compiled, as far as units were read; "" where they disagree."""
        return self._units.digests if self._units is not None else {}

    def whole_of(self, function: FunctionRange) -> FunctionRange:
        """The function of the same unit that this one is a piece of (`f` of `f.cold`); itself if there is none."""
        units = self._units
        for name in names_of_whole(function.name):
            starts = self._functions.starts_of_name(name)
            if units is not None:
                starts = [start for start in starts if units.are_in_one_unit(start, function.function_start)]
            if len(starts) == 1:
                return self.function_at(starts[0]) or function
        return function

    def read_ahead(self, elf_addresses: Collection[int], entries: Collection[int], has_inlines: bool) -> None:
        """Say for which addresses, and functions' first instructions, lines and inlined calls are going to be asked for."""
        if self._units is not None:
            self._units.read_ahead(elf_addresses, entries, has_inlines)
            self._note_complaints(self._units)

    def find_lines(self, elf_addresses: Iterable[int], entries: Iterable[int],
                   progress: Progress | None = None) -> tuple[dict[int, SourceLine], dict[int, SourceLine]]:
        """{address: (source path, line or None)} for those that have one; see UnitIndex.find_lines."""
        if self._units is None:
            return {}, {}
        found = self._units.find_lines(elf_addresses, entries, progress)
        self._note_complaints(self._units)
        return found

    def find_inlined(self, elf_addresses: Iterable[int]) -> dict[int, tuple[InlinedCall, ...]]:
        """{address: the inlined calls it lies in, outermost first} for those that lie in one."""
        if self._units is None:
            return {}
        found = self._units.find_inlined(elf_addresses)
        self._note_complaints(self._units)
        return found

    @property
    def has_units(self) -> bool:
        """Whether there is debug information, so that something may be known to be inlined."""
        return self._units is not None

    def kept_open(self) -> AbstractContextManager[None]:
        """A block to the end of which the file with the debug information stays open once it was opened."""
        return self._units.kept_open() if self._units is not None else nullcontext()

    def _note_complaints(self, units: UnitIndex) -> None:
        self.complaints += [complaint for complaint in units.complaints if complaint not in self.complaints]
        self.looked_at += units.looked_at
        if units.complaints:  # what could not be read may be readable once something is installed
            self.looked_at += [*sys.path, *os.get_exec_path()]

    def elf_address_of_offset(self, file_offset: int) -> int:
        """The elf address of a byte of the file; `file_offset` itself where the file is unknown."""
        from collector.symbols.elf_image import Segment, address_of_offset

        elf_address = address_of_offset(tuple(Segment(*fields) for fields in self._segments), file_offset)
        return file_offset if elf_address is None else elf_address

    def code_ranges_of(self, elf_addresses: Iterable[int]) -> list[tuple[int, int]]:
        """[(start, end)] of what the addresses lie in, ascending; ranges of one symbol that touch are one."""
        found = sorted({(r.start, r.end, r.function_start) for a in elf_addresses if (r := self.function_at(a)) is not None})
        joined: list[tuple[int, int, int]] = []
        for start, end, symbol in found:
            if joined and joined[-1][1:] == (start, symbol):
                joined[-1] = joined[-1][0], end, symbol
            else:
                joined.append((start, end, symbol))
        return [(start, end) for start, end, _ in joined]

    def code_bytes(self, start: int, end: int) -> bytes:
        """What the module holds between two elf addresses; empty where it cannot be read, or is another build now."""
        if self._is_replaced:
            return b""
        try:
            with self._open() as image:
                if self._build_id is not None and image.build_id != self._build_id:
                    return b""
                return image.bytes_at(start, min(end - start, _LONGEST_CODE_BYTES))
        except SymbolError:
            return b""

    def names_in_code(self) -> dict[int, str]:
        """{elf address: name} of functions and variables that instructions may refer to."""
        from collector.symbols.debug_files import find_debug_files
        from collector.symbols.plt_names import slot_names
        from collector.symbols.symbol_source import data_names

        names: dict[int, str] = {}
        try:
            with self._open() as image:
                debug_files = find_debug_files(image, self._debug_dirs)
                try:
                    names = {**slot_names(image), **data_names([image, *debug_files.images()])}
                finally:
                    debug_files.close()
        except SymbolError:
            pass  # nor is there code of it then
        for function in map(self._functions.range_at, range(len(self._functions))):
            names[function.function_start] = function.name or f"{self.name}+{function.function_start:#x}"
        return names

    def python_methods(self) -> dict[int, str]:
        """{elf address: name} of what Python programs can call in this interpreter. Nothing else of it is shown, so that nothing is without a name."""
        self._is_stripped, self._given_up = False, ""
        record = self._cache.load(self._key, "methods") if self._key else None
        if record is not None:
            header, arrays = record
            return dict(zip(arrays["starts"], header["names"]))
        from collector.symbols.python_methods import python_methods

        try:
            with self._open() as image:
                methods = python_methods(image)
        except SymbolError:
            return {}
        if self._key:
            self._cache.store(self._key, "methods", {"names": list(methods.values())}, {"starts": array("Q", methods)})
        return methods

    def needed_files(self, elf_addresses: Iterable[int]) -> list[NeededFile]:
        """The files that these addresses are named from, the module's own first. SymbolError if that is not here, or is not the recorded one."""
        from collector.symbols.module_files import NeededFile, needed_files

        if self._is_replaced:
            raise SymbolError(f"{self.path} has changed since the recording.")
        units = self._units.find_split_units(elf_addresses) if self._units is not None else ()
        with self._open() as image:
            if self._build_id is not None and image.build_id != self._build_id:
                raise SymbolError(f"{self.path} is not the file that was recorded, its build id differs.")
            own = NeededFile(self.path, place_of_module(self._recorded_path, self._build_id))
            return [own, *needed_files(image, self._recorded_path, self._build_id, self._debug_dirs, units)]

    def _load(self, variant: str) -> None:
        """`variant` keeps apart in the cache what was found in different archives."""
        key = self._build_id.hex() + variant if self._build_id else _key_of_file(self.path)
        if key and self._layout != "image":
            key += f"-{self._layout}"
        self._key = key
        record = self._cache.load(key, "functions") if key else None
        if record is None or not self._is_current(record):
            try:
                record = self._build(key)
            except SymbolError as error:
                if record is None:
                    self._give_up(str(error))
                    return
        if self._is_fetching and self._build_id and not record[0]["line_path"] and self.path != VDSO_PATH:
            record = self._fetched(self._build_id, record, key)
        if key:
            self._cache.touch(key)
        self._use(record, key)

    def _give_up(self, reason: str) -> None:
        self._given_up = f"{self.name} is shown without function names: {reason}"

    def _fetched(self, build_id: bytes, record: Record, key: str) -> Record:
        """The record that is made with a debug file from a server, or else the one there is."""
        from collector.symbols.debuginfod import fetch_debug_file

        self.complaints += fetch_debug_file(self.name, build_id)
        try:
            return record if self._is_current(record) else self._build(key)
        except SymbolError:
            return record

    def _is_current(self, record: Record) -> bool:
        """Whether all files that led to `record` look the same now."""
        header = record[0]
        if header.get("debug_dirs") != list(self._debug_dirs):
            return False
        evidence = header.get("evidence", {})
        is_own_file_known = self.path in evidence or self.path == VDSO_PATH
        return is_own_file_known and all(signature_of(path) == seen for path, seen in evidence.items())

    def _build(self, key: str) -> Record:
        """Read the module and its debug files; raises SymbolError when the module cannot be used."""
        from collector.symbols.module_record import read_record

        record, complaints = read_record(self.path, self._layout, self._build_id, self._debug_dirs)
        self.complaints += complaints
        if key:
            self._cache.store(key, "functions", *record)
        return record

    def _use(self, record: Record, key: str) -> None:
        header, arrays = record
        self._functions = FunctionTable(arrays["starts"], arrays["ends"], arrays["function_starts"],
                                        arrays["name_offsets"], arrays["names"].tobytes(), header["aliases"])
        self._segments = header["segments"]
        self._is_stripped = header["is_stripped"]
        self.looked_at += header.get("evidence", {})
        if header["line_path"]:
            from collector.symbols.unit_index import UnitIndex

            opener = self._open if header["line_path"] == self.path else partial(self._open, header["line_path"])
            ranges = [tuple(pair) for pair in header["code_ranges"]]
            self._units = UnitIndex(opener, header["line_source"], key, self._cache, ranges, self._debug_dirs)

    def _open(self, path: str | None = None) -> ElfImage:
        """The module, or the debug file at `path`."""
        from collector.symbols.module_record import open_file

        return open_file(path or self.path, "image" if path else self._layout)


def _key_of_file(path: str) -> str:
    """The cache key of a file that was recorded without a build id; empty where it is gone."""
    signature = signature_of(path)
    if signature is None:
        return ""
    import hashlib

    identity = f"{os.path.realpath(path)}\0{signature}"
    return "file-" + hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:40]

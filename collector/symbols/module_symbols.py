"""module_symbols -- all that is known about one module: from its file, its debug files, the cache

The cached table of functions is used while every file that led to it looks as it did then, and
also when the module's own file has gone: a build id names one build for ever.
"""

from __future__ import annotations

import hashlib
import os
import re
from array import array
from functools import partial
from typing import Iterable

from collector.errors import SymbolError
from collector.symbols.cache import Record, SymbolCache
from collector.symbols.debug_files import DebugFiles, find_debug_files, has_line_tables
from collector.symbols.elf_image import ElfImage, Segment, address_of_offset
from collector.symbols.function_table import FunctionRange, FunctionTable, build_function_table
from collector.symbols.object_module import Layout, open_module
from collector.symbols.unit_index import Progress, SourceLine, UnitIndex
from collector.symbols.vdso import VDSO_PATH, open_vdso

_COLD_PART = re.compile(r"\.cold(\.\d+)?$")
_DELETED = " (deleted)"
_NO_FILE_PREFIXES = ("[", "//", "/memfd:", "anon_inode:")


class ModuleSymbols:
    """Functions and lines of one module; never raises for what a file contains.

    `complaints` says in a sentence each what was expected and is missing.
    """

    def __init__(self, path: str, build_id: bytes | None, cache: SymbolCache, debug_dirs: tuple[str, ...] = (),
                 layout: Layout = "image") -> None:
        self.path = path.removesuffix(_DELETED)
        self.name = os.path.basename(self.path) or path
        self.complaints: list[str] = []
        self._build_id = build_id
        self._cache = cache
        self._debug_dirs = debug_dirs
        self._layout = layout
        self._functions = FunctionTable.from_ranges(())
        self._segments: tuple[Segment, ...] = ()
        self._units: UnitIndex | None = None
        if self.path == VDSO_PATH or self.path and not self.path.startswith(_NO_FILE_PREFIXES):
            self._load()

    def function_at(self, elf_address: int) -> FunctionRange | None:
        """The function that owns `elf_address`; None when nothing says so."""
        index = self._functions.index_of(elf_address)
        return None if index is None else self._functions.range_at(index)

    def definition_address(self, function: FunctionRange) -> int:
        """An address whose source line is that of the function's definition.

        A part that the compiler moved away (`f.cold`) is defined where `f` is.
        """
        whole = _COLD_PART.sub("", function.name)
        if whole != function.name:
            start = self._functions.start_of_name(whole)
            if start is not None:
                return start
        return function.function_start

    def find_lines(self, elf_addresses: Iterable[int], *, is_entry: bool = False,
                   progress: Progress | None = None) -> dict[int, SourceLine]:
        """{address: (source path, line or None)} for those that have one; see UnitIndex.find_lines."""
        if self._units is None:
            return {}
        found = self._units.find_lines(elf_addresses, is_entry=is_entry, progress=progress)
        self.complaints += [c for c in self._units.complaints if c not in self.complaints]
        return found

    def elf_address_of_offset(self, file_offset: int) -> int:
        """The elf address of a byte of the file; `file_offset` itself where the file is unknown."""
        elf_address = address_of_offset(self._segments, file_offset)
        return file_offset if elf_address is None else elf_address

    def code_ranges_of(self, elf_addresses: Iterable[int]) -> list[tuple[int, int]]:
        """[(start, end)] of the pieces of functions that the addresses lie in, ascending; of one function, those that touch are one."""
        found = sorted({(r.start, r.end) for a in elf_addresses if (r := self.function_at(a)) is not None})
        joined: list[tuple[int, int]] = []
        for start, end in found:
            if joined and joined[-1][1] >= start:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((start, end))
        return joined

    def code_bytes(self, start: int, end: int) -> bytes:
        """What the module holds between two elf addresses; empty where it cannot be read, or is another build now."""
        try:
            with self._open() as image:
                if self._build_id is not None and image.build_id != self._build_id:
                    return b""
                return image.bytes_at(start, end - start)
        except SymbolError:
            return b""

    def _load(self) -> None:
        key = self._build_id.hex() if self._build_id else _key_of_file(self.path)
        if key and self._layout != "image":
            key += f"-{self._layout}"
        record = self._cache.load(key, "functions") if key else None
        if record is None or not self._is_current(record):
            try:
                record = self._build(key)
            except SymbolError as error:
                if record is None:
                    self.complaints.append(f"{self.name} is shown without function names: {error}")
                    return
        if key:
            self._cache.touch(key)
        self._use(record, key)

    def _is_current(self, record: Record) -> bool:
        """Whether all files that led to `record` look the same now."""
        header = record[0]
        if header.get("debug_dirs") != list(self._debug_dirs):
            return False
        evidence = header.get("evidence", {})
        is_own_file_known = self.path in evidence or self.path == VDSO_PATH
        return is_own_file_known and all(_signature(path) == seen for path, seen in evidence.items())

    def _build(self, key: str) -> Record:
        """Read the module and its debug files; raises SymbolError when the module cannot be used."""
        with self._open() as image:
            if self._build_id is not None and image.build_id != self._build_id:
                raise SymbolError(f"{self.path} is not the file that was recorded, its build id differs.")
            debug_files = find_debug_files(image, self._debug_dirs)
            try:
                record = self._record_of(image, debug_files)
            finally:
                debug_files.close()
        self.complaints += debug_files.complaints
        if key:
            self._cache.store(key, "functions", *record)
        return record

    def _record_of(self, image: ElfImage, debug_files: DebugFiles) -> Record:
        table = build_function_table(image, debug_files.images())
        holders = [i for i in (image, debug_files.separate) if i is not None and has_line_tables(i)]
        line_path = holders[0].path if holders else None
        watched = [] if self.path == VDSO_PATH else [self.path]
        header = {
            "debug_dirs": list(self._debug_dirs),
            "evidence": {path: _signature(path) for path in watched + debug_files.looked_at},
            "line_path": line_path,
            "line_source": [line_path, *(_signature(line_path) or [])] if line_path else [],
            "segments": [[s.elf_address, s.file_offset, s.file_bytes, s.memory_bytes, s.is_executable]
                         for s in image.segments],
            "code_ranges": image.code_ranges,
        }
        return header, {"starts": table.starts, "ends": table.ends, "function_starts": table.function_starts,
                        "name_offsets": table.name_offsets, "names": array("B", table.names)}

    def _use(self, record: Record, key: str) -> None:
        header, arrays = record
        self._functions = FunctionTable(arrays["starts"], arrays["ends"], arrays["function_starts"],
                                        arrays["name_offsets"], arrays["names"].tobytes())
        self._segments = tuple(Segment(*fields) for fields in header["segments"])
        if header["line_path"]:
            opener = self._open if header["line_path"] == self.path else partial(ElfImage, header["line_path"])
            ranges = [tuple(pair) for pair in header["code_ranges"]]
            self._units = UnitIndex(opener, header["line_source"], key, self._cache, ranges, self._debug_dirs)

    def _open(self) -> ElfImage:
        return open_vdso() if self.path == VDSO_PATH else open_module(self.path, self._layout)


def _signature(path: str) -> list[int] | None:
    """What changes when a file does: [size in bytes, time of change in ns]; None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [status.st_size, status.st_mtime_ns]


def _key_of_file(path: str) -> str:
    """The cache key of a file that was recorded without a build id; empty where it is gone."""
    signature = _signature(path)
    if signature is None:
        return ""
    identity = f"{os.path.realpath(path)}\0{signature}"
    return "file-" + hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:40]

"""line_table -- the source line of every instruction of one compilation unit

A line program is a small byte code that grows a table of (address, file, line). It is run
here rather than by pyelftools, which makes an object of every instruction: 0.3 million
instructions a second there against 4 million here, and a C++ unit has 100,000.
A row holds until the next one; an end marker closes each contiguous sequence, so that code of
other units in between is never given a line of this one.
Source: DWARF 5 section 6.2; versions 2 to 4 differ in the header only.
"""

from __future__ import annotations

import posixpath
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from collector.errors import DamagedImageError
from collector.symbols.byte_cursor import ByteCursor
from collector.symbols.native_lines import LineRows, is_available, run_line_program

if TYPE_CHECKING:
    from collector.symbols.dwarf_unit import DwarfData, UnitRoot

_NO_FILE = 0xFFFFFFFF
_LNCT_PATH, _LNCT_DIRECTORY, _LNCT_MD5 = 1, 2, 5
_FORM_DATA16 = 0x1E
_LARGEST_LINE = 0x7FFFFFFF
_HIGHEST = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class LineTable:
    """Rows in ascending order of address; `file_ids` count into `files`."""

    addresses: array[int]  # "Q"
    file_ids: array[int]  # "I"
    lines: array[int]  # "I"; 0 where the compiler names no line
    files: tuple[str, ...]
    digests: Mapping[str, str] = field(default_factory=dict)  # MD5 sums of files as they were compiled, where the compiler gives them

    def find(self, elf_address: int) -> tuple[str, int | None] | None:
        """(source path, line or None) of the instruction at `elf_address`; None where no row covers it."""
        return self._row(bisect_right(self.addresses, elf_address) - 1)

    def find_entry(self, elf_address: int) -> tuple[str, int | None] | None:
        """The same for a function's first instruction, as the function's own line.

        Several rows may share that address: the first is the function, the last may already be
        a call that was inlined there.
        """
        index = bisect_left(self.addresses, elf_address)
        while index < len(self.addresses) and self.addresses[index] == elf_address:
            if self.file_ids[index] != _NO_FILE:
                return self._row(index)
            index += 1
        return self.find(elf_address)

    def _row(self, index: int) -> tuple[str, int | None] | None:
        if index < 0 or self.file_ids[index] >= len(self.files):
            return None
        return self.files[self.file_ids[index]], self.lines[index] or None


@dataclass(frozen=True, slots=True)
class _Header:
    version: int
    minimum_bytes: int
    line_base: int
    line_range: int
    opcode_base: int
    operand_counts: tuple[int, ...]
    files: tuple[str, ...]  # by file number as the program uses it
    digests: Mapping[str, str]
    program_at: int


def read_line_table(dwarf: DwarfData, root: UnitRoot, is_code: Callable[[int], bool]) -> LineTable:
    """The table of the unit `root` begins.

    Sequences whose start is not in the module's code are dropped: the linker discarded what they
    described. Raises DamagedImageError.
    """
    if root.line_offset is None:
        return LineTable(array("Q"), array("I"), array("I"), ())
    data, offset_bytes = _unit_bytes(dwarf, root.line_offset)
    header = _read_header(dwarf, data, offset_bytes, root)
    sequences = _run_natively(data, header) if is_available() else _run(data, header)
    return _joined([s for s in sequences if is_code(s[0][0])], header)


def read_file_names(dwarf: DwarfData, root: UnitRoot) -> tuple[str, ...]:
    """The source files of the unit `root` begins, by number as its entries count them. Raises DamagedImageError."""
    if root.line_offset is None:
        return ()
    return _read_header(dwarf, *_unit_bytes(dwarf, root.line_offset), root).files


def _unit_bytes(dwarf: DwarfData, offset: int) -> tuple[bytes, int]:
    """The unit from its version field on, and the size of its offsets."""
    head = ByteCursor(dwarf.image.slice(dwarf.line, offset, 12))
    length, offset_bytes = head.fixed(4), 4
    if length == 0xFFFFFFFF:
        length, offset_bytes = head.fixed(8), 8
    return dwarf.image.slice(dwarf.line, offset + head.position, length), offset_bytes


def _read_header(dwarf: DwarfData, data: bytes, offset_bytes: int, root: UnitRoot) -> _Header:
    cursor = ByteCursor(data)
    version = cursor.fixed(2)
    if not 2 <= version <= 5:
        raise DamagedImageError(f"{dwarf.image.path} has a line table of the unknown version {version}.")
    if version >= 5 and (cursor.fixed(1), cursor.fixed(1)) != (8, 0):
        raise DamagedImageError(f"{dwarf.image.path} has a line table for another kind of address.")
    header_length = cursor.fixed(offset_bytes)
    program_at = cursor.position + header_length
    minimum_bytes = cursor.fixed(1)
    if version >= 4:
        cursor.fixed(1)  # operations per instruction: 1 on every machine recorded here
    cursor.fixed(1)  # whether rows begin as statements
    line_base = int.from_bytes(cursor.block(1), "little", signed=True)
    line_range, opcode_base = cursor.fixed(1), cursor.fixed(1)
    if line_range == 0 or opcode_base == 0 or program_at > len(data):
        raise DamagedImageError(f"{dwarf.image.path} has a line table that contradicts itself.")
    operand_counts = (0, *cursor.block(opcode_base - 1))
    digests: dict[str, str] = {}
    files = _new_files(dwarf, cursor, offset_bytes, root, digests) if version >= 5 else _old_files(dwarf, cursor, root)
    return _Header(version, minimum_bytes, line_base, line_range, opcode_base, operand_counts, files, digests, program_at)


def _old_files(dwarf: DwarfData, cursor: ByteCursor, root: UnitRoot) -> tuple[str, ...]:
    """Files count from 1; directory 0 is where the compiler ran."""
    directories = [root.directory or ""]
    while directory := cursor.string():
        directories.append(_join(directories[0], directory))
        dwarf.work(len(directories[-1]))
    files = [_join(directories[0], root.name or "?")]
    while name := cursor.string():
        index = cursor.uleb()
        cursor.uleb()
        cursor.uleb()
        files.append(_join(directories[index] if index < len(directories) else "", name))
        dwarf.work(len(files[-1]))
    return tuple(files)


def _new_files(dwarf: DwarfData, cursor: ByteCursor, offset_bytes: int, root: UnitRoot, digests: dict[str, str]) -> tuple[str, ...]:
    """DWARF 5: both tables describe their own columns and count from 0. `digests` takes the MD5 sums of files."""
    directories: list[str] = []
    for path, _, _ in _read_table(dwarf, cursor, offset_bytes):
        # Directory 0 is the compiler's own; when it is relative the unit's is the same one.
        directories.append(_join(directories[0], path) if directories else path or root.directory or "")
    files = []
    for path, index, digest in _read_table(dwarf, cursor, offset_bytes):
        files.append(_join(directories[index] if index < len(directories) else "", path))
        dwarf.work(len(files[-1]))
        if digest:
            digests[files[-1]] = digest
    return tuple(files)


def _read_table(dwarf: DwarfData, cursor: ByteCursor, offset_bytes: int) -> list[tuple[str, int, str]]:
    """[(path, directory number, MD5 sum in hexadecimal or "")]"""
    columns = [(cursor.uleb(), cursor.uleb()) for _ in range(cursor.fixed(1))]
    count = cursor.uleb()
    if count > len(cursor.data) or (count and not columns):  # every row takes bytes
        raise DamagedImageError(f"{dwarf.image.path} has a line table that contradicts itself.")
    readers = [(content, _reader_of(dwarf, cursor, offset_bytes, form)) for content, form in columns]
    rows = []
    for _ in range(count):
        path, directory, digest = "", 0, ""
        for content, read in readers:
            value = read()
            if content == _LNCT_PATH:
                path = str(value)
                dwarf.work(len(path))
            elif content == _LNCT_DIRECTORY and isinstance(value, int):
                directory = value
            elif content == _LNCT_MD5 and isinstance(value, str):
                digest = str(value)
        rows.append((path, directory, digest))
    return rows


def _reader_of(dwarf: DwarfData, cursor: ByteCursor, offset_bytes: int, form: int) -> Callable[[], int | str | bytes]:
    """What reads the next value at the cursor."""
    if form == 0x1F:
        return lambda: dwarf.string("line_str", cursor.fixed(offset_bytes))
    if form == 0x0E:
        return lambda: dwarf.string("str", cursor.fixed(offset_bytes))
    if form == 0x08:
        return cursor.string
    if form == 0x0F:
        return cursor.uleb
    if form in (0x0B, 0x05, 0x06, 0x07):
        return partial(cursor.fixed, {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8}[form])
    if form == _FORM_DATA16:
        return lambda: cursor.block(16).hex()
    if form == 0x09:
        return lambda: cursor.block(cursor.uleb())
    raise DamagedImageError(f"{dwarf.image.path} uses an unknown form {form:#x} in a line table.")


@lru_cache(1 << 14)
def _join(directory: str, name: str) -> str:
    """A source path without `.`, `..` and doubled slashes, so that one file has one spelling."""
    return posixpath.normpath(posixpath.join(directory, name)) if name else directory


def _run_natively(data: bytes, header: _Header) -> list[LineRows]:
    return run_line_program(
        data, header.program_at, header.operand_counts, header.minimum_bytes, header.line_base, header.line_range
    )


def _run(data: bytes, header: _Header) -> list[LineRows]:
    """Run the line program: for each sequence its addresses, file numbers and lines.

    The last row of a sequence is its end marker, with the file number _NO_FILE.
    """
    opcode_base = header.opcode_base
    address_steps = [(op - opcode_base) // header.line_range * header.minimum_bytes for op in range(256)]
    line_steps = [header.line_base + (op - opcode_base) % header.line_range for op in range(256)]
    constant_step = address_steps[255]
    sequences = []
    cursor = ByteCursor(data, header.program_at)
    uleb, size = cursor.uleb, len(data)
    rows_addresses, rows_files, rows_lines = array("Q"), array("I"), array("I")
    address, file, line = 0, 1, 1
    last_file, last_line = -1, -1
    position = header.program_at
    while position < size:
        op = data[position]
        position += 1
        if op >= opcode_base:
            address += address_steps[op]
            line += line_steps[op]
        elif op == 1:
            pass
        elif op == 0:
            cursor.position = position
            length = uleb()
            position = cursor.position + length
            kind = cursor.fixed(1) if length else 0
            if kind == 2:
                address = int.from_bytes(data[cursor.position:position], "little") & _HIGHEST
            elif kind == 1:
                if rows_addresses:
                    rows_addresses.append(max(min(address, _HIGHEST), rows_addresses[-1]))
                    rows_files.append(_NO_FILE)
                    rows_lines.append(0)
                    sequences.append((rows_addresses, rows_files, rows_lines))
                    rows_addresses, rows_files, rows_lines = array("Q"), array("I"), array("I")
                address, file, line = 0, 1, 1
                last_file, last_line = -1, -1
            continue
        else:
            cursor.position = position
            if op == 2:
                address += uleb() * header.minimum_bytes
            elif op == 3:
                line += cursor.sleb()
            elif op == 4:
                file = uleb()
            elif op == 8:
                address += constant_step
            elif op == 9:
                address += cursor.fixed(2)
            else:
                for _ in range(header.operand_counts[op]):
                    uleb()
            position = cursor.position
            continue
        if file != last_file or line != last_line:
            last_file, last_line = file, line
            rows_addresses.append(address & _HIGHEST)
            rows_files.append(file & _NO_FILE)
            rows_lines.append(line if 0 <= line <= _LARGEST_LINE else 0)
    return sequences


def _joined(sequences: list[LineRows], header: _Header) -> LineTable:
    """One table of all sequences, in the order of their addresses."""
    addresses, file_ids, lines = array("Q"), array("I"), array("I")
    for rows_addresses, rows_files, rows_lines in sorted(sequences, key=lambda sequence: sequence[0][0]):
        addresses += rows_addresses
        file_ids += rows_files
        lines += rows_lines
    return LineTable(addresses, file_ids, lines, header.files, header.digests)

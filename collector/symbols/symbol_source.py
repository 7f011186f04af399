"""symbol_source -- functions as .symtab and .dynsym list them

Which entries are functions, which of several names of one address is shown, and what is cut
from a name are decided here and nowhere else:

* FUNC and IFUNC entries of defined symbols; NOTYPE entries with a place in code are labels of
  assembly, worth less.
* Of aliases the one that other modules can see, of others one that has a size (an empty `f.cold` lies
  where the next one begins), then the one with fewer leading underscores (`malloc` before `__libc_malloc`,
  `write` before `__write`), then the shorter, then the one that sorts first: the same answer on every run.
* A symbol version (`memcpy@@GLIBC_2.14`) is no part of the name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from collector.symbols.elf_image import ElfImage, Section

_SYMBOL = struct.Struct("<IBBHQQ")
_STT_NOTYPE, _STT_OBJECT, _STT_FUNC, _STT_GNU_IFUNC = 0, 1, 2, 10
_STB_LOCAL = 0
_SHN_LORESERVE, _SHN_XINDEX = 0xFF00, 0xFFFF
_LONGEST_NAME = 1 << 16
_NAMES_BYTES, _NAMES_RATIO = 1 << 26, 8  # all names together: so much, and so often the strings; symbols share strings, but not like that


class SymbolText:
    """A symbol table beside its string table: names by symbol index or by offset.

    `room` is how many bytes the names that are still to be read may have, all together.
    """

    def __init__(self, image: ElfImage, table: Section) -> None:
        self.entries = image.data(table)
        strings = image.sections[table.link] if table.link < len(image.sections) else None
        self.strings = image.data(strings)
        self.room = _NAMES_BYTES + _NAMES_RATIO * len(self.strings)

    def bytes_at(self, offset: int) -> bytes:
        """The string at `offset`; empty outside the table, and where names take more room than any linker gives them."""
        end = self.strings.find(b"\0", offset, offset + _LONGEST_NAME)
        name = self.strings[offset:end if end >= 0 else offset + _LONGEST_NAME]
        self.room -= len(name)
        return name if self.room >= 0 else b""

    def name_at(self, offset: int) -> str:
        """The same without its symbol version."""
        name = self.bytes_at(offset)
        version = name.find(b"@")
        if version > 0:
            name = name[:version]
        return name.decode("utf-8", "backslashreplace")

    def name_of_symbol(self, index: int) -> str:
        """The name of entry `index`; empty outside the table."""
        if (index + 1) * _SYMBOL.size > len(self.entries):
            return ""
        return self.name_at(_SYMBOL.unpack_from(self.entries, index * _SYMBOL.size)[0])


class Symbol(NamedTuple):
    """One address that has a name; `size_bytes` 0 when the table does not say, `aliases` its other names."""

    start: int
    size_bytes: int
    name: str
    is_label: bool
    aliases: tuple[str, ...] = ()


def iter_symbol_tables(images: list[ElfImage]) -> Iterator[SymbolText]:
    """The tables that tell of the functions of a module, in the order in which they count."""
    # What strip left of a .symtab is in that of the debug file as well.
    largest = max((table.size_bytes for image in images for table in image.iter_sections("SHT_SYMTAB")), default=0)
    for image in images:
        tables = [table for table in image.iter_sections("SHT_SYMTAB") if table.size_bytes == largest or image is not images[0]]
        for table in (*tables, *image.iter_sections("SHT_DYNSYM")):
            yield SymbolText(image, table)


def read_symbols(images: list[ElfImage]) -> list[Symbol]:
    """The function symbols of all `images` of one module, one per address, ascending."""
    candidates: dict[int, list[tuple[int, int, int, int, SymbolText]]] = {}
    for text in iter_symbol_tables(images):
        _collect(text, candidates)
    return [_choose(start, candidates[start]) for start in sorted(candidates)]


def data_names(images: list[ElfImage]) -> dict[int, str]:
    """{address: name} of the variables that all `images` of one module list."""
    found: dict[int, str] = {}
    for image in images:
        for kind in ("SHT_SYMTAB", "SHT_DYNSYM"):
            for table in image.iter_sections(kind):
                text = SymbolText(image, table)
                whole = len(text.entries) // _SYMBOL.size * _SYMBOL.size
                for name, info, _, section, value, _ in _SYMBOL.iter_unpack(text.entries[:whole]):
                    if info & 15 == _STT_OBJECT and section and value and value not in found:
                        found[value] = text.name_at(name)
    return found


def _collect(text: SymbolText, candidates: dict[int, list[tuple[int, int, int, int, SymbolText]]]) -> None:
    entries = text.entries
    whole = len(entries) // _SYMBOL.size * _SYMBOL.size
    for name, info, _, section, value, size in _SYMBOL.iter_unpack(entries[:whole]):
        kind = info & 15
        if kind != _STT_FUNC and kind != _STT_GNU_IFUNC and kind != _STT_NOTYPE:
            continue
        if section == 0 or value == 0 or name == 0 or (section >= _SHN_LORESERVE and section != _SHN_XINDEX):
            continue
        entry = (kind, info >> 4, size, name, text)
        known = candidates.get(value)
        if known is None:
            candidates[value] = [entry]
        elif not _is_same(entry, known[0]):  # as most are that a module and its debug file both list
            known.append(entry)


def _is_same(one: tuple[int, int, int, int, SymbolText], other: tuple[int, int, int, int, SymbolText]) -> bool:
    return one[:3] == other[:3] and one[4].bytes_at(one[3]) == other[4].bytes_at(other[3])


def _choose(start: int, entries: list[tuple[int, int, int, int, SymbolText]]) -> Symbol:
    if len(entries) > 1:
        functions = [entry for entry in entries if entry[0] != _STT_NOTYPE]
        entries = functions or entries
        ranks = sorted(map(_rank, entries))
        names = tuple(dict.fromkeys(rank[-1] for rank in ranks))
        return Symbol(start, max(entry[2] for entry in entries), names[0], not functions, names[1:])
    kind, _, size, name_at, text = entries[0]
    return Symbol(start, size, text.name_at(name_at), kind == _STT_NOTYPE)


def _rank(entry: tuple[int, int, int, int, SymbolText]) -> tuple[bool, bool, int, int, str]:
    _, binding, size, name_at, text = entry
    name = text.name_at(name_at)
    is_local = binding == _STB_LOCAL
    return is_local, is_local and size == 0, len(name) - len(name.lstrip("_")), len(name), name

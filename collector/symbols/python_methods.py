"""python_methods -- the functions and methods of a CPython that are written in C, by address, whether it has symbols or not

They stand in tables in its data: PyMethodDef, four words each, of which an empty one is the last. What a table belongs to points to it, with its name at a
fixed distance: a module's definition (PyModuleDef), a type (PyTypeObject), or the slots (PyType_Slot) of a type that is made at run time, to which its
PyType_Spec points.
Source: Include/methodobject.h, moduleobject.h, cpython/object.h of CPython 3.9 to 3.15.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterator
from typing import Final

from collector.symbols.elf_image import SHF_ALLOC, ElfImage

_WORD: Final = struct.Struct("<Q")
_RELA: Final = struct.Struct("<QQq")
_SHF_WRITE: Final = 1
_RELATIVE: Final = {"x86_64": 8, "aarch64": 1027}
_NAME: Final = re.compile(rb"[A-Za-z_][\w.]*\Z")
_LONGEST_NAME: Final = 128
_CALLING: Final = 0x8F  # METH_VARARGS, KEYWORDS, NOARGS, O, FASTCALL: each method has one of them
_ALL_FLAGS: Final = 0x3FF
_OWNERS: Final = (3, 26)  # words from the pointer to the table back to that to the name: of PyModuleDef, of PyTypeObject
_SPEC_NAME: Final = 3  # the same from PyType_Spec's pointer to the slots
_METHODS_SLOT: Final = 64  # Py_tp_methods
_HIGHEST_SLOT: Final = 100
_MOST_BYTES: Final = 1 << 26


def python_methods(image: ElfImage) -> dict[int, str]:
    """{elf address: name} as Python has it: `builtins.compile`, `list.sort`, or `sort` where nothing says whose it is.

    What types share, as set and frozenset do, has the shorter of their names.
    """
    data = _Data(image)
    names: dict[int, str] = {}
    for table in data.tables():
        for function, name in data.methods_of(table):
            names[function] = min(names.get(function, name), name, key=lambda known: ("." not in known, len(known), known))
    return names


class _Data:
    """The words of a file's data, as they are once it is loaded, and its strings."""

    def __init__(self, image: ElfImage) -> None:
        kept = [s for s in image.iter_sections("SHT_PROGBITS") if s.flags & SHF_ALLOC and not s.is_code and s.size_bytes <= _MOST_BYTES]
        self._bytes = {section.elf_address: image.data(section) for section in kept}
        writable = [section.elf_address for section in kept if section.flags & _SHF_WRITE and section.elf_address % 8 == 0]
        self._code = [(s.elf_address, s.elf_address + s.size_bytes) for s in image.sections if s.is_code]
        self._words = {start: array("Q", self._bytes[start][: len(self._bytes[start]) // 8 * 8]) for start in writable}
        self._relocate(image)
        self._relocated = {start: words.tobytes() for start, words in self._words.items()}

    def _relocate(self, image: ElfImage) -> None:
        kind = _RELATIVE.get(image.machine)
        for section in image.iter_sections("SHT_RELA"):
            data = image.data(section)
            for place, info, addend in _RELA.iter_unpack(data[: len(data) // _RELA.size * _RELA.size]):
                if info == kind:
                    for start, words in self._words.items():
                        if 0 <= place - start < 8 * len(words):
                            words[(place - start) // 8] = addend & (1 << 64) - 1

    def _name_at(self, address: int) -> str:
        for start, data in self._bytes.items():
            if 0 <= address - start < len(data):
                name = data[address - start : address - start + _LONGEST_NAME].partition(b"\0")[0]
                return name.decode() if _NAME.match(name) else ""
        return ""

    def _is_code(self, address: int) -> bool:
        return any(start <= address < end for start, end in self._code)

    def _is_method(self, words: array[int], at: int) -> bool:
        name, function, flags = words[at : at + 3]
        return 0 < flags <= _ALL_FLAGS and flags & _CALLING != 0 and self._is_code(function) and self._name_at(name) != ""

    def tables(self) -> Iterator[tuple[int, array[int], int]]:
        """Where each table begins: its address, the words it is in, its place there."""
        for start, words in self._words.items():
            at = 0
            while at + 4 <= len(words):
                if words[at + 2] and words[at + 2] <= _ALL_FLAGS and self._is_method(words, at):
                    yield start + 8 * at, words, at
                    while at + 4 <= len(words) and self._is_method(words, at):
                        at += 4
                else:
                    at += 1

    def methods_of(self, table: tuple[int, array[int], int]) -> Iterator[tuple[int, str]]:
        """The functions of a table, with the name of whom it belongs to in front."""
        address, words, at = table
        owner = self._owner_of(address)
        while at + 4 <= len(words) and self._is_method(words, at):
            name = self._name_at(words[at])
            yield words[at + 1], f"{owner}.{name}" if owner else name
            at += 4

    def _owner_of(self, table: int) -> str:
        for words, at in self._pointers_to(table):
            if at and words[at - 1] == _METHODS_SLOT:
                return self._type_of_slots(words, at - 1)
            names = (self._name_at(words[at - distance]) for distance in _OWNERS if at >= distance)
            if name := next(filter(None, names), ""):
                return name
        return ""

    def _type_of_slots(self, words: array[int], at: int) -> str:
        """The name of the type whose slots have one at `at`."""
        while at >= 2 and 0 < words[at - 2] <= _HIGHEST_SLOT:
            at -= 2
        start = next(start for start, own in self._words.items() if own is words)
        specs = (self._name_at(others[place - _SPEC_NAME]) for others, place in self._pointers_to(start + 8 * at) if place >= _SPEC_NAME)
        return next(filter(None, specs), "")

    def _pointers_to(self, address: int) -> Iterator[tuple[array[int], int]]:
        """The words that hold an address: which, and their places there."""
        wanted = _WORD.pack(address)
        for start, words in self._words.items():
            data = self._relocated[start]
            at = data.find(wanted)
            while at >= 0:
                if at % 8 == 0:
                    yield words, at // 8
                at = data.find(wanted, at + 1)

"""test_python_methods -- what an interpreter's file says of its functions in C is what the interpreter says itself"""

from __future__ import annotations

import ctypes
import platform
import random
import struct
import sys
from types import BuiltinFunctionType
from typing import NamedTuple

import pytest

from collector.symbols.elf_image import ElfImage
from collector.symbols.python_methods import python_methods

METHOD_OF_FUNCTION = 16  # of PyCFunctionObject: m_ml, whose second word is the function


class Mapping(NamedTuple):
    start: int
    end: int
    offset: int
    path: str


def mapping_of(address: int) -> Mapping | None:
    with open("/proc/self/maps") as lines:
        for line in lines:
            words = line.split()
            start, end = (int(bound, 16) for bound in words[0].split("-"))
            if start <= address < end and len(words) > 5:
                return Mapping(start, end, int(words[2], 16), words[5])
    return None


def word_at(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def code_of(function: BuiltinFunctionType) -> int:
    return word_at(word_at(id(function) + METHOD_OF_FUNCTION) + 8)


@pytest.mark.skipif(platform.python_implementation() != "CPython", reason="this system has no CPython for its tests, but another interpreter")
def test_functions_are_called_as_python_calls_them() -> None:
    own = mapping_of(code_of(len))  # type: ignore[arg-type]
    assert own is not None
    image = ElfImage(own.path)
    methods = python_methods(image)
    bias = own.start - next(s.elf_address + own.offset - s.file_offset for s in image.segments if s.is_executable)
    told = {}
    for module in list(sys.modules.values()):
        for value in vars(module).values():
            if isinstance(value, BuiltinFunctionType) and value.__self__ is module and own.start <= code_of(value) < own.end:
                told[code_of(value) - bias] = f"{module.__name__}.{value.__name__}"
    assert len(told) > 300
    wrong = {address: (methods.get(address), name) for address, name in told.items() if methods.get(address, "").rpartition(".")[2] != name.rpartition(".")[2]}
    assert len(wrong) < len(told) / 50, wrong  # some share their function with another name
    for name in ("builtins.compile", "list.sort", "str.join", "dict.update", "re.Pattern.match", "_io.TextIOWrapper.write", "collections.OrderedDict.move_to_end"):
        assert name in methods.values()
    assert "set.union" in methods.values() and "frozenset.union" not in methods.values()  # which share it


def test_damaged_data_gives_fewer_names_and_no_error() -> None:
    own = mapping_of(code_of(len))  # type: ignore[arg-type]
    assert own is not None
    with open(own.path, "rb") as file:
        data = bytearray(file.read())
    image = ElfImage.from_bytes("python", bytes(data))
    section = next(s for s in image.sections if s.name == ".data")
    chance = random.Random(5)
    for _ in range(20000):
        place = section.file_offset + 8 * chance.randrange(section.size_bytes // 8)
        data[place : place + 8] = struct.pack("<Q", chance.choice([0, 1, 64, section.elf_address, 2**64 - 1, chance.getrandbits(64)]))
    assert isinstance(python_methods(ElfImage.from_bytes("python", bytes(data))), dict)

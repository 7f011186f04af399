"""test_objdump -- instructions of some bytes, with names for what they refer to, and what is said when there are none"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from collector.errors import SymbolError
from collector.symbols.code_image import code_image
from collector.symbols.elf_image import ElfImage
from collector.symbols.objdump import disassemble
from collector.symbols.symbol_source import data_names, read_symbols
from collector.symbols.symbolizer import Symbolizer

CODE = bytes.fromhex("b9a0860100" "ffc9" "75fc" "c3")


def tool(name: str) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")


def test_bytes_at_their_address() -> None:
    tool("objdump")
    found = disassemble(CODE, 0x7F00_0000_1000, "x86_64", {0x7F00_0000_1000: "made at\nrun time"})
    assert [address - 0x7F00_0000_1000 for address, _ in found] == [0, 5, 7, 9]
    assert [text.split()[0] for _, text in found] == ["mov", "dec", "jne", "ret"]
    assert found[2][1].endswith("7f0000001005 <made at?run time+0x5>")


def test_an_image_is_read_as_it_was_written() -> None:
    with ElfImage.from_bytes("code", code_image(CODE, 0x1000, "x86_64", {0x1000: "f", 0x9000: "v"})) as image:
        assert image.bytes_at(0x1000, 99) == CODE
        assert [(s.start, s.name) for s in read_symbols([image])] == [(0x1000, "f")]
        assert data_names([image]) == {0x9000: "v"}


def test_names_are_those_of_the_whole_file(workshop, run_tool) -> None:
    """Of functions, stubs and variables, as objdump finds them itself."""
    path = str(workshop.build("symbols_names.cc", "-O1", compiler="g++"))
    symbolizer = Symbolizer(cache_dir=workshop.directory / "cache")
    with ElfImage(path) as image:
        section = image.section(".text")
    assert section is not None
    start, end = section.elf_address, section.elf_address + section.size_bytes
    with ElfImage(path) as image:
        found = dict(disassemble(image.bytes_at(start, end - start), start, "x86_64", symbolizer.names_in_code(path, None)))
    expected = {}
    for line in run_tool("objdump", "-d", "-w", "-C", "--no-show-raw-insn", "-j", ".text", path).splitlines():
        address, colon, text = line.strip().partition(":\t")
        if colon:
            expected[int(address, 16)] = re.sub("@GLIBC[^>]*", "", " ".join(text.split()))
    calls = {address: text for address, text in expected.items() if text.startswith("call") and "<" in text}
    assert len(calls) > 5 and {address: found[address] for address in calls} == calls
    assert found.keys() == expected.keys()


def test_a_function_of_a_file(workshop) -> None:
    tool("objdump")
    path = str(workshop.build("object_parts.c", "-shared", "-nostdlib", "-fPIC", "-O1", compiler="gcc"))
    symbolizer = Symbolizer(cache_dir=workshop.directory / "cache")
    with ElfImage(path) as image:
        start = image.code_ranges[-1][0]
    ((start, code),) = symbolizer.code_of(path, None, [start])
    found = disassemble(code, start, "x86_64", symbolizer.names_in_code(path, None))
    assert found[0][0] == start and found[-1][0] < start + len(code)
    assert found[-1][1].startswith("ret")


def test_sentences(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SymbolError, match="cannot be disassembled"):
        disassemble(CODE, 0, "s390x", {})
    tool("objdump")
    with pytest.raises(SymbolError, match="found no instructions"):
        disassemble(b"", 0, "x86_64", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SymbolError, match="there is no objdump here"):
        disassemble(CODE, 0, "x86_64", {})

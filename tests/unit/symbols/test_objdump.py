"""test_objdump -- instructions of files and of bytes, and what is said when there are none"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from collector.errors import SymbolError
from collector.symbols.elf_image import ElfImage
from collector.symbols.objdump import disassemble_bytes, disassemble_file
from collector.symbols.symbolizer import Symbolizer

CODE = bytes.fromhex("b9a0860100" "ffc9" "75fc" "c3")


def tool(name: str) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")


def test_bytes_at_their_address() -> None:
    tool("objdump")
    found = disassemble_bytes(CODE, 0x7F00_0000_1000, "x86_64")
    assert [address - 0x7F00_0000_1000 for address, _ in found] == [0, 5, 7, 9]
    assert [text.split()[0] for _, text in found] == ["mov", "dec", "jne", "ret"]
    assert found[2][1].endswith("7f0000001005")


def test_a_function_of_a_file(workshop) -> None:
    tool("objdump")
    path = str(workshop.build("object_parts.c", "-shared", "-nostdlib", "-fPIC", "-O1", compiler="gcc"))
    symbolizer = Symbolizer(cache_dir=workshop.directory / "cache")
    with ElfImage(path) as image:
        start = image.code_ranges[-1][0]
    ((start, code),) = symbolizer.code_of(path, None, [start])
    found = disassemble_file(path, start, start + len(code))
    assert found[0][0] == start and found[-1][0] < start + len(code)
    assert found[-1][1].startswith("ret")


def test_sentences(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SymbolError, match="cannot be disassembled"):
        disassemble_bytes(CODE, 0, "s390x")
    tool("objdump")
    with pytest.raises(SymbolError, match="found no instructions"):
        disassemble_file(str(tmp_path / "gone"), 0, 8)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SymbolError, match="there is no objdump here"):
        disassemble_bytes(CODE, 0, "x86_64")

"""test_unit_entries -- of debug information only the units in use are in memory, and the answers are those of all of it"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from inline_cases import PROGRAMS, Program

from collector.symbols import elf_image, unit_entries
from collector.symbols.dwarf_unit import DwarfData
from collector.symbols.elf_image import ElfImage
from collector.symbols.symbolizer import Symbolizer


def packed(program: Path, directory: Path) -> Path:
    """A copy whose debug sections are compressed."""
    copy = directory / "packed" / program.name
    copy.parent.mkdir()
    if subprocess.run(["objcopy", "--compress-debug-sections=zlib", program, copy], capture_output=True).returncode:
        pytest.skip("this objcopy does not compress")
    return copy


def chains(program: Path, cache: Path) -> dict[int, list[tuple[str | int | None, ...]]]:
    with ElfImage(str(program)) as image:
        (text,) = (section for section in image.sections if section.name == ".text")
    addresses = range(text.elf_address, text.elf_address + text.size_bytes, 3)
    found = Symbolizer(cache_dir=cache).locate_chains(str(program), None, addresses)
    return {address: [(one.function, one.file, one.line, one.kind) for one in chain] for address, chain in found.items()}


@pytest.mark.parametrize("program", [program for program in PROGRAMS if "-O2 -gdwarf-5" in str(program)], ids=str)
def test_what_is_compressed_is_read_in_one_pass(program: Program, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """But where units refer to each other, as after link-time optimisation."""
    path = program.build_once(tmp_path_factory)
    plain = chains(path, tmp_path / "plain")
    assert any(len(chain) > 1 for chain in plain.values())
    passes: list[object] = []
    monkeypatch.setattr(elf_image, "_LARGEST_PIECE_BYTES", 61)
    stream = unit_entries._Stream
    monkeypatch.setattr(unit_entries, "_Stream", lambda pieces: passes.append(pieces) or stream(pieces))
    assert chains(packed(path, tmp_path), tmp_path / "cache") == plain
    assert len(passes) == 1 or "lto" in str(program)


def test_files_of_an_archive_are_found_in_one_pass_more(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(next(program for program in PROGRAMS if str(program).startswith("clang++")).build_once(tmp_path_factory), tmp_path)
    passes: list[object] = []
    stream = unit_entries._Stream
    monkeypatch.setattr(unit_entries, "_Stream", lambda pieces: passes.append(pieces) or stream(pieces))
    with ElfImage(str(path)) as image:
        (text,) = (section for section in image.sections if section.name == ".text")
    addresses = range(text.elf_address, text.elf_address + text.size_bytes, 7)
    assert [file.path for file in Symbolizer(cache_dir=tmp_path / "cache").needed_files(str(path), None, addresses)] == [str(path)]
    assert len(passes) <= 2


def test_units_that_are_not_held_are_fetched(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One by one, and all at once when that goes on."""
    path = next(program for program in PROGRAMS if "lto" in str(program)).build_once(tmp_path_factory)
    with ElfImage(str(path)) as plain, ElfImage(str(packed(path, tmp_path))) as image:
        whole, dwarf = plain.data(plain.section(".debug_info")), DwarfData(image)
        assert dwarf.entries is not None
        units = dwarf.entries.headers()
        assert len(units) > 2 and not dwarf.entries.held
        for _ in range(unit_entries._MOST_PASSES):
            for unit in reversed(units):
                assert dwarf.slice("info", unit.offset, unit.end - unit.offset) == whole[unit.offset : unit.end]
        assert dwarf.entries.held == units
        assert dwarf.slice("info", len(whole), 10) == b""


def test_memory_of_units_is_given_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = PROGRAMS[0].build_once(tmp_path_factory)
    with ElfImage(str(path)) as image:
        dwarf = DwarfData(image)
        assert dwarf.entries is not None
        held = [[*dwarf.entries.held] for _ in dwarf.entries.iter_wanted(lambda unit: True)]
        assert [one.offset for one, in held] == [unit.offset for unit in dwarf.entries.headers()]

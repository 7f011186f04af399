"""test_split_units -- inlined calls whose description lies in .dwo and .dwp files are those of the same program with all in one file"""

from __future__ import annotations

import functools
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from inline_cases import PROGRAMS, Program

from collector.symbols import native_modules
from collector.symbols.dwarf_unit import DwarfData
from collector.symbols.elf_image import ElfImage
from collector.symbols.split_units import MissingSplitError, SplitFiles, read_skeleton
from collector.symbols.symbolizer import Symbolizer

_PLAIN = [
    program
    for program in PROGRAMS
    if not {"-flto", "-gstrict-dwarf"} & set(program.options) and ("++" not in program.compiler or {"-O2", "-gdwarf-5"} <= set(program.options))
]
_SMALL = [program for program in _PLAIN if str(program) in ("gcc -O2 -gdwarf-4", "gcc -O2 -gdwarf-5")][:2]
_ADDRESSES_TRIED = 20_000


@pytest.fixture(autouse=True, params=["library", "plain"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the analysis library, and without it."""
    if request.param == "plain":
        monkeypatch.setattr(native_modules, "library", lambda: None)
    elif native_modules.library() is None:
        pytest.skip("libcollector_analysis is not there")
    return str(request.param)


def split_of(program: Program) -> Program:
    return replace(program, options=(*program.options, "-gsplit-dwarf"))


def build(program: Program, directory: Path) -> tuple[Path, Path]:
    """The program with all in one file, and with .dwo files beside it."""
    split = split_of(program).build(directory).rename(directory / "split")
    if not list(directory.glob("*.dwo")):
        pytest.skip(f"{program.compiler} writes no .dwo files")
    return program.build(directory), split


def chains_of(path: Path, cache: Path, **options) -> tuple[dict, list[str]]:
    """What is inlined at every address, and warnings."""
    with ElfImage(str(path)) as image:
        section = image.section(".text")
        assert section is not None
        addresses = range(section.elf_address, section.elf_address + min(section.size_bytes, _ADDRESSES_TRIED))
    symbolizer = Symbolizer(cache_dir=cache, **options)
    chains = symbolizer.locate_chains(str(path), None, addresses)

    @functools.cache
    def here(name: str | None) -> str | None:
        return name and name.replace(str(path.parent), "").replace(path.name, "program")

    return {address: [(here(where.raw_name), here(where.file), where.line, here(where.function_file), where.function_line) for where in chain]
            for address, chain in chains.items()}, symbolizer.warnings


@pytest.mark.parametrize("program", _PLAIN, ids=str)
def test_both_are_the_same(program: Program, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    plain, split = program.build_once(tmp_path_factory), split_of(program).build_once(tmp_path_factory)
    if not list(split.parent.glob("*.dwo")):
        pytest.skip(f"{program.compiler} writes no .dwo files")
    expected, _ = chains_of(plain, tmp_path / "cache")
    found, warnings = chains_of(split, tmp_path / "cache")
    assert warnings == [] and any(len(chain) > 1 for chain in expected.values())
    assert {address: (chain, expected[address]) for address, chain in found.items() if chain != expected[address]} == {}


@pytest.mark.parametrize("tool", ["dwp", "llvm-dwp", "llvm-dwp-14"])
@pytest.mark.parametrize("program", _SMALL, ids=str)
def test_a_package_is_as_good_as_its_files(program: Program, tool: str, tmp_path: Path) -> None:
    """Beside the program, and below a directory that is given."""
    if not shutil.which(tool):
        pytest.skip(f"this system has no {tool}")
    _, split = build(program, tmp_path)
    expected, _ = chains_of(split, tmp_path / "cache")
    package = tmp_path / "split.dwp"
    try:
        subprocess.run([tool, "-e", split.name, "-o", package.name], cwd=tmp_path, capture_output=True, timeout=5, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):  # some find no end to files of gcc's
        pytest.skip(f"this system has no {tool} that can read these files")
    for file in tmp_path.glob("*.dwo"):
        file.unlink()
    assert chains_of(split, tmp_path / "cold") == (expected, [])
    (tmp_path / "debug").mkdir()
    package.rename(tmp_path / "debug/split.dwp")
    assert chains_of(split, tmp_path / "given", debug_dirs=[str(tmp_path / "debug")]) == (expected, [])


@pytest.mark.parametrize("program", _SMALL, ids=str)
def test_files_that_were_moved(program: Program, tmp_path: Path) -> None:
    """They are found below a directory that is given; without it a sentence tells, and the cache does not keep that nothing is inlined."""
    _, split = build(program, tmp_path)
    expected, _ = chains_of(split, tmp_path / "cache")
    (tmp_path / "debug").mkdir()
    for file in tmp_path.glob("*.dwo"):
        file.rename(tmp_path / "debug" / file.name)
    found, warnings = chains_of(split, tmp_path / "cold")
    assert {len(chain) for chain in found.values()} == {1}
    assert len(warnings) == 1 and warnings[0].startswith(f"Inlined functions of a unit of {split} are not shown: their .dwo files, such as ")
    assert chains_of(split, tmp_path / "cold", debug_dirs=[str(tmp_path / "debug")]) == (expected, [])


@pytest.mark.parametrize("program", _SMALL, ids=str)
def test_a_file_of_another_build_is_not_taken(program: Program, tmp_path: Path) -> None:
    _, split = build(program, tmp_path)
    with ElfImage(str(split)) as image:
        dwarf = DwarfData(image)
        skeleton = next(filter(None, (read_skeleton(dwarf, unit) for unit in dwarf.iter_units())))
        files = SplitFiles(dwarf, ())
        assert files.find(skeleton)[1].version == int(program.options[-1][-1])
        with pytest.raises(MissingSplitError):
            files.find(replace(skeleton, id=skeleton.id ^ 1))
        files.close()

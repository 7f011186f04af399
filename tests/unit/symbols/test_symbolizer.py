"""test_symbolizer -- the entry point: files that vanish or change, the cache, offsets, minus one"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from collector.symbols.elf_image import ElfImage
from collector.symbols.inline_table import InlinedCall
from collector.symbols.symbolizer import Location, Symbolizer, _chain, lookup_address


@pytest.fixture
def program(workshop, tmp_path):
    """A copy of the C program that a test may damage."""
    copy = tmp_path / "program"
    shutil.copy(workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5", "-Wl,--build-id"), copy)
    return copy


@pytest.fixture
def build_id(program):
    with ElfImage(str(program)) as image:
        return image.build_id


@pytest.fixture
def addresses(program):
    with ElfImage(str(program)) as image:
        text = image.section(".text")
        return range(text.elf_address, text.elf_address + text.size_bytes)


def test_lookup_address():
    """Every caller's address points behind its call; the leaf's is exact."""
    assert lookup_address(0x1000, True) == 0x1000
    assert lookup_address(0x1000, False) == 0xFFF
    assert lookup_address(0, False) == 0


def test_a_call_at_the_end_of_a_function_stays_in_it(program, run_tool, tmp_path):
    """middle_step ends in `call abort`: its return address already belongs to another function."""
    symbolizer = Symbolizer(cache_dir=tmp_path)
    listing = run_tool("objdump", "-d", "--no-show-raw-insn", program).splitlines()
    call = next(i for i, row in enumerate(listing) if "call" in row and "<abort@plt>" in row)
    at = int(listing[call].split(":")[0], 16)
    after = at + 5
    mine = symbolizer.locate(str(program), None, lookup_address(after, False))
    assert mine.function.startswith("middle_step") and mine.line
    assert symbolizer.locate(str(program), None, at).function == mine.function


def test_a_program_in_fortran(workshop, run_tool, tmp_path):
    """Names as gdb shows them, but for the main program; of the two procedures `inner` each is one, by its linker's name."""
    path = workshop.build("symbols_fortran.f90", "-g", "-O1", "-fno-inline", f"-J{tmp_path}", compiler="gfortran")
    rows = [row.split() for row in run_tool("nm", path).splitlines()]
    located = Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, [int(row[0], 16) for row in rows if row[-2] in "tT"])
    shown = {(where.function, where.raw_name) for where in located.values() if where.file and where.file.endswith(".f90")}
    inner = sorted(name for name, _ in shown if name == "inner")
    assert {name for name, _ in shown} == {"kern::smooth", "apart", "inner", "MAIN__", "main"} and len(inner) == 2
    assert ("apart", "apart_") in shown and ("kern::smooth", "__kern_MOD_smooth") in shown


def test_inlined_procedures_of_fortran_have_no_underscore():
    outer = Location("MAIN__", "MAIN__", "a", "/a.f90", 3, "/a.f90", 1, 0x1000, "symbol")
    chain = _chain(outer, (InlinedCall("apart_", "/a.f90", 7, "/a.f90", 20),), {"apart_": "apart_"}, {})
    assert [(where.function, where.raw_name, where.line) for where in chain] == [("MAIN__", "MAIN__", 7), ("apart", "apart_", 3)]


def test_vanished_file(program, build_id, addresses, tmp_path):
    program.unlink()
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    location = symbolizer.locate(str(program), build_id, 0x1234)
    assert location == Location("program+0x1234", "program+0x1234", "program", None, None, None, None, None, "unknown")
    symbolizer.locate(str(program), build_id, 0x1235)
    assert len(symbolizer.warnings) == 1 and "program" in symbolizer.warnings[0]
    assert symbolizer.elf_address_of_offset(str(program), build_id, 0x1234) == 0x1234


def test_vanished_file_that_the_cache_knows(program, build_id, addresses, tmp_path):
    before = Symbolizer(cache_dir=tmp_path / "cache").locate_many(str(program), build_id, addresses)
    program.unlink()
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    assert symbolizer.locate_many(str(program), build_id, addresses) == before
    assert symbolizer.warnings == []


def test_changed_file(program, build_id, workshop, tmp_path):
    shutil.copy(workshop.build("symbols_shapes.c", "-O0", "-g", "-Wl,--build-id"), program)
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    assert symbolizer.locate(str(program), build_id, 0x1234).function == "program+0x1234"
    assert len(symbolizer.warnings) == 1 and "build id" in symbolizer.warnings[0]


def test_file_stripped_and_unstripped_again(program, build_id, addresses, run_tool, tmp_path):
    """Same build id, other contents: the better file is noticed."""
    whole = tmp_path / "whole"
    shutil.copy(program, whole)
    run_tool("strip", program)
    poor = Symbolizer(cache_dir=tmp_path / "cache").locate_many(str(program), build_id, addresses)
    shutil.copy(whole, program)
    rich = Symbolizer(cache_dir=tmp_path / "cache").locate_many(str(program), build_id, addresses)
    assert not any(location.line for location in poor.values())
    assert any(location.function == "leaf_sum" and location.line for location in rich.values())


@pytest.mark.parametrize("path", ["[heap]", "[stack]", "//anon", "", "/memfd:jit (deleted)", "[unknown]"])
def test_mappings_that_are_no_files(path, tmp_path):
    symbolizer = Symbolizer(cache_dir=tmp_path)
    assert symbolizer.locate(path, None, 0x10).function.endswith("+0x10")
    assert symbolizer.warnings == []


def test_a_deleted_path_is_tried_without_its_mark(program, build_id, addresses, tmp_path):
    symbolizer = Symbolizer(cache_dir=tmp_path)
    location = symbolizer.locate(f"{program} (deleted)", build_id, addresses[0])
    assert location.module == "program" and location.kind == "symbol"


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), os.mkfifo, lambda p: p.write_bytes(b""),
                                  lambda p: p.write_text("no ELF file"), lambda p: p.write_bytes(b"\x7fELF\x01\x01" + bytes(60))],
                         ids=["directory", "pipe", "empty", "text", "32 bit"])
def test_things_that_are_no_modules(make, tmp_path):
    path = tmp_path / "thing"
    make(path)
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    assert symbolizer.locate(str(path), None, 0x10).function == "thing+0x10"
    assert len(symbolizer.warnings) == 1


@pytest.mark.parametrize("options", [(), ("-no-pie",), ("-Wl,-z,noseparate-code",), ("-static-pie",)], ids=" ".join)
def test_offsets_in_the_file(options, workshop, run_tool, tmp_path):
    """The bytes at an offset of the file are those that objdump finds at the address."""
    path = workshop.build("symbols_shapes.c", "-O2", *options)
    with ElfImage(str(path)) as image:
        text = image.section(".text")
        symbolizer = Symbolizer(cache_dir=tmp_path)
        for distance in range(0, text.size_bytes, 7):
            elf_address = symbolizer.elf_address_of_offset(str(path), None, text.file_offset + distance)
            assert elf_address == text.elf_address + distance
        assert image.bytes_at(text.elf_address, 16) == path.read_bytes()[text.file_offset:text.file_offset + 16]


def test_warm_cache_gives_the_same(program, build_id, addresses, tmp_path):
    cold = Symbolizer(cache_dir=tmp_path / "cache").locate_many(str(program), build_id, addresses)
    warm = Symbolizer(cache_dir=tmp_path / "cache").locate_many(str(program), build_id, addresses)
    assert cold == warm
    stored = {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert {"functions", "units"} < stored and any(name.startswith("lines-") for name in stored)


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:len(data) // 2], lambda data: bytes(len(data)),
                                    lambda data: data[:-1] + bytes([data[-1] ^ 1]), lambda data: b"{}" + data[2:]])
def test_damaged_cache_is_built_anew(damage, program, build_id, addresses, tmp_path):
    cold = Symbolizer(cache_dir=tmp_path / "cache").locate_many(str(program), build_id, addresses)
    records = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    for record in records:
        record.write_bytes(damage(record.read_bytes()))
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    assert symbolizer.locate_many(str(program), build_id, addresses) == cold
    assert symbolizer.warnings == []
    program.unlink()
    assert Symbolizer(cache_dir=tmp_path / "cache").locate_many(str(program), build_id, addresses) == cold


def test_unwritable_cache(program, build_id, addresses, tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    symbolizer = Symbolizer(cache_dir=blocked)
    assert any(location.line for location in symbolizer.locate_many(str(program), build_id, addresses).values())
    assert symbolizer.warnings == []


def test_program_without_build_id(workshop, addresses, tmp_path):
    path = workshop.build("symbols_shapes.c", "-O2", "-g", "-Wl,--build-id=none")
    first = Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, addresses)
    assert Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, addresses) == first
    assert any(location.line for location in first.values())
    recorded_with_one = Symbolizer(cache_dir=tmp_path)
    assert recorded_with_one.locate(str(path), b"12345678", addresses[0]).kind == "unknown"
    assert len(recorded_with_one.warnings) == 1


def test_progress(program, addresses, tmp_path):
    calls = []
    Symbolizer(cache_dir=tmp_path, progress=lambda *call: calls.append(call)).locate_many(str(program), None, addresses)
    assert calls[0] == (0, 1, "symbols of program")
    assert all(0 <= done <= total for done, total, _ in calls) and calls[-1][0] == calls[-1][1]


def test_vdso(run_tool, tmp_path):
    """The running kernel's vdso has a clock_gettime, whose extent readelf tells too."""
    from collector.errors import SymbolError
    from collector.symbols.vdso import open_vdso

    try:
        image = open_vdso()
    except SymbolError as error:
        pytest.skip(str(error))
    copy = tmp_path / "vdso.so"
    copy.write_bytes(image._stream.getvalue())
    rows = [row.split() for row in run_tool("nm", "-D", copy).splitlines()]
    start = next(int(row[0], 16) for row in rows if row[-1].split("@")[0].endswith("clock_gettime"))
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    location = symbolizer.locate("[vdso]", image.build_id, start + 1)
    assert location.function.endswith("clock_gettime") and location.module == "[vdso]"
    other = Symbolizer(cache_dir=tmp_path / "cache").locate("[vdso]", b"another kernel's", start)
    assert other.function == f"[vdso]+{start:#x}"


def test_unused_modules_leave_a_cache_that_is_too_big(program, build_id, workshop, tmp_path):
    from collector.symbols.cache import SymbolCache

    cache = SymbolCache(tmp_path)
    for number in range(5):
        cache.store(f"{number:040x}", "functions", {"number": number}, {})
        os.utime(f"{cache.directory}/{number:040x}", (1000 + number, 1000 + number))
    size_bytes = sum(path.stat().st_size for path in Path(cache.directory).rglob("functions"))
    cache.trim(size_bytes // 2)
    assert [cache.load(f"{number:040x}", "functions") is not None for number in range(5)] == [False, False, False, True, True]
    assert Path(cache.directory).exists()


@pytest.mark.parametrize("units", ["ab", "ba"])
def test_a_function_that_two_units_brought_is_the_first_ones(units, tmp_path):
    if not shutil.which("g++"):
        pytest.skip("this system has no g++")
    for unit in units:
        (tmp_path / f"{unit}.cc").write_text(
            f"__attribute__((always_inline)) static inline int only_in_{unit}(int x) {{ return x * 3 + 1; }}\n"
            f"__attribute__((noinline)) inline int shared(int x) {{ return only_in_{unit}(x); }}\n"
            f"int {unit}(int x) {{ return shared(x); }}\n" + ("int b(int);\nint main(int n, char **) { return a(n) + b(n); }\n" if unit == "a" else "")
        )
    sources = [f"{unit}.cc" for unit in units]
    subprocess.run(["g++", "-g", "-O1", *sources, "-o", "program"], check=True, cwd=tmp_path)
    program = str(tmp_path / "program")
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    (start,) = symbolizer._module(program, None)._functions.starts_of_name("_Z6sharedi")
    chain = symbolizer.locate_chains(program, None, [start])[start]
    assert [where.function for where in chain] == ["shared(int)", f"only_in_{units[0]}"]

"""test_against_binutils -- every address of many builds, beside addr2line, nm and objdump"""

from __future__ import annotations

import os
import posixpath
import re
from bisect import bisect_right
from pathlib import Path

import pytest

from collector.symbols.elf_image import ElfImage
from collector.symbols.symbolizer import Symbolizer

BUILDS = [
    ("gcc", "-O2", "-gdwarf-5"),
    ("gcc", "-O2", "-gdwarf-4", "-no-pie"),
    ("gcc", "-O0", "-gdwarf-3"),
    ("gcc", "-O2", "-gdwarf-2", "-gstrict-dwarf"),
    ("gcc", "-O2", "-gdwarf-5", "-static-pie"),
    ("gcc", "-O2", "-gdwarf-5", "-static"),
    ("gcc", "-O3", "-gdwarf-5", "-ffunction-sections", "-Wl,--gc-sections"),
    ("gcc", "-O2", "-gdwarf-5", "-gz=zlib"),
    ("gcc", "-O2", "-gdwarf-5", "-gsplit-dwarf"),
    ("gcc", "-O2", "-gdwarf-5", "-shared", "-fPIC"),
    ("clang", "-O2", "-gdwarf-5"),
    ("clang", "-O2", "-gdwarf-4", "-no-pie"),
    ("clang", "-O1", "-gdwarf-5", "-ffunction-sections"),
    ("clang", "-O2", "-gdwarf-4", "-gdwarf-aranges"),
]
CXX_BUILDS = [
    ("g++", "-O2", "-gdwarf-5"),
    ("g++", "-O2", "-gdwarf-4", "-ffunction-sections"),
    ("clang++", "-O2", "-gdwarf-5"),
    ("clang++", "-O0", "-gdwarf-4", "-no-pie"),
]


def text_addresses(path: Path) -> range:
    with ElfImage(str(path)) as image:
        text = image.section(".text")
        return range(text.elf_address, text.elf_address + min(text.size_bytes, 30_000))


def parse_addr2line(output: str) -> list[tuple[str, str, str]]:
    """[(outermost function, file, line)] from `addr2line -f -i -a`."""
    answers = []
    for block in re.split(r"^0x[0-9a-f]{16}\n", output, flags=re.M)[1:]:
        rows = block.splitlines()
        file, line = re.sub(r" \(discriminator \d+\)$", "", rows[1]).rsplit(":", 1)
        answers.append((rows[-2], posixpath.normpath(file) if file != "??" else "", line if line != "0" else "?"))
    return answers


def differing_lines(path: Path, addresses, locations, run_tool) -> list[tuple]:
    answers = parse_addr2line(run_tool("addr2line", "-f", "-i", "-a", "-e", path, input="\n".join(map(hex, addresses))))
    assert len(answers) == len(addresses)
    differing = []
    for address, (_, file, line) in zip(addresses, answers):
        location = locations[address]
        ours = location.file or "", str(location.line or "?")
        # Without a line table addr2line falls back to the symbol table's bare file names.
        if ours != (file, line) and os.path.isabs(file):
            differing.append((hex(address), ours, (file, line)))
    return differing


def covering_names(path: Path, run_tool, *options: str) -> tuple[list[int], list[tuple[int, set[str]]]]:
    """Function symbols with a size: their starts, and beside each its end and all its names."""
    table: dict[int, tuple[int, set[str]]] = {}
    for row in run_tool("nm", "--no-demangle", "-S", *options, path).splitlines():
        fields = row.split()
        if len(fields) == 4 and fields[2] in "tTwWiI":
            start, size = int(fields[0], 16), int(fields[1], 16)
            end, names = table.get(start, (0, set()))
            table[start] = max(end, start + size), names | {fields[3].split("@")[0]}
    starts = sorted(table)
    return starts, [table[start] for start in starts]


def assert_names_are_nm_s(path: Path, locations, run_tool, *options: str) -> int:
    """Each address inside a sized symbol has one of that symbol's names; returns how many."""
    starts, extents = covering_names(path, run_tool, *options)
    checked = 0
    for address, location in locations.items():
        index = bisect_right(starts, address) - 1
        if index >= 0 and address < extents[index][0]:
            assert location.kind == "symbol" and location.raw_name in extents[index][1], hex(address)
            assert location.function_start == starts[index]
            checked += 1
    return checked


@pytest.mark.parametrize("build", BUILDS, ids=" ".join)
def test_c_program(build, workshop, run_tool, tmp_path):
    path = workshop.build("symbols_shapes.c", *build[1:], compiler=build[0])
    addresses = text_addresses(path)
    locations = Symbolizer(cache_dir=tmp_path, has_pieces=True).locate_many(str(path), None, addresses)
    assert differing_lines(path, addresses, locations, run_tool) == []
    assert assert_names_are_nm_s(path, locations, run_tool) > 100
    with_line = {location.raw_name for location in locations.values() if location.line}
    if "-shared" not in build:
        assert "outer_loop" in with_line


@pytest.mark.parametrize("build", CXX_BUILDS, ids=" ".join)
def test_cxx_program(build, workshop, run_tool, tmp_path):
    path = workshop.build_names(*build[1:], compiler=build[0])
    addresses = text_addresses(path)
    locations = Symbolizer(cache_dir=tmp_path, has_pieces=True).locate_many(str(path), None, addresses)
    assert differing_lines(path, addresses, locations, run_tool) == []
    assert assert_names_are_nm_s(path, locations, run_tool) > 100
    names = {location.function for location in locations.values()}
    assert "shapes::Box<int>::grow(int, long)" in names
    assert "(anonymous namespace)::hidden(char const*)" in {n.split(" [clone")[0] for n in names}


@pytest.mark.parametrize("build", [("gcc", "-O2", "-gdwarf-5"), ("clang", "-O2", "-gdwarf-4")], ids=" ".join)
def test_functions_begin_where_the_source_says(build, workshop, tmp_path):
    path = workshop.build("symbols_shapes.c", *build[1:], compiler=build[0])
    source = (Path(__file__).resolve().parents[2] / "targets" / "symbols_shapes.c").read_text().splitlines()
    locations = Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, text_addresses(path))
    by_name = {location.raw_name: location for location in locations.values()}
    for name in ("leaf_sum", "middle_step", "outer_loop", "main"):
        location = by_name[name]
        assert location.function_file.endswith("symbols_shapes.c")
        # Compilers name the line of the declarator, that of the brace below it, or (clang 21) that of the first statement which does something.
        assert f"{name}(" in "".join(source[location.function_line - 4:location.function_line])


def test_link_time_optimisation(workshop, tmp_path):
    """addr2line 2.40 counts the files of such a unit from 1 and says <artificial>; the source knows better."""
    path = workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5", "-flto")
    locations = Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, text_addresses(path)).values()
    assert {Path(location.file).name for location in locations if location.raw_name == "main"} >= {"symbols_shapes.c"}


@pytest.mark.parametrize("options", [
    (), ("-Wl,-z,lazy",), ("-Wl,-z,now",), ("-Wl,-z,ibtplt", "-Wl,-z,lazy", "-fcf-protection"), ("-static",), ("-no-pie",),
], ids=lambda options: " ".join(options) or "default")
def test_plt_stubs(options, workshop, run_tool, tmp_path):
    path = workshop.build("symbols_shapes.c", "-O2", *options)
    expected = {}
    for section in (".plt", ".plt.sec", ".plt.got", ".iplt"):
        for start, name in re.findall(r"^([0-9a-f]+) <([^>]+)@plt>:", run_tool("objdump", "-d", "-j", section, path)
                                      if section_exists(path, section) else "", flags=re.M):
            expected[int(start, 16)] = name.split("@")[0] + "@plt"
    expected = {start: name for start, name in expected.items() if not name.startswith("*ABS*")}
    locations = Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, expected)
    assert {start: location.function for start, location in locations.items()} == expected
    if "-static" not in options:
        assert "printf@plt" in expected.values()
    inside = Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, [start + 5 for start in expected])
    assert [inside[start + 5].function for start in expected] == list(expected.values())


def section_exists(path: Path, name: str) -> bool:
    with ElfImage(str(path)) as image:
        return image.section(name) is not None


@pytest.mark.parametrize("library", ["libc.so.6", "libstdc++.so.6", "libm.so.6", "ld-linux-x86-64.so.2"])
def test_system_library(library, run_tool, tmp_path):
    found = [Path(folder, library) for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64")
             if Path(folder, library).exists()]
    if not found:
        pytest.skip(f"{library} is not in a usual place")
    with ElfImage(str(found[0])) as image:
        low, high = image.code_ranges[0][0], image.code_ranges[-1][1]
    symbolizer = Symbolizer(cache_dir=tmp_path, debug_dirs=())
    locations = symbolizer.locate_many(str(found[0]), None, range(low, high, max(1, (high - low) // 5_000)))
    assert symbolizer.warnings == []
    starts, extents = covering_names(found[0], run_tool, "-D")
    for address, location in locations.items():
        index = bisect_right(starts, address) - 1
        if index >= 0 and address < extents[index][0]:
            assert location.kind == "symbol"
        if location.kind == "frame":
            assert location.function == f"{library}+{location.function_start:#x}"
            assert location.function_start <= address

"""test_inline_reader -- inlined calls by pyelftools: beside llvm-symbolizer, beside what is known, and damaged"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from inline_cases import PROGRAMS, Program, differences, iter_units, tables_of

from collector.errors import SymbolError
from collector.symbols.dwarf_unit import DwarfData
from collector.symbols.elf_image import ElfImage
from collector.symbols.inline_reader import read_inline_table
from collector.symbols.inline_table import NOTHING, InlineTable

_MOST_ADDRESSES = 3000
_DAMAGED_FILES = 200 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 100
_HANG_SECONDS = 300
_NESTED = """\
volatile int sink;
static inline __attribute__((always_inline)) void
inner(int x) { sink = x; }
static inline __attribute__((always_inline)) void outer(int x) {
    inner(x + 1);
    sink = 2;
}
int main(int argc, char **argv) {
    (void)argv;
    outer(argc);
    inner(7);
    return sink;
}
"""


def chains_by_address(path: Path) -> dict[int, tuple]:
    """{address: chain}, innermost call first, of up to _MOST_ADDRESSES addresses of the units' code."""
    tables: dict[int, InlineTable] = {}
    for dwarf, unit in iter_units(path):
        table = read_inline_table(dwarf, unit)
        ranges = [(low, high) for low, high in dwarf.root(unit).ranges if dwarf.image.is_code(low)]
        tables |= {address: table for low, high in ranges for address in range(low, high)}
    chosen = random.Random("addresses").sample(sorted(tables), min(len(tables), _MOST_ADDRESSES))
    return {address: tables[address].chain_at(address)[::-1] for address in sorted(chosen)}


def by_llvm_symbolizer(path: Path, addresses: list[int]) -> list[list[tuple[str, str | None, int | None]]]:
    """By address [(name, file of the call, its line)], innermost call first."""
    if shutil.which("llvm-symbolizer") is None:
        pytest.skip("llvm-symbolizer is not installed")
    line = ["llvm-symbolizer", "--no-demangle", "--inlining", "--output-style=JSON", "-e", str(path)]
    answer = subprocess.run(line, input="".join(f"{address:#x}\n" for address in addresses), capture_output=True, text=True, check=True)
    frames = [json.loads(text)["Symbol"] for text in answer.stdout.splitlines()]
    return [[(frame["FunctionName"], os.path.normpath(around["FileName"]), around["Line"] or None)
             for frame, around in zip(symbols, symbols[1:])] for symbols in frames]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_every_chain_is_that_of_llvm_symbolizer(program, tmp_path_factory):
    path = program.build_once(tmp_path_factory)
    chains = chains_by_address(path)
    expected = by_llvm_symbolizer(path, list(chains))
    ours = [[(call.raw_name, call.call_file, call.call_line) for call in chain] for chain in chains.values()]
    for mine, theirs in zip(ours, expected, strict=True):
        assert [call[1:] for call in mine] == [call[1:] for call in theirs]
        # A name that is not the linker's is told with what it is within, and by its line if it is not the only one.
        assert all(re.sub(r"(?<!:):\d+$", "", f"::{name}").endswith(f"::{known}") for (name, *_), (known, *_) in zip(mine, theirs)), (mine, theirs)
    assert max(map(len, ours)) >= (4 if "shapes.cc" in dict(program.sources) else 1)


def test_chains_of_a_shared_debug_file(tmp_path, tmp_path_factory):
    """dwz moves what two programs describe alike into a file that both name."""
    if shutil.which("dwz") is None:
        pytest.skip("dwz is not installed")
    program = next(program for program in PROGRAMS if str(program) == "g++ -O2 -gdwarf-4")
    paths = [tmp_path / name / "program" for name in "ab"]
    for path in paths:
        path.parent.mkdir()
        shutil.copy(program.build_once(tmp_path_factory), path)
    before = chains_by_address(paths[0])
    subprocess.run(["dwz", "-m", "common", *(str(path.relative_to(tmp_path)) for path in paths)], cwd=tmp_path, check=True)
    for path in paths:
        shutil.copy(tmp_path / "common", path.parent / "common")
    assert chains_by_address(paths[0]) == before and any(before.values())
    with ElfImage(str(paths[0])) as image:
        dwarf = DwarfData(image)
        assert any("??" in read_inline_table(dwarf, unit).names for unit in dwarf.iter_units())


@pytest.mark.parametrize("options", ["-O1 -gdwarf-4", "-O1 -gdwarf-5", "-O2 -gdwarf-5"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_is_said_of_a_call(compiler, options, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "folder" / "nested.c"
    source.parent.mkdir()
    source.write_text(_NESTED)
    subprocess.run([compiler, *options.split(), "folder/../folder/nested.c", "-o", "nested"], cwd=tmp_path, check=True)
    (table,) = tables_of(tmp_path / "nested", read_inline_table)
    file = str(source)
    outer, inner = ("outer", file, 10, file, 4), ("inner", file, 5, file, 3)
    assert {table.chain_at(start) for start in table.starts} == {
        (), (outer,), (outer, inner), (("inner", file, 11, file, 3),)}
    assert all(parent == NOTHING or parent < node for node, parent in enumerate(table.parents))
    assert list(table.starts) == sorted(set(table.starts))
    assert all(a != b for a, b in zip(table.nodes, table.nodes[1:]))
    assert table.files == (file,)


# One function of 0x100 bytes; by entry what it is, where it is and what is inside.
_ASSEMBLY = """\
        .text
        .globl main
main:   .fill 0x100, 1, 0x90
        .section .debug_abbrev, "", @progbits
        .uleb128 1, 0x11\n .byte 1\n .uleb128 0x11, 1, 0x12, 7, 0, 0
        .uleb128 2, 0x2e\n .byte 1\n .uleb128 0x11, 1, 0x12, 7, 0, 0
        .uleb128 3, 0x1d\n .byte 1\n .uleb128 0x31, 0x13, 0x11, 1, 0x12, 7, 0x59, 0xb, 0, 0
        .uleb128 4, 0x1d\n .byte 1\n .uleb128 0x31, 0x13, 0, 0
        .uleb128 5, 0x2e\n .byte 0\n .uleb128 3, 8, 0x47, 0x13, 0, 0
        .uleb128 6, 0x2e\n .byte 0\n .uleb128 0x47, 0x13, 0x6e, 8, 0, 0
        .uleb128 0
        .section .debug_info, "", @progbits
info:   .long done - body
body:   .value 4\n .long .debug_abbrev\n .byte 8
        .uleb128 1\n .quad main, 0x100
        .macro function low, size\n .uleb128 2\n .quad main + \\low, \\size\n .endm
        .macro call of, low, size, line\n .uleb128 3\n .long \\of - info\n .quad main + \\low, \\size\n .byte \\line\n .endm
        .macro unplaced of\n .uleb128 4\n .long \\of - info\n .endm
        .macro end\n .uleb128 0\n .endm
{entries}
named:  .uleb128 5\n .string "plain"\n .long linked - info
linked: .uleb128 6\n .long linked - info\n .string "linked"
nobody: .uleb128 4\n .long nobody - info\n end
        end
done:
"""


def assembled(entries: str, directory: Path) -> InlineTable:
    """The table of a unit with these entries; the function begins at 0x400000."""
    (directory / "unit.s").write_text(_ASSEMBLY.replace("{entries}", entries))
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,-e,main", "-Wl,-Ttext=0x400000", "unit.s", "-o", "unit"], cwd=directory, check=True)
    (table,) = tables_of(directory / "unit", read_inline_table)
    return table


def lines_by_start(table: InlineTable) -> list[tuple[int, list[int | None]]]:
    """[(start, lines of the calls around it)]."""
    return [(start - 0x400000, [call.call_line for call in table.chain_at(start)]) for start in table.starts]


_INNER = "call named, 0x20, 0x10, 2\n end\n"
_RANGES = {
    "nested": (f"call named, 0x10, 0x40, 1\n {_INNER} end\n", [(0x10, [1]), (0x20, [1, 2]), (0x30, [1]), (0x50, [])]),
    "inside what is nowhere": (f"call named, 0x10, 0x40, 1\n unplaced named\n {_INNER} end\n end\n",
                               [(0x10, [1]), (0x20, [1, 2]), (0x30, [1]), (0x50, [])]),
    "a nested function's own": ("call named, 0x10, 0x40, 1\n function 0x20, 0x10\n call named, 0x24, 4, 2\n end\n end\n end\n",
                                [(0x10, [1]), (0x20, []), (0x24, [2]), (0x28, []), (0x30, [1]), (0x50, [])]),
    "the deeper to its end": ("call named, 0x10, 0x20, 1\n call named, 0x20, 0x30, 2\n end\n end\n call named, 0x40, 0x20, 3\n end\n",
                              [(0x10, [1]), (0x20, [1, 2]), (0x50, [3]), (0x60, [])]),
    "the later of two alike": ("call named, 0x20, 0x20, 1\n end\n call named, 0x10, 0x20, 2\n end\n", [(0x10, [2]), (0x20, [1]), (0x40, [])]),
    "empty ones inside": ("call named, 0x10, 0x40, 1\n call named, 0x20, 0, 2\n end\n end\n", [(0x10, [1]), (0x50, [])]),
    "discarded": ("call named, -0x400000, 0x800000, 1\n end\n", []),
}


@pytest.mark.parametrize(("entries", "expected"), _RANGES.values(), ids=list(_RANGES))
def test_ranges(entries, expected, tmp_path):
    assert lines_by_start(assembled(f"function 0, 0x100\n {entries} end\n", tmp_path)) == expected


def test_names(tmp_path):
    """The linker's name counts, wherever it stands; references in circles and calls of nothing have an end."""
    table = assembled("".join(f"call {of}, {low}, 0x10, 1\n end\n" for of, low in (("named", 0), ("linked", 16), ("nobody", 32))), tmp_path)
    assert [table.chain_at(start)[-1].raw_name for start in table.starts[:3]] == ["linked", "linked", "??"]
    assert table.chain_at(0x400000)[0][1:] == (None, 1, None, None)


_IMPOSSIBLE = {
    "too deep": ".rept 5000\n function 0, 0x100\n .endr\n",
    "an endless number": ".fill 8192, 1, 0xff\n",
    "an origin outside": "call 0x7fffffff + info, 0, 0x10, 1\n end\n",
    "no abbreviation": ".uleb128 77\n",
}


@pytest.mark.parametrize("entries", _IMPOSSIBLE.values(), ids=list(_IMPOSSIBLE))
def test_what_no_compiler_writes(entries, tmp_path):
    with pytest.raises(SymbolError):
        assembled(entries, tmp_path)


def test_declarations_of_other_units(tmp_path):
    """When the linker optimises, functions refer to the unit that they come from, and count its files."""
    program = next(program for program in PROGRAMS if "-flto" in program.options)
    calls = {call for table in tables_of(program.build(tmp_path), read_inline_table) for start in table.starts for call in table.chain_at(start)}
    assert calls and all(call.raw_name in ("helper", "other") for call in calls)
    for call in calls:
        file, line = (str(tmp_path / "two.c"), 2 if call.raw_name == "helper" else 3)
        assert (call.file, call.line) == (file, line)


def test_a_large_unit_needs_the_library(tmp_path_factory):
    path = PROGRAMS[0].build_once(tmp_path_factory)
    with ElfImage(str(path)) as image:
        dwarf = DwarfData(image)
        unit = next(dwarf.iter_units())
        with pytest.raises(SymbolError, match="libcollector_analysis"):
            read_inline_table(dwarf, replace(unit, end=unit.offset + (3 << 20)))


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program.options in (("-O2", "-gdwarf-4"), ("-O2", "-gdwarf-5"))], ids=str)
def test_damage(program, tmp_path_factory):
    """Wrong bytes lead to a sentence or to other calls. The alarm ends an endless loop, it measures nothing."""
    sound = program.build_once(tmp_path_factory).read_bytes()
    with ElfImage.from_bytes("sound", sound) as image:
        names = (".debug_info", ".debug_abbrev", ".debug_ranges", ".debug_rnglists", ".debug_str_offsets", ".debug_addr", ".debug_line")
        sections = [image.section(name) for name in names if image.section(name) is not None]
    refused = 0
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("a damaged file was read without end"))
    signal.alarm(_HANG_SECONDS)
    try:
        for seed in range(_DAMAGED_FILES if "shapes.c" in dict(program.sources) else _DAMAGED_FILES // 10):
            chance = random.Random(seed)
            data = bytearray(sound)
            for _ in range(chance.randrange(1, 20)):
                section = chance.choice(sections[:2] if seed % 2 else sections)
                data[section.file_offset + chance.randrange(section.size_bytes)] = chance.randrange(256)
            try:
                with ElfImage.from_bytes("damaged", bytes(data)) as image:
                    dwarf = DwarfData(image)
                    for unit in dwarf.iter_units():
                        table = read_inline_table(dwarf, unit)
                        assert all(len(table.chain_at(start)) <= len(table.parents) for start in table.starts)
            except SymbolError as error:
                refused += 1
                assert "\n" not in str(error)
    finally:
        signal.alarm(0)
    assert refused


def test_the_comparison_of_two_readers_sees_a_difference(tmp_path_factory):
    (table,) = tables_of(PROGRAMS[0].build_once(tmp_path_factory), read_inline_table)
    assert differences(table, table) == []
    assert differences(table, replace(table, call_lines=table.call_lines[:-1] + table.call_lines[:1], _chains={}))


def test_names_say_what_they_are_within(tmp_path):
    """Compilers give no linkage name to what no other unit can see."""
    source = """
        volatile int sink;
        namespace { struct Hidden { static inline int twice(int a) { return sink * a; } }; }
        namespace outer { template <typename F> static inline int apply(F f, int a) { return f(a) + Hidden::twice(a); } }
        int main(int argc, char **) { sink = outer::apply([&](int b) { return sink * argc * b; }, argc); }
    """
    program = Program("g++", ("-O2", "-gdwarf-5"), (("names.cc", source),))
    names = {name for table in tables_of(program.build(tmp_path), read_inline_table) for name in table.names}
    assert any(name.startswith("outer::apply<main(") for name in names), names
    assert any(re.fullmatch(r"main::\{lambda:5(:\d+)?\}::operator\(\)", name) for name in names), names
    assert any("Hidden" in name for name in names), names


def test_lambdas_of_one_function_stay_apart(tmp_path):
    """No name tells them apart where g++ inlined them; only the place of each does."""
    source = """
        volatile unsigned sink;
        int main(int argc, char **) {
            auto one = [](int n) { sink = sink * n; };
            auto two = [](int n) { sink = sink + n; }; auto three = [](int n) { sink = sink - n; };
            auto four = [](auto n) { sink = sink / n; };
            one(argc), two(argc), three(argc), four(argc);
        }
    """
    program = Program("g++", ("-O2", "-gdwarf-5"), (("lambdas.cc", source),))
    (table,) = tables_of(program.build(tmp_path), read_inline_table)
    chains = (table.chain_at(start) for start in table.starts)
    calls = {(call.raw_name, Path(call.file or "").name, call.line) for chain in chains for call in chain}
    names = sorted(name for name, _, _ in calls)
    assert [re.sub(r":\d+\}", "}", name) for name in names] == [
        "main::{lambda:4}::operator()", "main::{lambda:5}::operator()", "main::{lambda:5}::operator()", "main::{lambda:6}::operator()<int>",
    ]
    assert {(file, line) for _, file, line in calls} == {("lambdas.cc", line) for line in (4, 5, 6)}


def test_overloads_that_only_their_unit_can_see_stay_apart(tmp_path):
    """g++ gives them no linkage names: what is said of them is the same but for the line."""
    source = """
        volatile unsigned sink;
        static inline void mix(int n) { sink = sink * n; }
        static inline void mix(long n) { sink = sink + n; }
        static inline void once(int n) { sink = sink / n; }
        namespace { struct Box {
            void turn(int n) { sink = sink ^ n; }
            void turn(long n) { sink = sink & n; }
        }; }
        int main(int argc, char **) { mix(argc), mix(2l), once(argc), Box().turn(argc), Box().turn(3l); }
    """
    program = Program("g++", ("-O2", "-gdwarf-5"), (("overloads.cc", source),))
    (table,) = tables_of(program.build(tmp_path), read_inline_table)
    names = sorted(table.names)
    assert names == ["(anonymous namespace)::Box::turn:7", "(anonymous namespace)::Box::turn:8", "mix:3", "mix:4", "once"], names


def test_procedures_of_one_name_within_others_stay_apart(tmp_path):
    source = """
        volatile int sink;
        int first(int n) { inline int within(int m) { return sink * m; } return within(n) + within(n + 1); }
        int second(int n) {
            inline int within(int m) { return sink - m; }
            return within(n) + within(n + 1);
        }
        int main(int argc, char **argv) { (void)argv; return first(argc) + second(argc); }
    """
    program = Program("gcc", ("-O2", "-gdwarf-5"), (("within.c", source),))
    (table,) = tables_of(program.build(tmp_path), read_inline_table)
    assert {name for name in table.names if name.startswith("within")} == {"within:3", "within:5"}, table.names

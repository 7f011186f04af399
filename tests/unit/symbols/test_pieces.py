"""test_pieces -- which function a piece belongs to, by its name and in a program that gcc took to pieces"""

from __future__ import annotations

from pathlib import Path

import pytest
from small_experiment import BASE, PID, begin, clock, close, mapping, samples, thread_end, write_log

from collector.cli.reporting.disassembly import listings_of
from collector.load import load
from collector.profile import aggregate
from collector.profile.model import Profile
from collector.symbols.elf_image import ElfImage
from collector.symbols.pieces import names_of_whole, whole_name
from collector.symbols.symbolizer import Symbolizer


@pytest.mark.parametrize("name, wholes", [
    ("f", []),
    ("f.cold", ["f"]),
    ("f.cold.12", ["f"]),
    ("f.__part.1", ["f"]),
    ("f.part.0", ["f"]),
    ("f.isra.0", ["f"]),
    ("f.localalias", ["f"]),
    ("f.constprop.0.isra.0", ["f"]),
    ("f.lto_priv.1.part.0.cold", ["f", "f.lto_priv.1.part.0"]),
    ("f.llvm.7523098745670983", ["f"]),
    ("f.__uniq.187328.cold", ["f", "f.__uniq.187328"]),
    ("_ZN3foo3barEi.part.0", ["_ZN3foo3barEi"]),
    ("_RNvNtCsgEmfK2I1SDS_4core3fmt5write.llvm.12", ["_RNvNtCsgEmfK2I1SDS_4core3fmt5write"]),
    ("inner.0.constprop.0", ["inner.0"]),
    ("f._omp_fn.0", []),
    ("f.avx2", []),
    ("f.part", []),
    ("part.0", []),
    (".part.0", []),
    (".cold", []),
    ("f.partial.0", []),
    ("f.part.0x", []),
    ("f.part.0@plt", []),
    ("", []),
])
def test_names_of_pieces(name, wholes):
    assert names_of_whole(name) == wholes
    assert whole_name(name) == [*wholes, name][0]


def test_a_program_in_pieces(workshop, run_tool, tmp_path):
    """Every piece has name, file and line of its function; the two functions `checked` are two, by their files."""
    program = workshop.build_pieces("-O2", "-gdwarf-5")
    rows = [row.split() for row in run_tool("nm", program).splitlines()]
    at = {int(row[0], 16): row[2] for row in rows if len(row) == 3 and row[1] in "tT" and "." in row[2]}
    if not {"split.part.0", "scaled.constprop.0", "checked.cold"} <= set(at.values()):
        pytest.skip("this compiler takes the program to other pieces")
    symbolizer = Symbolizer(cache_dir=tmp_path)
    found = symbolizer.locate_many(str(program), None, [int(row[0], 16) for row in rows if row[1] in "tT"])
    for address, name in at.items():
        where = found[address]
        assert where.function == where.raw_name == name.partition(".")[0] and where.function_line
    functions = [(where.function, where.raw_name, where.function_file, where.function_line) for where in found.values()]
    assert len([f for f in functions if f[0] == "checked"]) == 4 and len({f for f in functions if f[0] == "checked"}) == 2
    assert len([f for f in functions if f[0] == "split"]) == 1


def test_a_piece_named_after_an_alias(workshop, run_tool, tmp_path):
    """The compiler names a piece after one of its function's names, which need not be the one that is shown."""
    module = workshop.build("symbols_assembly.S", "-shared")
    rows = [row.split() for row in run_tool("nm", module).splitlines()]
    at = {row[-1]: int(row[0], 16) for row in rows if len(row) == 3}
    for _ in ("read", "cached"):
        found = Symbolizer(cache_dir=tmp_path).locate_many(str(module), None, [at["seen_name"], at["hidden_name.cold"]])
        assert [where.raw_name for where in found.values()] == ["seen_name", "seen_name"]
    apart = Symbolizer(cache_dir=tmp_path, has_pieces=True)
    assert apart.locate(str(module), None, at["hidden_name.cold"]).raw_name == "hidden_name.cold"


def test_names_of_cpp_have_no_mark(workshop, run_tool, tmp_path):
    program = workshop.build_names("-O2")
    rows = [row.split() for row in run_tool("nm", program).splitlines()]
    pieces = [int(row[0], 16) for row in rows if row[-1].startswith("_Z") and row[-1].endswith((".0", ".cold"))]
    if not pieces:
        pytest.skip("this compiler leaves all functions whole")
    whole = Symbolizer(cache_dir=tmp_path).locate_many(str(program), None, pieces)
    apart = Symbolizer(cache_dir=tmp_path, has_pieces=True).locate_many(str(program), None, pieces)
    for address in pieces:
        assert apart[address].function.startswith(whole[address].function + " [clone .")
        assert apart[address].raw_name.startswith(whole[address].raw_name + ".")


@pytest.fixture
def experiment(workshop, run_tool, tmp_path, monkeypatch):
    """A sample of 1 ms, called by main, at every eighth byte of the program in pieces."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = workshop.build_pieces("-O2", "-gdwarf-5", "-Wl,--build-id")
    if "checked.cold" not in run_tool("nm", program):
        pytest.skip("this compiler moves no cold part away")
    with ElfImage(str(program)) as image:
        text, build_id = image.section(".text"), image.build_id
    main = next(int(row.split()[0], 16) for row in run_tool("nm", program).splitlines() if row.endswith(" T main"))
    places = range(text.elf_address, text.elf_address + text.size_bytes, 8)
    stacks = [([BASE + place, BASE + main + 10], 0) for place in places]
    used_ns = len(stacks) * 1_000_000
    records = (begin(), clock(), mapping(str(program), build_id=build_id), samples(stacks, range(len(stacks))))
    write_log(tmp_path / "a.expt", f"{PID}.0.log", *records, thread_end(user_ns=used_ns), close(user_ns=used_ns))
    return tmp_path / "a.expt"


def number_of(profile: Profile, name: str, file: str) -> int:
    return next(i for i, f in enumerate(profile.functions) if f.name == name and f.file and Path(f.file).name == file)


def test_the_disassembly_shows_every_piece(experiment, run_tool):
    run_tool("objdump", "--version")
    profile = load(experiment)
    checked = number_of(profile, "checked", "symbols_pieces.c")
    listings = listings_of(profile, checked)
    assert sorted("(checked.cold)" in listing.title for listing in listings) == [False, True]
    row = next(row for row in aggregate.functions(profile) if row.function is profile.functions[checked])
    shown = sum(row.exclusive[0] for listing in listings for row in listing.rows)
    assert shown == pytest.approx(row.exclusive[0]) and all(any(row.exclusive[0] for row in listing.rows) for listing in listings)


def test_pieces_add_up_to_their_function(experiment):
    """What --pieces shows apart is, by function, what is shown without."""
    whole, apart = load(experiment), load(experiment, has_pieces=True)
    assert aggregate.total_values(whole) == aggregate.total_values(apart)
    sums: dict[tuple[str, str | None], float] = {}
    for row in aggregate.functions(apart):
        key = row.function.raw_name.partition(".")[0], row.function.file
        sums[key] = sums.get(key, 0.0) + row.exclusive[0]
    rows = aggregate.functions(whole)
    assert {(row.function.raw_name, row.function.file): row.exclusive[0] for row in rows} == pytest.approx(sums)
    assert len(rows) == len(sums) < len(aggregate.functions(apart))
    assert {"split.part.0", "scaled.constprop.0", "checked.cold"} <= {function.name for function in apart.functions}

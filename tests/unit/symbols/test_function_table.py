"""test_function_table -- who owns an address: sizes, labels, unwind entries, and nobody"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from collector.symbols import native_modules
from collector.symbols.elf_image import ElfImage
from collector.symbols.function_table import NO_FUNCTION, FunctionTable, _fill_with_frames, _flatten, build_function_table, build_plainly
from collector.symbols.symbolizer import Symbolizer


def addresses_of(path, run_tool) -> dict[str, int]:
    rows = (row.split() for row in run_tool("nm", path).splitlines())
    return {fields[-1]: int(fields[0], 16) for fields in rows if len(fields) == 3}


@pytest.fixture
def assembly(workshop):
    return workshop.build("symbols_assembly.S", "-shared")


def test_hand_written_code(assembly, run_tool, tmp_path):
    at = addresses_of(assembly, run_tool)
    symbolizer = Symbolizer(cache_dir=tmp_path)

    def name(symbol: str, distance: int) -> str:
        return symbolizer.locate(str(assembly), None, at[symbol] + distance).function

    assert [name("sized_function", d) for d in (0, 8)] == ["sized_function"] * 2
    assert name("sized_function", 9) == f"{assembly.name}+{at['sized_function'] + 9:#x}"
    assert [name("described_function", d) for d in (0, 2, 3)] == ["described_function"] * 3
    assert name("described_function", 4) == f"{assembly.name}+{at['described_function'] + 4:#x}"
    assert [name("bare_function", d) for d in (0, 1)] == ["bare_function"] * 2
    assert [name("plain_label", d) for d in (0, 2)] == ["plain_label"] * 2
    assert name("nameless", 3) == "nameless"
    assert name("sized_without_frame", 1) == "sized_without_frame"
    assert [name("__full_part", d) for d in (0, 1)] == ["__full_part"] * 2


def test_stripped_code_never_takes_a_neighbours_name(assembly, run_tool, tmp_path):
    at = addresses_of(assembly, run_tool)
    stripped = tmp_path / "stripped.so"
    run_tool("strip", "-o", stripped, assembly)
    symbolizer = Symbolizer(cache_dir=tmp_path)
    location = symbolizer.locate(str(stripped), None, at["nameless"] + 2)
    assert (location.function, location.kind) == (f"stripped.so+{at['nameless']:#x}", "frame")
    assert location.function_start == at["nameless"]
    # The label before `nameless` has no size: it must end where the unwind entry begins.
    assert symbolizer.locate(str(stripped), None, at["plain_label"] + 2).function == "plain_label"
    assert symbolizer.locate(str(stripped), None, at["sized_function"]).function == "sized_function"
    assert symbolizer.locate(str(stripped), None, at["sized_without_frame"] + 20).kind != "frame"


def test_stripped_program_begins_functions_where_the_symbols_did(workshop, run_tool, tmp_path):
    program = workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5")
    stripped = tmp_path / "stripped"
    run_tool("strip", "-o", stripped, program)
    with ElfImage(str(program)) as image:
        full = build_function_table(image)
    locations = Symbolizer(cache_dir=tmp_path).locate_many(str(stripped), None, full.starts)
    starts = addresses_of(program, run_tool)
    for name in ("main", "leaf_sum", "middle_step", "outer_loop", "implementation"):
        assert locations[starts[name]].function == f"stripped+{starts[name]:#x}"


@pytest.mark.parametrize("build", [build_function_table, build_plainly], ids=["library", "python"])
def test_the_start_code_owns_nothing_of_the_program(build, workshop, run_tool):
    program = workshop.build("symbols_nameless_first.S")
    at = addresses_of(program, run_tool)
    if at.get("frame_dummy", at["main"]) >= at["main"] - 64:
        pytest.skip("this compiler's start code has no frame_dummy before the program")
    with ElfImage(str(program)) as image:
        table = build(image, ())
    assert table.range_at(table.index_of(at["frame_dummy"])).name == "frame_dummy"
    assert [table.index_of(address) for address in range(at["main"] - 64, at["main"])] == [None] * 64


def test_aliases_and_ifuncs(workshop, run_tool, tmp_path):
    program = workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5")
    at = addresses_of(program, run_tool)
    symbolizer = Symbolizer(cache_dir=tmp_path)
    assert at["twin_name"] == at["__twin_name"]
    assert symbolizer.locate(str(program), None, at["twin_name"]).function == "twin_name"
    assert symbolizer.locate(str(program), None, at["picked"]).function == "picked"
    assert symbolizer.locate(str(program), None, at["implementation"]).function == "implementation"


def test_a_cold_part_is_defined_where_its_function_is(workshop, tmp_path):
    program = workshop.build_names("-O2", "-gdwarf-5")
    with ElfImage(str(program)) as image:
        table = build_function_table(image)
    colds = [table.range_at(i) for i in range(len(table)) if table.range_at(i).name.endswith(".cold")]
    if not colds:
        pytest.skip("this compiler moves no cold part away")
    symbolizer = Symbolizer(cache_dir=tmp_path)
    for cold in colds:
        whole = symbolizer.locate(str(program), None, table.starts_of_name(cold.name.removesuffix(".cold"))[0])
        part = symbolizer.locate(str(program), None, cold.start)
        assert (part.function, part.raw_name) == (whole.function, whole.raw_name)
        assert (part.function_file, part.function_line) == (whole.function_file, whole.function_line)


@pytest.mark.parametrize("options", [("-gdwarf-5",), ("-gdwarf-4", "-flto"), ()], ids=" ".join)
def test_cold_parts_of_two_functions_of_one_name(options, workshop, run_tool, tmp_path):
    """Two files have a static function of one name: each cold part goes with its own."""
    program = workshop.build_pieces("-O2", *options)
    rows = [row.split() for row in run_tool("nm", "-S", program).splitlines()]
    colds = [int(row[0], 16) for row in rows if row[-1].startswith("checked") and ".cold" in row[-1]]
    if len(colds) < 2:
        pytest.skip("this compiler moves no cold part away")
    located = Symbolizer(cache_dir=tmp_path).locate_many(str(program), None, colds)
    files = {where.function_file and Path(where.function_file).name for where in located.values()}
    assert files == ({"symbols_pieces.c", "symbols_pieces_twin.c"} if options else {None})
    assert all(where.file == where.function_file for where in located.values())


def test_nested_ranges_are_cut():
    """An outer range goes on behind an inner one; the innermost owns each address."""
    flat = _flatten([(0, 100, 0, "outer"), (20, 40, 20, "inner"), (30, 35, 30, "core"), (90, 120, 90, "late")])
    assert flat == [(0, 20, 0, "outer"), (20, 30, 20, "inner"), (30, 35, 30, "core"), (35, 40, 20, "inner"),
                    (40, 90, 0, "outer"), (90, 120, 90, "late")]


@pytest.mark.parametrize("seed", range(20))
def test_layers_against_a_map_of_every_address(seed):
    """Random nesting functions over random unwind entries, beside the plainest possible model."""
    chance = random.Random(seed)
    named: list = []
    for number in range(chance.randrange(1, 8)):
        start = chance.randrange(0, 180)
        if all(start != other[0] for other in named):
            named.append((start, start + chance.randrange(1, 60), start, f"f{number}"))
    named.sort()
    # Functions nest or follow each other; a crossing one is cut short.
    frames, position = [], 0
    while position < 200:
        start = position + chance.randrange(0, 20)
        position = start + chance.randrange(1, 40)
        frames.append((start, position))
    owner = {}
    for start, end in frames:
        owner.update(dict.fromkeys(range(start, end), (start, "")))
    for start, end, _, name in named:
        owner.update(dict.fromkeys(range(start, end), (start, name)))
    table = FunctionTable.from_ranges(_fill_with_frames(_flatten(named), frames))
    for address in range(260):
        index = table.index_of(address)
        found = None if index is None else (table.range_at(index).function_start, table.range_at(index).name)
        assert found == owner.get(address), address


def test_file_without_section_headers(workshop, tmp_path):
    """Program headers alone still lead to the unwind entries."""
    program = workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5")
    data = bytearray(program.read_bytes())
    with ElfImage(str(program)) as image:
        text = image.section(".text").elf_address
        frames = build_function_table(image)
    data[40:48] = bytes(8)  # e_shoff
    data[60:64] = bytes(4)  # e_shnum, e_shstrndx
    bare = tmp_path / "bare"
    bare.write_bytes(data)
    symbolizer = Symbolizer(cache_dir=tmp_path)
    location = symbolizer.locate(str(bare), None, text)
    assert location.kind == "frame" and location.function_start == text
    assert frames.index_of(text) is not None and ["is stripped" in warning for warning in symbolizer.warnings] == [True]


def test_aarch64(workshop, run_tool, tmp_path):
    path = workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5", compiler="aarch64-linux-gnu-gcc")
    if shutil.which("aarch64-linux-gnu-objdump") is None:
        pytest.skip("aarch64-linux-gnu-objdump is not installed")
    stubs = {}
    for row in run_tool("aarch64-linux-gnu-objdump", "-d", "-j", ".plt", path).splitlines():
        if row.endswith("@plt>:") and "*ABS*" not in row:
            start, name = row[:-2].split(" <")
            stubs[int(start, 16)] = name
    locations = Symbolizer(cache_dir=tmp_path).locate_many(str(path), None, stubs)
    assert {start: location.function for start, location in locations.items()} == stubs
    at = addresses_of(path, run_tool)
    main = Symbolizer(cache_dir=tmp_path).locate(str(path), None, at["leaf_sum"] + 4)
    assert main.function == "leaf_sum" and main.file.endswith("symbols_shapes.c")


@pytest.mark.parametrize("has_library", [True, False])
def test_many_addresses_are_found_as_each_by_itself(has_library, monkeypatch):
    if not has_library:
        monkeypatch.setattr(native_modules, "library", lambda: None)
    chosen = random.Random(5)
    for _ in range(50):
        edges = sorted(chosen.sample(range(200), 2 * chosen.randrange(12)))
        table = FunctionTable.from_ranges((start, end, start, "f") for start, end in zip(edges[::2], edges[1::2]))
        addresses = [*chosen.choices(range(210), k=chosen.randrange(60)), (1 << 64) - 1, *[1 << 64] * chosen.randrange(2)]
        expected = [NO_FUNCTION if index is None else index for index in map(table.index_of, addresses)]
        assert list(table.numbers_of(addresses)) == expected

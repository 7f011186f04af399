"""test_debug_files -- symbols and lines that were stripped away and lie somewhere else"""

from __future__ import annotations

import lzma

import pytest

from collector.symbols.archive import build_id_path
from collector.symbols.debug_files import find_supplement
from collector.symbols.elf_image import ElfImage
from collector.symbols.symbolizer import Symbolizer


@pytest.fixture
def split(workshop, run_tool, tmp_path):
    """(stripped program, its debug file, build id, address in leaf_sum)"""
    program = workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5", "-Wl,--build-id")
    debug, stripped = tmp_path / "program.debug", tmp_path / "program"
    run_tool("objcopy", "--only-keep-debug", program, debug)
    run_tool("strip", "-o", stripped, program)
    address = next(int(row.split()[0], 16) for row in run_tool("nm", program).splitlines() if row.endswith(" leaf_sum"))
    with ElfImage(str(program)) as image:
        return stripped, debug, image.build_id, address + 4


STRIPPED = "program is shown without function names: it is stripped, and no debug file of it was found."


def locate(tmp_path, split, **options):
    stripped, _, build_id, address = split
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache", **options)
    return symbolizer.locate(str(stripped), build_id, address), symbolizer.warnings


def is_complete(location) -> bool:
    return location.function == "leaf_sum" and location.line and location.file.endswith("symbols_shapes.c")


def test_nothing_is_known_without_it(split, tmp_path):
    location, warnings = locate(tmp_path, split)
    assert location.kind == "frame" and location.line is None and warnings == [STRIPPED]


def test_half_of_the_names_are_enough(workshop, run_tool, tmp_path):
    """Of what was asked for: dynamic symbols are there although others were taken away."""
    program = workshop.build("symbols_shapes.c", "-O2", "-g", "-rdynamic", "-Wl,--build-id")
    run_tool("strip", "-o", tmp_path / "program", program)
    places = {row.split()[2]: int(row.split()[0], 16) for row in run_tool("nm", program).splitlines() if row.split()[1] in "tT"}
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    symbolizer.locate(str(tmp_path / "program"), None, places["middle_step"])
    assert symbolizer.nameless == {STRIPPED: "program"}
    symbolizer.locate(str(tmp_path / "program"), None, places["leaf_sum"])
    assert symbolizer.nameless == {} and symbolizer.warnings == []


def test_by_build_id(split, tmp_path):
    _, debug, build_id, _ = split
    place = tmp_path / "debug-files"
    target = build_id_path(str(place), build_id)
    (place / ".build-id" / build_id.hex()[:2]).mkdir(parents=True)
    debug.rename(target)
    location, warnings = locate(tmp_path, split, debug_dirs=[place])
    assert is_complete(location) and warnings == []
    assert location.module == "program"


def test_it_is_found_although_the_cache_knew_of_none(split, tmp_path):
    test_nothing_is_known_without_it(split, tmp_path)
    test_by_build_id(split, tmp_path)


@pytest.mark.parametrize("folder", ["", ".debug"])
def test_by_debug_link(folder, split, run_tool, tmp_path):
    stripped, debug, _, _ = split
    run_tool("objcopy", f"--add-gnu-debuglink={debug}", stripped)
    (tmp_path / folder).mkdir(exist_ok=True)
    debug.rename(tmp_path / folder / "program.debug")
    location, warnings = locate(tmp_path, split)
    assert is_complete(location) and warnings == []


def test_an_added_file_is_noticed(split, run_tool, tmp_path):
    """The cache remembers that the linked file was missing, not that there is none for ever."""
    stripped, debug, _, _ = split
    run_tool("objcopy", f"--add-gnu-debuglink={debug}", stripped)
    debug.rename(tmp_path / "away")
    assert locate(tmp_path, split)[0].kind == "frame"
    (tmp_path / "away").rename(debug)
    assert is_complete(locate(tmp_path, split)[0])


def test_a_wrong_checksum_is_refused(split, run_tool, tmp_path):
    stripped, debug, _, _ = split
    run_tool("objcopy", f"--add-gnu-debuglink={debug}", stripped)
    with debug.open("ab") as stream:
        stream.write(b"!")
    location, warnings = locate(tmp_path, split)
    assert location.kind == "frame"
    assert warnings[0] == STRIPPED and len(warnings) == 2 and "checksum" in warnings[1]


def test_a_wrong_build_id_is_refused(split, workshop, run_tool, tmp_path):
    _, _, build_id, _ = split
    other = workshop.build("symbols_shapes.c", "-O0", "-g", "-Wl,--build-id")
    place = tmp_path / "debug-files"
    target = build_id_path(str(place), build_id)
    (place / ".build-id" / build_id.hex()[:2]).mkdir(parents=True)
    run_tool("objcopy", "--only-keep-debug", other, target)
    location, warnings = locate(tmp_path, split, debug_dirs=[place])
    assert location.kind == "frame"
    assert warnings[0] == STRIPPED and len(warnings) == 2 and "build id" in warnings[1]


@pytest.mark.parametrize("is_damaged", [False, True])
def test_packed_symbols(is_damaged, split, workshop, run_tool, tmp_path):
    """MiniDebugInfo: a small symbol table, xz-packed into .gnu_debugdata."""
    stripped, debug, _, _ = split
    mini = tmp_path / "mini"
    run_tool("objcopy", "-S", "--remove-section", ".gdb_index", "--remove-section", ".comment",
             "--keep-symbol=leaf_sum", "--keep-symbol=middle_step", debug, mini)
    packed = bytearray(lzma.compress(mini.read_bytes()))
    if is_damaged:
        packed[len(packed) // 2] ^= 0xFF
    data = tmp_path / "mini.xz"
    data.write_bytes(packed)
    debug.unlink()
    run_tool("objcopy", f"--add-section=.gnu_debugdata={data}", stripped)
    location, warnings = locate(tmp_path, split)
    assert location.line is None
    if is_damaged:
        assert location.kind == "frame" and warnings[0] == STRIPPED and len(warnings) == 2
    else:
        assert location.function == "leaf_sum" and warnings == []


def test_strings_that_dwz_moved_away(split, workshop, run_tool, tmp_path):
    """.gnu_debugaltlink names a file and its build id; another build's file is not taken."""
    stripped, debug, _, _ = split
    supplement = tmp_path / "shared-strings"
    run_tool("objcopy", "--only-keep-debug", workshop.build("symbols_shapes.c", "-O0", "-g", "-Wl,--build-id"), supplement)
    with ElfImage(str(supplement)) as image:
        build_id = image.build_id
    for wanted, is_found in ((build_id, True), (bytes(20), False)):
        link = tmp_path / "link"
        link.write_bytes(b"shared-strings\0" + wanted)
        linked = tmp_path / f"linked-{is_found}"
        run_tool("objcopy", f"--add-section=.gnu_debugaltlink={link}", stripped, linked)
        with ElfImage(str(linked)) as image:
            found = find_supplement(image)
            assert (found is not None) == is_found
            if found is not None:
                found.close()

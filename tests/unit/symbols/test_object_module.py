"""test_object_module -- relocatable files get the addresses they had in memory, and names and lines follow"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from collector.errors import SymbolError
from collector.symbols.elf_image import ElfImage
from collector.symbols.object_module import open_module, place_object
from collector.symbols.symbolizer import Symbolizer

TARGETS = Path(__file__).resolve().parents[2] / "targets"
WAYS = {"sections": ["-ffunction-sections"], "plain": [], "compressed": ["-ffunction-sections", "-gz"], "dwarf 4": ["-gdwarf-4", "-O2"]}


@pytest.fixture(scope="module", params=WAYS)
def parts(request, workshop) -> Path:
    return workshop.build("object_parts.c", "-c", "-g", "-O1", *WAYS[request.param], compiler="gcc")


def sections_of(path: Path) -> dict[str, tuple[int, int]]:
    """{name: (offset, size)} of the executable sections that are not empty."""
    image = ElfImage(str(path))
    return {section.name: (section.file_offset, section.size_bytes) for section in image.sections if section.is_code and section.size_bytes}


def test_a_file_mapped_as_it_is_has_its_offsets_for_addresses(parts: Path) -> None:
    image = open_module(str(parts), "file")
    assert sorted(image.code_ranges) == sorted((offset, offset + size) for offset, size in sections_of(parts).values())
    assert not image.is_relocatable


def test_sections_lie_one_behind_the_other(parts: Path) -> None:
    ranges = open_module(str(parts), "sections").code_ranges
    first = next(iter(sections_of(parts).values()))
    assert ranges[0] == (first[0], sum(first))
    assert [end - start for start, end in ranges] == [size for _, size in sections_of(parts).values()]
    assert all(0 <= later[0] - earlier[1] < 16 for earlier, later in zip(ranges, ranges[1:]))


@pytest.mark.parametrize("layout", ["sections", "file"])
def test_functions_and_lines_are_found(parts: Path, layout, tmp_path: Path) -> None:
    image = open_module(str(parts), layout)
    addresses = [address for start, end in image.code_ranges for address in range(start, end)]
    symbolizer = Symbolizer(cache_dir=tmp_path)
    located = symbolizer.locate_many(str(parts), None, addresses, layout)
    lines: dict[str, set[int | None]] = {}
    for where in located.values():
        lines.setdefault(where.function, set()).add(where.line)
        assert where.file == str(TARGETS / "object_parts.c") or where.kind == "unknown"
    assert {"part_one", "part_two", "part_three"} <= set(lines)
    assert {8} <= lines["part_one"] <= set(range(4, 11)) and {24} <= lines["part_three"] <= set(range(20, 27))
    assert not symbolizer.warnings
    ((start, code),) = symbolizer.code_of(str(parts), None, [next(a for a, w in located.items() if w.function == "part_two")], layout)
    assert code and located[start].function == "part_two"


def test_two_layouts_of_one_file_are_cached_apart(workshop, tmp_path: Path) -> None:
    parts = workshop.build("object_parts.c", "-c", "-g", "-O1", "-ffunction-sections", "-falign-functions=64", compiler="gcc")
    for _ in range(2):
        for layout in ("sections", "file"):
            place = open_module(str(parts), layout).code_ranges[-1][0]
            assert Symbolizer(cache_dir=tmp_path).locate_many(str(parts), None, [place], layout)[place].function == "part_three"


def test_a_file_that_says_where_it_is_stays_there(workshop) -> None:
    data = bytearray(workshop.build("object_parts.c", "-c", "-g", "-O1", compiler="gcc").read_bytes())
    text = next(section for section in ElfImage.from_bytes("x", bytes(data)).sections if section.name == ".text")
    header_at = int.from_bytes(data[40:48], "little") + text.index * 64
    data[header_at + 16 : header_at + 24] = (0x7F12_3456_7000).to_bytes(8, "little")
    image = ElfImage.from_bytes("x", place_object("x", bytes(data), "file"))
    assert image.code_ranges == ((0x7F12_3456_7000, 0x7F12_3456_7000 + text.size_bytes),)


def test_linked_images_are_left_as_they_are(workshop) -> None:
    linked = workshop.build("object_parts.c", "-shared", "-nostdlib", "-fPIC", compiler="gcc")
    with open_module(str(linked), "file") as image, ElfImage(str(linked)) as plain:
        assert image.code_ranges == plain.code_ranges and image.segments == plain.segments


def test_relocations_are_those_the_linker_makes(workshop, tmp_path: Path) -> None:
    """Laid out by us and linked by ld at another address: lines differ by that distance only."""
    parts = workshop.build("object_parts.c", "-c", "-g", "-O1", compiler="gcc")
    linked = tmp_path / "linked"
    done = subprocess.run(["ld", "-Ttext=0x500000", "-e", "part_one", parts, "-o", linked], capture_output=True)
    if done.returncode:
        pytest.skip("ld is not installed")
    ours, theirs = Symbolizer(cache_dir=tmp_path), Symbolizer(cache_dir=tmp_path)
    start, end = open_module(str(parts), "sections").code_ranges[0]
    mine = ours.locate_many(str(parts), None, range(start, end), "sections")
    linked_ones = theirs.locate_many(str(linked), None, range(0x500000, 0x500000 + end - start))
    for address, where in mine.items():
        other = linked_ones[address - start + 0x500000]
        assert (where.function, where.file, where.line, where.function_line) == (other.function, other.file, other.line, other.function_line)


def test_damage_is_a_sentence(workshop) -> None:
    data = workshop.build("object_parts.c", "-c", "-g", "-O1", "-ffunction-sections", compiler="gcc").read_bytes()
    rng = random.Random(6)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 8)):
            damaged[rng.choice([rng.randrange(64), rng.randrange(len(damaged)), len(damaged) - 1 - rng.randrange(1500)])] = rng.randrange(256)
        try:
            image = ElfImage.from_bytes("damaged.o", place_object("damaged.o", bytes(damaged), rng.choice(["file", "sections"])))
            assert image.code_ranges is not None
        except SymbolError as error:
            assert "damaged.o" in str(error)

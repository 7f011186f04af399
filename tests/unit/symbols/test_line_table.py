"""test_line_table -- our run of line programs beside pyelftools', row by row"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from collector.symbols.cache import SymbolCache
from collector.symbols.dwarf_unit import DwarfData
from collector.symbols.elf_image import ElfImage
from collector.symbols.line_table import read_line_table
from collector.symbols.symbolizer import Symbolizer
from collector.symbols.unit_index import UnitIndex, note_digests

BUILDS = [(compiler, level, version) for compiler in ("g++", "clang++")
          for level, version in (("-O2", "-gdwarf-5"), ("-O0", "-gdwarf-4"), ("-O3", "-gdwarf-3"))]


def rows_of_pyelftools(path) -> list[set[tuple[int, int]]]:
    """Per unit {(address, line)}."""
    with open(path, "rb") as stream:
        dwarf = ELFFile(stream).get_dwarf_info()
        units = []
        for unit in dwarf.iter_CUs():
            states = [entry.state for entry in dwarf.line_program_for_CU(unit).get_entries() if entry.state]
            units.append({(state.address, state.line) for state in states if not state.end_sequence})
        return units


@pytest.mark.parametrize("build", BUILDS, ids=" ".join)
def test_every_row(build, workshop):
    """Rows that repeat file and line of the row before may be missing, nothing else."""
    path = workshop.build_names(*build[1:], compiler=build[0])
    expected = rows_of_pyelftools(path)
    with ElfImage(str(path)) as image:
        dwarf = DwarfData(image)
        tables = [read_line_table(dwarf, dwarf.root(unit), lambda address: True) for unit in dwarf.iter_units()]
    assert len(tables) == len(expected) and expected
    for table, rows in zip(tables, expected):
        ours = {(a, line) for a, line, file in zip(table.addresses, table.lines, table.file_ids) if file != 0xFFFFFFFF}
        assert ours <= rows
        for address, line in rows - ours:
            assert any(line == known for known in lines_before(table, address))
        assert len(ours) > 100


def test_md5_sums_of_sources(workshop, tmp_path):
    """clang gives them, gcc does not; a second symbolizer has them from the cache."""
    for compiler in ("clang", "gcc"):
        path = str(workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5", compiler=compiler))
        with ElfImage(path) as image:
            start = image.section(".text").elf_address
        source = Path(__file__).resolve().parents[2] / "targets/symbols_shapes.c"
        for _ in range(2):
            symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
            symbolizer.locate_many(path, None, range(start, start + 600))
            expected = {str(source): hashlib.md5(source.read_bytes()).hexdigest()} if compiler == "clang" else {}
            assert symbolizer.digests_of([str(source), "/nowhere"]) == expected


def test_sums_that_units_disagree_on_are_none():
    known = {}
    note_digests(known, {"/a": "1", "/b": "2"})
    note_digests(known, {"/a": "1", "/b": "3", "/c": "4"})
    assert known == {"/a": "1", "/b": "", "/c": "4"}


def lines_before(table, address) -> set[int]:
    """The lines of the rows at `address` and of the last row before it."""
    last = max((a for a in table.addresses if a < address), default=0)
    return {line for a, line in zip(table.addresses, table.lines) if a in (last, address)}


@pytest.mark.parametrize("build", BUILDS, ids=" ".join)
def test_units_own_their_code(build, workshop, tmp_path):
    """Whatever way a compiler lists a unit's ranges, all addresses of the program find their unit."""
    path = workshop.build_names(*build[1:], compiler=build[0])
    with ElfImage(str(path)) as image:
        code_ranges = image.code_ranges
        dwarf = DwarfData(image)
        (unit,) = dwarf.iter_units()
        ranges = dwarf.root(unit).ranges
        table = read_line_table(dwarf, dwarf.root(unit), lambda address: any(a <= address < b for a, b in code_ranges))
    assert ranges and table.addresses
    addresses = [a for a, file in zip(table.addresses, table.file_ids) if file != 0xFFFFFFFF]
    assert all(any(low <= address < high for low, high in ranges) for address in addresses)
    index = UnitIndex(lambda: ElfImage(str(path)), ["source"], "key", SymbolCache(tmp_path), code_ranges, ())
    assert set(index.find_lines(addresses)[0]) == set(addresses)
    assert index.complaints == []


def test_a_function_s_own_line_is_its_first_row(workshop, tmp_path):
    """g++ -O2 gives one address to a function and to what it inlines there."""
    path = workshop.build_names("-O2", "-gdwarf-5", compiler="g++")
    with ElfImage(str(path)) as image:
        dwarf = DwarfData(image)
        (unit,) = dwarf.iter_units()
        table = read_line_table(dwarf, dwarf.root(unit), lambda address: True)
    shared = [a for a in set(table.addresses) if list(table.addresses).count(a) > 1]
    assert any(table.find(address) != table.find_entry(address) for address in shared)

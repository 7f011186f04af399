"""test_native_inlines -- the reader in C and the one by pyelftools see the same calls and lines in every program"""

from __future__ import annotations

import pytest
from inline_cases import PROGRAMS, Program, differences, iter_units

from collector.symbols import dwarf_unit, line_table, native_modules
from collector.symbols.dwarf_unit import DwarfData
from collector.symbols.inline_files import FileNumbers
from collector.symbols.inline_reader import read_inline_table
from collector.symbols.inline_table import InlineTable
from collector.symbols.native_inlines import NativeInlineReader
from collector.symbols.unit_entries import UnitHeader


def read_natively(dwarf: DwarfData, unit: UnitHeader) -> InlineTable:
    reader = NativeInlineReader(dwarf)
    try:
        return reader.read(unit, FileNumbers(dwarf, unit.offset, line_table.read_file_names(dwarf, dwarf.root(unit))))
    finally:
        reader.close()


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_both_see_the_same_calls(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    node_count = 0
    for dwarf, unit in iter_units(program.build_once(tmp_path_factory)):
        native, plain = read_natively(dwarf, unit), read_inline_table(dwarf, unit)
        assert differences(native, plain) == []
        node_count += len(native.parents)
    assert node_count > 0


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_both_read_first_entries_alike(program: Program, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    value_count = 0
    for dwarf, unit in iter_units(program.build_once(tmp_path_factory)):
        native = dwarf_unit.RootReader(dwarf, unit)
        with monkeypatch.context() as patch:
            patch.setattr(native_modules, "library", lambda: None)
            plain = dwarf_unit.RootReader(dwarf, unit)
        assert native.values == plain.values and native.root == plain.root
        value_count += len(native.values)
    assert value_count > 5


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_both_run_line_programs_alike(program: Program, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    row_count = 0
    for dwarf, unit in iter_units(program.build_once(tmp_path_factory)):
        native = line_table.read_line_table(dwarf, dwarf.root(unit), dwarf.image.is_code)
        with monkeypatch.context() as patch:
            patch.setattr(line_table, "is_available", lambda: False)
            assert line_table.read_line_table(dwarf, dwarf.root(unit), dwarf.image.is_code) == native
        row_count += len(native.lines)
    assert row_count > 10

"""unit_reader -- all entries of one compilation unit in the order of the file, by pyelftools

It reads those that are asked for. All others, most of a unit, are stepped over by what their abbreviation says.
DW_AT_sibling skips nothing here: a local class or a lambda of an abstract function holds functions whose code is elsewhere.
Source: DWARF 5 section 7.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from typing import Any, NamedTuple, cast

from elftools.construct import SizeofError
from elftools.dwarf.abbrevtable import AbbrevTable
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DwarfConfig, DWARFInfo
from elftools.dwarf.enums import ENUM_DW_AT, ENUM_DW_FORM

from collector.errors import DamagedImageError
from collector.symbols.byte_cursor import ByteCursor
from collector.symbols.dwarf_unit import DwarfData, RootReader, Value
from collector.symbols.line_table import read_file_names
from collector.symbols.unit_entries import UnitHeader

_SCOPE_TAGS = ("DW_TAG_namespace", "DW_TAG_class_type", "DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_subprogram")
_LANGUAGES_WITHOUT_SCOPES = (0x01, 0x02, 0x07, 0x08, 0x0C, 0x0E, 0x1D, 0x22, 0x23, 0x2C, 0x2D)  # all versions of C and Fortran
_NUMBER, _BLOCK, _STRING = -1, -2, -3
_OLD_SPLIT_FORMS = ("DW_FORM_GNU_addr_index", "DW_FORM_GNU_str_index")  # which pyelftools does not read
_SPECIAL_STEPS = {"DW_FORM_exprloc": _BLOCK, "DW_FORM_block": _BLOCK, "DW_FORM_string": _STRING,
                  **{f"DW_FORM_{form}": _NUMBER for form in ("udata", "sdata", "ref_udata", "addrx", "strx", "loclistx", "rnglistx")},
                  **dict.fromkeys(_OLD_SPLIT_FORMS, _NUMBER)}

# More than compilers write.
_LARGEST_ABBREVIATIONS_BYTES = 1 << 18
_WORK_PER_ATTRIBUTE = 4
_DEEPEST = 4096
_LONGEST_NUMBER_BYTES = 1 << 12
_HIGH_BIT = bytes(byte >> 7 for byte in range(256))


class Shape(NamedTuple):
    """What an abbreviation says of its entries; `steps` over their attributes, None where pyelftools has to read them."""

    tag: str
    has_children: bool
    attribute_count: int
    steps: tuple[int, ...] | None


class _Entry(DIE):
    """An entry whose strings, addresses and lists stay the numbers that they are in the unit."""

    def _translate_attr_value(self, form: str, raw_value: Any) -> Any:
        return raw_value


class _UnitDwarf(DWARFInfo):
    """One unit as the whole of .debug_info."""

    def __init__(self, dwarf: DwarfData, unit_bytes: bytes) -> None:
        contents = {"info": unit_bytes, "abbrev": b""}
        sections = {name: DebugSectionDescriptor(BytesIO(data), "", 0, len(data), 0) for name, data in contents.items()}
        names = [name for name in DWARFInfo.__init__.__code__.co_varnames if name.endswith("_sec")]  # versions differ
        cast(Any, super()).__init__(DwarfConfig(True, "x64", 8), **{name: sections.get(name[6:-4]) for name in names})
        self._dwarf = dwarf

    def get_abbrev_table(self, offset: int) -> AbbrevTable:
        stream = BytesIO(self._dwarf.slice("abbrev", offset, _LARGEST_ABBREVIATIONS_BYTES))
        table = AbbrevTable(self.structs, stream, 0)
        self._dwarf.work(stream.tell())
        return table


class UnitReader:
    """One unit; its entries are found by their offset from its header. Of damaged ones pyelftools raises whatever they lead to."""

    def __init__(self, dwarf: DwarfData, header: UnitHeader, files: tuple[str, ...] | None = None) -> None:
        self.dwarf = dwarf
        self.header = header
        self._files = files
        self.root = RootReader(dwarf, header)
        self.data = dwarf.slice("info", header.offset, header.end - header.offset)
        if bytes([1]) * _LONGEST_NUMBER_BYTES in self.data.translate(_HIGH_BIT):
            raise DamagedImageError(f"{dwarf.image.path} holds a number without end.")
        self._unit = _UnitDwarf(dwarf, self.data).get_CU_at(0)
        forms = cast(Any, self._unit.structs).Dwarf_dw_form
        forms.update(dict.fromkeys(_OLD_SPLIT_FORMS, forms["DW_FORM_udata"]))
        self._stream = BytesIO(self.data)
        self._abbreviations = self._unit.get_abbrev_table()
        self._shapes: dict[int, Shape] = {}

    @cached_property
    def files(self) -> tuple[str, ...]:
        """By number, as the entries of this unit count them; none where the line table is missing."""
        if self._files is not None:
            return self._files
        try:
            return read_file_names(self.dwarf, self.root.root)
        except DamagedImageError:
            return ()

    @cached_property
    def scopes(self) -> dict[int, list[tuple[str, int]]]:
        """By the position of a function: what it is within, as tags and positions; nothing in units of C and Fortran."""
        found: dict[int, list[tuple[str, int]]] = {}
        language = self.entry(self.header.entry_offset - self.header.offset).attributes.get("DW_AT_language")
        if language is not None and language.raw_value in _LANGUAGES_WITHOUT_SCOPES:
            return found
        around: list[tuple[str, int]] = []
        for position, shape, _ in self.iter_entries():
            if shape is None:
                around.pop()
                continue
            if shape.tag == "DW_TAG_subprogram":
                found[position] = [scope for scope in around if scope[0] in _SCOPE_TAGS]
            if shape.has_children:
                around.append((shape.tag, position))
        return found

    def iter_entries(self, read_tags: tuple[str, ...] = ()) -> Iterator[tuple[int, Shape | None, DIE | None]]:
        """(position, shape, the entry itself if its tag is one of `read_tags`) in the order of the file; no shape where siblings end."""
        cursor = ByteCursor(self.data, self.header.entry_offset - self.header.offset)
        depth = 0
        while cursor.position < len(self.data):
            position = cursor.position
            code = cursor.uleb()
            if code == 0:
                if depth <= 1:
                    return
                depth -= 1
                yield position, None, None
                continue
            shape = self.shape(code)
            entry = None
            if shape.tag in read_tags or shape.steps is None:
                entry = self.entry(position)
                cursor.position = position + entry.size
            else:
                self.dwarf.work(len(shape.steps))
                _step_over(cursor, shape.steps)
            depth += shape.has_children
            if depth > _DEEPEST:
                raise DamagedImageError(f"The functions of {self.dwarf.image.path} are nested deeper than any compiler nests them.")
            yield position, shape, entry

    def entry(self, position: int) -> DIE:
        """The entry there, read."""
        entry = _Entry(self._unit, self._stream, position)
        if entry.abbrev_code:
            self.dwarf.work(_WORK_PER_ATTRIBUTE * self.shape(entry.abbrev_code).attribute_count)
        return entry

    def shape(self, code: int) -> Shape:
        """That of the entries with this abbreviation."""
        shape = self._shapes.get(code)
        if shape is None:
            abbreviation = self._abbreviations.get_abbrev(code)
            forms = [specification.form for specification in abbreviation["attr_spec"]]
            shape = Shape(abbreviation["tag"], abbreviation.has_children(), len(forms), self._steps(forms))
            self._shapes[code] = shape
        return shape

    def _steps(self, forms: Sequence[str]) -> tuple[int, ...] | None:
        steps = [0]
        for form in forms:
            if form in _SPECIAL_STEPS:
                steps += [_SPECIAL_STEPS[form], 0]
            elif form != "DW_FORM_implicit_const":
                try:
                    steps[-1] += cast(Any, self._unit.structs.Dwarf_dw_form[form]).sizeof()
                except SizeofError:
                    return None
        return tuple(step for step in steps if step)


def _step_over(cursor: ByteCursor, steps: Sequence[int]) -> None:
    for step in steps:
        if step > 0:
            cursor.position += step
        elif step == _NUMBER:
            cursor.uleb()
        elif step == _BLOCK:
            size_bytes = cursor.uleb()
            cursor.position += size_bytes
        else:
            cursor.string()


def values_of(entry: DIE) -> dict[int, Value]:
    """The attributes in the numbers of DWARF."""
    return {ENUM_DW_AT.get(name, 0): (ENUM_DW_FORM[value.form], _plain(value.raw_value)) for name, value in entry.attributes.items()}


def _plain(value: object) -> int | str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, int) else None

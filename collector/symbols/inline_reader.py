"""inline_reader -- the inlined calls of one compilation unit, read without the analysis library

pyelftools reads the entries of functions. All others, most of a unit, are stepped over by what their abbreviation says.
DW_AT_sibling skips nothing here: a local class or a lambda of an abstract function holds functions whose code is elsewhere.
Source: DWARF 5 sections 3.3 and 7.5.
"""

from __future__ import annotations

import heapq
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from typing import Any, NamedTuple, cast

from elftools.construct import SizeofError
from elftools.dwarf.abbrevtable import AbbrevTable
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DwarfConfig, DWARFInfo
from elftools.dwarf.enums import ENUM_DW_AT, ENUM_DW_FORM

from collector.errors import CollectorError, DamagedImageError, SymbolError
from collector.symbols.byte_cursor import ByteCursor
from collector.symbols.dwarf_unit import DW_AT_NAME, DwarfData, RootReader, Value
from collector.symbols.inline_table import NOTHING, InlineTable, empty_table
from collector.symbols.line_table import read_file_names
from collector.symbols.unit_entries import UnitHeader

DW_AT_ABSTRACT_ORIGIN, DW_AT_SPECIFICATION = 0x31, 0x47
DW_AT_DECL_COLUMN, DW_AT_DECL_FILE, DW_AT_DECL_LINE = 0x39, 0x3A, 0x3B
DW_AT_CALL_FILE, DW_AT_CALL_LINE = 0x58, 0x59
DW_AT_LINKAGE_NAME, DW_AT_MIPS_LINKAGE_NAME = 0x6E, 0x2007

_FUNCTION_TAGS = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")
_SCOPE_TAGS = ("DW_TAG_namespace", "DW_TAG_class_type", "DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_subprogram")
_CLASS_TAGS = ("DW_TAG_class_type", "DW_TAG_structure_type")
_LANGUAGES_WITHOUT_SCOPES = (0x01, 0x02, 0x07, 0x08, 0x0C, 0x0E, 0x1D, 0x22, 0x23, 0x2C, 0x2D)  # all versions of C and Fortran
_UNIT_REFERENCES = (0x11, 0x12, 0x13, 0x14, 0x15)
_FILE_REFERENCES = (0x10,)
_SUPPLEMENT_REFERENCES = (0x1C, 0x24, 0x1F20)
_NUMBER, _BLOCK, _STRING = -1, -2, -3
_OLD_SPLIT_FORMS = ("DW_FORM_GNU_addr_index", "DW_FORM_GNU_str_index")  # which pyelftools does not read
_SPECIAL_STEPS = {"DW_FORM_exprloc": _BLOCK, "DW_FORM_block": _BLOCK, "DW_FORM_string": _STRING,
                  **{f"DW_FORM_{form}": _NUMBER for form in ("udata", "sdata", "ref_udata", "addrx", "strx", "loclistx", "rnglistx")},
                  **dict.fromkeys(_OLD_SPLIT_FORMS, _NUMBER)}

_NAMELESS = "??"
# More than compilers write; pyelftools takes a second for 1 MiB of entries.
_LARGEST_UNIT_BYTES = 2 << 20
_LARGEST_ABBREVIATIONS_BYTES = 1 << 18
_WORK_PER_ATTRIBUTE = 4
_DEEPEST = 4096
_MOST_ORIGINS = 8
_MOST_RANGES = 1 << 19
_LONGEST_NUMBER_BYTES = 1 << 12
_HIGH_BIT = bytes(byte >> 7 for byte in range(256))


def read_inline_table(dwarf: DwarfData, unit: UnitHeader, files: tuple[str, ...] | None = None) -> InlineTable:
    """What was inlined into the functions of `unit`, whose files by number are known if they are not in its own line table. Raises SymbolError."""
    if dwarf.info is None:
        return empty_table()
    size_bytes = unit.end - unit.offset
    if size_bytes > _LARGEST_UNIT_BYTES:
        raise SymbolError(f"The inlined functions of {dwarf.image.path} need the analysis library, libcollector_analysis: "
                          f"a unit of {size_bytes >> 20} MiB is not read without it.")
    try:
        return _Walk(dwarf, unit, files).table()
    except CollectorError:
        raise
    except Exception as error:  # pyelftools raises whatever its damaged input led to
        raise DamagedImageError(f"The inlined functions of {dwarf.image.path} cannot be read: {error!r}.") from error


class _Shape(NamedTuple):
    """What an abbreviation says of its entries; `steps` over their attributes, None where pyelftools has to read them."""

    tag: str
    has_children: bool
    attribute_count: int
    steps: tuple[int, ...] | None


class _Scope(NamedTuple):
    """What is said of a scope: its name in the source, and where it is declared."""

    name: str | None
    file: int
    line: int
    column: int


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


class _Unit:
    """One unit; its entries are found by their offset from its header."""

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
        self._shapes: dict[int, _Shape] = {}

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

    def iter_entries(self, read_tags: tuple[str, ...] = ()) -> Iterator[tuple[int, _Shape | None, DIE | None]]:
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

    def shape(self, code: int) -> _Shape:
        """That of the entries with this abbreviation."""
        shape = self._shapes.get(code)
        if shape is None:
            abbreviation = self._abbreviations.get_abbrev(code)
            forms = [specification.form for specification in abbreviation["attr_spec"]]
            shape = _Shape(abbreviation["tag"], abbreviation.has_children(), len(forms), self._steps(forms))
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


class _Walk:
    """All entries of one unit in the order of the file."""

    def __init__(self, dwarf: DwarfData, header: UnitHeader, files: tuple[str, ...] | None) -> None:
        self._dwarf = dwarf
        self._unit = _Unit(dwarf, header, files)
        self._units = {(dwarf, header.offset): self._unit}
        self._supplement = DwarfData(dwarf.supplement) if dwarf.supplement is not None else None
        self._ranges: list[tuple[int, int, int, int, int]] = []  # start, -depth, -order, end, node
        self._parents, self._functions, self._call_files, self._call_lines = (array("I") for _ in range(4))
        self._declared_files, self._declared_lines = array("I"), array("I")
        self._function_numbers: dict[tuple[_Unit, int], int] = {}
        self._names: list[str] = []
        self._unlinked: list[int] = []  # functions without a linkage name
        self._file_numbers: dict[str, int] = {}

    def table(self) -> InlineTable:
        """What was found."""
        self._walk()
        starts, nodes = _flatten(self._ranges)
        self._tell_overloads_apart()
        return InlineTable(starts, nodes, self._parents, self._functions, self._call_files, self._call_lines,
                           self._declared_files, self._declared_lines, tuple(self._names), tuple(self._file_numbers))

    def _tell_overloads_apart(self) -> None:
        """Without linkage names they, and procedures within others, share all but the line where they are declared."""
        lines: dict[tuple[str, int], set[int]] = defaultdict(set)
        told = {number: (self._names[number], self._declared_files[number]) for number in self._unlinked if self._declared_lines[number]}
        for number, name in told.items():
            lines[name].add(self._declared_lines[number])
        for number, name in told.items():
            if len(lines[name]) > 1:
                self._names[number] += f":{self._declared_lines[number]}"

    def _open(self, dwarf: DwarfData, header: UnitHeader) -> _Unit:
        key = dwarf, header.offset
        if key not in self._units:
            self._units[key] = _Unit(dwarf, header)
        return self._units[key]

    def _walk(self) -> None:
        around: list[int] = []  # for each entry that is open: the call it stands in
        call = NOTHING
        for position, shape, entry in self._unit.iter_entries(_FUNCTION_TAGS):
            if shape is None:
                call = around.pop()
                continue
            inside = self._function(position, entry, call, len(around)) if entry is not None and shape.tag in _FUNCTION_TAGS else call
            if shape.has_children:
                around.append(call)
                call = inside

    def _function(self, position: int, entry: DIE, call: int, depth: int) -> int:
        """Which call the entries below a function or an inlined one stand in."""
        values = _values(entry)
        is_inlined = entry.tag == "DW_TAG_inlined_subroutine"
        ranges = [(low, high) for low, high in self._unit.root.ranges(values) if self._dwarf.is_code(low)]
        if not is_inlined:
            node = NOTHING
        elif ranges:
            node = self._add_call(position, values, call)
        else:
            node = call
        order = len(self._ranges)
        self._ranges += [(low, -depth, -order, high, node) for low, high in ranges]
        if len(self._ranges) > _MOST_RANGES:
            raise DamagedImageError(f"The functions of {self._dwarf.image.path} have more ranges than any compiler gives them.")
        return node

    def _add_call(self, position: int, values: dict[int, Value], call: int) -> int:
        self._parents.append(call)
        self._functions.append(self._function_number(self._origin(self._unit, values) or (self._unit, position)))
        self._call_files.append(self._file_number(self._unit, values.get(DW_AT_CALL_FILE)))
        self._call_lines.append(_line(values.get(DW_AT_CALL_LINE)))
        return len(self._parents) - 1

    def _function_number(self, origin: tuple[_Unit, int]) -> int:
        number = self._function_numbers.get(origin)
        if number is None:
            number = self._function_numbers[origin] = len(self._names)
            name, file, line = self._describe(origin)
            self._names.append(name)
            self._declared_files.append(file)
            self._declared_lines.append(line)
        return number

    def _describe(self, origin: tuple[_Unit, int]) -> tuple[str, int, int]:
        """(name, declaring file, line): each is said anywhere on the way to the first declaration."""
        linkage_name, name, file, line = None, None, NOTHING, 0
        place: tuple[_Unit, int] | None = origin
        named = origin
        for _ in range(_MOST_ORIGINS):
            if place is None:
                break
            unit, position = place
            values = _values(unit.entry(position))
            text = unit.root.text
            linkage_name = linkage_name or text(values.get(DW_AT_LINKAGE_NAME)) or text(values.get(DW_AT_MIPS_LINKAGE_NAME))
            if not name and (name := text(values.get(DW_AT_NAME))):
                named = place
            file = file if file != NOTHING else self._file_number(unit, values.get(DW_AT_DECL_FILE))
            line = line or _line(values.get(DW_AT_DECL_LINE))
            place = self._origin(unit, values)
        if linkage_name or not name:
            return linkage_name or _NAMELESS, file, line
        scopes = ""
        self._unlinked.append(len(self._declared_lines))
        for tag, around in named[0].scopes.get(named[1], ()):
            scope = self._scope(named[0], around)
            shown = scope.name
            if not shown and tag == "DW_TAG_namespace":
                shown = "(anonymous namespace)"
            elif not shown and tag in _CLASS_TAGS and (name == "operator()" or name.startswith("operator()<")):
                shown = _lambda(scope)
                if file == NOTHING and not line:  # compilers say of a lambda itself where it is, not of the function in it
                    file, line = scope.file, scope.line
            scopes += f"{shown}::" if shown else ""
        return scopes + name, file, line

    def _scope(self, unit: _Unit, position: int) -> _Scope:
        """What the entry of a scope, or its origin, says."""
        name, file, line, column = None, NOTHING, 0, 0
        place: tuple[_Unit, int] | None = (unit, position)
        for _ in range(_MOST_ORIGINS):
            if place is None:
                break
            values = _values(place[0].entry(place[1]))
            name = name or place[0].root.text(values.get(DW_AT_NAME))
            file = file if file != NOTHING else self._file_number(place[0], values.get(DW_AT_DECL_FILE))
            line = line or _line(values.get(DW_AT_DECL_LINE))
            column = column or _line(values.get(DW_AT_DECL_COLUMN))
            place = self._origin(place[0], values)
        return _Scope(name, file, line, column)

    def _origin(self, unit: _Unit, values: dict[int, Value]) -> tuple[_Unit, int] | None:
        """The entry that this one completes; None where there is none, or its file is missing."""
        form, offset = values.get(DW_AT_ABSTRACT_ORIGIN) or values.get(DW_AT_SPECIFICATION) or (0, None)
        if not isinstance(offset, int):
            return None
        if form in _UNIT_REFERENCES:
            return unit, offset
        if form not in _FILE_REFERENCES and form not in _SUPPLEMENT_REFERENCES:
            return None
        dwarf = unit.dwarf if form in _FILE_REFERENCES else self._supplement
        if dwarf is None:
            return None
        header = dwarf.unit_around(offset)
        return self._open(dwarf, header), offset - header.offset

    def _file_number(self, unit: _Unit, attribute: Value | None) -> int:
        number = attribute[1] if attribute is not None else None
        if not isinstance(number, int) or not 0 <= number < len(unit.files):
            return NOTHING
        return self._file_numbers.setdefault(unit.files[number], len(self._file_numbers))


def _lambda(scope: _Scope) -> str:
    """Lambdas of one function have nothing but their place to tell them apart."""
    place = [scope.line, scope.column] if scope.column else [scope.line]
    return "{" + ":".join(["lambda", *map(str, place if scope.line else [])]) + "}"


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


def _values(entry: DIE) -> dict[int, Value]:
    """The attributes in the numbers of DWARF."""
    return {ENUM_DW_AT.get(name, 0): (ENUM_DW_FORM[value.form], _plain(value.raw_value)) for name, value in entry.attributes.items()}


def _plain(value: object) -> int | str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, int) else None


def _line(attribute: Value | None) -> int:
    line = attribute[1] if attribute is not None else None
    return line if isinstance(line, int) and 0 < line < NOTHING else 0


def _flatten(ranges: list[tuple[int, int, int, int, int]]) -> tuple[array[int], array[int]]:
    """Starts and nodes: of ranges that overlap the deepest counts, then the one that starts last."""
    ranges.sort()
    starts, nodes = array("Q"), array("I")
    active: list[tuple[int, int, int, int, int]] = []
    next_range = 0
    for address in sorted({edge for row in ranges for edge in (row[0], row[3])}):
        while next_range < len(ranges) and ranges[next_range][0] == address:
            low, depth, order, high, node = ranges[next_range]
            heapq.heappush(active, (depth, -low, order, high, node))
            next_range += 1
        while active and active[0][3] <= address:
            heapq.heappop(active)
        node = active[0][4] if active else NOTHING
        if node != (nodes[-1] if nodes else NOTHING):
            starts.append(address)
            nodes.append(node)
    return starts, nodes

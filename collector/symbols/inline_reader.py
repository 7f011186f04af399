"""inline_reader -- the inlined calls of one compilation unit, read without the analysis library

Source: DWARF 5 section 3.3.
"""

from __future__ import annotations

import heapq
from array import array
from collections import defaultdict
from typing import NamedTuple

from elftools.dwarf.die import DIE

from collector.errors import CollectorError, DamagedImageError, SymbolError
from collector.symbols.dwarf_unit import DW_AT_NAME, DwarfData, Value
from collector.symbols.inline_table import NOTHING, InlineTable, empty_table
from collector.symbols.unit_entries import UnitHeader
from collector.symbols.unit_reader import UnitReader, values_of

DW_AT_ABSTRACT_ORIGIN, DW_AT_SPECIFICATION = 0x31, 0x47
DW_AT_DECL_COLUMN, DW_AT_DECL_FILE, DW_AT_DECL_LINE = 0x39, 0x3A, 0x3B
DW_AT_CALL_FILE, DW_AT_CALL_LINE = 0x58, 0x59
DW_AT_LINKAGE_NAME, DW_AT_MIPS_LINKAGE_NAME = 0x6E, 0x2007

_FUNCTION_TAGS = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")
_CLASS_TAGS = ("DW_TAG_class_type", "DW_TAG_structure_type")
_UNIT_REFERENCES = (0x11, 0x12, 0x13, 0x14, 0x15)
_FILE_REFERENCES = (0x10,)
_SUPPLEMENT_REFERENCES = (0x1C, 0x24, 0x1F20)

_NAMELESS = "??"
# More than compilers write; pyelftools takes a second for 1 MiB of entries.
_LARGEST_UNIT_BYTES = 2 << 20
_MOST_ORIGINS = 8
_MOST_RANGES = 1 << 19


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


class _Scope(NamedTuple):
    """What is said of a scope: its name in the source, and where it is declared."""

    name: str | None
    file: int
    line: int
    column: int


class _Walk:
    """All entries of one unit in the order of the file."""

    def __init__(self, dwarf: DwarfData, header: UnitHeader, files: tuple[str, ...] | None) -> None:
        self._dwarf = dwarf
        self._unit = UnitReader(dwarf, header, files)
        self._units = {(dwarf, header.offset): self._unit}
        self._supplement = DwarfData(dwarf.supplement) if dwarf.supplement is not None else None
        self._ranges: list[tuple[int, int, int, int, int]] = []  # start, -depth, -order, end, node
        self._parents, self._functions, self._call_files, self._call_lines = (array("I") for _ in range(4))
        self._declared_files, self._declared_lines = array("I"), array("I")
        self._function_numbers: dict[tuple[UnitReader, int], int] = {}
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

    def _open(self, dwarf: DwarfData, header: UnitHeader) -> UnitReader:
        key = dwarf, header.offset
        if key not in self._units:
            self._units[key] = UnitReader(dwarf, header)
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
        values = values_of(entry)
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

    def _function_number(self, origin: tuple[UnitReader, int]) -> int:
        number = self._function_numbers.get(origin)
        if number is None:
            number = self._function_numbers[origin] = len(self._names)
            name, file, line = self._describe(origin)
            self._names.append(name)
            self._declared_files.append(file)
            self._declared_lines.append(line)
        return number

    def _describe(self, origin: tuple[UnitReader, int]) -> tuple[str, int, int]:
        """(name, declaring file, line): each is said anywhere on the way to the first declaration."""
        linkage_name, name, file, line = None, None, NOTHING, 0
        place: tuple[UnitReader, int] | None = origin
        named = origin
        for _ in range(_MOST_ORIGINS):
            if place is None:
                break
            unit, position = place
            values = values_of(unit.entry(position))
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

    def _scope(self, unit: UnitReader, position: int) -> _Scope:
        """What the entry of a scope, or its origin, says."""
        name, file, line, column = None, NOTHING, 0, 0
        place: tuple[UnitReader, int] | None = (unit, position)
        for _ in range(_MOST_ORIGINS):
            if place is None:
                break
            values = values_of(place[0].entry(place[1]))
            name = name or place[0].root.text(values.get(DW_AT_NAME))
            file = file if file != NOTHING else self._file_number(place[0], values.get(DW_AT_DECL_FILE))
            line = line or _line(values.get(DW_AT_DECL_LINE))
            column = column or _line(values.get(DW_AT_DECL_COLUMN))
            place = self._origin(place[0], values)
        return _Scope(name, file, line, column)

    def _origin(self, unit: UnitReader, values: dict[int, Value]) -> tuple[UnitReader, int] | None:
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

    def _file_number(self, unit: UnitReader, attribute: Value | None) -> int:
        number = attribute[1] if attribute is not None else None
        if not isinstance(number, int) or not 0 <= number < len(unit.files):
            return NOTHING
        return self._file_numbers.setdefault(unit.files[number], len(self._file_numbers))


def _lambda(scope: _Scope) -> str:
    """Lambdas of one function have nothing but their place to tell them apart."""
    place = [scope.line, scope.column] if scope.column else [scope.line]
    return "{" + ":".join(["lambda", *map(str, place if scope.line else [])]) + "}"


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

"""image_places -- from the addresses of one process image to places, as its address space changes"""

from __future__ import annotations

import os
from functools import partial

from collector.format import MapKind
from collector.load.naming import ANONYMOUS, UNMAPPED, CodePlace, NamedPlace, Place, PlaceTable
from collector.load.place_numbers import PlaceNumbers
from collector.profile.model import Code
from collector.symbols.symbolizer import lookup_address
from collector.symbols.terms import Layout
from collector.target.address_space import AddressSpace, Mapping
from collector.target.dynamic_code import first_line, line_at

_DYNAMIC_MODULE_NAME = "(dynamic code)"


class ImagePlaces:
    """The places of one process image: `callers` by return address, `leaves` by the address of an instruction.

    `objects_path` is where the experiment keeps copies of code.
    """

    def __init__(self, table: PlaceTable, space: AddressSpace, objects_path: str) -> None:
        self._table = table
        self._space = space
        self._objects_path = objects_path
        self._codes: dict[tuple[int, int, int], int] = {}
        self.callers = PlaceNumbers(partial(self._number, is_leaf=False), partial(self._turning_points, is_leaf=False))
        self.leaves = PlaceNumbers(partial(self._number, is_leaf=True), partial(self._turning_points, is_leaf=True))

    def move(self, start_ns: int, end_ns: int) -> None:
        """From now on `callers` and `leaves` are those from one moment up to another."""
        self.callers.move(start_ns, end_ns)
        self.leaves.move(start_ns, end_ns)

    def _turning_points(self, address: int, is_leaf: bool) -> list[int]:
        """When the address changes its meaning."""
        wanted = lookup_address(address, is_leaf)
        if self._space.sole(wanted):
            return []
        history = self._space.history(wanted)
        return [] if all(_is_lasting(life) for life in history) and len(history) < 2 else self._space.turning_points(wanted)

    def _number(self, address: int, time_ns: int, is_leaf: bool) -> int:
        """The number of the place that the address is at a moment."""
        wanted = lookup_address(address, is_leaf)
        mapping = self._space.sole(wanted) or self._space.find(wanted, time_ns)
        return self._table.number(self._place(mapping, address, is_leaf))

    def _place(self, mapping: Mapping | None, address: int, is_leaf: bool) -> Place:
        if mapping is None:
            return UNMAPPED
        if mapping.kind == MapKind.DYNAMIC_FUNCTION:
            return self._dynamic_place(mapping, address, is_leaf)
        if mapping.kind == MapKind.ANONYMOUS or not mapping.path:
            return ANONYMOUS
        layout: Layout = "image"
        if mapping.kind == MapKind.DYNAMIC_MODULE:
            layout = "sections" if mapping.file_offset else "file"
        copy = os.path.join(self._objects_path, os.path.basename(mapping.copy)) if mapping.copy else None
        return CodePlace(mapping.path, mapping.build_id, mapping.elf_address(address), is_leaf, copy, layout)

    def _dynamic_place(self, function: Mapping, address: int, is_leaf: bool) -> NamedPlace:
        """A function that the program made and named itself."""
        wanted = lookup_address(address, is_leaf)
        has_lines = function.source is not None
        return NamedPlace(
            function.name or f"(dynamic)+{function.start:#x}",
            _DYNAMIC_MODULE_NAME,
            function.alias,
            function.source,
            line_at(function, wanted) if has_lines else None,
            first_line(function) if has_lines else None,
            address,
            code=self._number_code(function),
        )

    def _number_code(self, function: Mapping) -> int:
        key = function.start, function.end, function.born
        number = self._codes.get(key)
        if number is None:
            number = self._codes[key] = len(self._table.codes)
            self._table.codes.append(Code(function.start, function.end, function.code, function.lines))
        return number


def _is_lasting(life: Mapping) -> bool:
    """Whether it never went, and counts for the time before it was told of as well."""
    return life.died is None and (life.kind != MapKind.DYNAMIC_FUNCTION or not life.born)

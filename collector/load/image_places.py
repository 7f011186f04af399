"""image_places -- from the addresses of one process image to places, as its address space changes

Most addresses mean one thing for the whole time: those of files. Where code comes and goes, time is cut at the moments
when the meaning of an address changes, and its meaning in each span is found out once.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable

from collector.format import MapKind
from collector.load.naming import ANONYMOUS, UNMAPPED, CodePlace, NamedPlace, Place, PlaceTable
from collector.load.stacks import ChangingAddress, PlaceMaps
from collector.profile.model import Code
from collector.symbols.object_module import Layout
from collector.symbols.symbolizer import lookup_address
from collector.target.address_space import AddressSpace, Mapping
from collector.target.dynamic_code import first_line, line_at

_DYNAMIC_MODULE_NAME = "(dynamic code)"


class ImagePlaces:
    """The places of one process image. `objects_path` is where the experiment keeps copies of code."""

    def __init__(self, table: PlaceTable, space: AddressSpace, objects_path: str) -> None:
        self._table = table
        self._space = space
        self._objects_path = objects_path
        self._codes: dict[tuple[int, int, int], int] = {}
        self._callers = _Meanings(self, False)
        self._leaves = _Meanings(self, True)

    def during(self, start_ns: int, end_ns: int) -> PlaceMaps:
        """The numbers of places by address from one moment up to another; ChangingAddress if an address changes its meaning."""
        return PlaceMaps(
            _Numbers(lambda address: self._callers[address].during(start_ns, end_ns)),
            _Numbers(lambda address: self._leaves[address].during(start_ns, end_ns)),
        )

    def at(self, time_ns: int) -> PlaceMaps:
        """The places at a moment."""
        return PlaceMaps(
            _Numbers(lambda address: self._callers[address].at(time_ns)), _Numbers(lambda address: self._leaves[address].at(time_ns))
        )

    def turning_points(self, address: int, is_leaf: bool) -> list[int]:
        """When the address changes its meaning."""
        wanted = lookup_address(address, is_leaf)
        history = self._space.history(wanted)
        return [] if all(_is_lasting(life) for life in history) and len(history) < 2 else self._space.turning_points(wanted)

    def number_at(self, address: int, is_leaf: bool, time_ns: int) -> int:
        """The number of the place that the address is at a moment."""
        mapping = self._space.find(lookup_address(address, is_leaf), time_ns)
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


class _Meaning:
    """What an address is in each of the spans that its turning points cut time into; found out when first asked."""

    __slots__ = ("_find", "_times", "_numbers")

    def __init__(self, find: Callable[[int], int], times: list[int]) -> None:
        self._find = find
        self._times = times
        self._numbers: dict[int, int] = {}

    def at(self, time_ns: int) -> int:
        """The number of the place at a moment."""
        span = bisect_right(self._times, time_ns) if self._times else 0
        number = self._numbers.get(span)
        if number is None:
            number = self._numbers[span] = self._find(time_ns)
        return number

    def during(self, start_ns: int, end_ns: int) -> int:
        """The same from one moment up to another, if it is the same."""
        if self._times and bisect_right(self._times, start_ns) != bisect_right(self._times, end_ns):
            raise ChangingAddress
        return self.at(start_ns)


class _Meanings(dict[int, _Meaning]):
    """Filled as addresses are asked for."""

    def __init__(self, places: ImagePlaces, is_leaf: bool) -> None:
        super().__init__()
        self._places = places
        self._is_leaf = is_leaf

    def __missing__(self, address: int) -> _Meaning:
        places, is_leaf = self._places, self._is_leaf
        meaning = self[address] = _Meaning(
            lambda time_ns: places.number_at(address, is_leaf, time_ns), places.turning_points(address, is_leaf)
        )
        return meaning


class _Numbers(dict[int, int]):
    """The numbers of places by address for some time, filled as they are asked for."""

    def __init__(self, find: Callable[[int], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, address: int) -> int:
        number = self[address] = self._find(address)
        return number

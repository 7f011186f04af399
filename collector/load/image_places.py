"""image_places -- from the addresses of one process image to places, as its address space changes"""

from __future__ import annotations

import os
from collections.abc import Mapping

from collector.format import MapKind
from collector.load.naming import ANONYMOUS, UNMAPPED, CodePlace, NamedPlace, Place, PlaceTable
from collector.load.stacks import ChangingAddress, PlaceMaps
from collector.symbols.symbolizer import lookup_address
from collector.target import address_space
from collector.target.address_space import AddressSpace
from collector.target.dynamic_code import first_line, line_at

_DYNAMIC_MODULE_NAME = "(dynamic code)"


class ImagePlaces:
    """The places of one process image."""

    def __init__(self, table: PlaceTable, space: AddressSpace, objects_path: str) -> None:
        self._table = table
        self._space = space
        self._objects_path = objects_path
        self.lasting = PlaceMaps(_LastingNumbers(self, False), _LastingNumbers(self, True))
        """The numbers of places by address; ChangingAddress if an address meant different things in time."""

    def at(self, time_ns: int) -> PlaceMaps:
        """The places at a moment."""
        return PlaceMaps(
            _NumbersAt(self, self.lasting.callers, False, time_ns), _NumbersAt(self, self.lasting.leaves, True, time_ns)
        )

    def lasting_number(self, address: int, is_leaf: bool) -> int:
        """The number of the place that the address is for the whole time."""
        history = self._space.history(lookup_address(address, is_leaf))
        if len(history) > 1 or (history and history[0].kind is MapKind.DYNAMIC_FUNCTION):
            raise ChangingAddress
        return self._number(history[0] if history else None, address, is_leaf)

    def number_at(self, address: int, is_leaf: bool, time_ns: int) -> int:
        """The number of the place that the address is at a moment."""
        return self._number(self._space.find(lookup_address(address, is_leaf), time_ns), address, is_leaf)

    def _number(self, mapping: address_space.Mapping | None, address: int, is_leaf: bool) -> int:
        return self._table.number(self._place(mapping, address, is_leaf))

    def _place(self, mapping: address_space.Mapping | None, address: int, is_leaf: bool) -> Place:
        if mapping is None:
            return UNMAPPED
        if mapping.kind is MapKind.DYNAMIC_FUNCTION:
            return _dynamic_place(mapping, lookup_address(address, is_leaf))
        if mapping.kind is MapKind.ANONYMOUS or not mapping.path:
            return ANONYMOUS
        copy = os.path.join(self._objects_path, os.path.basename(mapping.copy)) if mapping.copy else None
        return CodePlace(mapping.path, mapping.build_id, mapping.elf_address(address), is_leaf, copy)


class _LastingNumbers(dict[int, int]):
    """Filled as addresses are asked for; raises ChangingAddress for those that have no lasting meaning."""

    def __init__(self, places: ImagePlaces, is_leaf: bool) -> None:
        super().__init__()
        self._places = places
        self._is_leaf = is_leaf
        self._changing: set[int] = set()

    def __missing__(self, address: int) -> int:
        if address in self._changing:
            raise ChangingAddress
        try:
            number = self[address] = self._places.lasting_number(address, self._is_leaf)
        except ChangingAddress:
            self._changing.add(address)
            raise
        return number


class _NumbersAt(dict[int, int]):
    """The same at one moment, when every address means something."""

    def __init__(self, places: ImagePlaces, lasting: Mapping[int, int], is_leaf: bool, time_ns: int) -> None:
        super().__init__()
        self._places = places
        self._lasting = lasting
        self._is_leaf = is_leaf
        self._time_ns = time_ns

    def __missing__(self, address: int) -> int:
        try:
            return self._lasting[address]
        except ChangingAddress:
            return self._places.number_at(address, self._is_leaf, self._time_ns)


def _dynamic_place(function: address_space.Mapping, address: int) -> NamedPlace:
    """A function that the program made and named itself."""
    has_lines = function.source is not None
    return NamedPlace(
        function.name or f"(dynamic)+{function.start:#x}",
        _DYNAMIC_MODULE_NAME,
        function.alias,
        function.source,
        line_at(function, address) if has_lines else None,
        first_line(function) if has_lines else None,
        address - function.start,
    )

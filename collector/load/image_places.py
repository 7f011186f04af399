"""image_places -- from the addresses of one process image to places, as its address space changes"""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Sequence

from collector.experiment.events import MappingChange
from collector.format import MapKind
from collector.load.naming import ANONYMOUS, UNMAPPED, CodePlace, NamedPlace, Place, PlaceTable
from collector.target.address_space import AddressSpace, Mapping

Finder = Callable[[int, bool], int]
"""(address, is_leaf) -> number of its place."""

_LINE = struct.Struct("<ii")
_KNOWN_STATES = 64


class ImagePlaces:
    """The places of one process image. Between two changes of the address space all answers are remembered."""

    def __init__(self, table: PlaceTable, mappings: Sequence[MappingChange], objects_path: str) -> None:
        self._table = table
        self._space = AddressSpace(mappings)
        self._change_times = self._space.change_times
        self._objects_path = objects_path
        self._finders: dict[int, Finder] = {}

    def finder(self, first_ns: int, last_ns: int) -> Finder | None:
        """The finder for this span of time; None if the address space changes within it."""
        state = bisect_right(self._change_times, first_ns)
        if bisect_right(self._change_times, last_ns) != state:
            return None
        return self._finder_of(state, first_ns)

    def finder_at(self, time_ns: int) -> Finder:
        """The finder for a moment."""
        return self._finder_of(bisect_right(self._change_times, time_ns), time_ns)

    def _finder_of(self, state: int, time_ns: int) -> Finder:
        finder = self._finders.get(state)
        if finder is None:
            if len(self._finders) >= _KNOWN_STATES:
                self._finders.clear()
            finder = self._finders[state] = self._make_finder(time_ns)
        return finder

    def _make_finder(self, time_ns: int) -> Finder:
        known: dict[tuple[int, bool], int] = {}

        def find(address: int, is_leaf: bool) -> int:
            key = (address, is_leaf)
            number = known.get(key)
            if number is None:
                number = known[key] = self._table.number(self._place(address, is_leaf, time_ns))
            return number

        return find

    def _place(self, address: int, is_leaf: bool, time_ns: int) -> Place:
        inside = address if is_leaf or not address else address - 1
        mapping = self._space.find(inside, time_ns)
        if mapping is None:
            return UNMAPPED
        if mapping.map_kind is MapKind.DYNAMIC_FUNCTION:
            return _dynamic_place(mapping, inside)
        if mapping.map_kind is MapKind.ANONYMOUS or not mapping.path:
            return ANONYMOUS
        path = os.path.join(self._objects_path, mapping.copy) if mapping.copy else mapping.path
        return CodePlace(path, mapping.build_id or b"", address - mapping.bias & 0xFFFFFFFFFFFFFFFF, is_leaf)


def _dynamic_place(mapping: Mapping, address: int) -> NamedPlace:
    """A function that the program made and named itself."""
    lines = list(_LINE.iter_unpack(mapping.lines[: len(mapping.lines or b"") // 8 * 8])) if mapping.lines else []
    offset = address - mapping.start
    line = next((number for start, number in reversed(lines) if start <= offset), None)
    return NamedPlace(
        mapping.name or f"(dynamic)+{mapping.start:#x}",
        "(dynamic code)",
        mapping.alias,
        mapping.source,
        line if mapping.source else None,
        lines[0][1] if lines and mapping.source else None,
        offset,
    )

"""range_index -- which of many address ranges contain an address: a static interval tree"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

Range = tuple[int, int]
"""First address, and first address after it."""


class RangeIndex:
    """Ranges may overlap and nest in any way; a look-up takes time for the logarithm of all plus those that it finds."""

    __slots__ = ("_center", "_by_start", "_by_end", "_left", "_right")

    def __init__(self, ranges: Iterable[Range]) -> None:
        ordered = sorted(ranges)
        self._left: RangeIndex | None = None
        self._right: RangeIndex | None = None
        self._center = ordered[len(ordered) // 2][0] if ordered else 0
        here = [item for item in ordered if item[0] <= self._center < item[1]]
        left = [item for item in ordered if item[1] <= self._center]
        right = [item for item in ordered if item[0] > self._center]
        self._by_start = here
        self._by_end = sorted(here, key=lambda item: -item[1])
        if left:
            self._left = RangeIndex(left)
        if right:
            self._right = RangeIndex(right)

    def find(self, address: int) -> Iterator[Range]:
        """The ranges that contain the address, in no order."""
        node: RangeIndex | None = self
        while node is not None:
            if address < node._center:
                yield from node._by_start[: bisect_right(node._by_start, (address, 1 << 65))]
                node = node._left
                continue
            for item in node._by_end:
                if item[1] <= address:
                    break
                yield item
            node = node._right

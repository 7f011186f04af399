"""place_numbers -- the numbers of places by address, as time goes on

Most addresses mean one thing for the whole time. Where code comes and goes, time is cut at the moments when the meaning
of an address changes, and its meaning in each span is found out once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from collector.load.call_paths import HIDDEN


class ChangingAddress(Exception):
    """An address meant one thing at one time and another at another. Stays inside this package."""


class PlaceNumbers(dict[int | None, int]):
    """`numbers[address]` is the number of its place during a span of time, found out when first asked for.

    `move` goes on to the next span. What lasts for ever stays; `passing` are the addresses that have to be forgotten then.
    ChangingAddress if an address changes its meaning within the span. A leaf of None, of an empty stack, is hidden.

    `find(address, time)` gives the number at a moment, `turning_points(address)` when it changes.
    """

    def __init__(self, find: Callable[[int, int], int], turning_points: Callable[[int], list[int]]) -> None:
        super().__init__({None: HIDDEN})
        self.passing: set[int] = set()
        self._find = find
        self._turning_points = turning_points
        self._changing: dict[int, _ChangingMeaning] = {}
        self._span = 0, 0

    def move(self, start_ns: int, end_ns: int) -> None:
        """From now on it is about this span."""
        for address in self.passing:
            del self[address]
        self.passing.clear()
        self._span = start_ns, end_ns

    @property
    def is_changing(self) -> bool:
        """Whether an address was met that does not mean the same for ever."""
        return bool(self._changing)

    def at(self, address: int | None, time_ns: int) -> int:
        """The number at any moment."""
        if address in self and address not in self.passing:
            return self[address]
        meaning = self._meaning(address)
        return meaning.at(time_ns) if meaning else self._keep(address, time_ns)

    def __missing__(self, address: int) -> int:
        meaning = self._meaning(address)
        if meaning is None:
            return self._keep(address, self._span[0])
        number = self[address] = meaning.during(*self._span)
        self.passing.add(address)
        return number

    def _keep(self, address: int, time_ns: int) -> int:
        number = self[address] = self._find(address, time_ns)
        return number

    def _meaning(self, address: int) -> _ChangingMeaning | None:
        """What a changing address means; None of one that lasts."""
        meaning = self._changing.get(address)
        if meaning is None and (times := self._turning_points(address)):
            meaning = self._changing[address] = _ChangingMeaning(lambda time_ns: self._find(address, time_ns), times)
        return meaning


class _ChangingMeaning:
    """What an address is in each of the spans that its turning points cut time into; found out when first asked."""

    __slots__ = ("_find", "_times", "_numbers")

    def __init__(self, find: Callable[[int], int], times: list[int]) -> None:
        self._find = find
        self._times = times
        self._numbers: dict[int, int] = {}

    def at(self, time_ns: int) -> int:
        """The number of the place at a moment."""
        span = bisect_right(self._times, time_ns)
        number = self._numbers.get(span)
        if number is None:
            number = self._numbers[span] = self._find(time_ns)
        return number

    def during(self, start_ns: int, end_ns: int) -> int:
        """The same from one moment up to another, if it is the same."""
        if bisect_right(self._times, start_ns) != bisect_right(self._times, end_ns):
            raise ChangingAddress
        return self.at(start_ns)

"""address_space -- what was mapped at an address of a process image, and when

Samples carry their time in microseconds, rounded down, and mappings theirs in nanoseconds: a mapping that began within the
microsecond of a sample counts as there.

Dynamic functions may nest and overlap: the newest counts, and gives back what it covered when it goes. One that is told again
for the same range replaces the earlier one for good. What is only known to have been there at some time (the functions of a
perf map) counts where nothing else does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import itemgetter, le
from typing import NamedTuple

from collector.experiment.events import MappingChange
from collector.format import LineEncoding, MapAction, MapKind
from collector.target.range_index import Range, RangeIndex

_SAMPLE_UNIT_NS = 1000
_ADDRESS_MASK = (1 << 64) - 1


RecordedFile = tuple[int, int, int]
"""What a file without a build id was when it was recorded: its size in bytes, the time of its last change (ns), the checksum of its code."""


class Mapping(NamedTuple):
    """Code that was in memory from `born` until `died` (nanoseconds; None: to the end), at [start, end)."""

    kind: MapKind | int
    start: int
    end: int
    bias: int
    file_offset: int
    path: str
    build_id: bytes
    born: int
    died: int | None = None
    name: str | None = None
    alias: str | None = None
    source: str | None = None
    lines: bytes = b""
    code: bytes = b""
    copy: str | None = None
    file: RecordedFile | None = None
    first_line: int | None = None
    line_table: LineEncoding | int | None = None
    definition: str | None = None
    caller: int | None = None

    def elf_address(self, address: int) -> int:
        """The address as it is written in the ELF file."""
        return (address - self.bias) & _ADDRESS_MASK

    def is_alive(self, time: int) -> bool:
        """True if a sample of that time can lie in this mapping."""
        return self.born < time + _SAMPLE_UNIT_NS and (self.died is None or time < self.died)


def _recorded_file(change: MappingChange) -> RecordedFile | None:
    if change.file_bytes is None or change.file_changed_ns is None or change.text_checksum is None:
        return None
    return change.file_bytes, change.file_changed_ns, change.text_checksum


class AddressSpace:
    """The mappings of one process image over its whole life. Add all changes first, in the order of the log, then ask."""

    def __init__(self, changes: Iterable[MappingChange] = ()) -> None:
        self._lives: dict[Range, list[Mapping]] = {}
        self._alive: dict[tuple[int, int], list[Range]] = {}
        self._index: RangeIndex | None = None
        self._bounds: list[int] = []
        self._sole_lives: dict[int, Mapping | None] = {}
        self._untimed: dict[Range, Mapping] = {}
        self._untimed_index: RangeIndex | None = None
        self._untimed_order: dict[Range, int] = {}
        self._early_deletions: list[MappingChange] = []
        self.ignored_count = 0
        """Changes that made no sense: deletions of what was not there, empty ranges."""
        for change in changes:
            self.add(change)

    def __iter__(self) -> Iterator[Mapping]:
        """All mappings that ever were, by address and then by time."""
        for place in sorted(self._lives):
            yield from self._lives[place]

    def add(self, change: MappingChange) -> None:
        """Take a change in."""
        start, end = change.start, change.end
        if start is None:
            self.ignored_count += 1
        elif change.action == MapAction.INSERT and end is not None and start < end:
            self._insert(change, (start, end))
        elif change.action == MapAction.DELETE:
            self._delete(change, start)
        else:
            self.ignored_count += 1

    def add_untimed(self, functions: Iterable[Mapping]) -> None:
        """Take in functions of which nobody knows when they were there; where they overlap, the last one counts."""
        for function in functions:
            self._untimed.pop((function.start, function.end), None)  # so that the order is that of the last
            self._untimed[function.start, function.end] = function
        self._untimed_index = None
        self._sole_lives.clear()

    def inherit(self, parent: AddressSpace, time: int) -> None:
        """Take over the code that `parent` had made itself when it forked, at `time`; of files the child's own log tells."""
        for place in parent._lives:
            for life in parent._lives[place]:
                if life.kind in _MADE_BY_PROGRAM and life.born <= time and (life.died is None or time < life.died):
                    self._add_life(place, life._replace(died=None), is_oldest=True)
        early, self._early_deletions = self._early_deletions, []
        self.ignored_count -= len(early)
        for change in early:
            self._delete(change, change.start or 0)
        self.add_untimed(parent._untimed.values())

    def _insert(self, change: MappingChange, place: Range) -> None:
        kind = MapKind.OBJECT if change.map_kind is None else change.map_kind
        if kind == MapKind.DYNAMIC_FUNCTION and place in self._alive.get((kind, place[0]), ()):
            self._delete(change, place[0])
        mapping = Mapping(
            kind, *place, change.bias or 0, change.file_offset or 0, change.path or "", change.build_id or b"", change.time, None,
            change.name, change.alias, change.source, change.lines or b"", change.code or b"", change.copy, _recorded_file(change),
            change.first_line, change.line_table, change.definition, change.caller,
        )
        self._add_life(place, mapping)

    def _add_life(self, place: Range, mapping: Mapping, is_oldest: bool = False) -> None:
        lives = self._lives.setdefault(place, [])
        if not lives:
            self._index = None
        self._sole_lives.clear()
        lives.append(mapping)
        if len(lives) > 1 and lives[-2].born > mapping.born:
            lives.sort(key=lambda life: life.born)
        alive = self._alive.setdefault((mapping.kind, place[0]), [])
        alive.insert(0 if is_oldest else len(alive), place)

    def _delete(self, change: MappingChange, start: int) -> None:
        """End the newest life of that kind which began at `start`, of the same end if one is there."""
        places = self._alive.get((MapKind.OBJECT if change.map_kind is None else change.map_kind, start), [])
        place = next((place for place in reversed(places) if place[1] == change.end), places[-1] if places else None)
        if place is None:
            self.ignored_count += 1
            self._early_deletions.append(change)
            return
        self._sole_lives.clear()
        places.remove(place)
        lives = self._lives[place]
        for number in range(len(lives) - 1, -1, -1):
            if lives[number].died is None and lives[number].kind == (change.map_kind or MapKind.OBJECT):
                lives[number] = lives[number]._replace(died=change.time)
                return

    def find(self, address: int, time: int) -> Mapping | None:
        """What was at the address at that time (of a sample, in nanoseconds): the newest that was there; None if nothing.

        A file's code may be sampled before its mapping is written down, while its constructors run: if nothing else was there, the
        next file that came counts. A dynamic function is valid only from the moment it was told.
        """
        best = early = None
        for place in self._covering(address):
            lives = self._lives[place]
            after = bisect_left(lives, time + _SAMPLE_UNIT_NS, key=lambda life: life.born)
            alive = next((life for life in reversed(lives[max(after - _LIVES_LOOKED_AT, 0) : after]) if life.is_alive(time)), None)
            if alive and (best is None or _rank(alive) > _rank(best)):
                best = alive
            for life in lives[after : after + 1]:
                if life.kind != MapKind.DYNAMIC_FUNCTION and (early is None or life.born < early.born):
                    early = life
        if best is None or best.kind == MapKind.ANONYMOUS:
            return self._find_untimed(address) or best or early
        return best

    def sole(self, address: int) -> Mapping | None:
        """The mapping that `find` gives whatever the time, if there is no other at any time; else None. As most code is a file's, it is quick."""
        index = self._range_index()
        between = bisect_right(self._bounds, address)
        if between not in self._sole_lives:
            lives = [life for place in index.find(address) for life in self._lives[place]]
            self._sole_lives[between] = lives[0] if len(lives) == 1 and self._is_sole(lives[0]) else None
        return self._sole_lives[between]

    def iter_sole(self) -> Iterator[tuple[int, int, Mapping]]:
        """The ranges, rising, in each of which `sole` gives the same mapping."""
        places = sorted(self._lives)
        if all(map(le, map(_END_OF, places), map(_START_OF, islice(places, 1, None)))):
            for place in places:
                lives = self._lives[place]
                if len(lives) == 1 and self._is_sole(lives[0]):
                    yield *place, lives[0]
            return
        self._range_index()
        for start, end in zip(self._bounds, self._bounds[1:]):
            mapping = self.sole(start)
            if mapping is not None:
                yield start, end, mapping

    def _is_sole(self, life: Mapping) -> bool:
        """Whether it never went, and counts for the time before it was told of as well."""
        return life.died is None and life.kind not in (MapKind.DYNAMIC_FUNCTION, MapKind.ANONYMOUS) and not self._untimed

    def history(self, address: int) -> list[Mapping]:
        """All that ever was at the address, oldest first. If it is one, `find` gives it whatever the time, or None before its birth."""
        found = [life for place in self._covering(address) for life in self._lives[place]]
        if all(life.kind == MapKind.ANONYMOUS for life in found):
            untimed = self._find_untimed(address)
            found = [untimed] if untimed else found
        return sorted(found, key=lambda life: life.born)

    def turning_points(self, address: int) -> list[int]:
        """The times, rising, between which `find` answers the same."""
        lives = [life for place in self._covering(address) for life in self._lives[place]]
        births = {life.born - _SAMPLE_UNIT_NS + 1 for life in lives}
        return sorted(births | {life.died for life in lives if life.died is not None})

    def _find_untimed(self, address: int) -> Mapping | None:
        if not self._untimed:
            return None
        if self._untimed_index is None:
            self._untimed_index = RangeIndex(self._untimed)
            self._untimed_order = {place: number for number, place in enumerate(self._untimed)}
        place = max(self._untimed_index.find(address), key=self._untimed_order.__getitem__, default=None)
        return None if place is None else self._untimed[place]

    def _covering(self, address: int) -> Iterator[Range]:
        return self._range_index().find(address)

    def _range_index(self) -> RangeIndex:
        if self._index is None:
            self._index = RangeIndex(self._lives)
            self._bounds = sorted({bound for place in self._lives for bound in place})
        return self._index


_START_OF, _END_OF = itemgetter(0), itemgetter(1)
_LIVES_LOOKED_AT = 64  # of the same range, one within the other: more than that is not a program but an attack
_MADE_BY_PROGRAM = (MapKind.DYNAMIC_FUNCTION, MapKind.DYNAMIC_MODULE)


def _rank(life: Mapping) -> tuple[bool, int]:
    """Anonymous memory is where dynamic functions live, so it never hides one; else the newest wins."""
    return (life.kind != MapKind.ANONYMOUS, life.born)

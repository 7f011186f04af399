"""expansion -- what the entries of an analysis mean: their frames, and when they change"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from collector.analysis.seam import NO_FRAME, Analysis, Entry, Expansion
from collector.format import StackEnd
from collector.load.naming import LOST_STACK, NOT_SAMPLED, NamedPlace, NameTable

Progress = Callable[[int, int, str], None]


@dataclass(slots=True)
class _Change:
    """An entry that means several things: `times` lie between them."""

    number: int
    times: list[int]


def expand_entries(analysis: Analysis, names: NameTable, logs: Sequence[int], progress: Progress | None = None) -> bool:
    """Name all entries, and tell the analysis. False if an entry turned out to be hidden that it took for one that shows."""
    found = analysis.entries()
    frames = names.name_modules(found.entries, progress)
    changes = [change for number, frame in enumerate(frames) if not frame and (change := _change_of(names, found.entries[number], number))]
    meanings = _Meanings(names, found.entries, frames, changes)
    is_met = analysis.mark(meanings.without_frames(), logs) if changes else None
    expansion = meanings.with_frames(is_met)
    expansion.empty_frames = _name_empty(names, found.empty_counts, meanings.has_hidden)
    analysis.expand(expansion)
    return not meanings.has_hidden and not changes


def _change_of(names: NameTable, entry: Entry, number: int) -> _Change | None:
    memory = names.memory_of(entry)
    times = memory.turning_points(entry.address, entry.is_leaf) if memory else []
    return _Change(number, times) if times else None


def _name_empty(names: NameTable, counts: Sequence[int], has_hidden: bool) -> tuple[int, ...]:
    """The frames that stand for stacks without any; those that nothing needs are not named."""

    def frame_of(ends: Sequence[int], place: NamedPlace) -> int:
        return names.name_place(place)[0] if has_hidden or any(counts[end] for end in ends) else NO_FRAME

    not_sampled = int(StackEnd.NOT_SAMPLED)
    lost = frame_of([end for end in range(len(counts)) if end != not_sampled], LOST_STACK)
    unsampled = frame_of([not_sampled], NOT_SAMPLED)
    return tuple(unsampled if end == not_sampled else lost for end in range(len(counts)))


class _Meanings:
    def __init__(self, names: NameTable, entries: Sequence[Entry], frames: list[Sequence[int]], changes: Sequence[_Change]) -> None:
        self._names = names
        self._entries = entries
        self._frames = frames
        self._times = {change.number: change.times for change in changes}
        self.has_hidden = False

    def without_frames(self) -> Expansion:
        """When entries change, and nothing else."""
        first, times = array("I", [0]), array("Q")
        for number in range(len(self._entries)):
            turns = self._times.get(number, ())
            first.append(first[-1] + len(turns) + 1)
            times.extend(turns)
        return Expansion(first, times, array("I"))

    def with_frames(self, is_met: bytearray | None) -> Expansion:
        """All of it; meanings that nobody met have no frames."""
        expansion = self.without_frames() if self._times else Expansion(array("I", range(len(self._entries) + 1)))
        first = expansion.first_meaning
        are_all_known = not self._times and all(self._frames)
        of_meanings: list[Sequence[int]] = self._frames if are_all_known else []
        for number, frames in enumerate(() if are_all_known else self._frames):
            if frames:
                of_meanings.append(frames)
                continue
            of_meanings += [
                self._frames_at(self._entries[number], time_ns) if is_met is None or is_met[meaning] else ()
                for meaning, time_ns in enumerate(self._moments(number), first[number])
            ]
        expansion.frames = array("I", chain.from_iterable(of_meanings))
        are_single = are_all_known and len(expansion.frames) == len(of_meanings)
        expansion.first_frame = array("I", range(len(of_meanings) + 1) if are_single else accumulate(map(len, of_meanings), initial=0))
        return expansion

    def _moments(self, number: int) -> list[int]:
        """A moment of each meaning of an entry."""
        times = self._times.get(number)
        return [times[0] - 1, *times] if times else [0]

    def _frames_at(self, entry: Entry, time_ns: int) -> Sequence[int]:
        memory = self._names.memory_of(entry)
        place = memory.place_at(entry.address, entry.is_leaf, time_ns) if memory else None
        frames = () if place is None else self._names.name_place(place)
        self.has_hidden |= not frames
        return frames

"""instructions -- the time of each instruction of a function.

A sample's leaf is the instruction that was to come; every other address of a stack is the one behind a call, so its time
belongs to the instruction before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from collector.profile.metrics import Values, add_values, reported_values
from collector.profile.model import Frame, Profile
from collector.profile.samples import Grouping

Place = tuple[str | None, int | None]
"""Source file and line."""


@dataclass(slots=True)
class CodeTimes:
    """Times within one piece of code: `code` is its position in the profile, -1 for code of a file.

    `exclusive` by the address of the instruction, `called` (time in what it called) by the address behind the call.
    `idle` are addresses that have samples, but none of those that were chosen.
    """

    code: int
    exclusive: dict[int, Values] = field(default_factory=dict)
    called: dict[int, Values] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    idle: set[int] = field(default_factory=set)

    @property
    def own_s(self) -> float:
        """Exclusive time of all of it, in seconds."""
        return sum(values[0] for values in self.exclusive.values())

    @property
    def called_s(self) -> float:
        """Time in what it called; of calls within calls, each counts."""
        return sum(values[0] for values in self.called.values())


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """An instruction and its time: in itself, and with what it called."""

    address: int
    text: str
    file: str | None
    line: int | None
    exclusive: Values
    inclusive: Values


@dataclass(frozen=True, slots=True)
class Listing:
    """A piece of code, annotated; `note` says what is not as one would expect. It ends at `end`, and is part of `code` as in `CodeTimes`."""

    title: str
    rows: tuple[InstructionRow, ...]
    note: str = ""
    code: int = -1
    end: int = 0


def code_times(profile: Profile, function: int) -> list[CodeTimes]:
    """The pieces of code of a function that were sampled, the busiest first."""
    groups, frames = _group_addresses(profile, function)
    sums = profile.samples.sum_groups(Grouping("", len(frames) + 1, lambda: groups))
    exclusive, inclusive = list(zip(*sums.exclusive)), list(zip(*sums.inclusive))
    pieces: dict[int, CodeTimes] = {}
    for group, frame in enumerate(frames, 1):
        own, whole = reported_values(profile.metrics, exclusive[group]), reported_values(profile.metrics, inclusive[group])
        piece = pieces.setdefault(frame.code, CodeTimes(frame.code))
        if any(own):
            _add(piece.exclusive, frame.address, own)
            piece.places.setdefault(frame.address, (frame.file, frame.line))
        elif any(whole):
            _add(piece.called, frame.address, whole)
            piece.places.setdefault(frame.address - 1, (frame.file, frame.line))
        else:
            piece.idle.add(frame.address)
    return sorted(pieces.values(), key=lambda piece: (-piece.own_s, -piece.called_s))


def _group_addresses(profile: Profile, function: int) -> tuple[list[int], list[Frame]]:
    """A group for each address on which the function is, with all frames of that address, and the last of them; all else is group 0."""
    groups: list[int] = []
    last: list[Frame] = []
    for frame in profile.frames:
        if frame.kind != "inlined":
            start, is_in = len(groups), False
        if frame.function == function and not is_in:
            is_in = True
            last.append(frame)
            groups[start:] = [len(last)] * (len(groups) - start)
        if is_in:
            last[-1] = frame
        groups.append(len(last) if is_in else 0)
    return groups, last


def annotate(times: CodeTimes, instructions: Sequence[tuple[int, str]], places: Mapping[int, Place], width: int) -> tuple[InstructionRow, ...]:
    """The instructions (address, text; rising) with their times, in rows of `width` figures. `places` is by address."""
    addresses = [address for address, _ in instructions]
    exclusive: dict[int, Values] = {}
    inclusive: dict[int, Values] = {}
    for table, shift in ((times.exclusive, 0), (times.called, 1)):
        for address, values in table.items():
            index = bisect_right(addresses, address - shift) - 1
            if index < 0:
                continue
            if not shift:
                _add(exclusive, index, values)
            _add(inclusive, index, values)
    nothing = (0.0,) * width
    return tuple(
        InstructionRow(address, text, *places.get(address, (None, None)), exclusive.get(index, nothing), inclusive.get(index, nothing))
        for index, (address, text) in enumerate(instructions)
    )


def _add(table: dict[int, Values], key: int, values: Values) -> None:
    known = table.get(key)
    table[key] = values if known is None else add_values(known, values)

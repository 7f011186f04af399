"""sample_writer -- PCSAMPLE records from Python: samples as columns, stacks as differences (docs/format.md, "Stacks")"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from collector.experiment.columns import IntegerColumn
from collector.experiment.stacks import MAX_CHILDREN, MAX_DEPTH
from collector.format import FRAMES_LEFT_OUT, Kind, StackEnd

Stack = tuple[StackEnd | int, tuple[int, ...]]
"""Why it ends, and its addresses from the root to the leaf, as they stand in the log."""

_MOST_SAMPLES = 1 << 14  # of a record: its columns take half a frame at most
_MOST_DEFINITION_BYTES = 400 << 10
_MASK = (1 << 64) - 1
_LEFT_OUT_FROM = MAX_DEPTH // 2


def sample_records(
    thread: int, source: int, times: Sequence[int], values: Sequence[Sequence[int]], stacks: Sequence[int], table: Sequence[Stack]
) -> Iterator[list[Any]]:
    """The records of a thread's samples: times (never falling) in nanoseconds, a column for each value, and their stacks by their numbers in the table."""
    first, most = 0, _MOST_SAMPLES
    while first < len(times):
        part = slice(first, first + most)
        defined = sorted(set(stacks[part]), key=lambda number: table[number][1])
        definitions = pack_stacks([table[number] for number in defined])
        if len(definitions) > _MOST_DEFINITION_BYTES and most > 1:
            most = max(1, most * _MOST_DEFINITION_BYTES // (len(definitions) * 2))
            continue
        numbers = {number: place for place, number in enumerate(defined)}
        moments = times[part]
        deltas = [0, *(after - before for before, after in zip(moments, moments[1:]))]
        columns = [IntegerColumn.of(list(column[part])).pack() for column in values]
        places = IntegerColumn.of([numbers[number] for number in stacks[part]]).pack()
        yield [int(Kind.PCSAMPLE), moments[0], thread, source, len(moments), 1, IntegerColumn.of(deltas).pack(), columns, places, len(defined), definitions]
        first += most


def pack_stacks(stacks: Sequence[Stack]) -> bytes:
    """The definitions of stacks; they are short if each begins like the one before it."""
    packed = bytearray()
    children: dict[int, list[int]] = {}
    path: Sequence[int] = ()
    for end, whole in stacks:
        addresses = whole if len(whole) <= MAX_DEPTH else (*whole[:_LEFT_OUT_FROM], FRAMES_LEFT_OUT, *whole[-_LEFT_OUT_FROM:])
        kept = _common(path, addresses)
        packed += _number((len(path) - kept) << 3 | end) + _number(len(addresses) - kept)
        for token in _tokens(addresses[kept - 1] if kept else 0, addresses[kept:], children):
            packed += _number(token)
        path = addresses
    return bytes(packed)


def _tokens(parent: int, addresses: Sequence[int], children: dict[int, list[int]]) -> Iterator[int]:
    """What puts the addresses on over the parent."""
    token: int | None = None  # that the next address may belong to as well
    for address in addresses:
        known = children.get(parent)
        place = known.index(address) if known and address in known else None
        if token is not None and place == 0:
            token += 1 << 4
        else:
            if token is not None:
                yield token
            token = None if place is None else place << 1
            if known and place:
                known[place], known[place - 1] = known[place - 1], address
            elif known and place is None:
                yield _zigzag(address - known[0]) << 2 | 3
                del known[MAX_CHILDREN - 1 :]
                known.append(address)
            elif not known:
                yield _zigzag(address - parent) << 2 | 1
                children[parent] = [address]
        parent = address
    if token is not None:
        yield token


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many addresses two stacks begin with alike."""
    for place, (one, other) in enumerate(zip(left, right)):
        if one != other:
            return place
    return min(len(left), len(right))


def _zigzag(difference: int) -> int:
    difference &= _MASK
    return difference << 1 if difference < 1 << 63 else (((1 << 64) - difference) << 1) - 1


@lru_cache(maxsize=1 << 16)
def _number(value: int) -> bytes:
    """A number as LEB128."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)

"""stacks -- the call stacks of one PCSAMPLE record, decoded into a small call tree (docs/format.md, "Stacks")"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator

from collector.format import StackEnd

MAX_DEPTH = 65_535
MAX_FRAMES_OF_RECORD = 1 << 22
_MASK = (1 << 64) - 1


class StackTable:
    """Stacks that share their frames. Node 0 is the empty stack; every other node is one frame on top of its parent,
    and a parent comes before its children, so one pass over the arrays is enough to translate them all.

    `parents[node]`    the node below, on the root's side
    `addresses[node]`  the address of the frame
    `nodes[stack]`     the leaf of a stack
    `ends[stack]`      its StackEnd
    A table may hold fewer stacks than its record promised: what could not be decoded is unknown.
    """

    __slots__ = ("parents", "addresses", "nodes", "ends")

    def __init__(self) -> None:
        self.parents = array("I", [0])
        self.addresses = array("Q", [0])
        self.nodes = array("I")
        self.ends = bytearray()

    def __len__(self) -> int:
        return len(self.nodes)

    def stack(self, index: int) -> CallStack:
        """The stack of that number; the unknown stack if there is none."""
        if 0 <= index < len(self.nodes):
            return CallStack(self, self.nodes[index], StackEnd(self.ends[index]))
        return UNKNOWN_STACK


class CallStack:
    """The addresses of one stack, leaf first. Made on demand from the table, which all stacks of a record share.

    The leaf is the interrupted instruction; every other address is one past an instruction of its call.
    """

    __slots__ = ("table", "node", "end")

    def __init__(self, table: StackTable, node: int, end: StackEnd) -> None:
        self.table = table
        self.node = node
        self.end = end

    def __iter__(self) -> Iterator[int]:
        return iter(self.addresses)

    def __len__(self) -> int:
        return len(self.addresses)

    def __bool__(self) -> bool:
        return self.node != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallStack) and self.end == other.end and self.addresses == other.addresses

    def __hash__(self) -> int:
        return hash((self.end, self.addresses))

    def __repr__(self) -> str:
        return f"CallStack([{', '.join(map(hex, self))}], {self.end.name})"

    @property
    def addresses(self) -> tuple[int, ...]:
        """All addresses, leaf first."""
        parents, addresses, node = self.table.parents, self.table.addresses, self.node
        found = []
        while node:
            found.append(addresses[node])
            node = parents[node]
        return tuple(found)

    @property
    def leaf(self) -> int | None:
        """The interrupted instruction; None of an unknown stack."""
        return self.table.addresses[self.node] if self.node else None


UNKNOWN_STACK = CallStack(StackTable(), 0, StackEnd.NO_UNWIND_INFO)
"""What a sample has whose stack is not in the log, or cannot be decoded."""


def decode_stacks(definitions: bytes, stack_count: int) -> StackTable:
    """The table of the stacks in a record's definitions: up to `stack_count`, fewer if the bytes stop making sense."""
    table = StackTable()
    try:
        _decode_into(table, _read_numbers(definitions), stack_count)
    except (StopIteration, KeyError, OverflowError):
        pass  # ran off the end, predicted what was never seen, too large: the rest is unknown
    return table


def _decode_into(table: StackTable, read: Callable[[], int], stack_count: int) -> None:
    addresses, parents = table.addresses, table.parents
    path = [0]  # the nodes of the stack before, from the root
    predicted: dict[int, int] = {}
    left = MAX_FRAMES_OF_RECORD
    for _ in range(stack_count):
        first = read()
        add = read()
        left -= add
        kept = len(path) - (first >> 3)
        if kept < 1 or kept + add > MAX_DEPTH + 1 or left < 0:
            raise OverflowError
        del path[kept:]
        if add:
            node = path[-1]
            start = len(addresses)
            addresses.extend(_read_frames(read, add, addresses[node], predicted))
            path.extend(range(start, start + add))
            parents.append(node)
            parents.extend(range(start, start + add - 1))
        table.nodes.append(path[-1])
        table.ends.append(first & 7)


def _read_frames(read: Callable[[], int], add: int, address: int, predicted: dict[int, int]) -> list[int]:
    """The addresses of `add` frames over the one at `address`."""
    frames: list[int] = []
    while len(frames) < add:
        token = read()
        if token & 1:
            child = (address + ((token >> 2) ^ -(token >> 1 & 1))) & _MASK
            predicted[address] = address = child
            frames.append(child)
            continue
        run = (token >> 1) + 1
        if run > add - len(frames):
            raise OverflowError
        for _ in range(run):
            address = predicted[address]
            frames.append(address)
    return frames


class _Numbers(dict[bytes, int]):
    """LEB128 numbers by their bytes: most occur again and again, and a look-up is much faster than a loop."""

    def __missing__(self, encoded: bytes) -> int:
        if encoded[-1] & 0x80:
            raise OverflowError
        number = 0
        for byte in reversed(encoded):
            number = number << 7 | byte & 0x7F
        self[encoded] = number
        return number


_MAX_NUMBERS_KEPT = 1 << 16
_LEB128 = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]|[\x80-\xff]")  # the second: more than ten bytes, or cut
_numbers = _Numbers()


def _read_numbers(data: bytes) -> Callable[[], int]:
    """A function that gives the next number at each call, and StopIteration or OverflowError where there is none."""
    if len(_numbers) > _MAX_NUMBERS_KEPT:
        _numbers.clear()
    return map(_numbers.__getitem__, _LEB128.findall(data)).__next__

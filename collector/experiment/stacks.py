"""stacks -- the call stacks of one PCSAMPLE record, decoded into a small call tree (docs/format.md, "Stacks")"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from collector.format import StackEnd

MAX_DEPTH = 65_535
MAX_CHILDREN = 7
MAX_FRAMES_OF_RECORD = 1 << 22
_MASK = (1 << 64) - 1


Difference = tuple[int, list[int], int | None, int]
"""A stack, as it differs from the one before: how many of its callers stay, counted from the root's side; the addresses of the
callers over them, towards the leaf; the address of the leaf, which is None if the stack is empty; and its StackEnd."""


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
    parents, addresses = table.parents, table.addresses
    callers = [0]  # the nodes of the stack before, from the root
    for kept, added, leaf, end in iter_differences(definitions, stack_count):
        del callers[kept + 1 :]
        if leaf is not None:
            start = len(addresses)
            addresses.extend(added)
            addresses.append(leaf)
            parents.append(callers[-1])
            parents.extend(range(start, start + len(added)))
            callers.extend(range(start, start + len(added)))
        table.nodes.append(0 if leaf is None else len(addresses) - 1)
        table.ends.append(end)
    return table


def iter_differences(definitions: bytes, stack_count: int) -> Iterator[Difference]:
    """The stacks in a record's definitions, each as its difference from the one before it; it ends early where the bytes stop making sense."""
    try:
        yield from _read_differences(_iter_numbers(definitions), stack_count)
    except (LookupError, OverflowError):
        pass  # asked for a child that was never seen, is too large, or ran off the end: the rest is unknown


def _read_differences(numbers: Iterator[int], stack_count: int) -> Iterator[Difference]:
    path = [0]  # the addresses of the stack before, from the root
    children: dict[int, list[int]] = {}
    left = MAX_FRAMES_OF_RECORD
    for _, first, add in zip(range(stack_count), numbers, numbers):
        left -= add
        depth = len(path) - 1
        kept = depth - (first >> 3)
        if kept < 0 or kept + add > MAX_DEPTH or left < 0:
            raise OverflowError
        del path[kept + 1 :]
        if add:
            _put_on(path, add, numbers, children)
        kept = max(0, min(kept, depth - 1, kept + add - 1))  # the leaf before, and the leaf now, are no callers
        yield kept, path[kept + 1 : -1], path[-1] if len(path) > 1 else None, first & 7


def _put_on(path: list[int], add: int, numbers: Iterator[int], children: dict[int, list[int]]) -> None:
    """Put `add` frames on a path."""
    address, append = path[-1], path.append
    for token in numbers:
        if token & 1:
            parent, distance = address, (token >> 3) ^ -(token >> 2 & 1)
            if token & 2:
                known = children[parent]
                address = (known[0] + distance) & _MASK
                del known[MAX_CHILDREN - 1 :]
                known.append(address)
            else:
                address = (parent + distance) & _MASK
                children[parent] = [address]
            append(address)
            add -= 1
        else:
            known, place = children[address], token >> 1 & 7
            address = known[place]
            if place:
                known[place], known[place - 1] = known[place - 1], address
            append(address)
            run = token >> 4
            add -= run + 1
            if add < 0:
                raise OverflowError
            for _ in range(run):
                address = children[address][0]
                append(address)
        if not add:
            return
    raise OverflowError


class _Numbers(dict[bytes, int]):
    """LEB128 numbers by their bytes: most occur again and again, and a look-up is much faster than a loop."""

    def __missing__(self, encoded: bytes) -> int:
        if encoded[-1] & 0x80:
            raise OverflowError
        number = 0
        for byte in reversed(encoded):
            number = number << 7 | byte & 0x7F
        if number >> 66:
            raise OverflowError
        self[encoded] = number
        return number


_MAX_NUMBERS_KEPT = 1 << 16
_LEB128 = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]|[\x80-\xff]")  # the second: more than ten bytes, or cut
_numbers = _Numbers()


def _iter_numbers(data: bytes) -> Iterator[int]:
    """The numbers that the data holds; OverflowError where one has more than the 66 bits of a token, or is cut."""
    if len(_numbers) > _MAX_NUMBERS_KEPT:
        _numbers.clear()
    return map(_numbers.__getitem__, _LEB128.findall(data))

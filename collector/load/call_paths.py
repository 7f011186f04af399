"""call_paths -- the tree of all call paths while it grows, and the stacks that end in it"""

from __future__ import annotations

from array import array
from itertools import chain, repeat
from operator import and_, rshift
from typing import Final

from collector.format import StackEnd
from collector.profile.model import CallPaths

PLACE_BITS: Final = 32
END_BITS: Final = 3

HIDDEN: Final = (1 << PLACE_BITS) - 1
"""The place of a frame that no report shows: the recorder's own."""

_END_NAMES: Final = {int(end): end.name.lower() for end in StackEnd}


class NodeTable(dict[int, int]):
    """Call paths are interned: the same chain of places is the same node, in whatever log it is found.

    `table[parent << PLACE_BITS | place]` is the node of a place called from `parent`, made where it is new; a hidden
    place is its parent. That this is one subscription, without a call, is what makes loading fast.
    """

    def __missing__(self, key: int) -> int:
        if key & HIDDEN == HIDDEN:
            return key >> PLACE_BITS
        node = self[key] = len(self) + 1  # 0 is the root; the keys lie in the order of the nodes
        return node


class StackNumbers(dict[int, int]):
    """`numbers[node << END_BITS | end]` is the stack that ends in `node`, and whose root side ends as the StackEnd says."""

    def __missing__(self, key: int) -> int:
        stack = self[key] = len(self)
        return stack


class PathBuilder:
    """The call paths of a profile, and its stacks."""

    def __init__(self) -> None:
        self.nodes = NodeTable()
        self.stacks = StackNumbers()

    def finish(self) -> CallPaths:
        """The tree, in which a node's frame is its place."""
        return CallPaths(
            array("i", chain((-1,), map(rshift, self.nodes, repeat(PLACE_BITS)))),
            array("i", chain((-1,), map(and_, self.nodes, repeat(HIDDEN)))),
            array("I", map(rshift, self.stacks, repeat(END_BITS))),
            [_END_NAMES[key & (1 << END_BITS) - 1] for key in self.stacks],
        )

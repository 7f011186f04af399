"""call_paths -- the tree of all call paths while it grows, and the stacks that end in it"""

from __future__ import annotations

from array import array
from typing import Final

from collector.profile.model import CallPaths

HIDDEN: Final = -1
"""The place of a frame that no report shows: the recorder's own."""

PLACE_BITS: Final = 32


class NodeTable(dict[int, int]):
    """Call paths are interned: the same chain of places is the same node, in whatever log it is found.

    `table[parent << PLACE_BITS | place]` is the node of a place called from `parent`, made where it is new. That
    this is one subscription, without a call, is what makes loading fast.
    """

    def __init__(self) -> None:
        super().__init__()
        self.parents = array("i", [-1])
        self.places = array("i", [-1])

    def __missing__(self, key: int) -> int:
        node = self[key] = len(self.parents)
        self.parents.append(key >> PLACE_BITS)
        self.places.append(key & (1 << PLACE_BITS) - 1)
        return node


class PathBuilder:
    """The call paths of a profile, and its stacks."""

    def __init__(self) -> None:
        self.nodes = NodeTable()
        self._stack_nodes = array("I")
        self._stack_ends: list[str] = []
        self._stacks: dict[tuple[int, str], int] = {}

    def stack(self, node: int, end: str) -> int:
        """The stack that ends in `node`, and whose root side ends as `end` says."""
        key = (node, end)
        stack = self._stacks.get(key)
        if stack is None:
            stack = self._stacks[key] = len(self._stack_nodes)
            self._stack_nodes.append(node)
            self._stack_ends.append(end)
        return stack

    def finish(self) -> CallPaths:
        """The tree, in which a node's frame is its place."""
        return CallPaths(self.nodes.parents, self.nodes.places, self._stack_nodes, self._stack_ends)

"""call_paths -- the tree of all call paths while it grows, and the stacks that end in it"""

from __future__ import annotations

from array import array

from collector.profile.model import ROOT, CallPaths

HIDDEN = -1
"""The place of a frame that no report shows: the recorder's own."""

_PLACE_BITS = 32


class PathBuilder:
    """Call paths are interned: the same chain of places is the same node, in whatever log it is found."""

    def __init__(self) -> None:
        self._parents = array("i", [-1])
        self._places = array("i", [-1])
        self._nodes: dict[int, int] = {}
        self._stack_nodes = array("I")
        self._stack_ends: list[str] = []
        self._stacks: dict[tuple[int, str], int] = {}

    def node(self, parent: int, place: int) -> int:
        """The node of a place called from `parent`; the parent itself if the place is hidden."""
        if place < 0:
            return parent
        key = parent << _PLACE_BITS | place
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = len(self._parents)
            self._parents.append(parent)
            self._places.append(place)
        return node

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
        return CallPaths(self._parents, self._places, self._stack_nodes, self._stack_ends)


__all__ = ["HIDDEN", "ROOT", "PathBuilder"]

"""stacks -- from the stacks of a log's blocks to the call paths of the profile"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import repeat

from collector.experiment.samples import PcSampleBlock
from collector.experiment.stacks import StackTable
from collector.format import StackEnd
from collector.load.call_paths import ROOT, PathBuilder

_END_NAMES = {int(end): end.name.lower() for end in StackEnd}

PlaceFinder = Callable[[int, bool], int]
"""(address, is_leaf) -> number of its place, for one state of the address space."""


class StackTranslator:
    """Translates the stacks of one process image. `lost_place` is the place of a stack that is not in the log."""

    def __init__(self, paths: PathBuilder, lost_place: int) -> None:
        self._paths = paths
        self._lost_stack = paths.stack(paths.node(ROOT, lost_place), StackEnd.NO_UNWIND_INFO.name.lower())

    def translate(self, block: PcSampleBlock, find_place: PlaceFinder) -> array[int]:
        """The stack of each sample of a block during which the address space did not change."""
        stacks = self._all_stacks(block.stack_table(), find_place)
        return array("I", self._chosen(block.stacks.tolist(), stacks))

    def translate_changing(self, block: PcSampleBlock, find_place_at: Callable[[int], PlaceFinder]) -> array[int]:
        """The same where it did change: `find_place_at(time)` knows the state of that time."""
        table = block.stack_table()
        known: dict[PlaceFinder, Sequence[int]] = {}
        chosen = array("I")
        for index, time_ns in zip(block.stacks, block.iter_times()):
            find_place = find_place_at(time_ns)
            if find_place not in known:
                known[find_place] = self._all_stacks(table, find_place)
            chosen.extend(self._chosen([index], known[find_place]))
        return chosen

    def _chosen(self, indexes: list[int], stacks: Sequence[int]):
        if not indexes or max(indexes) < len(stacks):
            return map(stacks.__getitem__, indexes)
        return map(dict(enumerate(stacks)).get, indexes, repeat(self._lost_stack))

    def _all_stacks(self, table: StackTable, find_place: PlaceFinder) -> list[int]:
        """The stacks of a table by their index. An address is exact only where it is the leaf of the stack."""
        node_of = self._paths.node
        parents, addresses = table.parents, table.addresses
        is_caller = bytearray(len(parents))
        for parent in parents:
            is_caller[parent] = 1
        nodes = [ROOT] * len(parents)
        for index in range(1, len(parents)):
            if is_caller[index]:
                nodes[index] = node_of(nodes[parents[index]], find_place(addresses[index], False))
        stacks = []
        for leaf, end in zip(table.nodes, table.ends):
            node = node_of(nodes[parents[leaf]], find_place(addresses[leaf], True)) if leaf else ROOT
            stacks.append(self._paths.stack(node, _END_NAMES[end]) if node != ROOT else self._lost_stack)
        return stacks

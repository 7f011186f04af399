"""stacks -- from the stacks of a log's blocks to the call paths of the profile"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import repeat

from collector.experiment.samples import PcSampleBlock
from collector.experiment.stacks import CallStack, iter_differences
from collector.format import StackEnd
from collector.load.call_paths import END_BITS, HIDDEN, PLACE_BITS, PathBuilder
from collector.load.image_places import ImagePlaces
from collector.load.naming import LOST_STACK, NOT_SAMPLED, PlaceTable
from collector.load.place_numbers import ChangingAddress
from collector.load.stack_workers import BlockStacks
from collector.profile.model import ROOT


class StackTranslator:
    """Translates the stacks of one log to stacks of the profile."""

    def __init__(self, paths: PathBuilder, table: PlaceTable, places: ImagePlaces) -> None:
        self._paths = paths
        self._table = table
        self._places = places
        self._chains: dict[int, list[int]] = {}  # by worker: the nodes of its chains of callers

    def translate(self, block: PcSampleBlock, read: BlockStacks | None = None) -> array[int]:
        """The stack of each sample of a block, whose stacks a worker may have read.

        Nearly all addresses mean the same as long as the block lasts. Where one does not, each sample is looked up at its own time.
        """
        self._places.move(block.time, block.last_time)
        try:
            return array("I", self._chosen(block.stacks.tolist(), self._all_stacks(block, read)))
        except ChangingAddress:
            return array("I", self._each_at_its_time(block))

    def start_only(self, address: int | None, time_ns: int) -> int:
        """The stack of a thread that no tick found, of which only the function it was started with is known, if that."""
        place = self._places.leaves.at(address, time_ns) if address else HIDDEN
        if place == HIDDEN:
            place = self._table.number(NOT_SAMPLED)
        return self._stack(self._paths.nodes[ROOT << PLACE_BITS | place], StackEnd.NOT_SAMPLED)

    def _stack(self, node: int, end: int) -> int:
        """The stack that ends in a node; one that has nothing but hidden frames is lost."""
        return self._paths.stacks[node << END_BITS | end] if node != ROOT else self._lost_stack()

    def _lost_stack(self) -> int:
        """The stack of a sample whose stack is not in the log, or is lost."""
        place = self._table.number(LOST_STACK)
        return self._stack(self._paths.nodes[ROOT << PLACE_BITS | place], StackEnd.NO_UNWIND_INFO)

    def _each_at_its_time(self, block: PcSampleBlock) -> Iterator[int]:
        table = block.stack_table()
        for index, time_ns in zip(block.stacks, block.iter_times()):
            yield self._stack_at(table.stack(index), time_ns) if index < len(table) else self._lost_stack()

    def _stack_at(self, stack: CallStack, time_ns: int) -> int:
        node, node_of = ROOT, self._paths.nodes
        for address in reversed(stack.addresses[1:]):
            node = node_of[node << PLACE_BITS | self._places.callers.at(address, time_ns)]
        node = node_of[node << PLACE_BITS | self._places.leaves.at(stack.leaf, time_ns)]
        return self._stack(node, stack.end)

    def _chosen(self, indexes: list[int], stacks: Sequence[int]) -> Iterator[int]:
        if not indexes or max(indexes) < len(stacks):
            return map(stacks.__getitem__, indexes)
        return map(dict(enumerate(stacks)).get, indexes, repeat(self._lost_stack()))

    def _all_stacks(self, block: PcSampleBlock, read: BlockStacks | None) -> list[int]:
        """The stacks of a block by their index. An address is exact only where it is the leaf of the stack."""
        # A worker names a chain once; what it was then must be what it is now.
        is_usable = read is not None and not self._places.callers.is_changing
        callers, leaves, ends = self._take_stacks(read) if is_usable else self._read_stacks(block)
        node_of, stack_of = self._paths.nodes, self._paths.stacks
        stacks = []
        for node, place, end in zip(callers, map(self._places.leaves.__getitem__, leaves), ends):
            node = node_of[node << PLACE_BITS | place]
            stacks.append(stack_of[node << END_BITS | end] if node != ROOT else self._lost_stack())
        return stacks

    def _read_stacks(self, block: PcSampleBlock) -> tuple[list[int], list[int | None], Sequence[int]]:
        """Of each stack of a block the node of its callers, the address of its leaf, and its end."""
        node_of, place_of, bits = self._paths.nodes, self._places.callers, PLACE_BITS
        callers, leaves, ends = [], [], []
        path = [ROOT]  # the nodes of the stack before
        for kept, added, leaf, end in iter_differences(block.definitions, block.stack_count):
            del path[kept + 1 :]
            node = path[-1]
            for address in added:
                node = node_of[node << bits | place_of[address]]
                path.append(node)
            callers.append(node)
            leaves.append(leaf)
            ends.append(end)
        return callers, leaves, ends

    def _take_stacks(self, read: BlockStacks) -> tuple[list[int], list[int | None], Sequence[int]]:
        """The same, from what a worker has read."""
        node_of, place_of, bits = self._paths.nodes, self._places.callers, PLACE_BITS
        if read.is_afresh:
            self._chains[read.worker] = [ROOT]
        nodes = self._chains[read.worker]
        for parent, address in zip(read.parents, read.addresses):
            nodes.append(node_of[nodes[parent] << bits | place_of[address]])
        leaves: list[int | None] = read.leaves.tolist()
        for index in read.empty:
            leaves[index] = None
        return list(map(nodes.__getitem__, read.callers)), leaves, read.ends

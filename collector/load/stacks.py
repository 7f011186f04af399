"""stacks -- from the stacks of a log's blocks to the call paths of the profile"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

from collector.experiment.samples import PcSampleBlock
from collector.experiment.stacks import StackTable
from collector.format import StackEnd
from collector.load.call_paths import HIDDEN, PLACE_BITS, PathBuilder
from collector.load.naming import LOST_STACK, NOT_SAMPLED, PlaceTable
from collector.profile.model import ROOT

_END_NAMES = {int(end): end.name.lower() for end in StackEnd}


class ChangingAddress(Exception):
    """An address meant one thing at one time and another at another. Stays inside this package."""


@dataclass(frozen=True, slots=True)
class PlaceMaps:
    """The numbers of places by address: of callers, and of leaves."""

    callers: Mapping[int, int]
    leaves: Mapping[int, int]


class StackTranslator:
    """Translates stacks of addresses to stacks of the profile."""

    def __init__(self, paths: PathBuilder, table: PlaceTable) -> None:
        self._paths = paths
        self._table = table

    def translate(self, block: PcSampleBlock, lasting: PlaceMaps, places_at: Callable[[int], PlaceMaps]) -> array[int]:
        """The stack of each sample of a block.

        Nearly all addresses mean the same as long as the block lasts, and `lasting` knows them. Where one does not, each
        sample is looked up at its own time.
        """
        table = block.stack_table()
        try:
            return array("I", self._chosen(block.stacks.tolist(), self._all_stacks(table, lasting)))
        except ChangingAddress:
            return array("I", self._each_at_its_time(block, table, places_at))

    def start_only(self, address: int | None, places: PlaceMaps) -> int:
        """The stack of a thread that no tick found, of which only the function it was started with is known, if that."""
        place = places.leaves[address] if address else HIDDEN
        node = self._paths.nodes[ROOT << PLACE_BITS | (self._table.number(NOT_SAMPLED) if place == HIDDEN else place)]
        return self._paths.stack(node, StackEnd.NOT_SAMPLED.name.lower())

    def _lost_stack(self) -> int:
        """The stack of a sample whose stack is not in the log, or has nothing but hidden frames."""
        node = self._paths.nodes[ROOT << PLACE_BITS | self._table.number(LOST_STACK)]
        return self._paths.stack(node, StackEnd.NO_UNWIND_INFO.name.lower())

    def _each_at_its_time(
        self, block: PcSampleBlock, table: StackTable, places_at: Callable[[int], PlaceMaps]
    ) -> Iterator[int]:
        for index, time_ns in zip(block.stacks, block.iter_times()):
            if index < len(table):
                yield self._stack_at(table, index, places_at(time_ns))
            else:
                yield self._lost_stack()

    def _stack_at(self, table: StackTable, index: int, places: PlaceMaps) -> int:
        stack = table.stack(index)
        node = ROOT
        for position, address in enumerate(reversed(stack.addresses), 1 - len(stack.addresses)):
            place = places.callers[address] if position else places.leaves[address]
            if place >= 0:
                node = self._paths.nodes[node << PLACE_BITS | place]
        return self._lost_stack() if node == ROOT else self._paths.stack(node, _END_NAMES[int(stack.end)])

    def _chosen(self, indexes: list[int], stacks: Sequence[int]) -> Iterator[int]:
        if not indexes or max(indexes) < len(stacks):
            return map(stacks.__getitem__, indexes)
        return map(dict(enumerate(stacks)).get, indexes, repeat(self._lost_stack()))

    def _all_stacks(self, table: StackTable, places: PlaceMaps) -> list[int]:
        """The stacks of a table by their index. An address is exact only where it is the leaf of the stack."""
        parents, addresses = table.parents, table.addresses
        nodes = self._caller_nodes(table, places.callers)
        node_of, leaves, stack_of = self._paths.nodes, places.leaves, self._paths.stack
        stacks = []
        for leaf, end in zip(table.nodes, table.ends):
            node = ROOT
            if leaf:
                node, place = nodes[parents[leaf]], leaves[addresses[leaf]]
                if place >= 0:
                    node = node_of[node << PLACE_BITS | place]
            stacks.append(self._lost_stack() if node == ROOT else stack_of(node, _END_NAMES[end]))
        return stacks

    def _caller_nodes(self, table: StackTable, callers: Mapping[int, int]) -> list[int]:
        """The nodes of all addresses of a table that have something on top of them."""
        is_caller = bytearray(len(table.parents))
        for parent in table.parents:
            is_caller[parent] = 1
        is_caller[0] = 0
        node_of = self._paths.nodes
        nodes: list[int] = []
        append = nodes.append
        for is_needed, parent, address in zip(is_caller, table.parents, table.addresses):
            if is_needed:
                place = callers[address]
                append(nodes[parent] if place < 0 else node_of[nodes[parent] << PLACE_BITS | place])
            else:
                append(ROOT)
        return nodes

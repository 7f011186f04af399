"""samples -- from columns of samples to sums per thread and stack."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from collector.profile.metrics import BASE_COUNT
from collector.profile.model import Cells, SampleBlock, Thread
from collector.units import NS_PER_S

_Sums = dict[int, list[int]]


def sum_blocks(blocks: Iterable[SampleBlock], threads: Sequence[Thread]) -> Cells:
    """Add up samples of the same thread and stack, and apply each thread's gain."""
    sums: dict[tuple[int, int], _Sums] = {}
    for block in blocks:
        into = sums.setdefault((block.thread, block.unit_ns), {})
        _add_block(into, block)
    thread_column, stack_column, counts = array("I"), array("I"), array("Q")
    values = tuple(array("d") for _ in range(BASE_COUNT))
    for (thread, unit_ns), by_stack in sums.items():
        thread_column.extend(array("I", [thread]) * len(by_stack))
        stack_column.extend(by_stack)
        counts.extend(row[0] for row in by_stack.values())
        for base, column in enumerate(values, 1):
            column.extend(row[base] * unit_ns * threads[thread].gain / NS_PER_S for row in by_stack.values())
    return Cells(thread_column, stack_column, counts, values)


def _add_block(into: _Sums, block: SampleBlock) -> None:
    user_column, system_column = block.values
    get = into.get
    for stack, user, system in zip(block.stacks, user_column, system_column):
        sums = get(stack)
        if sums is None:
            into[stack] = [1, user, system]
        else:
            sums[0] += 1
            sums[1] += user
            sums[2] += system


def sample_count(cells: Cells) -> int:
    """How many samples the cells stand for."""
    return sum(cells.counts)

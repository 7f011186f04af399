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
    cells = Cells(array("I"), array("I"), array("Q"), tuple(array("d") for _ in range(BASE_COUNT)))
    for (thread, unit_ns), by_stack in sums.items():
        _append_cells(cells, thread, unit_ns, threads[thread].gain, by_stack)
    return cells


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


def _append_cells(cells: Cells, thread: int, unit_ns: int, gain: float, by_stack: _Sums) -> None:
    count = len(by_stack)
    cells.threads.extend(array("I", [thread]) * count)
    cells.stacks.extend(by_stack)
    cells.counts.extend(sums[0] for sums in by_stack.values())
    for base, column in enumerate(cells.values):
        column.extend(sums[base + 1] * unit_ns * gain / NS_PER_S for sums in by_stack.values())


def sample_count(cells: Cells) -> int:
    """How many samples the cells stand for."""
    return sum(cells.counts)

"""plain_samples -- samples as lists of stacks, added up in the plainest way: what the analysis in C is held against

Every stack is walked for itself, so this takes time for each frame of each stack. Sums are made of whole nanoseconds thread by
thread, and only then multiplied and added, as the analysis in C does: so both give the same figures to the last bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from collector.profile.causes import is_finished
from collector.profile.metrics import CPU_VALUES, MISSING, SYSTEM, USER, Value, in_base_order
from collector.profile.samples import (
    EVER,
    EVERY_STACK,
    NOTHING,
    CallSums,
    Cells,
    Columns,
    EdgeSums,
    Grouping,
    GroupSums,
    PhaseCells,
    SampleRows,
    Scales,
    Spans,
    StackFilter,
)
from collector.units import NS_PER_S

Keys = Callable[["PlainStack"], Iterable[Hashable]]


class PlainStack(NamedTuple):
    """The frames of a stack, the caller first, and how it ended (a key of `causes.STACK_ENDS`)."""

    frames: tuple[int, ...]
    end: str


class PlainSample(NamedTuple):
    """One sample: its thread, its time, its stack's position, and its values; times in nanoseconds."""

    thread: int
    time_ns: int
    stack: int
    values: tuple[int, ...]


@dataclass(frozen=True)
class PlainSamples:
    """See `samples.Samples`. `scales` are what the CPU time of each thread is multiplied with, `kinds` what the values of a sample are.

    Of a part `whole` are the stacks of all, of which `stacks` shows what `taken` leaves.
    """

    stacks: Sequence[PlainStack]
    samples: Sequence[PlainSample]
    scales: Sequence[Scales]
    kinds: Sequence[Value] = CPU_VALUES
    whole: Sequence[PlainStack] | None = None
    taken: StackFilter = EVERY_STACK

    def cells(self) -> Cells:
        """See `samples.Samples`."""
        sums: dict[tuple[int, str], list[int]] = defaultdict(self._nothing)
        for thread, by_stack in self._iter_threads():
            for stack, figures in by_stack.items():
                _add(sums[thread, self.stacks[stack].end], figures)
        keys = sorted(sums)
        values = [self._scaled(thread, sums[thread, end]) for thread, end in keys]
        counts = [self._sample_count(sums[key]) for key in keys]
        return Cells([thread for thread, _ in keys], [end for _, end in keys], counts, self._transposed(values))

    def cells_of(self, name: str, stacks: StackFilter) -> Cells:
        """See `samples.Samples`."""
        return self.select(None, stacks).cells()

    def sum_groups(self, grouping: Grouping) -> GroupSums:
        """See `samples.Samples`."""
        groups = grouping.groups
        exclusive = self._sum(lambda stack: (groups[stack.frames[-1]],))
        inclusive = self._sum(lambda stack: dict.fromkeys(groups[frame] for frame in stack.frames))
        return GroupSums(self._columns(exclusive, range(grouping.count)), self._columns(inclusive, range(grouping.count)))

    def call_sums(self, grouping: Grouping) -> CallSums:
        """See `samples.Samples`."""
        groups = grouping.groups
        nodes: dict[tuple[int, int], int] = {(NOTHING, NOTHING): 0}

        def node_of(stack: PlainStack) -> int:
            return _node(nodes, [groups[frame] for frame in stack.frames], True)

        finished = self._sum(lambda stack: (node_of(stack),) if self._has_start(stack) else ())
        unfinished = self._sum(lambda stack: () if self._has_start(stack) else (node_of(stack),))
        every = range(len(nodes))
        parents, own = [parent for parent, _ in nodes], [group for _, group in nodes]
        own_finished, own_unfinished = self._columns(finished, every), self._columns(unfinished, every)
        return CallSums(parents, own, own_finished, own_unfinished, _summed_up(parents, own_finished), _summed_up(parents, own_unfinished))

    def edge_sums(self, grouping: Grouping) -> EdgeSums:
        """See `samples.Samples`."""
        groups = grouping.groups

        def path_of(stack: PlainStack) -> list[int]:
            return [grouping.count, *(groups[frame] for frame in stack.frames)]

        def outermost(stack: PlainStack) -> Iterator[tuple[int, int]]:
            path = path_of(stack)
            return ((path[path.index(group) - 1], group) for group in set(path[1:]))

        def innermost(stack: PlainStack) -> Iterator[tuple[int, int]]:
            path = path_of(stack)[:0:-1]  # the leaf first
            return ((group, path[path.index(group) - 1]) for group in set(path) - {path[0]})

        first, last = self._sum(outermost), self._sum(innermost)
        exclusive = self._sum(lambda stack: (groups[stack.frames[-1]],))
        edges = cast("list[tuple[int, int]]", list(dict.fromkeys((*first, *last))))
        return EdgeSums(
            [caller for caller, _ in edges],
            [callee for _, callee in edges],
            self._columns(first, edges),
            self._columns(last, edges),
            self._columns(exclusive, range(grouping.count)),
        )

    def rows(self, grouping: Grouping, is_folded: bool = True) -> SampleRows:
        """See `samples.Samples`."""
        nodes: dict[tuple[int, int], int] = {(NOTHING, NOTHING): 0}
        ordered = sorted(self.samples, key=lambda sample: sample.thread)
        stacks = [self.stacks[sample.stack] for sample in ordered]
        own = [_node(nodes, [grouping.groups[frame] for frame in stack.frames], is_folded) for stack in stacks]
        return SampleRows(
            [parent for parent, _ in nodes],
            [group for _, group in nodes],
            [sample.thread for sample in ordered],
            [sample.time_ns for sample in ordered],
            own,
            [int(self._has_start(stack)) for stack in stacks],
            self._transposed([self._scaled(sample.thread, [*sample.values, 1]) for sample in ordered]),
        )

    def phase_cells(self, spans: Spans) -> PhaseCells:
        """See `samples.Samples`."""
        sums: dict[tuple[int, int], list[int]] = defaultdict(self._nothing)
        for sample in self.samples:
            phase = _phase(sample, spans)
            if phase is not None:
                _add(sums[sample.thread, phase], [*sample.values, 1])
        keys = sorted(sums)
        values = [self._scaled(thread, sums[thread, phase]) for thread, phase in keys]
        return PhaseCells([thread for thread, _ in keys], [phase for _, phase in keys], self._transposed(values))

    def select(self, spans: Spans | None, stacks: StackFilter = EVERY_STACK) -> PlainSamples:
        """See `samples.Samples`."""
        whole, joined = self.whole or self.stacks, self.taken.joined(stacks)
        shown = [stack._replace(frames=tuple(joined.shown(stack.frames))) for stack in whole]
        chosen = [sample for sample in self.samples if shown[sample.stack].frames and (spans is None or _phase(sample, spans) is not None)]
        return PlainSamples(shown, chosen, self.scales, self.kinds, whole, joined)

    def _has_start(self, stack: PlainStack) -> bool:
        return is_finished(stack.end) or self.taken.begin is not None

    def _iter_threads(self) -> Iterator[tuple[int, dict[int, list[int]]]]:
        """Each thread with the sums of its samples by stack."""
        sums: dict[int, dict[int, list[int]]] = {}
        for sample in self.samples:
            by_stack = sums.setdefault(sample.thread, {})
            _add(by_stack.setdefault(sample.stack, self._nothing()), [*sample.values, 1])
        yield from sorted(sums.items())

    def _sum(self, keys_of: Keys) -> dict[Hashable, list[float]]:
        totals: dict[Hashable, list[float]] = {}
        for thread, by_stack in self._iter_threads():
            sums: dict[Hashable, list[int]] = defaultdict(self._nothing)
            for stack, figures in by_stack.items():
                for key in keys_of(self.stacks[stack]):
                    _add(sums[key], figures)
            for key, figures in sums.items():
                _add(totals.setdefault(key, [0.0] * self._width), self._scaled(thread, figures))
        return totals

    def _columns(self, totals: dict[Hashable, list[float]], keys: Iterable[Hashable]) -> Columns:
        nothing = [0.0] * self._width
        return self._transposed([totals.get(key, nothing) for key in keys])

    def _scaled(self, thread: int, figures: Sequence[int]) -> list[float]:
        return [*scaled(self.kinds, figures, self.scales[thread]), float(self._sample_count(figures))]

    def _sample_count(self, figures: Sequence[int]) -> int:
        """The samples that no value counts."""
        return figures[-1] - sum(value for kind, value in zip(self.kinds, figures) if kind.is_count)

    def _transposed(self, rows: Sequence[Sequence[float]]) -> Columns:
        return in_base_order([[row[column] for row in rows] for column in range(self._width)])

    @property
    def _width(self) -> int:
        return len(self.kinds) + 1 - (MISSING in self.kinds)

    def _nothing(self) -> list[int]:
        return [0] * (len(self.kinds) + 1)


def scaled(kinds: Sequence[Value], figures: Sequence[int], scales: Scales) -> Iterator[float]:
    """The values of a thread as they are shown: CPU time is multiplied with its scales, a part of what was missing added to it, times become seconds."""
    added_ns = sum(value * scales.missing for kind, value in zip(kinds, figures) if kind == MISSING)
    for place, (kind, value) in enumerate(zip(kinds, figures)):
        if kind != MISSING:
            scale = scales.user if kind == CPU_VALUES[USER] else scales.system if kind == CPU_VALUES[SYSTEM] else 1.0
            number = value * scale + (added_ns if place == USER else 0)
            yield number / NS_PER_S if kind.is_time else number


def _node(nodes: dict[tuple[int, int], int], groups: Iterable[int], is_folded: bool) -> int:
    """The node of a stack, which is made if there is none."""
    node = 0
    on_path: dict[int, int] = {}
    for group in groups:
        node = on_path[group] = on_path[group] if is_folded and group in on_path else nodes.setdefault((node, group), len(nodes))
    return node


def _phase(sample: PlainSample, spans: Spans) -> int | None:
    """The phase that a sample is in; None if it is in no span."""
    for start_ns, end_ns, phase in spans[sample.thread]:
        if start_ns <= sample.time_ns < end_ns or start_ns <= sample.time_ns and end_ns == EVER:
            return phase
    return None


def _add(into: list, figures: Sequence) -> None:  # type: ignore[type-arg]
    for column, value in enumerate(figures):
        into[column] += value


def _summed_up(parents: Sequence[int], columns: Columns) -> Columns:
    """The same with those of all nodes below; callees stand behind their callers."""
    summed = tuple(list(column) for column in columns)
    for node in range(len(parents) - 1, 0, -1):
        for column in summed:
            column[parents[node]] += column[node]
    return summed

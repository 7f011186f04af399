"""sample_table -- the samples of a profile as exports write them: whole nanoseconds, thread by thread, the stacks as a tree

A node of the tree is a group of frames with its callers; node 0 is the root, and stands for no frame.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from operator import add, sub
from typing import Final, Generic, Protocol, TypeVar

from collector.profile.metrics import CPU_METRICS, CPU_NAMES, SAMPLES, SYSTEM, USER, Metric, is_hidden
from collector.profile.model import Profile
from collector.profile.samples import Grouping, SampleRows
from collector.units import NS_PER_S

UNFINISHED: Final = "(unfinished stacks)"
_MOST_CACHED: Final = 1 << 25


class _Sized(Protocol):
    def __len__(self) -> int: ...


Text = TypeVar("Text", bound=_Sized)


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A metric of each sample: times in nanoseconds, or numbers."""

    metric: Metric
    values: Sequence[int]

    @property
    def is_time(self) -> bool:
        """Whether it is one of the times."""
        return self.metric.unit == "s"


@dataclass(frozen=True, slots=True)
class SampleTable:
    """The samples of each thread one behind the other, in the order of time. A parent stands before its children.

    Of two samples one after the other the rounded times add up: the sum of any number of samples of a row is right to a nanosecond.
    """

    parents: Sequence[int]
    groups: Sequence[int]
    threads: Sequence[int]
    times_ns: Sequence[int]
    nodes: Sequence[int]
    is_finished: Sequence[int]
    user_ns: Sequence[int]
    system_ns: Sequence[int]
    cpu_ns: Sequence[int]
    counts: Sequence[int]
    """What each counts as in `samples`: 1, or 0 where it counts in another metric."""
    others: Sequence[MetricColumn]
    """What the profile has beside CPU time, in its order."""
    shown: MetricColumn
    """The first metric of the profile."""

    @property
    def measured(self) -> list[MetricColumn]:
        """CPU time and all others, the first metric of the profile first."""
        cpu = MetricColumn(CPU_METRICS[0], self.cpu_ns)
        return [self.shown, *(column for column in (cpu, *self.others) if column.metric.name != self.shown.metric.name)]

    def iter_threads(self) -> Iterator[tuple[int, range]]:
        """Each thread with samples, and the positions of these."""
        begin = 0
        for end in range(1, len(self.threads) + 1):
            if end == len(self.threads) or self.threads[end] != self.threads[begin]:
                yield self.threads[begin], range(begin, end)
                begin = end

    def sums(self, values: Sequence[int], positions: Iterable[int] | None = None) -> dict[int, int]:
        """The sum of a column by node, of all samples or of some."""
        sums: dict[int, int] = {}
        chosen = zip(self.nodes, values) if positions is None else ((self.nodes[place], values[place]) for place in positions)
        for node, value in chosen:
            sums[node] = sums.get(node, 0) + value
        return sums

    def path(self, node: int) -> list[int]:
        """The groups of a stack, the leaf first."""
        parents, groups, path = self.parents, self.groups, []
        while node:
            path.append(groups[node])
            node = parents[node]
        return path


class Stacks(Generic[Text]):
    """What is written for each stack, made once as long as there is room to keep it."""

    def __init__(self, table: SampleTable, write: Callable[[list[int]], Text]) -> None:
        self._table = table
        self._write = write
        self._known: dict[int, Text] = {}
        self._size = 0

    def of(self, node: int) -> Text:
        """What `write` makes of the stack, whose groups it gets with the leaf first."""
        text = self._known.get(node)
        if text is None:
            if self._size > _MOST_CACHED:
                self._known.clear()
                self._size = 0
            text = self._known[node] = self._write(self._table.path(node))
            self._size += len(text)
        return text


def sample_table(profile: Profile, grouping: Grouping, has_root: bool = False, is_folded: bool = False, is_of_cpu: bool = False) -> SampleTable:
    """The samples of a profile; with `is_folded` recursion is folded, as in `CallSums`.

    With `has_root` stacks whose outer callers are not known hang under a node of the group `grouping.count`. `is_of_cpu`: without samples that stand for
    something else than CPU time, as those of events.
    """
    rows = profile.samples.rows(grouping, is_folded)
    columns: list[Sequence[int]] = [rows.threads, rows.times_ns, rows.nodes, rows.is_finished]
    columns += [whole_ns(rows.values[USER]), whole_ns(rows.values[SYSTEM]), _whole(rows.values[SAMPLES])]
    metrics = {metric.name: metric for metric in profile.metrics}
    others = [metric for name, metric in metrics.items() if name not in CPU_NAMES and not is_hidden(name)]
    columns += [_column(metric, rows) for metric in others]
    if any(before > after for before, after in pairwise(zip(rows.threads, rows.times_ns))):
        positions = sorted(range(len(rows.threads)), key=list(zip(rows.threads, rows.times_ns)).__getitem__)
        columns = [[column[place] for place in positions] for column in columns]
    if is_of_cpu and others:
        kept = [place for place, figures in enumerate(zip(*columns[4:7])) if any(figures)]
        columns = [[column[place] for place in kept] for column in columns]
    threads, times_ns, nodes, is_finished, user_ns, system_ns, counts, *values = columns
    cpu_ns = array("q", map(add, user_ns, system_ns))
    parents, groups = rows.parents, rows.groups
    if has_root and not all(is_finished):
        parents, groups, nodes = _rooted(parents, groups, nodes, is_finished, grouping.count)
    named = list(map(MetricColumn, others, values))
    by_name = dict(zip(CPU_NAMES, (cpu_ns, user_ns, system_ns, counts))) | {column.metric.name: column.values for column in named}
    shown = MetricColumn(profile.metrics[0], by_name[profile.metrics[0].name])
    return SampleTable(parents, groups, threads, times_ns, nodes, is_finished, user_ns, system_ns, cpu_ns, counts, named, shown)


def _column(metric: Metric, rows: SampleRows) -> Sequence[int]:
    first, *more = (rows.values[part] for part in metric.parts)
    values = list(map(sum, zip(first, *more))) if more else first
    return whole_ns(values) if metric.unit == "s" else _whole(values)


def _whole(values: Iterable[float]) -> Sequence[int]:
    return array("q", map(round, values))


def whole_ns(values: Sequence[float]) -> Sequence[int]:
    """Seconds as nanoseconds, of which the first any number add up to what the seconds do, to half a nanosecond."""
    sums = array("q", (round(total * NS_PER_S) for total in accumulate(values)))
    return array("q", map(sub, sums, chain((0,), sums)))


def shared_out(values: Iterable[int], unit: int) -> Iterator[int]:
    """The same in a larger unit, so that the first any number add up to what the values do, to half of it."""
    total = given = 0
    for value in values:
        total += value
        whole = (total + unit // 2) // unit - given
        given += whole
        yield whole


def _rooted(
    parents: Sequence[int], groups: Sequence[int], nodes: Sequence[int], is_finished: Sequence[int], group: int
) -> tuple[array[int], array[int], array[int]]:
    """The tree and the nodes with unfinished stacks under a node of a group of their own."""
    grown_parents, grown_groups, moved = array("I", parents), array("I", groups), array("I", nodes)
    copies = {0: len(parents)}
    grown_parents.append(0)
    grown_groups.append(group)
    for place, finished in enumerate(is_finished):
        if finished:
            continue
        node, missing = nodes[place], []
        while node not in copies:
            missing.append(node)
            node = parents[node]
        for original in reversed(missing):
            grown_parents.append(copies[parents[original]])
            grown_groups.append(groups[original])
            copies[original] = len(grown_groups) - 1
        moved[place] = copies[nodes[place]]
    return grown_parents, grown_groups, moved

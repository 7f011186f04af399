"""regions -- the parallel regions of OpenMP programs: their time, how evenly threads share it, and how long they wait

A region is the source line whose call opens it, or the call itself where no line is known. What a region inside another one takes is
time of both; waiting and the runtime's own time belong to the innermost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from collector.profile.categories import OPENMP, OPENMP_WAIT, Categories
from collector.profile.filters import spans_of
from collector.profile.groupings import by_frame, numbered
from collector.profile.metrics import Values, add_values, reported_rows
from collector.profile.model import REGION, Function, Module, Profile
from collector.profile.samples import EVER, CategoryFilter, Grouping, Samples, StackFilter


@dataclass(frozen=True, slots=True)
class RegionRow:
    """A region: the function that opens it and where, its time, and the parts of it that are waiting and the runtime's.

    `imbalance` is by how much the thread with most work exceeds the mean, max / mean - 1, of the `thread_count` threads that worked or waited in it at a time.
    """

    function: Function
    module: Module
    file: str | None
    line: int | None
    thread_count: int
    inclusive: Values
    wait: Values
    overhead: Values
    imbalance: float


@dataclass(slots=True)
class _Region:
    """What is added up of a region, thread by thread; `inner` are regions that it has opened on its stacks."""

    frames: set[int] = field(default_factory=set)
    inner: set[int] = field(default_factory=set)
    inclusive: list[Values] = field(default_factory=list)
    wait: list[Values] = field(default_factory=list)
    overhead: list[Values] = field(default_factory=list)
    work: dict[int, float] = field(default_factory=dict)


def regions(profile: Profile, categories: Categories) -> list[RegionRow]:
    """All regions, the one with most time first."""
    region_of = _regions_of(profile)
    if not region_of:
        return []
    found = [_Region() for _ in set(region_of.values())]
    for frame, number in region_of.items():
        found[number].frames.add(frame)
    _note_inner(profile, region_of, found)
    roles = categories.roles(profile)
    marks = [categories.number_of(name) for name in (OPENMP_WAIT, OPENMP)]
    only = [StackFilter(category=CategoryFilter(roles, mark)) for mark in marks]
    rest = len(found)
    grouping = Grouping("", rest + 1, lambda: [region_of.get(frame, rest) for frame in range(len(profile.frames))])
    inside = StackFilter((frozenset(region_of),))
    for thread in sorted(set(profile.samples.select(None, inside).cells().threads)):
        _add_thread(profile, thread, profile.samples.select(spans_of(profile, {thread}), inside), found, grouping, only)
    rows = [_row(profile, region) for region in found if region.inclusive]
    return sorted(rows, key=lambda row: (-row.inclusive[0], row.function.name, row.line or 0))


def _regions_of(profile: Profile) -> dict[int, int]:
    """The number of its region by each frame that stands for one."""
    frames = {index: (frame.function, frame.file, frame.line or -frame.address) for index, frame in enumerate(profile.frames) if frame.kind == REGION}
    return dict(zip(frames, numbered(frames.values())[0]))


def _note_inner(profile: Profile, region_of: Mapping[int, int], found: Sequence[_Region]) -> None:
    """Which regions are opened inside which others."""
    tree = profile.samples.call_sums(by_frame(profile))
    around = [frozenset[int]()] * len(tree.parents)  # the regions on the path to each node
    for node in range(1, len(tree.parents)):
        around[node] = around[tree.parents[node]]
        number = region_of.get(tree.groups[node])
        if number is not None:
            for other in around[node] - {number}:
                found[other].inner.add(number)
            around[node] |= {number}


def _add_thread(profile: Profile, thread: int, part: Samples, found: Sequence[_Region], grouping: Grouping, only: Sequence[StackFilter]) -> None:
    """Add one thread to the regions that it was in. One that was in a region only by way of those inside it belongs to their teams alone."""
    whole = _inclusive(profile, part, grouping)
    parts = [_inclusive(profile, part.select(None, stacks), grouping) for stacks in only]
    for number, region in enumerate(found):
        if not any(whole[number]):
            continue
        own, wait, overhead = whole[number], parts[0][number], parts[1][number]
        if region.inner:
            outside = StackFilter(nowhere=frozenset[int]().union(*(found[inner].frames for inner in region.inner)))
            alone = part.select(None, outside)
            own = _inclusive(profile, alone, grouping)[number]
            wait, overhead = (_inclusive(profile, alone.select(None, stacks), grouping)[number] for stacks in only)
        region.inclusive.append(whole[number])
        region.wait.append(wait)
        region.overhead.append(overhead)
        if any(own):
            region.work[thread] = whole[number][0] - wait[0]


def _inclusive(profile: Profile, samples: Samples, grouping: Grouping) -> list[Values]:
    return reported_rows(profile.metrics, samples.sum_groups(grouping).inclusive)


def _row(profile: Profile, region: _Region) -> RegionRow:
    frame = profile.frames[min(region.frames)]
    function = profile.functions[frame.function]
    work = _by_place(profile, region.work)
    imbalance = max(work) * len(work) / sum(work) - 1 if sum(work) > 0 else 0.0
    module, count = profile.modules[function.module], len(work)
    return RegionRow(function, module, frame.file, frame.line, count, _sum(region.inclusive), _sum(region.wait), _sum(region.overhead), imbalance)


def _by_place(profile: Profile, work: Mapping[int, float]) -> list[float]:
    """The work of each place in the team: a runtime may fill it with a new thread each time, which begins when the one before it has ended."""
    ends: list[int] = []
    sums: list[float] = []
    for thread in sorted(work, key=lambda number: profile.threads[number].start_ns):
        start_ns, end_ns = profile.threads[thread].start_ns, profile.threads[thread].end_ns or EVER
        place = next((place for place, end in enumerate(ends) if end <= start_ns), len(ends))
        if place == len(ends):
            ends.append(end_ns)
            sums.append(0.0)
        ends[place] = end_ns
        sums[place] += work[thread]
    return sums


def _sum(rows: Iterable[Values]) -> Values:
    first, *others = rows
    for row in others:
        first = add_values(first, row)
    return first

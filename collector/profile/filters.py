"""filters -- a part of a profile, as a profile: some processes, some threads, some span of time."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import accumulate, islice

from collector.profile.metric_series import MetricSeries
from collector.profile.model import Profile, SampleBlock
from collector.profile.samples import sum_blocks


def select(
    profile: Profile,
    *,
    pids: Collection[int] | None = None,
    tids: Collection[int] | None = None,
    start_ns: int | None = None,
    end_ns: int | None = None,
) -> Profile:
    """The samples of these processes and threads from `start_ns` up to, not including, `end_ns`.

    None is no restriction. Tables keep their positions; only samples, sample points and readings of metrics become fewer.
    """
    threads = _chosen_threads(profile, pids, tids)
    kept = (block for block in profile.blocks if block.thread in threads)
    blocks = tuple(part for block in kept for part in _cut_block(block, start_ns, end_ns))
    points = tuple(
        point
        for point in profile.points
        if (pids is None or point.pid in pids)
        and (start_ns is None or point.time_ns >= start_ns)
        and (end_ns is None or point.time_ns < end_ns)
    )
    series = tuple(
        part
        for one in profile.series
        if pids is None or profile.processes[one.process].pid in pids
        for part in _cut_series(one, start_ns, end_ns)
    )
    cells = sum_blocks(blocks, profile.threads)
    return replace(profile, blocks=blocks, cells=cells, points=points, series=series)


def _cut_series(series: MetricSeries, start_ns: int | None, end_ns: int | None) -> Iterator[MetricSeries]:
    first = 0 if start_ns is None else bisect_left(series.times_ns, start_ns)
    last = len(series.times_ns) if end_ns is None else bisect_left(series.times_ns, end_ns)
    if first < last:
        part = slice(first, last)
        times, intervals, readings = series.times_ns[part], series.intervals_ns[part], series.readings[part]
        yield replace(series, times_ns=times, intervals_ns=intervals, readings=readings)


def _chosen_threads(profile: Profile, pids: Collection[int] | None, tids: Collection[int] | None) -> set[int]:
    return {
        index
        for index, thread in enumerate(profile.threads)
        if (tids is None or thread.tid in tids) and (pids is None or profile.processes[thread.process].pid in pids)
    }


def _cut_block(block: SampleBlock, start_ns: int | None, end_ns: int | None) -> Iterator[SampleBlock]:
    if start_ns is None and end_ns is None:
        yield block
        return
    times = [block.time_ns + block.unit_ns * passed for passed in accumulate(block.gaps)]
    first = 0 if start_ns is None else bisect_left(times, start_ns)
    last = len(times) if end_ns is None else bisect_left(times, end_ns)
    if last - first == len(times):
        yield block
    elif first < last:
        yield replace(
            block,
            time_ns=times[first],
            gaps=array("Q", [0, *islice(block.gaps, first + 1, last)]),
            stacks=array("Q", islice(block.stacks, first, last)),
            values=tuple(array("Q", islice(column, first, last)) for column in block.values),
        )

"""filters -- a part of a profile, as a profile: some processes, some threads, some span of time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import replace

from collector.profile.metric_series import MetricSeries
from collector.profile.model import Profile


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
    threads = None if pids is None and tids is None else _chosen_threads(profile, pids, tids)
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
        if pids is None or (one.process is not None and profile.processes[one.process].pid in pids)
        for part in _cut_series(one, start_ns, end_ns)
    )
    return replace(profile, samples=profile.samples.select(threads, start_ns, end_ns), points=points, series=series)


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


"""filters -- a part of a profile, as a profile: some processes, some threads, some span of time."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from dataclasses import replace

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

    None is no restriction. Tables keep their positions; only samples and sample points become fewer.
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
    return replace(profile, blocks=blocks, cells=sum_blocks(blocks, profile.threads), points=points)


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
    keep = [
        (start_ns is None or time_ns >= start_ns) and (end_ns is None or time_ns < end_ns)
        for time_ns in (block.time_ns + block.unit_ns * time for time in block.times)
    ]
    if all(keep):
        yield block
    elif any(keep):
        yield replace(
            block,
            times=_compressed(block.times, keep),
            stacks=_compressed(block.stacks, keep),
            values=tuple(_compressed(column, keep) for column in block.values),
        )


def _compressed(column: Collection[int], keep: list[bool]) -> array[int]:
    return array("Q", (value for value, is_kept in zip(column, keep) if is_kept))

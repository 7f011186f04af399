"""test_filters -- parts of a profile"""

from __future__ import annotations

from array import array
from dataclasses import replace

from tiny_profile import PROCESS, S, START_NS, THREAD, build_profile

from collector.profile.aggregate import total_values
from collector.profile.filters import select
from collector.profile.model import SamplePoint

PROCESSES = (PROCESS, replace(PROCESS, pid=200))
THREADS = (THREAD, replace(THREAD, tid=101), replace(THREAD, process=1, tid=200))
PROFILE = build_profile(
    [("main", 1, 0), ("main", 2, 0, {"thread": 1}), ("main", 4, 0, {"thread": 2}), ("main", 8, 0)],
    processes=PROCESSES,
    threads=THREADS,
    points=(SamplePoint(0, 0, 100, START_NS, "a", "api"), SamplePoint(1, 0, 200, START_NS + 2 * S, "b", "api")),
)


def seconds(**what) -> float:
    return total_values(select(PROFILE, **what))[0]


def test_nothing_chosen_is_everything() -> None:
    assert seconds() == 15.0


def test_threads_and_processes_are_chosen_by_their_ids() -> None:
    assert seconds(pids=[100]) == 11.0
    assert seconds(pids=[200]) == 4.0
    assert seconds(tids=[101]) == 2.0
    assert seconds(tids=[100, 200]) == 13.0
    assert seconds(pids=[200], tids=[101]) == 0.0


def test_a_span_of_time_includes_its_start_and_not_its_end() -> None:
    assert seconds(start_ns=START_NS + S, end_ns=START_NS + 3 * S) == 6.0
    assert seconds(start_ns=START_NS + 3 * S) == 8.0
    assert seconds(end_ns=START_NS) == 0.0


def test_a_block_is_cut_inside() -> None:
    block = replace(
        PROFILE.blocks[0],
        unit_ns=1_000_000,
        gaps=array("I", [0, 1000, 500, 500]),
        stacks=array("I", [0, 0, 0, 0]),
        values=(array("I", [1000, 2000, 4000, 8000]), array("I", [0, 0, 0, 0])),
    )
    profile = replace(PROFILE, blocks=(block,))
    cut = select(profile, start_ns=START_NS + S, end_ns=START_NS + 2 * S)
    assert total_values(cut)[0] == 6.0
    assert cut.blocks[0].time_ns == START_NS + S
    assert total_values(select(cut, start_ns=START_NS + 3 * S // 2))[0] == 4.0
    assert len(select(profile, start_ns=START_NS).blocks[0].stacks) == 4


def test_sample_points_are_chosen_with_the_samples() -> None:
    assert [point.label for point in select(PROFILE, pids=[200]).points] == ["b"]
    assert [point.label for point in select(PROFILE, end_ns=START_NS + S).points] == ["a"]

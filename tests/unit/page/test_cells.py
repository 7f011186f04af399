"""test_cells -- the tree and the sums that the page is made of, held against the samples themselves"""

from __future__ import annotations

import random

import pytest
from tiny_profile import PROCESS, RECORDING, S, START_NS, THREAD, build_profile, random_profile
from waiting_profile import waiting_profile

from collector.page.cells import SMALL, UNFINISHED, CellTable, cells_of
from collector.profile.aggregate import functions, lines, total_values
from collector.profile.call_tree import call_tree
from collector.profile.callers_callees import callers_callees
from collector.profile.kept_samples import KeptSamples, NotKeptError
from collector.profile.model import Frame, Profile
from collector.profile.plain_samples import PlainSample, PlainSamples, PlainStack
from collector.profile.samples import Scales

SEEDS = range(40)


def test_cells_have_the_metrics_that_sources_declare() -> None:
    profile = waiting_profile()
    cells = cells_of(profile)
    assert list(cells.others) == ["blocked", "runnable", "looks"]
    assert [sum(column) for column in cells.others.values()] == [18_000_000, 2_000_000, 3]
    assert sum(cells.cpu_us) == 4_000_000 and sum(cells.counts) == 2
    assert cells_of(build_profile([("main", 1, 0)])).others == {}


def path_of(cells: CellTable, node: int) -> list[int]:
    """Its groups, the caller first."""
    path = []
    while node:
        path.append(cells.groups[node])
        node = cells.parents[node]
    return path[::-1]


def as_profile(profile: Profile, cells: CellTable) -> Profile:
    """The same profile, with samples made of the cells."""
    stacks = []
    for node in range(len(cells.parents)):
        path = path_of(cells, node)
        is_unfinished = path[:1] == [UNFINISHED]
        stacks.append(PlainStack(tuple(path[is_unfinished:]), "bad_frame" if is_unfinished else "complete"))
    samples = [
        PlainSample(thread, START_NS + step * cells.step_ns, node, ((cpu - system) * 1000, system * 1000))
        for thread, step, node, cpu, system in zip(cells.threads, cells.steps, cells.nodes, cells.cpu_us, cells.system_us)
    ]
    frames = tuple(Frame(*line) for line in cells.lines)
    return profile._replace(frames=frames, samples=PlainSamples(stacks, samples, [Scales()] * len(profile.threads)))


def times(*values: tuple[float, ...]) -> list[list[float]]:
    """CPU, user and system time; numbers of samples are another thing, as a cell may be several."""
    return [[round(value, 6) for value in one[:3]] for one in values]


def neighbours_of(profile: Profile) -> dict[str, tuple]:
    """Of each function on a stack."""
    found = {}
    for row in functions(profile):
        both = callers_callees(profile, profile.functions.index(row.function))
        found[row.function.name] = tuple(
            {(one.function.name if one.function else ""): times(one.values) for one in rows} for rows in (both.callers, both.callees)
        )
    return found


def tree_of(profile: Profile) -> dict[tuple, list]:
    """Of each path of folded calls, its times."""
    paths: list[tuple] = []
    found = {}
    for node in call_tree(profile):
        paths.append((*(paths[node.parent] if node.parent is not None else ()), node.title))
        found[paths[-1]] = times(node.exclusive, node.inclusive)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost(seed: int) -> None:
    """Whatever recursion is cut short: functions, lines, callers, callees and the folded tree stay what they are."""
    profile = random_profile(random.Random(seed))
    cells = cells_of(profile)
    again = as_profile(profile, cells)
    for rows in (functions, lines):
        own, expected = ({(row.function.name, getattr(row, "line", 0)): times(row.exclusive, row.inclusive) for row in rows(one)} for one in (again, profile))
        assert own == expected
    assert neighbours_of(again) == neighbours_of(profile)
    assert tree_of(again) == tree_of(profile)
    assert sum(cells.counts) == len(profile.samples.samples)


def test_deep_recursion_is_short() -> None:
    cells = cells_of(build_profile([("main;" + "even:1;odd:2;" * depth + "leaf", 1, 0) for depth in range(1, 300)]))
    assert len(cells.parents) < 20 and len(set(cells.nodes)) <= 3


def test_lines_are_apart_and_unfinished_stacks_too() -> None:
    cells = cells_of(build_profile([("main:1;work:5", 1, 0), ("main:1;work:6", 2, 0), ("work:5", 4, 0, {"end": "bad_frame"})]))
    paths = {tuple(path_of(cells, node)): cpu for node, cpu in zip(cells.nodes, cells.cpu_us)}
    assert paths == {(0, 1): 1_000_000, (0, 2): 2_000_000, (UNFINISHED, 1): 4_000_000}


def test_steps_are_as_short_as_cells_allow() -> None:
    profile = build_profile([("main", 0.001, 0, {"at": i / 100}) for i in range(1000)])
    fine = cells_of(profile)
    assert fine.step_ns == 100_000 and len(fine.steps) == 1000
    coarse = cells_of(profile, most_cells=100)
    assert len(coarse.steps) <= 100 < 4 * len(coarse.steps) * 2 and coarse.step_ns > fine.step_ns
    for cells in (fine, coarse):
        assert sum(cells.cpu_us) == 1_000_000 and sum(cells.counts) == 1000
        assert max(cells.steps) < cells.step_count
        assert cells.steps == sorted(cells.steps)


def test_more_paths_than_cells_end() -> None:
    """As of a thousand threads, each with paths of its own: paths are given up rather than all of time."""
    threads = [THREAD._replace(tid=100 + i) for i in range(50)]
    profile = build_profile([(f"main;f{i % 20};g{i}", 0.5, 0, {"thread": i % 50}) for i in range(1000)], threads=threads)
    cells = cells_of(profile, most_cells=200)
    assert len(cells.nodes) <= 200 and sum(cells.cpu_us) == 500_000_000 and cells.small_s > 0
    by_thread = [sum(cpu for thread, cpu in zip(cells.threads, cells.cpu_us) if thread == i) for i in range(50)]
    assert by_thread == [10_000_000] * 50


@pytest.mark.parametrize("most", (2, 3, 10, 50, 200))
@pytest.mark.parametrize("is_alike", (True, False))
def test_small_branches(most: int, is_alike: bool) -> None:
    """No more nodes than asked for, even where all branches are of one size; no time is lost, and callers stand before their callees."""
    profile = build_profile([(f"main;f{i % 7};g{i % 31};h{i}", 1 if is_alike else 1 + i % 13, 0) for i in range(300)])
    cells = cells_of(profile, most_nodes=most)
    assert len(cells.parents) <= most
    assert all(parent < node for node, parent in enumerate(cells.parents) if node)
    assert sum(cells.cpu_us) == round(total_values(profile)[0] * 1e6)
    moved = sum(cpu for node, cpu in zip(cells.nodes, cells.cpu_us) if cells.groups[node] == SMALL)
    assert moved and cells.small_s == pytest.approx(moved / 1e6)
    assert SMALL not in {group for node in cells.nodes for group in path_of(cells, cells.parents[node])}, "nothing stands below small branches"


def test_what_is_large_is_kept() -> None:
    profile = build_profile([("main;large", 1000, 0), *((f"main;small{i}", 1, 0) for i in range(100))])
    cells = cells_of(profile, most_nodes=8)
    times = {group: cpu / 1e6 for group, cpu in zip((cells.groups[node] for node in cells.nodes), cells.cpu_us) if group != SMALL}
    assert times[1] == 1000 and cells.small_s == 1100 - sum(times.values())


def test_rounding_does_not_drift() -> None:
    """A third of a microsecond each, a thousand times."""
    profile = build_profile([("main", 1, 1, {"at": i / 1000}) for i in range(999)], threads=[THREAD._replace(scale=1 / 3e6)])
    cells = cells_of(profile)
    assert abs(sum(cells.cpu_us) - 666) <= 1 and abs(sum(cells.system_us) - 333) <= 1
    for column in (cells.cpu_us, cells.system_us):
        assert all(abs(sum(column[:end]) - end * sum(column) / 999) <= 1 for end in range(999))


def test_several_recordings() -> None:
    """Each counts time from its own start."""
    later = RECORDING._replace(name="other", start_ns=START_NS + 100 * S, end_ns=START_NS + 110 * S)
    profile = build_profile(
        [("main", 1, 0, {"at": 2}), ("main", 2, 0, {"at": 102, "thread": 1})],
        recordings=(RECORDING, later), processes=(PROCESS, PROCESS._replace(experiment=1, pid=7)), threads=(THREAD, THREAD._replace(process=1, tid=7)),
    )  # fmt: skip
    cells = cells_of(profile)
    assert cells.steps[0] == cells.steps[1] == 2 * S // cells.step_ns and cells.threads == [0, 1] and cells.cpu_us == [1_000_000, 2_000_000]


def test_no_samples() -> None:
    cells = cells_of(build_profile([]))
    assert cells.cpu_us == [] and cells.parents == [0] and cells.small_s == 0


def test_a_profile_without_its_samples() -> None:
    profile = build_profile([("main", 1, 0)])
    with pytest.raises(NotKeptError):
        cells_of(profile._replace(samples=KeptSamples({})))

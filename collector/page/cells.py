"""cells -- the samples of a profile as the page has them: a tree of calls, and sums by thread, step of time and node

The tree has a node for each source line on a path, so that lines follow a selection as functions do; recursion is folded. Steps are as
short as the period, or as the limit on cells allows; branches that are too small for the limit on nodes are added up under their caller.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from collector.profile.groupings import numbered
from collector.profile.metrics import SYSTEM, USER
from collector.profile.model import Profile
from collector.profile.samples import Grouping, SampleRows

MOST_CELLS: Final = 300_000
MOST_NODES: Final = 200_000
_SHORTEST_STEP_NS: Final = 100_000

Line = tuple[int, str | None, int | None, str]
"""Function, source file, line, and kind of frame."""

UNFINISHED: Final = -1
SMALL: Final = -2
"""Stand for groups: stacks whose outer callers are not known, and branches that were too small to keep apart."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """Nodes by parent (node 0 is the root, its own parent) and group; cells in the order of thread, step and node, times in microseconds.

    A group is a position in `lines`, `UNFINISHED` or `SMALL`. Steps of `step_ns` count from the start of the thread's experiment. `small_s` is
    the time of branches that were added up.
    """

    lines: list[Line]
    parents: list[int]
    groups: list[int]
    step_ns: int
    step_count: int
    threads: list[int]
    steps: list[int]
    nodes: list[int]
    cpu_us: list[int]
    system_us: list[int]
    counts: list[int]
    small_s: float


def cells_of(profile: Profile, most_cells: int = MOST_CELLS, most_nodes: int = MOST_NODES) -> CellTable:
    """The samples of the profile. NotKeptError if it has none."""
    groups, lines = numbered((frame.function, frame.file, frame.line, frame.kind) for frame in profile.frames)
    rows = profile.samples.rows(Grouping("", len(lines), lambda: groups))
    nodes, tree_parents, tree_groups = _with_unfinished(rows)
    kept, small_s = _without_small(rows, nodes, tree_parents, tree_groups, most_nodes)
    starts = [profile.recordings[profile.processes[thread.process].experiment].start_ns for thread in profile.threads]
    times = [max(0, time - starts[thread]) for thread, time in zip(rows.threads, rows.times_ns)]
    longest_ns = max([1, *(recording.end_ns - recording.start_ns for recording in profile.recordings)])
    step_ns = max(_SHORTEST_STEP_NS, -(-longest_ns // (1 << 31)))
    while True:
        sums = _sums(rows, [min(time, longest_ns) // step_ns for time in times], kept)
        if len(sums) <= most_cells:
            break
        step_ns *= 4 if len(sums) > 4 * most_cells else 2
    keys = sorted(sums)
    cpu_us, system_us = _in_microseconds(keys, sums)
    return CellTable(
        lines, tree_parents, tree_groups, step_ns, longest_ns // step_ns + 1,
        [thread for thread, _, _ in keys], [step for _, step, _ in keys], [node for _, _, node in keys],
        cpu_us, system_us, [int(sums[key][2]) for key in keys], small_s,
    )  # fmt: skip


Sums = dict[tuple[int, int, int], list[float]]
"""Seconds of user and system time and a number of samples, by thread, step and node."""


def _sums(rows: SampleRows, steps: Sequence[int], nodes: Sequence[int]) -> Sums:
    sums: Sums = {}
    for key, user, system in zip(zip(rows.threads, steps, nodes), rows.values[USER], rows.values[SYSTEM]):
        into = sums.get(key)
        if into is None:
            sums[key] = [user, system, 1]
        else:
            into[0] += user
            into[1] += system
            into[2] += 1
    return sums


def _with_unfinished(rows: SampleRows) -> tuple[list[int], list[int], list[int]]:
    """The node of each sample, and the tree, with unfinished stacks in a branch of their own."""
    parents, groups = [0, *rows.parents[1:]], [UNFINISHED, *rows.groups[1:]]
    if all(rows.is_finished):
        return list(rows.nodes), parents, groups
    mirrored = {0: len(parents)}
    parents.append(0)
    groups.append(UNFINISHED)

    def mirror(node: int) -> int:
        path = []
        while node not in mirrored:
            path.append(node)
            node = rows.parents[node]
        for step in reversed(path):
            parents.append(mirrored[rows.parents[step]])
            groups.append(rows.groups[step])
            mirrored[step] = len(parents) - 1
        return mirrored[path[0] if path else node]

    return [node if finished else mirror(node) for node, finished in zip(rows.nodes, rows.is_finished)], parents, groups


def _without_small(rows: SampleRows, nodes: list[int], parents: list[int], groups: list[int], most: int) -> tuple[list[int], float]:
    """The node of each sample in a tree of no more than `most` nodes, to which `parents` and `groups` are cut, and the time that was moved."""
    if len(parents) <= most:
        return nodes, 0.0
    own = array("d", bytes(8 * len(parents)))
    for node, user, system in zip(nodes, rows.values[USER], rows.values[SYSTEM]):
        own[node] += user + system
    inclusive = array("d", own)
    for node in range(len(parents) - 1, 0, -1):
        inclusive[parents[node]] += inclusive[node]
    ranked = sorted(inclusive)
    least = ranked[max(0, len(ranked) - most // 2)]  # as many again may be needed for what is added up
    number_of: list[int] = [0] * len(parents)
    small_of: dict[int, int] = {}
    kept_parents, kept_groups, is_small = [0], [groups[0]], [False]
    for node in range(1, len(parents)):
        parent = number_of[parents[node]]
        if is_small[parent]:
            number_of[node] = parent
            continue
        if inclusive[node] < least and parent in small_of:
            number_of[node] = small_of[parent]
            continue
        number_of[node] = len(kept_parents)
        kept_parents.append(parent)
        is_small.append(inclusive[node] < least)
        kept_groups.append(SMALL if is_small[-1] else groups[node])
        if is_small[-1]:
            small_of[parent] = number_of[node]
    parents[:], groups[:] = kept_parents, kept_groups
    return [number_of[node] for node in nodes], sum(time for node, time in enumerate(own) if is_small[number_of[node]])


def _in_microseconds(keys: Sequence[tuple[int, int, int]], sums: Sums) -> tuple[list[int], list[int]]:
    """CPU and system time of each cell; what rounding takes from one it gives to the next, so that sums stay what they are."""
    cpu_us: list[int] = []
    system_us: list[int] = []
    cpu_rest = system_rest = 0.0
    for key in keys:
        user, system, _ = sums[key]
        cpu, part = (user + system) * 1e6 + cpu_rest, system * 1e6 + system_rest
        cpu_us.append(max(0, round(cpu)))
        system_us.append(max(0, round(part)))
        cpu_rest, system_rest = cpu - cpu_us[-1], part - system_us[-1]
    return cpu_us, system_us

"""cells -- the samples of a profile as the page has them: a tree of calls, and sums by thread, step of time and node

The tree has a node for each source line on a path, so that lines follow a selection as functions do. Steps are as short as the limit on cells
allows; branches that are too small for the limits are added up under their caller.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from collector.profile.groupings import numbered
from collector.profile.metrics import SAMPLES, SYSTEM, USER, Metric, is_hidden
from collector.profile.model import Profile
from collector.profile.samples import Grouping, SampleRows

MOST_CELLS: Final = 700_000
MOST_NODES: Final = 200_000
_SHORTEST_STEP_NS: Final = 100_000
_US_PER_S: Final = 1e6
_SACRIFICES: Final = ((1000, 20_000), (200, 2_000), (1, 2))
"""Small branches are given up for so many steps of time, unless no more than so many nodes are left."""

Line = tuple[int, str | None, int | None, str]
"""Function, source file, line, and kind of frame."""

UNFINISHED: Final = -1
SMALL: Final = -2
"""Stand for groups: stacks whose outer callers are not known, and branches that were too small to keep apart."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """Nodes by parent (node 0 is the root, its own parent) and group; cells in the order of thread, step and node, times in microseconds.

    A group is a position in `lines` and `places`, `UNFINISHED` or `SMALL`; a line has a group for each place on it.
    Steps of `step_ns` count from the start of the thread's experiment. `small_s` is the time of branches that were added up. `others` are the metrics of
    `others_of`, times in microseconds too.
    """

    lines: list[Line]
    places: list[int]
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
    others: dict[str, list[int]]


def cells_of(profile: Profile, most_cells: int = MOST_CELLS, most_nodes: int = MOST_NODES, places: Sequence[int] = ()) -> CellTable:
    """The samples of the profile, by line, and by `places` of its frames if there are any. NotKeptError if it has none."""
    groups, placed_lines = numbered((frame.function, frame.file, frame.line, frame.kind, place) for frame, place in zip(profile.frames, places or repeat(-1)))
    lines = [line[:4] for line in placed_lines]
    rows = profile.samples.rows(Grouping("", len(lines), lambda: groups), is_folded=False)
    nodes: Sequence[int]
    nodes, tree = _tree_of(rows, [line[0] for line in lines])
    starts = [profile.recordings[profile.processes[thread.process].experiment].start_ns for thread in profile.threads]
    longest_ns = max([1, *(recording.end_ns - recording.start_ns for recording in profile.recordings)])
    times = [min(longest_ns, max(0, time - starts[thread])) for thread, time in zip(rows.threads, rows.times_ns)]
    times_s = _times_of(profile, rows)
    nodes, small_s = _without_small(times_s, nodes, tree, most_nodes)
    for wanted_steps, fewest_nodes in _SACRIFICES:
        wanted_ns = max(_SHORTEST_STEP_NS, longest_ns // wanted_steps + 1)
        while len(tree.parents) > fewest_nodes and _count(rows, nodes, times, wanted_ns, longest_ns, len(tree.parents)) > most_cells:
            nodes, small_s = _without_small(times_s, nodes, tree, len(tree.parents) // 2)
    step_ns = _finest_step(rows, nodes, times, longest_ns, len(tree.parents), most_cells)
    step_count, node_count = longest_ns // step_ns + 1, len(tree.parents)
    keys = _keys(rows, nodes, times, step_ns, step_count, node_count)
    order = sorted(set(keys))
    user, system, samples, *others = _sums(keys, order, rows.values)
    rest = [key // node_count for key in order]
    return CellTable(
        lines, [line[4] for line in placed_lines], tree.parents, tree.groups, step_ns, step_count,
        [key // step_count for key in rest], [key % step_count for key in rest], [key % node_count for key in order],
        _rounded([sum(pair) for pair in zip(user, system)], _US_PER_S), _rounded(system, _US_PER_S), _rounded(samples), small_s,
        {metric.name: _rounded(others[metric.parts[0] - SAMPLES - 1], _US_PER_S if metric.unit == "s" else 1.0) for metric in others_of(profile)},
    )  # fmt: skip


def others_of(profile: Profile) -> list[Metric]:
    """The metrics that cells have beside CPU time: those that are stored, in the order of their columns."""
    stored = (metric for metric in profile.metrics if len(metric.parts) == 1 and metric.parts[0] > SAMPLES and not is_hidden(metric.name))
    return sorted(stored, key=lambda metric: metric.parts[0])


def _keys(rows: SampleRows, nodes: Sequence[int], times: Sequence[int], step_ns: int, step_count: int, node_count: int) -> list[int]:
    """The cell of each sample as one number, which rises by thread, step and node."""
    return [(thread * step_count + time // step_ns) * node_count + node for thread, time, node in zip(rows.threads, times, nodes)]


def _count(rows: SampleRows, nodes: Sequence[int], times: Sequence[int], step_ns: int, longest_ns: int, node_count: int) -> int:
    return len(set(_keys(rows, nodes, times, step_ns, longest_ns // step_ns + 1, node_count)))


def _finest_step(rows: SampleRows, nodes: Sequence[int], times: Sequence[int], longest_ns: int, node_count: int, most_cells: int) -> int:
    """The shortest of steps, each twice as long as the one before, with no more cells than that."""
    high = (longest_ns // _SHORTEST_STEP_NS).bit_length()
    low = max(0, high - 31)  # the page has numbers of 32 bits
    while low < high:
        middle = (low + high) // 2
        if _count(rows, nodes, times, _SHORTEST_STEP_NS << middle, longest_ns, node_count) <= most_cells:
            high = middle
        else:
            low = middle + 1
    return _SHORTEST_STEP_NS << low


def _sums(keys: Sequence[int], order: Sequence[int], columns: Sequence[Sequence[float]]) -> list[array[float]]:
    """The sum of each column by cell, in the order of their numbers."""
    place_of = {key: place for place, key in enumerate(order)}
    places = [place_of[key] for key in keys]
    sums = [array("d", bytes(8 * len(order))) for _ in columns]
    for into, column in zip(sums, columns):
        for place, value in zip(places, column):
            into[place] += value
    return sums


class _Tree:
    """Calls as they stand on stacks, by parent and group; recursion is cut short, but only so far that all sums stay what they are.

    A stack keeps the first and the last call of each function with what called it and what it called, and each line: so inclusive times, callers
    (of the outermost call), callees (of the innermost), and the tree with recursion folded can be told from what is left.
    """

    def __init__(self, functions: Sequence[int]) -> None:
        self.parents = [0]
        self.groups = [UNFINISHED]
        self._functions = functions
        self._children: dict[tuple[int, int], int] = {}
        self._next: dict[tuple[int, int], int] = {}

    def child(self, node: int, group: int) -> int:
        """The node below a node, which is made if there is none."""
        known = self._children.setdefault((node, group), len(self.parents))
        if known == len(self.parents):
            self.parents.append(node)
            self.groups.append(group)
        return known

    def called(self, node: int, group: int) -> int:
        """The node of a stack that goes on with one more call."""
        known = self._next.get((node, group))
        if known is None:
            path = self._path(node)
            function = self._functions[group]
            if any(other >= 0 and self._functions[other] == function for other in path):
                known = 0
                for step in self._cut([*path, group]):
                    known = self.child(known, step)
            else:
                known = self.child(node, group)
            self._next[node, group] = known
        return known

    def _path(self, node: int) -> list[int]:
        path = []
        while node:
            path.append(self.groups[node])
            node = self.parents[node]
        return path[::-1]

    def _cut(self, path: Sequence[int]) -> list[int]:
        functions = [group if group < 0 else self._functions[group] for group in path]
        first = {function: place for place, function in reversed(list(enumerate(functions)))}
        last = {function: place for place, function in enumerate(functions)}
        lines = {group: place for place, group in reversed(list(enumerate(path)))}
        kept = {*first.values(), *(place - 1 for place in first.values()), *last.values(), *(place + 1 for place in last.values()), *lines.values()}
        cut = [group for place, group in enumerate(path) if place in kept]
        return [group for before, group in zip([None, *cut], cut) if group != before]


def _tree_of(rows: SampleRows, functions: Sequence[int]) -> tuple[list[int], _Tree]:
    """The node of each sample, and the tree, with unfinished stacks in a branch of their own."""
    tree = _Tree(functions)
    finished, unfinished = {0: 0}, {0: 0 if all(rows.is_finished) else tree.child(0, UNFINISHED)}
    return [_follow(rows, node, finished if is_finished else unfinished, tree) for node, is_finished in zip(rows.nodes, rows.is_finished)], tree


def _follow(rows: SampleRows, node: int, known: dict[int, int], tree: _Tree) -> int:
    """The tree's node for a node of the rows; those on the way become known as well."""
    path = []
    while node not in known:
        path.append(node)
        node = rows.parents[node]
    found = known[node]
    for step in reversed(path):
        found = known[step] = tree.called(found, rows.groups[step])
    return found


def _times_of(profile: Profile, rows: SampleRows) -> list[float]:
    """Seconds of each sample, spent and waited."""
    waiting = [rows.values[metric.parts[0]] for metric in others_of(profile) if metric.unit == "s"]
    return [sum(values) for values in zip(rows.values[USER], rows.values[SYSTEM], *waiting)]


def _without_small(times_s: Sequence[float], nodes: Sequence[int], tree: _Tree, most: int) -> tuple[Sequence[int], float]:
    """The node of each sample in a tree of no more than `most` nodes, to which `tree` is cut, and the time that was moved."""
    parents = tree.parents
    if len(parents) <= most:
        return nodes, 0.0
    own = array("d", bytes(8 * len(parents)))
    for node, time in zip(nodes, times_s):
        own[node] += time
    inclusive = array("d", own)
    for node in range(len(parents) - 1, 0, -1):
        inclusive[parents[node]] += inclusive[node]
    # Half of all: as many again may be needed for what is added up. A caller is never shorter than what it calls, and stands before it.
    ranked = sorted(range(1, len(parents)), key=lambda node: -inclusive[node])
    is_long = bytearray(len(parents))
    for node in ranked[: max(0, most // 2 - 1)]:
        is_long[node] = tree.groups[node] != SMALL
    number_of = [0] * len(parents)
    small_of: dict[int, int] = {}
    kept_parents, kept_groups, is_small = [0], [tree.groups[0]], [False]
    for node in range(1, len(parents)):
        parent = number_of[parents[node]]
        known = parent if is_small[parent] else None if is_long[node] else small_of.get(parent)
        if known is None:
            known = len(kept_parents)
            kept_parents.append(parent)
            is_small.append(not is_long[node])
            kept_groups.append(tree.groups[node] if is_long[node] else SMALL)
            if not is_long[node]:
                small_of[parent] = known
        number_of[node] = known
    tree.parents, tree.groups = kept_parents, kept_groups
    return [number_of[node] for node in nodes], sum(time for node, time in enumerate(own) if is_small[number_of[node]])


def _rounded(values: Sequence[float], scale: float = 1.0) -> list[int]:
    """Whole numbers; what rounding takes from one it gives to the next, so that sums stay what they are."""
    numbers = []
    rest = 0.0
    for value in values:
        exact = value * scale + rest
        numbers.append(max(0, round(exact)))
        rest = exact - numbers[-1]
    return numbers

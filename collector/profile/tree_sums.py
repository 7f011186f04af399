"""tree_sums -- the two sums everything is made of: exclusive and inclusive, for groups of frames.

*Exclusive* is the time of samples whose leaf is in the group, *inclusive* of samples with the group anywhere
on their stack. A group that is on a stack several times, as in recursion, counts once for each sample.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from collector.profile.metrics import BASE_COUNT
from collector.profile.model import ROOT, CallPaths, Profile

Columns = tuple[list[float], ...]
"""One list for each base metric, in seconds."""


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Sums by group: `exclusive[base][group]` and `inclusive[base][group]` in seconds."""

    exclusive: Columns
    inclusive: Columns


def exclusive_by_node(profile: Profile) -> Columns:
    """The time of the samples that end in each call path."""
    paths, cells = profile.paths, profile.cells
    sums: Columns = tuple([0.0] * len(paths.parents) for _ in range(BASE_COUNT))
    nodes = paths.stack_nodes
    for column, into in zip(cells.values, sums):
        for stack, value in zip(cells.stacks, column):
            into[nodes[stack]] += value
    return sums


def inclusive_by_node(paths: CallPaths, exclusive: Columns) -> Columns:
    """The time of the samples that end in each call path or below it; the root's is the total."""
    sums = tuple(list(column) for column in exclusive)
    for column in sums:
        # Callees stand behind their callers, so the value of a node is complete when its turn comes.
        for node, parent in zip(range(len(column) - 1, ROOT, -1), reversed(paths.parents)):
            if column[node]:
                column[parent] += column[node]
    return sums


def total(profile: Profile) -> tuple[float, ...]:
    """All samples together: seconds for each base metric."""
    return tuple(sum(column) for column in profile.cells.values)


def sum_groups(profile: Profile, group_of_frame: Sequence[int], group_count: int) -> GroupSums:
    """Exclusive and inclusive time of groups of frames: of functions, lines or modules.

    `group_of_frame` gives each frame of the profile its group, 0 to group_count - 1.
    """
    paths = profile.paths
    node_groups = [group_of_frame[frame] if frame >= 0 else -1 for frame in paths.frames]
    node_exclusive = exclusive_by_node(profile)
    node_inclusive = inclusive_by_node(paths, node_exclusive)
    leaves = sorted({paths.stack_nodes[stack] for stack in profile.cells.stacks} - {ROOT})
    outermost = _outermost_nodes(paths, node_groups, group_count)
    exclusive: Columns = tuple([0.0] * group_count for _ in range(BASE_COUNT))
    inclusive: Columns = tuple([0.0] * group_count for _ in range(BASE_COUNT))
    for base in range(BASE_COUNT):
        column, into = node_exclusive[base], exclusive[base]
        for node in leaves:
            into[node_groups[node]] += column[node]
        column, into = node_inclusive[base], inclusive[base]
        for node in outermost:
            into[node_groups[node]] += column[node]
    return GroupSums(exclusive, inclusive)


def _outermost_nodes(paths: CallPaths, node_groups: Sequence[int], group_count: int) -> array[int]:
    """The nodes whose group is not also on the way from them to the root."""
    first_child, next_sibling = _child_links(paths)
    depth_of_group = bytearray(group_count)
    outermost = array("I")
    open_nodes: list[int] = []
    node = first_child[ROOT]
    while True:
        while node > 0:
            group = node_groups[node]
            if depth_of_group[group]:
                open_nodes.append(-node)
            else:
                depth_of_group[group] = 1
                outermost.append(node)
                open_nodes.append(node)
            node = first_child[node]
        if not open_nodes:
            return outermost
        done = open_nodes.pop()
        if done > 0:
            depth_of_group[node_groups[done]] = 0
        else:
            done = -done
        node = next_sibling[done]


def _child_links(paths: CallPaths) -> tuple[array[int], array[int]]:
    """First child and next sibling of each node, 0 where there is none."""
    parents = paths.parents
    first_child = array("I", bytes(4 * len(parents)))
    next_sibling = array("I", bytes(4 * len(parents)))
    for node in range(len(parents) - 1, ROOT, -1):
        parent = parents[node]
        next_sibling[node] = first_child[parent]
        first_child[parent] = node
    return first_child, next_sibling

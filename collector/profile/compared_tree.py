"""compared_tree -- the calls of runs before and after a change as one tree, each judged as `comparison` judges rows

Functions are matched as there. A call that has all its caller's time in every run is the same question, and is asked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from collector.profile.call_tree import call_tree
from collector.profile.comparison import LEAST_SAMPLES, NOTHING, Change, Key, Measure, function_key, judged_changes, other_modules
from collector.profile.metrics import Values
from collector.profile.model import Function, Module, Profile

MOST_NODES: Final = 20_000
UNFINISHED: Final[Key] = ("(unfinished stacks)",)
"""Stands for the functions of the whole, and of stacks whose outer callers are not known."""

Step = tuple[int, Key]
"""The caller's node, and the function that is called."""


@dataclass(frozen=True, slots=True)
class RunTree:
    """The calls of one run: by node (0 is the whole) its step, and the time without and with what it called."""

    steps: list[Step]
    exclusive: list[Measure]
    inclusive: list[Measure]
    places: dict[Key, tuple[Function, Module]]


@dataclass(frozen=True, slots=True)
class ComparedNode:
    """A call on either side; the first is the whole. Changes are of times and of shares of the total."""

    parent: int
    key: Key
    exclusive: Change
    inclusive: Change
    exclusive_share: Change
    inclusive_share: Change


def run_tree(profile: Profile) -> RunTree:
    """The calls of one run."""
    tree = RunTree([], [], [], {})
    for node in call_tree(profile):
        key = UNFINISHED
        if node.function and node.module:
            key = function_key(node.function, node.module)
            tree.places.setdefault(key, (node.function, node.module))
        tree.steps.append((node.parent or 0, key))
        tree.exclusive.append(_measure(node.exclusive))
        tree.inclusive.append(_measure(node.inclusive))
    return tree


def _measure(values: Values) -> Measure:
    return Measure(values[0], values[3])


def renamed_functions(before: Sequence[RunTree], after: Sequence[RunTree], known: Mapping[Key, Key]) -> dict[Key, Key]:
    """By the key of a function after, its key before, where they differ; `known` are those that a comparison has matched."""
    return other_modules(*({key for tree in side for key in tree.places} for side in (before, after))) | dict(known)


def compared_tree(
    before: Sequence[RunTree], after: Sequence[RunTree], renamed: Mapping[Key, Key], total: Change, most_nodes: int = MOST_NODES
) -> list[ComparedNode]:
    """The tree of both sides, a caller before its callees, with no more than the largest nodes. `total` is what the comparison says of the whole."""
    steps: dict[Step, int] = {}
    own = [[_merged(tree, tree.exclusive, {}, steps) for tree in before], [_merged(tree, tree.exclusive, renamed, steps) for tree in after]]
    whole = [[_merged(tree, tree.inclusive, {}, steps) for tree in before], [_merged(tree, tree.inclusive, renamed, steps) for tree in after]]
    size = [sum(table[node].time / len(side) for side in whole for table in side if node in table) for node in range(len(steps))]
    kept = sorted(sorted(range(len(steps)), key=lambda node: (-size[node], node))[:most_nodes])
    number = {node: place for place, node in enumerate(kept)}
    parents = [parent for parent, _ in steps]
    columns = [_changes(own, whole, kept), _calls(whole, parents, kept, total)]
    columns += [_changes(_shares(own, whole), _shares(whole, whole), kept), _calls(_shares(whole, whole), parents, kept, None)]
    keys = [key for _, key in steps]
    return [ComparedNode(number[parents[node]], keys[node], *(column[node] for column in columns)) for node in kept]


Table = dict[int, Measure]
"""By node of the tree of all runs."""


def _merged(tree: RunTree, values: Sequence[Measure], renamed: Mapping[Key, Key], steps: dict[Step, int]) -> Table:
    numbers: list[int] = []
    table: Table = {}
    for (parent, key), value in zip(tree.steps, values):
        node = steps.setdefault((numbers[parent] if numbers else 0, renamed.get(key, key)), len(steps))
        numbers.append(node)
        known = table.get(node, NOTHING)
        table[node] = Measure(known.time + value.time, known.samples + value.samples)
    return table


def _changes(tables: Sequence[Sequence[Table]], whole: Sequence[Sequence[Table]], kept: Iterable[int]) -> dict[int, Change]:
    """All that can be judged, as a table of them would, and the others that are kept."""
    totals = [[table[0] for table in side] for side in whole]
    wanted = dict.fromkeys(kept) | dict.fromkeys(_with_samples(tables))
    return judged_changes(tables, totals, wanted)


def _calls(tables: Sequence[Sequence[Table]], parents: Sequence[int], kept: Sequence[int], total: Change | None) -> dict[int, Change]:
    """The same with what they called: a node with all its caller's time has what its caller has."""
    asked = [0] * len(parents)
    for node in range(1, len(parents)):
        is_same = all(table.get(node) == table.get(parents[node]) for side in tables for table in side)
        asked[node] = asked[parents[node]] if is_same else node
    wanted = dict.fromkeys(asked[node] for node in kept) | dict.fromkeys(asked[node] for node in _with_samples(tables))
    totals = [[table[0] for table in side] for side in tables]
    changes = judged_changes(tables, totals, [node for node in wanted if node])
    changes[0] = total or judged_changes(tables, totals, [0])[0]
    return {node: changes[asked[node]] for node in kept}


def _with_samples(tables: Sequence[Sequence[Table]]) -> list[int]:
    samples: dict[int, float] = {}
    for side in tables:
        for table in side:
            for node, value in table.items():
                samples[node] = samples.get(node, 0) + value.samples
    return [node for node, count in samples.items() if count >= LEAST_SAMPLES]


def _shares(tables: Sequence[Sequence[Table]], whole: Sequence[Sequence[Table]]) -> list[list[Table]]:
    """Times as parts of the total of their run."""
    return [
        [{node: Measure(value.time / (total[0].time or 1.0), value.samples) for node, value in table.items()} for table, total in zip(side, totals)]
        for side, totals in zip(tables, whole)
    ]

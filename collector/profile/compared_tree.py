"""compared_tree -- the calls of runs before and after a change as one tree, each judged as `comparison` judges rows

Functions are matched as there. A call that has all its caller's time in every run is the same question, and is asked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from collector.profile.aggregate import total_values
from collector.profile.change import LEAST_SAMPLES, Change, judged_changes
from collector.profile.compared_run import Key, Measure, function_key, other_modules, sampled_measure
from collector.profile.groupings import by_function
from collector.profile.metrics import SAMPLES, primary
from collector.profile.model import Function, Module, Profile
from collector.profile.samples import Columns

MOST_NODES: Final = 20_000
WHOLE: Final[Key] = ()
UNFINISHED: Final[Key] = ("(unfinished stacks)",)
"""Stand for functions: the whole, and stacks whose outer callers are not known."""

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
    """The calls of one run, recursion folded; stacks whose outer callers are not known are below a node of their own."""
    sums = profile.samples.call_sums(by_function(profile))
    places = [(function, profile.modules[function.module]) for function in profile.functions]
    keys = [function_key(*place) for place in places]
    tree = RunTree([], [], [], {})

    total = total_values(profile)
    whole_time = Measure(total[0], total[3])

    def measure(base: Sequence[float]) -> Measure:
        return sampled_measure(profile.metrics[0], primary(profile.metrics, base), base[SAMPLES], whole_time)

    def add(parent: int, key: Key, exclusive: Columns, inclusive: Columns) -> None:
        numbers = [0] * len(sums.parents)
        for node, (whole, own) in enumerate(zip(zip(*inclusive), zip(*exclusive))):
            if node and not primary(profile.metrics, whole):
                continue
            numbers[node] = len(tree.steps)
            tree.steps.append((numbers[sums.parents[node]], keys[sums.groups[node]]) if node else (parent, key))
            tree.exclusive.append(measure(own))
            tree.inclusive.append(measure(whole))

    add(0, WHOLE, sums.finished, sums.finished_inclusive)
    top = len(tree.steps)
    if primary(profile.metrics, [column[0] for column in sums.unfinished_inclusive]):
        add(0, UNFINISHED, sums.unfinished, sums.unfinished_inclusive)
        tree.inclusive[0] = Measure(*map(sum, zip(tree.inclusive[0], tree.inclusive[top])))
    known = {key for _, key in tree.steps}
    tree.places.update({key: place for key, place in zip(keys, places) if key in known})
    return tree


def renamed_functions(before: Sequence[RunTree], after: Sequence[RunTree], known: Mapping[Key, Key]) -> dict[Key, Key]:
    """By the key of a function after, its key before, where they differ; `known` are those that a comparison has matched."""
    return other_modules(*({key for tree in side for key in tree.places} for side in (before, after))) | dict(known)


def compared_tree(
    before: Sequence[RunTree], after: Sequence[RunTree], renamed: Mapping[Key, Key], total: Change, most_nodes: int = MOST_NODES
) -> list[ComparedNode]:
    """The tree of both sides, a caller before its callees, with no more than the largest nodes. `total` is what the comparison says of the whole."""
    steps: dict[Step, int] = {}
    numbers = [[_numbers(tree, names, steps) for tree in side] for side, names in ((before, {}), (after, renamed))]
    whole = [[_table(tree.inclusive, nodes) for tree, nodes in zip(*side)] for side in zip((before, after), numbers)]
    size, samples = [0.0] * len(steps), [0.0] * len(steps)
    for side in whole:
        for table in side:
            for node, value in table.items():
                size[node] += value.time / len(side)
                samples[node] += value.samples
    kept = sorted(sorted(range(len(steps)), key=lambda node: (-size[node], node))[:most_nodes])
    wanted = {*kept, *(node for node, count in enumerate(samples) if count >= LEAST_SAMPLES)}
    whole = [[_only(table, wanted) for table in side] for side in whole]
    own = [[_only(_table(tree.exclusive, nodes), wanted) for tree, nodes in zip(*side)] for side in zip((before, after), numbers)]
    parents = [parent for parent, _ in steps]
    columns = [_changes(own, whole, kept), _calls(whole, parents, kept, total)]
    columns += [_changes(_shares(own, whole), _shares(whole, whole), kept), _calls(_shares(whole, whole), parents, kept, None)]
    keys, number = [key for _, key in steps], {node: place for place, node in enumerate(kept)}
    return [ComparedNode(number[parents[node]], keys[node], *(column[node] for column in columns)) for node in kept]


Table = dict[int, Measure]
"""By node of the tree of all runs."""


def _numbers(tree: RunTree, renamed: Mapping[Key, Key], steps: dict[Step, int]) -> list[int]:
    """The node of all runs that each node of one is; two functions of the same key are one."""
    numbers: list[int] = []
    for parent, key in tree.steps:
        step = numbers[parent] if numbers else 0, renamed.get(key, key)
        numbers.append(steps.setdefault(step, len(steps)))
    return numbers


def _table(values: Sequence[Measure], nodes: Sequence[int]) -> Table:
    table: Table = {}
    for node, value in zip(nodes, values):
        known = table.get(node)
        table[node] = value if known is None else Measure(known.time + value.time, known.samples + value.samples)
    return table


def _only(table: Table, wanted: Set[int]) -> Table:
    return {node: value for node, value in table.items() if node in wanted}


def _changes(tables: Sequence[Sequence[Table]], whole: Sequence[Sequence[Table]], kept: Iterable[int]) -> dict[int, Change]:
    """All that can be judged, as a table of them would, and the others that are kept."""
    totals = [[table[0] for table in side] for side in whole]
    wanted = dict.fromkeys(kept) | dict.fromkeys(_with_samples(tables))
    return judged_changes(tables, totals, wanted, has_rest=True)


def _calls(tables: Sequence[Sequence[Table]], parents: Sequence[int], kept: Sequence[int], total: Change | None) -> dict[int, Change]:
    """The same with what they called: a node with all its caller's time has what its caller has."""
    asked = {0: 0}
    for node in sorted({node for side in tables for table in side for node in table} - {0}):
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

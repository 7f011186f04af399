"""call_tree -- the program's calls from the start of its threads down, as one list of nodes.

A node stands before its callees, and callees stand with the longest first, so printing the list by depth draws
the tree. Recursion is folded: a function that is on the path already goes on from its node there, so that no function stands
below itself, and a compiler that recurses thousands of calls deep is still a tree to read. Stacks whose outer callers are not
known hang under a node of their own without a function.
"""

from collections.abc import Iterable, Sequence
from operator import add
from typing import Final, NamedTuple

from collector.profile.groupings import by_function
from collector.profile.metrics import Values, add_values, primary, reported_values
from collector.profile.model import Function, Module, Profile
from collector.profile.samples import CallSums, Columns

TOP: Final = -2
UNFINISHED: Final = -1
"""Stand for functions: the whole, and stacks whose outer callers are not known."""

_LEAST_SHARE = 0.001
_NEARLY = 0.75


class CallNode(NamedTuple):
    """A chain of calls. `id` is its position in the list, `parent` its caller's; the root has no parent.

    `function` is None for the root and for the node of unfinished stacks, which `title` names.
    """

    id: int
    parent: int | None
    depth: int
    title: str
    function: Function | None
    module: Module | None
    exclusive: Values
    inclusive: Values


class Branch:
    """A node of a tree that grows."""

    __slots__ = ("callees", "exclusive", "function", "inclusive")

    def __init__(self, function: int, exclusive: Values, inclusive: Values) -> None:
        self.function = function
        self.callees: list[Branch] = []
        self.exclusive = exclusive
        self.inclusive = inclusive


def call_tree(profile: Profile, *, threshold: float = 0.0) -> list[CallNode]:
    """The call tree without the branches whose inclusive time is below `threshold` (0 to 1) of the total."""
    sums = profile.samples.call_sums(by_function(profile))
    root = Branch(TOP, _row(sums.finished, 0), _row(sums.finished_inclusive, 0))
    unfinished = Branch(UNFINISHED, _row(sums.unfinished, 0), _row(sums.unfinished_inclusive, 0))
    root.inclusive = add_values(root.inclusive, unfinished.inclusive)
    least = threshold * primary(profile.metrics, root.inclusive)
    parts = profile.metrics[0].parts
    _grow(root, sums, sums.finished, sums.finished_inclusive, parts, least)
    if any(unfinished.inclusive) and primary(profile.metrics, unfinished.inclusive) >= least:
        root.callees.append(unfinished)
        _grow(unfinished, sums, sums.unfinished, sums.unfinished_inclusive, parts, least)
    return listed_branches(profile, root)


class HotPath(NamedTuple):
    """The heaviest chain of calls, and the callees among which the time divides at its end, the longest first.

    `beside` are callees on the way that have nearly as much time as the one that was taken: with each the function that calls both.
    """

    nodes: list[CallNode]
    callees: list[CallNode]
    beside: list[tuple[CallNode, CallNode]]


def hot_path(profile: Profile) -> HotPath:
    """From the start on always the longest callee, as long as it has at least half of its caller's time."""
    nodes = call_tree(profile, threshold=_LEAST_SHARE)
    callees: list[list[CallNode]] = [[] for _ in nodes]
    for node in nodes:
        if node.parent is not None:
            callees[node.parent].append(node)
    path, beside = nodes[:1], []
    while callees[path[-1].id] and 2 * callees[path[-1].id][0].inclusive[0] >= path[-1].inclusive[0]:
        caller, (taken, *others) = path[-1], callees[path[-1].id]
        beside += [(caller, other) for other in others[:1] if other.inclusive[0] >= _NEARLY * taken.inclusive[0]]
        path.append(taken)
    chain = [node._replace(id=place, parent=place - 1 if place else None, depth=place) for place, node in enumerate(path[1:])]
    return HotPath(chain, callees[path[-1].id], beside)


def steps_of(path: HotPath, least: float) -> list[CallNode]:
    """The path in short: the last of calls that hardly differ (by less than `least` seconds), without functions that have no name.

    Empty where that says no more than a table of functions: that one function has all the time.
    """
    known = [node for node in path.nodes if _is_named(node)]
    if not known or known[-1] is not path.nodes[-1]:
        return []
    ends = [node for node, callee in zip(known, known[1:]) if node.inclusive[0] - callee.inclusive[0] >= least] + known[-1:]
    return ends if len(ends) > 1 or path.callees else []


def _is_named(node: CallNode) -> bool:
    return node.module is not None and not node.title.startswith(f"{node.module.name}+0x")


def _grow(top: Branch, sums: CallSums, exclusive: Columns, inclusive: Columns, parts: Sequence[int], least: float) -> None:
    """The branches below `top`. A caller stands before its callees and is never shorter, so it is there when they come."""
    branches = {0: top}
    wholes: Iterable[float] = inclusive[parts[0]]
    for part in parts[1:]:
        wholes = map(add, wholes, inclusive[part])
    long_enough = [node for node, value in enumerate(wholes) if value >= least]
    for node in long_enough:
        whole = _row(inclusive, node)
        if node and any(whole):
            branch = branches[node] = Branch(sums.groups[node], _row(exclusive, node), whole)
            branches[sums.parents[node]].callees.append(branch)


def _row(columns: Columns, node: int) -> Values:
    return tuple([column[node] for column in columns])


def listed_branches(profile: Profile, root: Branch) -> list[CallNode]:
    """The branches from the root on, the longest first, each before its own."""
    nodes: list[CallNode] = []
    waiting: list[tuple[Branch, int | None, int]] = [(root, None, 0)]
    while waiting:
        branch, parent, depth = waiting.pop()
        nodes.append(_node(profile, branch, len(nodes), parent, depth))
        here = nodes[-1].id
        branch.callees.sort(key=lambda callee: (primary(profile.metrics, callee.inclusive), callee.function))
        waiting.extend((callee, here, depth + 1) for callee in branch.callees)
    return nodes


def _node(profile: Profile, branch: Branch, index: int, parent: int | None, depth: int) -> CallNode:
    function = profile.functions[branch.function] if branch.function >= 0 else None
    if function is not None:
        title = function.name
    else:
        title = "(all)" if parent is None else "(unfinished stacks)"
    return CallNode(
        index,
        parent,
        depth,
        title,
        function,
        profile.modules[function.module] if function else None,
        reported_values(profile.metrics, branch.exclusive),
        reported_values(profile.metrics, branch.inclusive),
    )

"""call_tree -- the program's calls from the start of its threads down, as one list of nodes.

A node stands before its callees, and callees stand with the longest first, so printing the list by depth draws
the tree. Recursion is folded: a function that is on the path already goes on from its node there, so that no function stands
below itself, and a compiler that recurses thousands of calls deep is still a tree to read. Stacks whose outer callers are not
known hang under a node of their own without a function.
"""

from __future__ import annotations

from dataclasses import dataclass

from collector.profile.metrics import Values, cpu_time, reported_values
from collector.profile.model import Function, Module, Profile
from collector.profile.samples import CallSums, Columns

_TOP = -2
_UNFINISHED = -1


@dataclass(frozen=True, slots=True)
class CallNode:
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


class _Branch:
    __slots__ = ("callees", "exclusive", "function", "inclusive")

    def __init__(self, function: int, exclusive: list[float]) -> None:
        self.function = function
        self.callees: list[_Branch] = []
        self.exclusive = exclusive
        self.inclusive = list(exclusive)


def call_tree(profile: Profile, *, threshold: float = 0.0) -> list[CallNode]:
    """The call tree without the branches whose inclusive time is below `threshold` (0 to 1) of the total."""
    root = _grow(profile.samples.call_sums([frame.function for frame in profile.frames], len(profile.functions)))
    return _listed(profile, root, threshold * cpu_time(root.inclusive))


def _grow(sums: CallSums) -> _Branch:
    """The tree of finished stacks, with the tree of unfinished ones, if there are any, as one branch of its root."""
    root = _grow_one(sums, sums.finished, _TOP)
    unfinished = _grow_one(sums, sums.unfinished, _UNFINISHED)
    if any(unfinished.inclusive):
        root.callees.append(unfinished)
        _add(root.inclusive, unfinished.inclusive)
    return root


def _grow_one(sums: CallSums, columns: Columns, title: int) -> _Branch:
    branches = [_Branch(function, list(values)) for function, values in zip(sums.groups, zip(*columns))]
    branches[0].function = title
    for node in range(len(branches) - 1, 0, -1):  # callees stand behind their callers, so this one is complete
        branch = branches[node]
        if any(branch.inclusive):
            caller = branches[sums.parents[node]]
            caller.callees.append(branch)
            _add(caller.inclusive, branch.inclusive)
    return branches[0]


def _add(into: list[float], values: list[float]) -> None:
    for base, value in enumerate(values):
        into[base] += value


def _listed(profile: Profile, root: _Branch, least: float) -> list[CallNode]:
    nodes: list[CallNode] = []
    waiting: list[tuple[_Branch, int | None, int]] = [(root, None, 0)]
    while waiting:
        branch, parent, depth = waiting.pop()
        nodes.append(_node(profile, branch, len(nodes), parent, depth))
        here = nodes[-1].id
        callees = [callee for callee in branch.callees if cpu_time(callee.inclusive) >= least]
        callees.sort(key=lambda callee: (cpu_time(callee.inclusive), callee.function))
        waiting.extend((callee, here, depth + 1) for callee in callees)
    return nodes


def _node(profile: Profile, branch: _Branch, index: int, parent: int | None, depth: int) -> CallNode:
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

"""call_tree -- the program's calls from the start of its threads down, as one list of nodes.

A node stands before its callees, and callees stand with the longest first, so printing the list by depth draws
the tree. A function that calls itself directly stays in one node, or a recursion 2,000 deep would be 2,000
nodes. Stacks whose outer callers are not known hang under a node of their own without a function.
"""

from __future__ import annotations

from dataclasses import dataclass

from collector.profile.causes import is_finished
from collector.profile.metrics import BASE_COUNT, Values, reported_values
from collector.profile.model import ROOT, Function, Module, Profile

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

    def __init__(self, function: int) -> None:
        self.function = function
        self.callees: dict[int, _Branch] = {}
        self.exclusive = [0.0] * BASE_COUNT
        self.inclusive = [0.0] * BASE_COUNT

    def callee(self, function: int) -> _Branch:
        if function == self.function:
            return self
        branch = self.callees.get(function)
        if branch is None:
            branch = self.callees[function] = _Branch(function)
        return branch


def call_tree(profile: Profile, *, threshold: float = 0.0) -> list[CallNode]:
    """The call tree without the branches whose inclusive time is below `threshold` (0 to 1) of the total."""
    root = _grow(profile)
    _sum_up(root)
    return _listed(profile, root, threshold * sum(root.inclusive))


def _grow(profile: Profile) -> _Branch:
    root = _Branch(_TOP)
    finished: dict[int, _Branch] = {ROOT: root}
    unfinished: dict[int, _Branch] = {}
    paths, cells = profile.paths, profile.cells
    for stack, *values in zip(cells.stacks, *cells.values):
        if is_finished(paths.stack_ends[stack]):
            known = finished
        else:
            known = unfinished
            if not known:
                known[ROOT] = root.callee(_UNFINISHED)
        branch = _branch_of(profile, known, paths.stack_nodes[stack])
        for base, value in enumerate(values):
            branch.exclusive[base] += value
    return root


def _branch_of(profile: Profile, known: dict[int, _Branch], node: int) -> _Branch:
    """The branch of a call path, made with all its callers where it is new."""
    parents, frames = profile.paths.parents, profile.paths.frames
    missing = []
    while node not in known:
        missing.append(node)
        node = parents[node]
    branch = known[node]
    for node in reversed(missing):
        branch = known[node] = branch.callee(profile.frames[frames[node]].function)
    return branch


def _sum_up(root: _Branch) -> None:
    preorder = [root]
    for branch in preorder:
        preorder.extend(branch.callees.values())
    for branch in reversed(preorder):
        for base in range(BASE_COUNT):
            branch.inclusive[base] = branch.exclusive[base] + sum(
                callee.inclusive[base] for callee in branch.callees.values()
            )


def _listed(profile: Profile, root: _Branch, least: float) -> list[CallNode]:
    nodes: list[CallNode] = []
    waiting: list[tuple[_Branch, int | None, int]] = [(root, None, 0)]
    while waiting:
        branch, parent, depth = waiting.pop()
        nodes.append(_node(profile, branch, len(nodes), parent, depth))
        here = nodes[-1].id
        callees = [callee for callee in branch.callees.values() if sum(callee.inclusive) >= least]
        callees.sort(key=lambda callee: (sum(callee.inclusive), callee.function))
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

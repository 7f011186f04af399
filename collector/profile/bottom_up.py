"""bottom_up -- the functions in which time is spent, and below each its callers, their callers, and so on

The bottom-up tree is the call tree read from the leaves: each chain of calls that has time of its own is turned round. So recursion is folded
here as it is there. The inclusive time of a node is that of the first function when called so; the exclusive part of it has no further callers.
"""

from __future__ import annotations

from collector.profile.call_tree import TOP, UNFINISHED, Branch, CallNode, listed_branches
from collector.profile.groupings import by_function
from collector.profile.metrics import Values, add_values, primary
from collector.profile.model import Profile
from collector.profile.samples import CallSums, Columns

_Chains = dict[tuple[int, bool], Values]
"""Time by node of the call tree that a chain has come up to, and whether it ends without the start of its thread."""


def bottom_up_tree(profile: Profile, *, threshold: float = 0.0) -> list[CallNode]:
    """The tree without the branches whose time is below `threshold` (0 to 1) of the total."""
    sums = profile.samples.call_sums(by_function(profile))
    chains = {**_chains(sums.finished, False), **_chains(sums.unfinished, True)}
    nothing: Values = (0.0,) * len(sums.finished)
    root = Branch(TOP, nothing, _total(chains, nothing))
    least = threshold * primary(profile.metrics, root.inclusive)
    growing = [(root, _by_group(sums, chains))]
    while growing:
        below, callers = growing.pop()
        for group, reached in callers.items():
            whole = _total(reached, nothing)
            if primary(profile.metrics, whole) < least or not any(whole):
                continue
            branch = Branch(group, nothing, whole)
            below.callees.append(branch)
            further, branch.exclusive = _callers(sums, reached, nothing)
            growing.append((branch, further))
    return listed_branches(profile, root)


def _chains(exclusive: Columns, is_unfinished: bool) -> _Chains:
    return {(node, is_unfinished): values for node, values in enumerate(zip(*exclusive)) if node and any(values)}


def _total(chains: _Chains, nothing: Values) -> Values:
    return tuple(map(sum, zip(*chains.values()))) if chains else nothing


def _by_group(sums: CallSums, chains: _Chains) -> dict[int, _Chains]:
    found: dict[int, _Chains] = {}
    for chain, values in chains.items():
        found.setdefault(sums.groups[chain[0]], {})[chain] = values
    return found


def _callers(sums: CallSums, chains: _Chains, nothing: Values) -> tuple[dict[int, _Chains], Values]:
    """The chains one call further up, by the caller, and the time of those that have none."""
    ended, lost = nothing, nothing
    above: _Chains = {}
    for (node, is_unfinished), values in chains.items():
        caller = sums.parents[node] if node else 0
        if caller == 0 and is_unfinished:
            lost = add_values(lost, values)
        elif caller == 0:
            ended = add_values(ended, values)
        else:
            known = above.get((caller, is_unfinished))
            above[caller, is_unfinished] = values if known is None else add_values(known, values)
    found = _by_group(sums, above)
    if any(lost):
        found[UNFINISHED] = {(0, False): lost}
    return found, ended

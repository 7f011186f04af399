"""callers_callees -- who called a function, and whom it called, with the time of each.

Every sample with the function on its stack is counted once on either side, so the callers add up to the
inclusive time of the function, and its exclusive time and the callees do so as well. In recursion the caller
is the one of the outermost call, the callee that of the innermost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from collector.profile.metrics import Values, reported_values
from collector.profile.model import ROOT, Function, Module, Profile
from collector.profile.tree_sums import exclusive_by_node, inclusive_by_node

_OUTSIDE = -3
_ITSELF = -2
_START = -1


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A caller or callee and the time of its calls; no function means the start of a stack."""

    function: Function | None
    module: Module | None
    values: Values


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A function between those who called it and those it called."""

    function: Function
    module: Module
    exclusive: Values
    inclusive: Values
    callers: tuple[NeighbourRow, ...]
    callees: tuple[NeighbourRow, ...]


def callers_callees(profile: Profile, function: int) -> Neighbours:
    """Callers and callees of the function at this position of `profile.functions`."""
    exclusive_columns = exclusive_by_node(profile)
    inclusive_columns = inclusive_by_node(profile.paths, exclusive_columns)
    node_functions = [profile.frames[frame].function if frame >= 0 else _START for frame in profile.paths.frames]
    exclusive = list(zip(*exclusive_columns))
    inclusive = list(zip(*inclusive_columns))
    callers = _rows(profile, _by_caller(profile, node_functions, function, inclusive))
    by_callee = _by_callee(profile, node_functions, function, exclusive)
    itself = by_callee.pop(_ITSELF, [0.0] * len(exclusive_columns))
    callees = _rows(profile, by_callee)
    exclusive_values = reported_values(profile.metrics, itself)
    known = profile.functions[function]
    return Neighbours(
        known,
        profile.modules[known.module],
        exclusive_values,
        _added([row.values for row in callers], len(profile.metrics)),
        callers,
        callees,
    )


def _by_caller(
    profile: Profile, node_functions: Sequence[int], function: int, inclusive: Sequence[Values]
) -> dict[int, list[float]]:
    parents = profile.paths.parents
    is_inside = bytearray(len(parents))
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0] * len(inclusive[ROOT]))
    for node in range(1, len(parents)):
        parent = parents[node]
        if is_inside[parent]:
            is_inside[node] = 1
        elif node_functions[node] == function:
            is_inside[node] = 1
            _add(sums[node_functions[parent]], inclusive[node])
    return sums


def _by_callee(
    profile: Profile, node_functions: Sequence[int], function: int, exclusive: Sequence[Values]
) -> dict[int, list[float]]:
    parents = profile.paths.parents
    callee_of = [_OUTSIDE] * len(parents)
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0] * len(exclusive[ROOT]))
    for node in range(1, len(parents)):
        if node_functions[node] == function:
            callee = _ITSELF
        else:
            callee = callee_of[parents[node]]
            if callee == _ITSELF:
                callee = node_functions[node]
        callee_of[node] = callee
        if callee != _OUTSIDE:
            _add(sums[callee], exclusive[node])
    return sums


def _rows(profile: Profile, sums: dict[int, list[float]]) -> tuple[NeighbourRow, ...]:
    rows = []
    for index, base in sums.items():
        if any(base):
            function = profile.functions[index] if index >= 0 else None
            module = profile.modules[function.module] if function else None
            rows.append(NeighbourRow(function, module, reported_values(profile.metrics, base)))
    rows.sort(key=lambda row: (-row.values[0], row.function.name if row.function else ""))
    return tuple(rows)


def _add(into: list[float], values: Values) -> None:
    for base, value in enumerate(values):
        into[base] += value


def _added(rows: list[Values], width: int) -> Values:
    return tuple(sum(row[position] for row in rows) for position in range(width))

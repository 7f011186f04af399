"""callers_callees -- who called a function, and whom it called, with the time of each.

Every sample with the function on its stack is counted once on either side, so the callers add up to the
inclusive time of the function, and its exclusive time and the callees do so as well. In recursion the caller
is the one of the outermost call, the callee that of the innermost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collector.profile.groupings import by_function
from collector.profile.metrics import Values, reported_values
from collector.profile.model import Function, Module, Profile
from collector.profile.samples import Columns


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
    sums = profile.samples.edge_sums(by_function(profile))
    itself = [column[function] for column in sums.exclusive]
    callers = _rows(profile, sums.outermost, [(edge, sums.callers[edge]) for edge in _edges_of(sums.callees, function)])
    callees = _rows(profile, sums.innermost, [(edge, sums.callees[edge]) for edge in _edges_of(sums.callers, function)])
    known = profile.functions[function]
    return Neighbours(
        known,
        profile.modules[known.module],
        reported_values(profile.metrics, itself),
        _added([row.values for row in callers], len(profile.metrics)),
        callers,
        callees,
    )


def _edges_of(groups: Sequence[int], group: int) -> list[int]:
    return [edge for edge, known in enumerate(groups) if known == group]


def _rows(profile: Profile, columns: Columns, edges: Sequence[tuple[int, int]]) -> tuple[NeighbourRow, ...]:
    rows = []
    for edge, index in edges:
        base = [column[edge] for column in columns]
        if any(base):
            function = profile.functions[index] if index < len(profile.functions) else None
            module = profile.modules[function.module] if function else None
            rows.append(NeighbourRow(function, module, reported_values(profile.metrics, base)))
    rows.sort(key=lambda row: (-row.values[0], row.function.name if row.function else ""))
    return tuple(rows)


def _added(rows: list[Values], width: int) -> Values:
    return tuple(sum(row[position] for row in rows) for position in range(width))

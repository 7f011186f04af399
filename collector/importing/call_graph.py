"""call_graph -- stacks made of a call graph, which knows what each call cost with all that it led to, but not on whose behalf

A function's own cost is divided among its callers in proportion to what their calls cost, and so on up to the root, the costliest ways first. So the
cost of every function and line is exact, that of every call nearly, and a way through several calls is likely. What no way explains, as in
recursion, stays with the function alone, on a stack that lacks its callers.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_MOST_WAYS: Final = 20_000
_LEAST_PART: Final = 1_000_000  # of all cost


class Node(NamedTuple):
    """A function of a module; its file is that of its definition."""

    module: str
    file: str | None
    name: str


class Position(NamedTuple):
    """Where in a function: file, line and address, each None if it is unknown."""

    file: str | None
    line: int | None
    address: int | None


Path = tuple[tuple[Node, Position], ...]
"""Functions and places in them, the root first; all but the last call the next."""


@dataclass(slots=True)
class _Way:
    """How a function was reached, and how much of its inclusive cost belongs to that."""

    node: Node
    caller: _Way | None
    place: Position | None
    weight: int

    def path(self) -> Path:
        """The calls that lead here."""
        calls = []
        way = self
        while way.caller is not None and way.place is not None:
            calls.append((way.caller.node, way.place))
            way = way.caller
        return tuple(reversed(calls))

    def leads_through(self, node: Node) -> bool:
        """Whether a function is on it."""
        way: _Way | None = self
        while way is not None:
            if way.node == node:
                return True
            way = way.caller
        return False


@dataclass(slots=True)
class CallGraph:
    """Costs of functions themselves, by place, and of calls, by place and callee."""

    own: dict[Node, dict[Position, int]] = field(default_factory=dict)
    calls: dict[Node, dict[tuple[Position, Node], int]] = field(default_factory=dict)

    def add_own(self, node: Node, place: Position, cost: int) -> None:
        """Add to the cost of a place itself."""
        costs = self.own.setdefault(node, {})
        costs[place] = costs.get(place, 0) + cost

    def add_call(self, node: Node, place: Position, callee: Node, cost: int) -> None:
        """Add to the cost of a call."""
        costs = self.calls.setdefault(node, {})
        costs[place, callee] = costs.get((place, callee), 0) + cost

    def iter_stacks(self) -> Iterator[tuple[Path, bool, int]]:
        """Stacks, whether they begin at a root, and their costs, which add up to all that functions cost themselves."""
        whole, called = self._inclusive()
        ways = self._find_ways(whole, called)
        for node, costs in self.own.items():
            found = ways.get(node, [])
            is_explained = bool(found) and whole[node] - sum(way.weight for way in found) <= len(found)  # but for what was rounded off
            paths = [way.path() for way in found]
            for place, cost in costs.items():
                parts = [cost * way.weight // whole[node] for way in found]
                left = cost - sum(parts)
                if is_explained:
                    parts[0] += left
                    left = 0
                for path, part in zip(paths, parts):
                    if part:
                        yield (*path, (node, place)), True, part
                if left:
                    yield ((node, place),), False, left

    def _find_ways(self, whole: dict[Node, int], called: dict[Node, int]) -> dict[Node, list[_Way]]:
        """The ways to each function, the costliest first."""
        least = max(1, sum(sum(costs.values()) for costs in self.own.values()) // _LEAST_PART)
        waiting: list[tuple[int, int, Node, _Way | None, Position | None]] = []
        for node, cost in whole.items():
            if cost > called.get(node, 0):
                waiting.append((called.get(node, 0) - cost, len(waiting), node, None, None))
        heapq.heapify(waiting)
        count, left, ways = len(waiting), dict(whole), dict[Node, list[_Way]]()
        for _ in range(_MOST_WAYS):
            if not waiting:
                break
            negative, _, node, caller, place = heapq.heappop(waiting)
            weight = min(-negative, left[node])
            if weight <= 0:
                continue
            left[node] -= weight
            way = _Way(node, caller, place, weight)
            ways.setdefault(node, []).append(way)
            for (where, callee), call_cost in self.calls.get(node, {}).items():
                part = call_cost * weight // whole[node]
                if part >= least and not way.leads_through(callee):
                    heapq.heappush(waiting, (-part, count, callee, way, where))
                    count += 1
        return ways

    def _inclusive(self) -> tuple[dict[Node, int], dict[Node, int]]:
        """What each function cost with all that it called, and what its callers say of it; calls of itself count for neither."""
        whole = {node: sum(costs.values()) for node, costs in self.own.items()}
        called: dict[Node, int] = {}
        for node, calls in self.calls.items():
            for (_, callee), cost in calls.items():
                if callee != node:
                    whole[node] = whole.get(node, 0) + cost
                    called[callee] = called.get(callee, 0) + cost
                    whole.setdefault(callee, 0)
        return whole, called

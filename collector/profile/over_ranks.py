"""over_ranks -- how code differs between the ranks, or nodes, of a parallel job: least, mean and greatest time, and where"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from collector.profile import place_sums
from collector.profile.filters import spans_of
from collector.profile.groupings import by_function, by_line, by_module
from collector.profile.kept_samples import KeptSamples
from collector.profile.metrics import Values, add_values, reported_rows, reported_values
from collector.profile.model import Function, Module, Process, Profile
from collector.profile.samples import Grouping, GroupSums

RANK: Final = "rank"
NODE: Final = "node"
VIEWS: Final = ("functions", "lines", "objects")


_Title = tuple[Function | None, Module, str | None, int | None]


class Member(NamedTuple):
    """A rank (its number), or a node (its name), and the positions of its threads."""

    key: int | str
    threads: frozenset[int]


class Spread(NamedTuple):
    """Figures of all members: those without any count as 0. `min_at` and `max_at` are the first with the least, and the greatest."""

    mean: float
    min: float
    min_at: int | str | None
    max: float
    max_at: int | str | None
    deviation: float

    @property
    def imbalance(self) -> float:
        """By how much the greatest is above the mean, as a part of it."""
        return self.max / self.mean - 1 if self.mean else 0.0

    @property
    def excess(self) -> float:
        """The time that all others wait for the greatest on average, if they wait for it."""
        return self.max - self.mean


class SpreadRow(NamedTuple):
    """A function, a line of one, or (without `function`) a module, and its time over the members."""

    function: Function | None
    module: Module
    file: str | None
    line: int | None
    exclusive: Spread
    inclusive: Spread


def members(profile: Profile, by: str) -> list[Member]:
    """The ranks in order, or the nodes, as far as they are chosen. What belongs to no rank is left out."""
    found: dict[int | str, set[int]] = {}
    for position, thread in enumerate(profile.threads):
        key = key_of(profile.processes[thread.process], by)
        if key is not None and (profile.chosen is None or thread.process in profile.chosen):
            found.setdefault(key, set()).add(position)
    return [Member(key, frozenset(threads)) for key, threads in sorted(found.items(), key=lambda item: (isinstance(item[0], str), item[0]))]


def key_of(process: Process, by: str) -> int | str | None:
    """The rank or node of a process; None if it has none."""
    return process.rank if by == RANK else process.node or None


def shared_ranks(profile: Profile) -> list[int]:
    """The numbers that several processes were given, as by one mpirun after another, or for those of MPI_Comm_spawn: each launch counts from 0.

    A launcher has no rank itself; what a rank starts belongs to that rank.
    """
    ranked = [one for one in profile.processes if one.rank is not None]
    launchers = {_place(one, one.pid) for one in profile.processes} - {_place(one, one.pid) for one in ranked}
    launched = {(one.rank, one.identity) for one in ranked if _place(one, one.parent_pid) in launchers}
    counts = Counter((rank, experiment) for rank, (experiment, *_) in launched)
    return sorted({rank for (rank, _), count in counts.items() if count > 1 and rank is not None})


def _place(process: Process, pid: int) -> tuple[int, str, int]:
    return process.experiment, process.node, pid


def part_of(profile: Profile, member: Member) -> Profile:
    """The samples of a member."""
    return profile._replace(samples=profile.samples.select(spans_of(profile, member.threads)))


def total_spread(profile: Profile, by: str, metric: int = 0) -> Spread:
    """How all time spreads."""
    running, listed = _Running(), members(profile, by)
    for number, values in enumerate(totals(profile, listed)):
        running.add(number, values[metric])
    return running.result(listed)


def totals(profile: Profile, listed: Sequence[Member]) -> list[Values]:
    """The time of each member."""
    cells = profile.samples.cells()
    member_of = {thread: number for number, member in enumerate(listed) for thread in member.threads}
    sums: list[Sequence[float]] = [(0.0,) * len(cells.values) for _ in listed]
    for thread, values in zip(cells.threads, zip(*cells.values)):
        number = member_of.get(thread)
        if number is not None:
            sums[number] = add_values(sums[number], values)
    return [reported_values(profile.metrics, row) for row in sums]


def spreads(profile: Profile, by: str, view: str = "functions", metric: int = 0) -> list[SpreadRow]:
    """The functions, lines or objects, the one with most exclusive time of all members together first."""
    listed = members(profile, by)
    rows, sums_of = _sums(profile, by, view)
    exclusive: dict[int, _Running] = {}
    inclusive: dict[int, _Running] = {}
    for number, member in enumerate(listed):
        sums = sums_of(member)
        for found, columns in ((exclusive, sums.exclusive), (inclusive, sums.inclusive)):
            for group, values in enumerate(reported_rows(profile.metrics, columns)):
                if values[metric]:
                    found.setdefault(group, _Running()).add(number, values[metric])
    made = [
        SpreadRow(*rows[group], exclusive.get(group, _Running()).result(listed), running.result(listed)) for group, running in inclusive.items()
    ]
    return sorted(made, key=SORT_KEYS["exclusive"])


def _sums(profile: Profile, by: str, view: str) -> tuple[Sequence[_Title], Callable[[Member], GroupSums]]:
    """What the groups of a view are, and their sums of a member: from samples, or what a profile in a file has instead."""
    samples = profile.samples
    kept = samples.place_sums({"objects": "modules"}.get(view, view)) if isinstance(samples, KeptSamples) else None
    if kept is None:
        grouping, rows = _rows(profile, view)
        return rows, lambda member: part_of(profile, member).samples.sum_groups(grouping)
    positions: dict[int | str, list[int]] = {}
    for position, place in enumerate(kept.places):
        positions.setdefault(place.rank if by == RANK else place.node, []).append(position)
    rows = [(None, profile.modules[group], None, None) for group in kept.groups] if view == "objects" else place_sums.titles(profile, kept)
    return rows, lambda member: kept.sums_at(positions.get(member.key, ()))


def _rows(profile: Profile, view: str) -> tuple[Grouping, Sequence[_Title]]:
    """The groups of a view, and what each of them is."""
    if view == "objects":
        return by_module(profile), [(None, module, None, None) for module in profile.modules]
    if view == "lines":
        grouping, keys = by_line(profile)
        functions = profile.functions
        return grouping, [(functions[index], profile.modules[functions[index].module], file, line) for file, line, index in keys]
    return by_function(profile), [(one, profile.modules[one.module], one.file, one.line) for one in profile.functions]


def _title(row: SpreadRow) -> str:
    return row.function.name if row.function else row.module.name


SORT_KEYS: Final = {
    "exclusive": lambda row: (-row.exclusive.mean, -row.inclusive.mean, _title(row), row.line or 0),
    "inclusive": lambda row: (-row.inclusive.mean, -row.exclusive.mean, _title(row), row.line or 0),
    "excess": lambda row: (-row.exclusive.excess, _title(row), row.line or 0),
    "imbalance": lambda row: (-row.exclusive.imbalance, -row.exclusive.mean, _title(row), row.line or 0),
    "function": lambda row: (_title(row), row.line or 0),
}
"""What such rows can be sorted by."""


class _Running:
    """Sums over members that come in order; only those with a value need to come."""

    __slots__ = ("count", "missing", "values")

    def __init__(self) -> None:
        self.count = 0
        self.values: list[tuple[float, int]] = []
        self.missing: int | None = None

    def add(self, number: int, value: float) -> None:
        if self.missing is None and number > self.count:
            self.missing = self.count
        self.count += 1
        self.values.append((value, number))

    def result(self, listed: Sequence[Member]) -> Spread:
        """How the values spread over all members."""
        if not listed or not self.values:
            first = listed[0].key if listed else None
            return Spread(0.0, 0.0, first, 0.0, first, 0.0)
        mean = math.fsum(value for value, _ in self.values) / len(listed)
        absent = len(listed) - self.count
        squares = math.fsum((value - mean) ** 2 for value, _ in self.values) + absent * mean**2
        least, where = min(self.values)
        if absent and least > 0:
            least, where = 0.0, self.count if self.missing is None else self.missing
        most, negative = max((value, -number) for value, number in self.values)
        return Spread(mean, least, listed[where].key, most, listed[-negative].key, math.sqrt(squares / len(listed)))

"""code_rows -- where the time went, as rows for Python programs, JSON and CSV: functions, lines, modules, calls

Times are seconds. The figures of a generic row are what `figure` makes of the
reported metrics: one of them for Python programs, all by name in documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from collector.profile.aggregate import FunctionRow, LineRow, ObjectRow
from collector.profile.call_tree import CallNode
from collector.profile.callers_callees import NeighbourRow, Neighbours
from collector.profile.metrics import Values
from collector.profile.model import REGION_MARK, Function, Module
from collector.profile.over_ranks import Spread, SpreadRow

if TYPE_CHECKING:
    from collector.profile.category_calls import CategoryCallRow
    from collector.profile.grouped import Group, GroupedRows, Row
    from collector.profile.pcs import PcRow
    from collector.profile.regions import RegionRow

T = TypeVar("T")
Figure = Callable[[Values], T]


@dataclass(frozen=True, slots=True)
class FunctionTime(Generic[T]):
    """A function: time in it (`exclusive`) and in it with all it called (`inclusive`)."""

    function: str
    module: str
    file: str | None
    line: int | None
    exclusive: T
    inclusive: T


@dataclass(frozen=True, slots=True)
class LineTime(Generic[T]):
    """A source line; `file` and `line` are None for code of which no line is known."""

    file: str | None
    line: int | None
    function: str
    module: str
    exclusive: T
    inclusive: T


@dataclass(frozen=True, slots=True)
class ModuleTime(Generic[T]):
    """A program, a library, or code without a file."""

    module: str
    path: str
    build_id: str
    exclusive: T
    inclusive: T


@dataclass(frozen=True, slots=True)
class PcTime(Generic[T]):
    """An address at which samples were taken, in the file of its module or, of code made at run time, in the process."""

    address: int
    module: str
    function: str
    file: str | None
    line: int | None
    exclusive: T


@dataclass(frozen=True, slots=True)
class GroupTime(Generic[T]):
    """What belongs together: a module, file, thread, process, phase or category."""

    group: str
    exclusive: T
    inclusive: T


@dataclass(frozen=True, slots=True)
class GroupedTime(Generic[T]):
    """A function, or a line of one, in a group."""

    group: str
    file: str | None
    line: int | None
    function: str
    module: str
    exclusive: T
    inclusive: T


@dataclass(frozen=True, slots=True)
class SpreadFigures:
    """Times of all ranks, or nodes, in seconds; `imbalance` is by how much the greatest is above the mean, as a part of it. `min_at` and `max_at`
    are the first rank, or node, with the least, and with the greatest.
    """

    mean: float
    min: float
    max: float
    deviation: float
    imbalance: float
    min_at: int | str | None
    max_at: int | str | None


@dataclass(frozen=True, slots=True)
class SpreadTime:
    """A function, a line of one, or a module (`function` is None then) over ranks or nodes."""

    function: str | None
    module: str
    file: str | None
    line: int | None
    exclusive: SpreadFigures
    inclusive: SpreadFigures


@dataclass(frozen=True, slots=True)
class CallTime(Generic[T]):
    """A chain of calls; `parent` is the `id` of the caller's row, None for the row of the whole."""

    id: int
    parent: int | None
    depth: int
    function: str
    module: str | None
    file: str | None
    line: int | None
    exclusive: T
    inclusive: T


@dataclass(frozen=True, slots=True)
class RegionTime(Generic[T]):
    """A parallel region: who opens it and where, its time, its waiting and the runtime's part; `imbalance` is max / mean - 1 of its threads' work."""

    function: str
    module: str
    file: str | None
    line: int | None
    threads: int
    imbalance: float
    inclusive: T
    wait: T
    overhead: T


@dataclass(frozen=True, slots=True)
class CategoryCallTime(Generic[T]):
    """A call that led to time of a category; `caller`, `file` and `line` say from where, `caller` is None at the start of a stack."""

    function: str
    module: str
    caller: str | None
    file: str | None
    line: int | None
    values: T


@dataclass(frozen=True, slots=True)
class NeighbourTime(Generic[T]):
    """A caller or callee of a function (`relation`), or the function itself: `self`."""

    relation: str
    function: str
    module: str | None
    file: str | None
    line: int | None
    values: T


def function_times(rows: Iterable[FunctionRow], figure: Figure[T]) -> list[FunctionTime[T]]:
    """The rows of the view `functions`."""
    return [
        FunctionTime(
            row.function.name, row.module.name, row.function.file, row.function.line, figure(row.exclusive), figure(row.inclusive)
        )
        for row in rows
    ]


def line_times(rows: Iterable[LineRow], figure: Figure[T]) -> list[LineTime[T]]:
    """The rows of the view `lines`."""
    return [
        LineTime(row.file, row.line, row.function.name, row.module.name, figure(row.exclusive), figure(row.inclusive))
        for row in rows
    ]


def module_times(rows: Iterable[ObjectRow], figure: Figure[T]) -> list[ModuleTime[T]]:
    """The rows of the view `objects`."""
    return [
        ModuleTime(row.module.name, row.module.path, row.module.build_id, figure(row.exclusive), figure(row.inclusive))
        for row in rows
    ]


def pc_times(rows: Iterable[PcRow], figure: Figure[T]) -> list[PcTime[T]]:
    """The rows of the view `pcs`."""
    return [PcTime(row.address, row.module.name, row.function.name, row.file, row.line, figure(row.exclusive)) for row in rows]


def group_times(groups: Iterable[Group], figure: Figure[T]) -> list[GroupTime[T]]:
    """One row a group."""
    return [GroupTime(group.title, figure(group.exclusive), figure(group.inclusive)) for group in groups]


def grouped_times(groups: Iterable[GroupedRows[Row]], figure: Figure[T], limit: int | None = None) -> list[GroupedTime[T]]:
    """The rows of `functions` or `lines` group by group, at most `limit` of each. A function has the line of its definition."""
    return [
        GroupedTime(one.group.title, *_place(row), row.function.name, row.module.name, figure(row.exclusive), figure(row.inclusive))
        for one in groups
        for row in one.rows[: limit or None]
    ]


def spread_times(rows: Iterable[SpreadRow]) -> list[SpreadTime]:
    """The rows of `functions`, `lines` or `objects` over ranks or nodes."""
    return [
        SpreadTime(row.function.name if row.function else None, row.module.name, row.file, row.line, _spread(row.exclusive), _spread(row.inclusive))
        for row in rows
    ]


def _spread(spread: Spread) -> SpreadFigures:
    mean, least, greatest, deviation, imbalance = (
        round(value, 9) for value in (spread.mean, spread.min, spread.max, spread.deviation, spread.imbalance)
    )
    return SpreadFigures(mean, least, greatest, deviation, imbalance, spread.min_at, spread.max_at)


def _place(row: FunctionRow | LineRow) -> tuple[str | None, int | None]:
    return (row.file, row.line) if isinstance(row, LineRow) else (row.function.file, row.function.line)


def call_times(nodes: Iterable[CallNode], figure: Figure[T]) -> list[CallTime[T]]:
    """The rows of the view `calltree`."""
    return [
        CallTime(
            node.id, node.parent, node.depth, node.title, *_home(node.function, node.module), figure(node.exclusive), figure(node.inclusive)
        )
        for node in nodes
    ]


def region_times(rows: Iterable[RegionRow], figure: Figure[T]) -> list[RegionTime[T]]:
    """The rows of the view `regions`."""
    return [
        RegionTime(
            row.function.name.removesuffix(REGION_MARK), row.module.name, row.file, row.line, row.thread_count, round(row.imbalance, 9),
            figure(row.inclusive), figure(row.wait), figure(row.overhead),
        )
        for row in rows
    ]  # fmt: skip


def category_call_times(rows: Iterable[CategoryCallRow], figure: Figure[T]) -> list[CategoryCallTime[T]]:
    """The rows of the view `calls`."""
    return [
        CategoryCallTime(row.function.name, row.module.name, row.caller.name if row.caller else None, row.file, row.line, figure(row.values))
        for row in rows
    ]


def neighbour_times(neighbours: Neighbours, figure: Figure[T], limit: int | None = None) -> list[NeighbourTime[T]]:
    """The rows of the view `callers-callees`, with at most `limit` callers and callees."""
    itself = NeighbourRow(neighbours.function, neighbours.module, neighbours.exclusive)
    groups = {"caller": neighbours.callers[: limit or None], "self": (itself,), "callee": neighbours.callees[: limit or None]}
    return [
        NeighbourTime(
            relation,
            row.function.name if row.function else "(start of the stack)",
            *_home(row.function, row.module),
            figure(row.values),
        )
        for relation, rows in groups.items()
        for row in rows
    ]


def _home(function: Function | None, module: Module | None) -> tuple[str | None, str | None, int | None]:
    """Where a function is defined: module, file, line."""
    return module.name if module else None, function.file if function else None, function.line if function else None

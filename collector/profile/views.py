"""views -- which tables there are, what they can be sorted by, and how many rows of them are shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from collector.named_tuple import NamedTuple
from collector.profile import aggregate
from collector.profile.call_tree import CallNode, call_tree
from collector.profile.model import Process, Profile

Row = Any
SortKey = Callable[[Row], Any]


class Selection(NamedTuple):
    """The rows to show, in order, and the rows that were left out."""

    rows: list[Row]
    hidden: Sequence[Row] = ()


class TableView(NamedTuple):
    """A table: how its rows are made, and the columns it can be sorted by (as keys that put the first row first)."""

    name: str
    rows: Callable[[Profile], list[Row]]
    sort_keys: Mapping[str, SortKey]


def choose(view: TableView, profile: Profile, sort: str | None = None, limit: int | None = None) -> Selection:
    """The rows of a view; `sort` is one of its keys, `limit` the number of rows (None or 0: all of them)."""
    rows = view.rows(profile)
    if sort is not None:
        rows.sort(key=view.sort_keys[sort])
    if not limit:
        return Selection(rows)
    return Selection(rows[:limit], rows[limit:])


def choose_branches(profile: Profile, threshold: float, limit: int | None = None, is_bottom_up: bool = False) -> Selection:
    """The call tree down to `threshold` of the total, or its `limit` longest branches; from the leaves up if that is wanted."""
    if is_bottom_up:
        from collector.profile.bottom_up import bottom_up_tree

        nodes = bottom_up_tree(profile, threshold=threshold)
    else:
        nodes = call_tree(profile, threshold=threshold)
    if not limit or len(nodes) <= limit:
        return Selection(nodes)
    # A caller is never shorter than its callees and stands before them, so the longest branches are a tree.
    by_length = sorted(nodes, key=lambda node: (-node.inclusive[0], node.id))
    kept = {node.id for node in by_length[:limit]}
    return Selection(_renumbered([node for node in nodes if node.id in kept]), by_length[limit:])


def _renumbered(nodes: list[CallNode]) -> list[CallNode]:
    new_id: dict[int | None, int | None] = {None: None}
    renumbered = []
    for position, node in enumerate(nodes):
        new_id[node.id] = position
        renumbered.append(
            CallNode(
                position,
                new_id[node.parent],
                node.depth,
                node.title,
                node.function,
                node.module,
                node.exclusive,
                node.inclusive,
            )
        )
    return renumbered


def _rank(process: Process) -> tuple[bool, int, str, int, int]:
    """Those without a rank come last."""
    return process.rank is None, process.rank or 0, process.node, process.start_ns, process.pid


def _function_name(row: Row) -> str:
    name: str = row.function.name
    return name


def _pcs(profile: Profile) -> list[Row]:
    from collector.profile.pcs import pcs  # no other view wants it

    return pcs(profile)


def _sample_points(profile: Profile) -> list[Row]:
    from collector.profile.sample_points import sample_points  # its rows are dataclasses, which take long to make

    return sample_points(profile)


def _none_last(value: Any) -> tuple[bool, Any]:
    return (value is None, value)


_TIMES: dict[str, SortKey] = {
    "exclusive": lambda row: -row.exclusive[0],
    "inclusive": lambda row: -row.inclusive[0],
    "user": lambda row: -row.exclusive[1],
    "system": lambda row: -row.exclusive[2],
}
_SUMS: dict[str, SortKey] = {
    "cpu": lambda row: -(row.values[1] + row.values[2]),
    "user": lambda row: -row.values[1],
    "system": lambda row: -row.values[2],
    "samples": lambda row: -row.sample_count,
}

GROUP_KEYS: Mapping[str, SortKey] = {**_TIMES, "samples": lambda group: -group.exclusive[3], "group": lambda group: group.title}
"""What groups can be sorted by."""

FUNCTIONS = TableView(
    "functions",
    aggregate.functions,
    {
        **_TIMES,
        "function": _function_name,
        "module": lambda row: (row.module.name, -row.exclusive[0]),
        "file": lambda row: (_none_last(row.function.file), _none_last(row.function.line)),
    },
)
LINES = TableView(
    "lines",
    aggregate.lines,
    {
        **_TIMES,
        "line": lambda row: (_none_last(row.file), _none_last(row.line)),
        "function": _function_name,
    },
)
OBJECTS = TableView("objects", aggregate.objects, {**_TIMES, "module": lambda row: row.module.name})
THREADS = TableView(
    "threads",
    aggregate.threads,
    {
        **_SUMS,
        "thread": lambda row: (row.process.pid, row.thread.tid),
        "name": lambda row: row.thread.name,
        "start": lambda row: row.thread.start_ns,
        "rank": lambda row: _rank(row.process),
    },
)
PROCESSES = TableView(
    "processes",
    aggregate.processes,
    {
        **_SUMS,
        "process": lambda row: (row.process.pid, row.process.image),
        "threads": lambda row: -row.thread_count,
        "start": lambda row: row.process.start_ns,
        "rank": lambda row: _rank(row.process),
        "program": lambda row: row.process.executable,
    },
)
SAMPLES = TableView(
    "samples",
    _sample_points,
    {
        "time": lambda row: row.time,
        "label": lambda row: (not row.label, row.label),
        "process": lambda row: (row.pid, row.time),
        "cpu": lambda row: -((row.change.user or 0.0) + (row.change.system or 0.0)),
        "memory": lambda row: -(row.values.resident_bytes or 0),
    },
)

PCS = TableView(
    "pcs",
    _pcs,
    {
        "exclusive": lambda row: -row.exclusive[0],
        "user": lambda row: -row.exclusive[1],
        "system": lambda row: -row.exclusive[2],
        "address": lambda row: (row.module.name, row.address),
        "function": _function_name,
    },
)

TABLE_VIEWS: dict[str, TableView] = {
    view.name: view for view in (FUNCTIONS, LINES, PCS, SAMPLES, THREADS, PROCESSES, OBJECTS)
}

"""experiment -- an experiment as values for analysis in Python: `collector.open(path)`

Rows are frozen dataclasses of plain numbers and strings, so a list of them goes straight into
`pandas.DataFrame(rows)`. Times are seconds; moments are seconds since the experiment began.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

from collector.errors import UsageError
from collector.load.metric_columns import MetricValues, metric_values
from collector.profile import aggregate
from collector.profile.call_tree import call_tree
from collector.profile.callers_callees import callers_callees
from collector.profile.causes import exit_status
from collector.profile.filters import select
from collector.profile.metric_groups import metric_groups
from collector.profile.model import Module, Process, Profile, Recording
from collector.profile.names import find_functions
from collector.profile.sample_points import SampleReading, sample_points
from collector.units import NS_PER_S

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class FunctionTime:
    """A function: time in it (`exclusive`) and in it with all it called (`inclusive`)."""

    function: str
    module: str
    file: str | None
    line: int | None
    exclusive: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class LineTime:
    """A source line; `file` and `line` are None for code of which no line is known."""

    file: str | None
    line: int | None
    function: str
    module: str
    exclusive: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class ModuleTime:
    """A program, a library, or code without a file."""

    module: str
    path: str
    build_id: str
    exclusive: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class CallTime:
    """A chain of calls; `parent` is the `id` of the caller's row, None for the row of the whole."""

    id: int
    parent: int | None
    depth: int
    function: str
    module: str | None
    exclusive: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class NeighbourTime:
    """A caller or callee of a function (`relation`), or the function itself: `self`."""

    relation: str
    function: str
    module: str | None
    time: float


@dataclass(frozen=True, slots=True)
class ThreadTime:
    """A thread; `samples` is their number, `cpu`, `user` and `system` what they stand for."""

    pid: int
    tid: int
    name: str
    start: float
    end: float | None
    samples: int
    cpu: float
    user: float
    system: float


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """A process image; a process that called execve has several. `exit_status` is -n if signal n ended it."""

    pid: int
    image: int
    parent_pid: int
    program: str
    command: str
    start: float
    end: float | None
    exit_status: int | None
    threads: int
    samples: int
    cpu: float
    user: float
    system: float


class Experiment:
    """One experiment, or several added up. Where a method takes a `metric`, it is cpu, user or system."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        """The tables that all the rest is made from."""

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.total():.3f} s CPU time>"

    @property
    def name(self) -> str:
        """Name of the experiment; of several, joined by blanks."""
        return " ".join(recording.name for recording in self.profile.recordings)

    @property
    def header(self) -> tuple[Recording, ...]:
        """What ran, where and when: one value an experiment."""
        return self.profile.recordings

    @property
    def metrics(self) -> dict[str, MetricValues]:
        """What plugins measured, by the metrics' ids: `experiment.metrics["id"].times` and `.values`."""
        rows = (row for group in metric_groups(self.profile) for row in group.rows)
        return {row.metric.id: metric_values(self.profile, row) for row in rows}

    @property
    def modules(self) -> tuple[Module, ...]:
        """The files that code came from."""
        return self.profile.modules

    @property
    def processes(self) -> list[ProcessTime]:
        """Every process image in the order in which they began."""
        return [
            ProcessTime(
                row.process.pid,
                row.process.image,
                row.process.parent_pid,
                row.process.executable,
                " ".join(row.process.arguments),
                self._moment(row.process, row.process.start_ns),
                self._moment_or_none(row.process, row.process.end_ns),
                exit_status(row.process.status),
                row.thread_count,
                row.sample_count,
                *row.values[:3],
            )
            for row in aggregate.processes(self.profile)
        ]

    @property
    def threads(self) -> list[ThreadTime]:
        """Every thread, the busiest first."""
        return [
            ThreadTime(
                row.process.pid,
                row.thread.tid,
                row.thread.name,
                self._moment(row.process, row.thread.start_ns),
                self._moment_or_none(row.process, row.thread.end_ns),
                row.sample_count,
                *row.values[:3],
            )
            for row in aggregate.threads(self.profile)
        ]

    @property
    def samples(self) -> list[SampleReading]:
        """The sample points in the order of time: those that the program labelled, and periodic ones."""
        return sample_points(self.profile)

    def total(self, metric: str = "cpu") -> float:
        """All samples together, in seconds."""
        return aggregate.total_values(self.profile)[self._column(metric)]

    def functions(self, metric: str = "cpu") -> list[FunctionTime]:
        """Functions, the one with most exclusive time first."""
        column = self._column(metric)
        rows = [
            FunctionTime(
                row.function.name,
                row.module.name,
                row.function.file,
                row.function.line,
                row.exclusive[column],
                row.inclusive[column],
            )
            for row in aggregate.functions(self.profile)
        ]
        return _longest_first(rows, lambda row: row.exclusive)

    def lines(self, metric: str = "cpu") -> list[LineTime]:
        """Source lines, the one with most exclusive time first."""
        column = self._column(metric)
        rows = [
            LineTime(
                row.file,
                row.line,
                row.function.name,
                row.module.name,
                row.exclusive[column],
                row.inclusive[column],
            )
            for row in aggregate.lines(self.profile)
        ]
        return _longest_first(rows, lambda row: row.exclusive)

    def objects(self, metric: str = "cpu") -> list[ModuleTime]:
        """Modules, the one with most exclusive time first."""
        column = self._column(metric)
        rows = [
            ModuleTime(
                row.module.name, row.module.path, row.module.build_id, row.exclusive[column], row.inclusive[column]
            )
            for row in aggregate.objects(self.profile)
        ]
        return _longest_first(rows, lambda row: row.exclusive)

    def call_tree(self, metric: str = "cpu", threshold: float = 0.0) -> list[CallTime]:
        """The call tree, callers before callees, without branches below `threshold` (0 to 1) of the CPU time."""
        column = self._column(metric)
        return [
            CallTime(
                node.id,
                node.parent,
                node.depth,
                node.title,
                node.module.name if node.module else None,
                node.exclusive[column],
                node.inclusive[column],
            )
            for node in call_tree(self.profile, threshold=threshold)
        ]

    def callers_callees(self, name: str, metric: str = "cpu") -> list[NeighbourTime]:
        """Callers, the function itself, callees. UsageError if `name` means no function, or several."""
        column = self._column(metric)
        neighbours = callers_callees(self.profile, self._function(name))
        rows = []
        for relation, group in (("caller", neighbours.callers), ("callee", neighbours.callees)):
            for row in group:
                title = row.function.name if row.function else "(start of the stack)"
                rows.append(
                    NeighbourTime(relation, title, row.module.name if row.module else None, row.values[column])
                )
        itself = NeighbourTime(
            "self", neighbours.function.name, neighbours.module.name, neighbours.exclusive[column]
        )
        rows.insert(len(neighbours.callers), itself)
        return rows

    def select(
        self,
        *,
        pids: Collection[int] | None = None,
        tids: Collection[int] | None = None,
        start: float | None = None,
        end: float | None = None,
    ) -> Experiment:
        """The part of some processes or threads, from `start` up to `end` (seconds since the experiment began)."""
        begin_ns = min((recording.start_ns for recording in self.profile.recordings), default=0)
        return Experiment(
            select(
                self.profile,
                pids=pids,
                tids=tids,
                start_ns=None if start is None else begin_ns + round(start * NS_PER_S),
                end_ns=None if end is None else begin_ns + round(end * NS_PER_S),
            )
        )

    def _column(self, metric: str) -> int:
        names = [known.name for known in self.profile.metrics]
        if metric not in names:
            raise UsageError(f"there is no metric {metric!r}; there are {', '.join(names)}")
        return names.index(metric)

    def _function(self, name: str) -> int:
        match = find_functions(self.profile, name)
        if len(match.found) == 1:
            return match.found[0]
        if match.found:
            names = ", ".join(sorted(self.profile.functions[index].name for index in match.found[:5]))
            raise UsageError(f"{name!r} may mean several functions: {names}")
        hint = f"; did you mean {' or '.join(match.near)}?" if match.near else ""
        raise UsageError(f"no function {name!r} was sampled{hint}")

    def _moment(self, process: Process, time_ns: int) -> float:
        return (time_ns - self.profile.recordings[process.experiment].start_ns) / NS_PER_S

    def _moment_or_none(self, process: Process, time_ns: int | None) -> float | None:
        return None if time_ns is None else self._moment(process, time_ns)


def _longest_first(rows: list[_Key], key: Callable[[_Key], float]) -> list[_Key]:
    rows.sort(key=key, reverse=True)
    return rows

"""aggregate -- flat tables: functions, lines, modules, threads, processes, and how stacks ended."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from collector.profile.causes import NOT_SAMPLED
from collector.profile.groupings import by_function, by_line, by_module, numbered
from collector.profile.lock import held_seconds
from collector.profile.metrics import Values, has_figures, reported_rows, reported_values
from collector.profile.model import Function, Module, Process, Profile, Thread
from collector.profile.samples import GroupSums
from collector.units import NS_PER_S


class FunctionRow(NamedTuple):
    """A function and its time."""

    function: Function
    module: Module
    exclusive: Values
    inclusive: Values


class LineRow(NamedTuple):
    """A source line of a function and its time; `file` and `line` are None where no line is known."""

    file: str | None
    line: int | None
    function: Function
    module: Module
    exclusive: Values
    inclusive: Values


class ObjectRow(NamedTuple):
    """A module and the time of its functions."""

    module: Module
    exclusive: Values
    inclusive: Values


class ThreadRow(NamedTuple):
    """A thread and the time of its samples, and that with Python's lock; None if no Python function is on any stack.

    `wall_s` is how long it was there, and `off_cpu_s` how long of it on no processor: waiting, or ready to run. Both are of its whole life.
    """

    thread: Thread
    process: Process
    sample_count: int
    values: Values
    lock_held_s: float | None = None
    wall_s: float = 0.0
    off_cpu_s: float = 0.0


class ProcessRow(NamedTuple):
    """A process image and the time of its threads."""

    process: Process
    thread_count: int
    sample_count: int
    values: Values


class StackEndRow(NamedTuple):
    """How many samples have stacks that ended this way; `cause` is a key of `causes.STACK_ENDS`. Of `NOT_SAMPLED`, which are no samples, the threads."""

    cause: str
    sample_count: int
    values: Values


def total_values(profile: Profile) -> Values:
    """The reported metrics of all samples together."""
    return reported_values(profile.metrics, [sum(column) for column in profile.samples.cells().values])


def functions(profile: Profile) -> list[FunctionRow]:
    """Functions that are on any stack, the one with most exclusive time first."""
    sums = profile.samples.sum_groups(by_function(profile))
    rows = [
        FunctionRow(function, profile.modules[function.module], exclusive, inclusive)
        for function, (exclusive, inclusive) in zip(profile.functions, _reported(profile, sums))
        if has_figures(inclusive)
    ]
    rows.sort(key=lambda row: (_falling(row.exclusive), _falling(row.inclusive), row.function.name))
    return rows


def lines(profile: Profile) -> list[LineRow]:
    """Source lines that are on any stack, the one with most exclusive time first.

    Code without a known line is one row a function, with no line.
    """
    grouping, keys = by_line(profile)
    rows = []
    for (file, line, index), (exclusive, inclusive) in zip(keys, _reported(profile, profile.samples.sum_groups(grouping))):
        if has_figures(inclusive):
            function = profile.functions[index]
            rows.append(LineRow(file, line, function, profile.modules[function.module], exclusive, inclusive))
    rows.sort(key=lambda row: (_falling(row.exclusive), _falling(row.inclusive), row.file or "", row.line or 0))
    return rows


def objects(profile: Profile) -> list[ObjectRow]:
    """Modules that are on any stack, the one with most exclusive time first."""
    sums = profile.samples.sum_groups(by_module(profile))
    rows = [
        ObjectRow(module, exclusive, inclusive)
        for module, (exclusive, inclusive) in zip(profile.modules, _reported(profile, sums))
        if has_figures(inclusive)
    ]
    rows.sort(key=lambda row: (_falling(row.exclusive), _falling(row.inclusive), row.module.name))
    return rows


def threads(profile: Profile) -> list[ThreadRow]:
    """Every thread, the busiest first."""
    base, counts = _sums_by(profile, profile.samples.cells().threads, len(profile.threads))
    held: Sequence[float | None] = held_seconds(profile) or [None] * len(base)
    rows = [
        ThreadRow(thread, profile.processes[thread.process], count, values, held_s, *wall_times(profile, thread))
        for thread, values, count, held_s in zip(profile.threads, _reported_of(profile, base), counts, held)
    ]
    rows.sort(key=lambda row: (_falling(row.values), row.process.pid, row.thread.tid))
    return rows


def wall_times(profile: Profile, thread: Thread) -> tuple[float, float]:
    """How long a thread was there, and how long of it on no processor, in seconds."""
    process = profile.processes[thread.process]
    end_ns = thread.end_ns or process.end_ns or profile.recordings[process.experiment].end_ns
    wall_ns = max(0, end_ns - thread.start_ns)
    return wall_ns / NS_PER_S, max(0, wall_ns - thread.cpu_ns) / NS_PER_S


def processes(profile: Profile) -> list[ProcessRow]:
    """Every process image, in the order in which they began."""
    process_of = [profile.threads[index].process for index in profile.samples.cells().threads]
    base, counts = _sums_by(profile, process_of, len(profile.processes))
    thread_counts = [0] * len(profile.processes)
    for thread in profile.threads:
        thread_counts[thread.process] += 1
    rows = [
        ProcessRow(process, thread_count, count, values)
        for process, thread_count, count, values in zip(profile.processes, thread_counts, counts, _reported_of(profile, base))
    ]
    rows.sort(key=lambda row: (row.process.experiment, row.process.start_ns, row.process.pid, row.process.image))
    return rows


def stack_ends(profile: Profile) -> list[StackEndRow]:
    """Samples by the way their stack ended, the most frequent first. A cell is of one thread, so that those without a sample can be counted."""
    ends = profile.samples.cells().ends
    group_of_cell, causes = numbered(ends)
    base, counts = _sums_by(profile, group_of_cell, len(causes))
    rows = [
        StackEndRow(cause, ends.count(NOT_SAMPLED) if cause == NOT_SAMPLED else count, reported_values(profile.metrics, values))
        for cause, count, values in zip(causes, counts, base)
    ]
    rows.sort(key=lambda row: (-row.sample_count, row.cause))
    return rows


def _reported(profile: Profile, sums: GroupSums) -> Iterable[tuple[Values, Values]]:
    return zip(reported_rows(profile.metrics, sums.exclusive), reported_rows(profile.metrics, sums.inclusive))


def _reported_of(profile: Profile, base: Sequence[Sequence[float]]) -> list[Values]:
    """The reported metrics of each row of base values."""
    return reported_rows(profile.metrics, list(zip(*base))) if base else []


def _sums_by(profile: Profile, group_of_cell: Iterable[int], count: int) -> tuple[list[list[float]], list[int]]:
    cells = profile.samples.cells()
    sums = [[0.0] * len(cells.values) for _ in range(count)]
    sample_counts = [0] * count
    for group, samples, values in zip(group_of_cell, cells.counts, zip(*cells.values)):
        sample_counts[group] += samples
        into = sums[group]
        for base, value in enumerate(values):
            into[base] += value
    return sums, sample_counts


def _falling(values: Sequence[float]) -> float:
    return -values[0]

"""experiment -- an experiment as values for analysis in Python: `collector.open(path)`

Rows are frozen dataclasses of plain values, so a list of them goes straight into `pandas.DataFrame(rows)`. They are what JSON and CSV
show as well. Times are seconds; moments are seconds since the experiment began.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from operator import attrgetter, itemgetter
from typing import TypeVar

from collector.errors import UsageError
from collector.load.categories import categories_of
from collector.load.outdated import with_outdated
from collector.profile import aggregate, code_rows, over_ranks, process_rows
from collector.profile.bottom_up import bottom_up_tree
from collector.profile.call_tree import call_tree, hot_path
from collector.profile.callers_callees import callers_callees
from collector.profile.categories import CategoryError
from collector.profile.category_calls import category_calls
from collector.profile.filters import FilterError, Word, select
from collector.profile.grouped import grouped_rows, groups
from collector.profile.metric_groups import metric_groups
from collector.profile.metric_rows import MetricValues, metric_values
from collector.profile.model import Module, Profile
from collector.profile.names import find_functions, told_apart
from collector.profile.pcs import pcs
from collector.profile.regions import regions
from collector.profile.runtime_hints import with_runtime_hints
from collector.profile.sample_points import SampleReading, sample_points
from collector.profile.timeline import Timeline, timeline
from collector.profile.warnings import warnings_of
from collector.units import NS_PER_S

_Row = TypeVar("_Row")


class Experiment:
    """One experiment, or several added up. Where a method takes a `metric`, it is cpu, user or system."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        """The tables that all the rest is made from."""

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.total():.3f} s CPU time>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from collector.load.notebook import summary_html

        return summary_html(self.profile)

    @property
    def name(self) -> str:
        """Name of the experiment; of several, joined by blanks."""
        return " ".join(recording.name for recording in self.profile.recordings)

    @property
    def header(self) -> list[process_rows.ExperimentFacts]:
        """What ran, where and when: one value an experiment."""
        return process_rows.experiment_facts(self.profile)

    @property
    def metrics(self) -> dict[str, MetricValues]:
        """What plugins measured, by the metrics' ids: `experiment.metrics["id"].times` and `.values`."""
        return {row.metric.id: metric_values(self.profile, group.title, row) for group in metric_groups(self.profile) for row in group.rows}

    @property
    def modules(self) -> tuple[Module, ...]:
        """The files that code came from."""
        return self.profile.modules

    @property
    def processes(self) -> list[process_rows.ProcessTime]:
        """Every process image in the order in which they began."""
        return process_rows.process_times(self.profile, aggregate.processes(self.profile))

    @property
    def threads(self) -> list[process_rows.ThreadTime]:
        """Every thread, the busiest first."""
        return process_rows.thread_times(self.profile, aggregate.threads(self.profile))

    @property
    def samples(self) -> list[SampleReading]:
        """The sample points in the order of time: those that the program labelled, and periodic ones."""
        return sample_points(self.profile)

    @property
    def warnings(self) -> list[str]:
        """What went wrong in recording and reading, and functions with much time on few samples; a sentence each."""
        return warnings_of(with_runtime_hints(with_outdated(self.profile)), ((row.function.name, row.exclusive) for row in aggregate.functions(self.profile)))

    def total(self, metric: str = "cpu") -> float:
        """All samples together, in seconds."""
        return self._figure(metric)(aggregate.total_values(self.profile))

    def functions(self, metric: str = "cpu") -> list[code_rows.FunctionTime[float]]:
        """Functions, the one with most exclusive time first."""
        return _longest_first(code_rows.function_times(aggregate.functions(self.profile), self._figure(metric)))

    def lines(self, metric: str = "cpu") -> list[code_rows.LineTime[float]]:
        """Source lines, the one with most exclusive time first."""
        return _longest_first(code_rows.line_times(aggregate.lines(self.profile), self._figure(metric)))

    def objects(self, metric: str = "cpu") -> list[code_rows.ModuleTime[float]]:
        """Modules, the one with most exclusive time first."""
        return _longest_first(code_rows.module_times(aggregate.objects(self.profile), self._figure(metric)))

    def pcs(self, metric: str = "cpu") -> list[code_rows.PcTime[float]]:
        """The addresses at which samples were taken, the one with most time first."""
        return _longest_first(code_rows.pc_times(pcs(self.profile), self._figure(metric)))

    def regions(self, metric: str = "cpu", categories: Collection[str] = ()) -> list[code_rows.RegionTime[float]]:
        """The parallel regions of an OpenMP program, the one with most time first."""
        return code_rows.region_times(regions(self.profile, categories_of(categories)), self._figure(metric))

    def calls(self, category: str, metric: str = "cpu", categories: Collection[str] = ()) -> list[code_rows.CategoryCallTime[float]]:
        """By which calls time was spent on a category such as MPI, and from where, most time first."""
        try:
            rows = category_calls(self.profile, categories_of(categories), category)
        except CategoryError as error:
            raise UsageError(str(error)) from error
        return code_rows.category_call_times(rows, self._figure(metric))

    def call_tree(self, metric: str = "cpu", threshold: float = 0.0, bottom_up: bool = False) -> list[code_rows.CallTime[float]]:
        """The call tree, callers before callees, without branches below `threshold` (0 to 1) of the CPU time; or from the leaves up."""
        tree = bottom_up_tree if bottom_up else call_tree
        return code_rows.call_times(tree(self.profile, threshold=threshold), self._figure(metric))

    def hot_path(self, metric: str = "cpu") -> list[code_rows.CallTime[float]]:
        """The heaviest chain of calls, the caller first, down to where the CPU time divides."""
        return code_rows.call_times(hot_path(self.profile).nodes, self._figure(metric))

    def timeline(self, steps: int = 100, by: str = "process") -> Timeline:
        """The CPU time of each process or `thread` in so many equal steps of the recording."""
        if by not in ("process", "thread"):
            raise UsageError(f"a timeline is by process or by thread, not by {by}")
        return timeline(self.profile, steps, by == "thread")

    def groups(self, by: str, metric: str = "cpu", categories: Collection[str] = ()) -> list[code_rows.GroupTime[float]]:
        """The time by module, file, thread, process, label, category, rank or node; `categories` are files with tables of your own."""
        return code_rows.group_times(groups(self.profile, _known(by), categories_of(categories)), self._figure(metric))

    def functions_by(self, by: str, metric: str = "cpu", categories: Collection[str] = ()) -> list[code_rows.GroupedTime[float]]:
        """The functions of each module, file, thread, process, label, category, rank or node, group by group."""
        return self._grouped("functions", by, metric, categories)

    def lines_by(self, by: str, metric: str = "cpu", categories: Collection[str] = ()) -> list[code_rows.GroupedTime[float]]:
        """The source lines of each module, file, thread, process, label, category, rank or node, group by group."""
        return self._grouped("lines", by, metric, categories)

    def spreads(self, by: str = "rank", view: str = "functions", metric: str = "cpu") -> list[code_rows.SpreadTime]:
        """How the functions, `lines` or `objects` differ between the ranks of a parallel job, or its nodes: least, mean and greatest time, and where."""
        if by not in (over_ranks.RANK, over_ranks.NODE) or view not in over_ranks.VIEWS:
            raise UsageError(f"spreads are of {', '.join(over_ranks.VIEWS)} by rank or by node, not of {view} by {by}")
        self._figure(metric)
        position = [known.name for known in self.profile.metrics].index(metric)
        return code_rows.spread_times(over_ranks.spreads(self.profile, by, view, position))

    def _grouped(self, view: str, by: str, metric: str, categories: Collection[str]) -> list[code_rows.GroupedTime[float]]:
        shown, _ = grouped_rows(self.profile, _known(by), view, categories_of(categories))
        return code_rows.grouped_times(shown, self._figure(metric))

    def callers_callees(self, name: str, metric: str = "cpu") -> list[code_rows.NeighbourTime[float]]:
        """Callers, the function itself, callees. UsageError if `name` means no function, or several."""
        return code_rows.neighbour_times(callers_callees(self.profile, self._function(name)), self._figure(metric))

    def select(
        self,
        *,
        pids: Collection[Word] | None = None,
        tids: Collection[Word] | None = None,
        ranks: Container[int] | None = None,
        nodes: Collection[str] | None = None,
        start: float | None = None,
        end: float | None = None,
        between: tuple[str, str] | None = None,
        modules: Collection[str] = (),
        functions: Collection[str] = (),
        leaf: Collection[str] = (),
        ignore: Collection[str] = (),
        focus: str | None = None,
        callers_of: str | None = None,
        category: str | None = None,
        categories: Collection[str] = (),
        lock: str | None = None,
    ) -> Experiment:
        """The part of some processes or threads (numbers, or shell patterns of names), of ranks (as `range(16)`) and nodes (shell patterns) of a
        parallel job, from `start` up to `end` (seconds since the experiment began), between two labels, with code of all `modules` (shell
        patterns) and all `functions` (regular expressions) on the stack, in functions that fit `leaf`, with none on the stack that fits
        `ignore`, and of one `category`. With `focus` stacks begin at the first function that fits it, with `callers_of` they end at the first
        that fits that. `lock` is `held` or `released`: only samples of Python functions with, or without, the global interpreter lock.
        UsageError if something fits nothing.
        """
        begin_ns = min((recording.start_ns for recording in self.profile.recordings), default=0)
        try:
            part = select(
                self.profile,
                pids=pids,
                tids=tids,
                ranks=ranks,
                nodes=nodes,
                start_ns=None if start is None else begin_ns + round(start * NS_PER_S),
                end_ns=None if end is None else begin_ns + round(end * NS_PER_S),
                between=between,
                modules=modules,
                functions=functions,
                leaf=leaf,
                ignore=ignore,
                focus=focus,
                callers_of=callers_of,
                category=category,
                categories=None if category is None else categories_of(categories),
                lock=lock,
            )
        except FilterError as error:
            raise UsageError(str(error)) from error
        return Experiment(part)

    def _figure(self, metric: str) -> code_rows.Figure[float]:
        names = [known.name for known in self.profile.metrics]
        if metric not in names:
            raise UsageError(f"there is no metric {metric!r}; there are {', '.join(names)}")
        return itemgetter(names.index(metric))

    def _function(self, name: str) -> int:
        match = find_functions(self.profile, name)
        if len(match.found) == 1:
            return match.found[0]
        if match.found:
            raise UsageError(f"{name!r} may mean several functions: {', '.join(told_apart(self.profile, name, match.found)[:5])}")
        hint = f"; did you mean {' or '.join(match.near)}?" if match.near else ""
        raise UsageError(f"no function {name!r} was sampled{hint}")


def _known(by: str) -> str:
    names = "module", "file", "thread", "process", "label", "category", "rank", "node"
    if by not in names:
        raise UsageError(f"nothing is grouped by {by!r}; there are {', '.join(names)}")
    return by


def _longest_first(times: list[_Row]) -> list[_Row]:
    times.sort(key=attrgetter("exclusive"), reverse=True)
    return times

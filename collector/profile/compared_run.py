"""compared_run -- one run of a program as a comparison takes it: its times by function, line or call path, under names that last from build to build"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from collector.profile import aggregate
from collector.profile.call_tree import CallNode, call_tree
from collector.profile.metrics import CPU_METRICS, CPU_NAMES, Metric, RatioPlace, Values, add_values
from collector.profile.model import Clock, Function, Module, Profile

_LAMBDA_PLACE = re.compile(r"(?<=\{lambda):[\d:]+(?=\})")

Key = tuple[object, ...]


class Measure(NamedTuple):
    """CPU time in seconds, or another metric, and the number of samples it rests on."""

    time: float
    samples: float


NOTHING: Final = Measure(0.0, 0)


@dataclass(frozen=True, slots=True)
class ComparedPlace:
    """What a row is about: a function, a line of it, or the function when called so: by `callers`, from the start of its thread (None: unknown) on."""

    function: Function
    module: Module
    file: str | None
    line: int | None
    callers: tuple[Function | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What a comparison needs of one run of the program."""

    name: str
    command: tuple[str, ...]
    host: str
    clocks: frozenset[Clock]
    total: Measure
    times: Mapping[Key, Measure]
    places: Mapping[Key, ComparedPlace]
    metric: Metric = CPU_METRICS[0]


def function_run(profile: Profile, ratio: RatioPlace | None = None) -> Run:
    """A run by functions; of the profile's first metric, or of a ratio to that."""
    rows = aggregate.functions(profile)
    return _run(profile, ratio, rows, lambda row: (), lambda row: (row.function.file, row.function.line))


def line_run(profile: Profile, ratio: RatioPlace | None = None) -> Run:
    """A run by lines. A line is known by its distance from the start of its function, which a change elsewhere in the file does not shift."""

    def key(row: aggregate.LineRow) -> Key:
        if row.line is None or row.function.line is None or row.file != row.function.file:
            return _base(row.file), row.line
        return "", row.line - row.function.line

    return _run(profile, ratio, aggregate.lines(profile), key, lambda row: (row.file, row.line))


def path_run(profile: Profile, ratio: RatioPlace | None = None) -> Run:
    """A run by call paths, recursion folded. Exclusive time, so that no difference is counted again further up."""
    nodes = call_tree(profile)

    def callers(node: CallNode) -> tuple[Function | None, ...]:
        found: list[Function | None] = []
        while node.parent:
            node = nodes[node.parent]
            found.append(node.function)
        return tuple(reversed(found))

    def key(node: CallNode) -> Key:
        return tuple(function and _lasting_name(function) for function in callers(node))

    rows = [node for node in nodes if node.function]
    return _run(profile, ratio, rows, key, lambda node: (node.function.file, node.function.line), callers)


RUNS: Final[dict[str, Callable[[Profile, RatioPlace | None], Run]]] = {"function": function_run, "line": line_run, "path": path_run}
"""What can be compared, and what makes a run of a profile."""


def _run(
    profile: Profile, ratio: RatioPlace | None, rows: Iterable[Any], key: Callable[[Any], Key], where: Callable[[Any], tuple[str | None, int | None]],
    callers: Callable[[Any], tuple[Function | None, ...] | None] = lambda row: None,
) -> Run:
    sums: dict[Key, Values] = {}
    places: dict[Key, ComparedPlace] = {}
    for row in rows:
        if row.exclusive[0] > 0:
            function = row.function
            name = (*function_key(function, row.module), *key(row))
            sums[name] = add_values(sums[name], row.exclusive) if name in sums else row.exclusive
            places.setdefault(name, ComparedPlace(function, row.module, *where(row), callers(row)))

    total = aggregate.total_values(profile)
    whole = Measure(total[0], total[3])

    def measure(values: Values) -> Measure:
        return Measure(ratio.of(values) or 0.0, values[3]) if ratio else sampled_measure(profile.metrics[0], values[0], values[3], whole)

    times = {name: measure(values) for name, values in sums.items()}
    metric = ratio.ratio.metric if ratio else profile.metrics[0]
    recording = profile.recordings[0]
    clocks = frozenset(process.clock for process in profile.processes if process.clock)
    return Run(recording.name, recording.command, recording.host, clocks, measure(total), times, places, metric)


def sampled_measure(metric: Metric, time: float, samples: float, whole: Measure) -> Measure:
    """CPU time that rests on no sample is of threads which exited before their first one: it is judged as if it had as many as such a time has elsewhere."""
    is_unsampled = not samples and is_sampled(metric) and whole.time
    return Measure(time, time * whole.samples / whole.time if is_unsampled else samples)


def is_sampled(metric: Metric) -> bool:
    """Whether the number of samples says how certain it is."""
    return metric.name in CPU_NAMES


def function_key(function: Function, module: Module) -> Key:
    """What a function is known by on both sides."""
    return _lasting_name(function), module.name, _base(function.file)


def _lasting_name(function: Function) -> str:
    """Without the place that tells it from others of its name in one build (`{lambda:8:15}`, `mix:5`), which a change elsewhere in the file shifts."""
    name = function.name.removesuffix(f":{function.line}") if function.line else function.name
    return _LAMBDA_PLACE.sub("", name)


def _base(file: str | None) -> str:
    """Builds of a program lie in different directories."""
    return (file or "").rpartition("/")[2]


def other_modules(old: Set[Key], new: Set[Key]) -> dict[Key, Key]:
    """What stands on one side only, and on the other with all but its module's name: as when `prog-1` is compared with `prog-2`."""
    counts = Counter(_without_module(key) for key in old ^ new)
    left = {_without_module(key): key for key in old - new}
    return {key: left[short] for key in new - old if (short := _without_module(key)) in left and counts[short] == 2}


def _without_module(key: Key) -> Key:
    return key[0], *key[2:]


def in_shares(run: Run) -> Run:
    """The run with times as parts of its total, for runs that were not equally long."""
    whole = run.total.time or 1.0
    times = {key: Measure(measure.time / whole, measure.samples) for key, measure in run.times.items()}
    return replace(run, times=times, total=Measure(run.total.time / whole, run.total.samples))

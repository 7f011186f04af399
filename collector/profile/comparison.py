"""comparison -- runs of a program before and after a change: where the time differs, and whether by more than chance

Compared is exclusive CPU time, or another metric. With one run on each side, chance is that of the samples: their counts are Poisson, and two of them are
compared exactly. With more, it is the spread between runs of one side (both sides' together), by Student's t; yet never less than what
sampling leaves uncertain, for few runs can agree by luck. That is the binomial variance, which for the total is none: the kernel accounts it.
As whole runs are faster or slower, a row is looked at beside the rest of its program as well (`beside_rest`): the surer of the two counts. One run
on each side does not tell how runs differ: there both count, but for what changed by more than a factor of SPEED.
Of other metrics nobody knows what chance their samples have, so that only several runs tell; of events it is no less than that of as many by accident.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from math import exp, inf, sqrt
from statistics import fmean
from typing import Any, Final, NamedTuple

from collector.profile import aggregate
from collector.profile.beside_rest import BesideRest, Sides
from collector.profile.call_tree import CallNode, call_tree
from collector.profile.metrics import CPU_METRICS, CPU_NAMES, Metric, RatioPlace, Values, add_values
from collector.profile.model import Clock, Function, Module, Profile
from collector.profile.significance import counts_p, holm, student_quantile, t_p

CONFIDENCE: Final = 0.95
LEVEL: Final = 0.01  # of what is called significant
LEAST_SAMPLES: Final = 10  # of both sides together; fewer can hardly tell two functions apart, and a test less makes all others sharper
SPEED: Final = 1.1
"""By this factor the only run of a side may be faster or slower as a whole than the next one would be: nothing tells."""
_LAMBDA_PLACE = re.compile(r"(?<=\{lambda):[\d:]+(?=\})")
_WIDEST = 1000.0  # a ratio known no better than that is not known

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


@dataclass(frozen=True, slots=True)
class Change:
    """Mean time of a run before and after, their difference and ratio, each with the ends of its confidence interval, None if nothing is known of it.

    `rest_ratio` is by how much more it changed than the rest of the program, with its interval; None if that is not known, as of a program of one function.
    `p` is how likely chance alone makes such a difference, with the number of comparisons taken into account; None if there are too few
    samples to compare. `verdict`: `slower`, `faster`, `new` or `gone` where that is significant, else `none`.
    """

    before: float
    after: float
    before_samples: int
    after_samples: int
    difference: float
    difference_low: float | None
    difference_high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p: float | None
    verdict: str
    rest_ratio: float | None = None
    rest_low: float | None = None
    rest_high: float | None = None


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A function, line or call path, and how its time changed."""

    key: Key
    place: ComparedPlace
    change: Change


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it; rows with the significant first, then by the size of the difference. `compared` of them had samples enough.

    Rows go by their keys before; `renamed` has those of the after side that differ.
    """

    before: tuple[Run, ...]
    after: tuple[Run, ...]
    by: str
    total: Change
    rows: tuple[ComparedRow, ...]
    compared: int
    renamed: Mapping[Key, Key]

    @property
    def kind(self) -> str:
        """What a row is, in words."""
        return "call path" if self.by == "path" else self.by

    @property
    def metric(self) -> Metric:
        """What is compared."""
        return self.before[0].metric

    @property
    def is_sampled(self) -> bool:
        """Whether the number of samples says how certain it is."""
        return _is_sampled(self.metric)

    @property
    def has_spread(self) -> bool:
        """Whether there are runs to see a spread between."""
        return len(self.before) + len(self.after) > 2


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
    is_unsampled = not samples and _is_sampled(metric) and whole.time
    return Measure(time, time * whole.samples / whole.time if is_unsampled else samples)


def _is_sampled(metric: Metric) -> bool:
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


def compare(before: Sequence[Run], after: Sequence[Run], by: str = "function") -> Comparison:
    """Compare runs of the same program by the metric of the first, one or several on each side."""
    metric = before[0].metric
    renamed = other_modules(*({key for run in side for key in run.times} for side in (before, after)))
    totals = [[run.total for run in side] for side in (before, after)]
    total, p = _change(totals, totals, metric)
    places = {key: place for run in before for key, place in run.places.items()}
    places |= {renamed.get(key, key): place for run in after for key, place in run.places.items()}
    tables: list[list[Mapping[Key, Measure]]] = [
        [run.times for run in before],
        [{renamed.get(key, key): time for key, time in run.times.items()} for run in after],
    ]
    changes = judged_changes(tables, totals, places, metric, has_rest=_is_sampled(metric))
    rows = [ComparedRow(key, places[key], change) for key, change in changes.items()]
    rows.sort(key=lambda row: (row.change.verdict == "none", -_weight(row.change, metric), row.place.function.name))
    compared = sum(row.change.p is not None for row in rows)
    return Comparison(tuple(before), tuple(after), by, _judged(total, p), tuple(rows), compared, renamed)


def _weight(change: Change, metric: Metric) -> float:
    """What rows are sorted by. A ratio is largest where there is hardly anything to divide by, so that it is not that."""
    return change.before_samples + change.after_samples if is_ratio(metric) else abs(change.difference)


def is_ratio(metric: Metric) -> bool:
    """Whether it is one metric divided by another."""
    return not metric.parts


def judged_changes(
    tables: Sequence[Sequence[Mapping[Any, Measure]]], totals: Sequence[Sequence[Measure]], keys: Iterable[Any],
    metric: Metric = CPU_METRICS[0], has_rest: bool = False,
) -> dict[Any, Change]:
    """How each changed from the tables of the runs before to those after, all judged together.

    If it `has_rest`, the total is that of all of them, so that what is no part of one is the rest of the program.
    """
    changes = {key: _change([[table.get(key, NOTHING) for table in side] for side in tables], totals, metric) for key in keys}
    least = LEAST_SAMPLES if _is_sampled(metric) else 0
    tested = {key: p for key, (change, p) in changes.items() if p is not None and change.before_samples + change.after_samples >= least}
    if not has_rest:
        adjusted = dict(zip(tested, holm(list(tested.values()))))
        return {key: _judged(change, adjusted.get(key)) for key, (change, _) in changes.items()}
    if sum(map(len, tables)) == 2:  # nothing tells how runs differ: what changed has done so by itself and beside the rest, or by far
        found = list(tested)
        beside = Sides(tables, totals, CONFIDENCE).judged(found, (), LEVEL / 2)
        by_far = {key: _change([[table.get(key, NOTHING) for table in side] for side in tables], totals, metric, SPEED)[1] or 0.0 for key in tested}
        both = {key: 2 * min(max(p, _p_of_same(changes[key][0], beside.get(key))), by_far[key]) for key, p in tested.items()}
    else:  # two questions are asked of each row; the answer that is surer counts
        found = [key for key, p in zip(tested, holm([2 * p for p in tested.values()])) if p <= LEVEL]
        beside = Sides(tables, totals, CONFIDENCE).judged(list(tested), found, LEVEL / 2)
        both = {key: 2 * min(p, beside[key].p if key in beside else 1.0) for key, p in tested.items()}
    adjusted = dict(zip(both, holm(list(both.values()))))
    return {
        key: _judged(change, adjusted.get(key), beside.get(key), key in found) for key, (change, _) in changes.items()
    }


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


def _p_of_same(change: Change, beside: BesideRest | None) -> float:
    """That of the change beside the rest: 0 if there is no rest to speak of, 1 if it is a change to the other side."""
    if beside is None:
        return 0.0
    return 1.0 if beside.ratio is not None and (beside.ratio > 1) != (change.difference > 0) else beside.p


def _judged(change: Change, p: float | None, beside: BesideRest | None = None, is_sure: bool = True) -> Change:
    """The change with its p and what that says; `beside` the rest unless it `is_sure` by itself."""
    if beside is not None:
        change = replace(change, rest_ratio=beside.ratio, rest_low=beside.low, rest_high=beside.high)
    if p is None or p > LEVEL:
        return replace(change, p=p)
    is_slower = change.difference > 0 if is_sure or beside is None or beside.ratio is None else beside.ratio > 1
    return replace(change, p=p, verdict="new" if not change.before else "gone" if not change.after else "slower" if is_slower else "faster")


def _change(
    sides: Sequence[Sequence[Measure]], totals: Sequence[Sequence[Measure]], metric: Metric, speed: float = 1.0
) -> tuple[Change, float | None]:
    """How a row changed, and its p among no others; None if that cannot be told. One run on each side may differ by a factor of `speed` in any case."""
    counts = [len(side) for side in sides]
    before, after = (fmean(measure.time for measure in side) for side in sides)
    samples = [sum(measure.samples for measure in side) for side in sides]
    ratio = after / before if before else None
    freedom = sum(counts) - 2
    difference = after - before
    if not freedom and not _is_sampled(metric):
        return Change(before, after, round(samples[0]), round(samples[1]), difference, None, None, ratio, None, None, None, "none"), None
    weights = _weights(sides, totals)
    p: float | None
    if freedom:
        # Both of the same program, if nothing changed: then the best guess at its time is that of all samples.
        exposures = [count / weight for count, weight in zip(counts, weights)]
        time, whole = (_common_time(one, exposures) for one in (sides, totals))
        sampling = time * (1 - time / whole) * sum(1 / exposure for exposure in exposures) if whole else 0.0
        if not _is_sampled(metric):
            sampling = 0.0 if metric.unit else before / counts[0] + after / counts[1]
        squares = sum((measure.time - mean) ** 2 for side, mean in zip(sides, (before, after)) for measure in side)
        variance = max(sampling, squares / freedom * sum(1 / count for count in counts))
        p = t_p(difference, sqrt(variance), freedom)
        errors = [variance / sum(1 / count for count in counts) / count for count in counts]
    else:
        same = min(max(ratio, 1 / speed), speed) if ratio is not None else speed
        share = weights[1] / (same * weights[0] + weights[1])
        p = 1.0 if ratio == same else counts_p(before / weights[0], after / weights[1], share)
        errors = [before * weights[0], after * weights[1]]
    reach = _reach(freedom)
    error = reach * sqrt(sum(errors))
    low, high = _ratio_ends(before, after, errors, reach)
    ends = difference - error, difference + error
    return Change(before, after, round(samples[0]), round(samples[1]), difference, *ends, ratio, low, high, None, "none"), p


@cache
def _reach(freedom: int) -> float:
    return student_quantile(CONFIDENCE, freedom or inf)


def _common_time(sides: Sequence[Sequence[Measure]], exposures: Sequence[float]) -> float:
    means = (fmean(measure.time for measure in side) for side in sides)
    return sum(mean * exposure for mean, exposure in zip(means, exposures)) / sum(exposures)


def _weights(sides: Sequence[Sequence[Measure]], totals: Sequence[Sequence[Measure]]) -> list[float]:
    """The time that a sample of the row stands for on each side.

    Usually as much as any sample of that side. Where a row's samples stand for more, as when ticks were withheld, the same is
    assumed of the other side, which may have none of them.
    """
    usual = [sum(one.time for one in side) / max(1.0, sum(one.samples for one in side)) for side in totals]
    heavy = 1.0
    for side, weight in zip(sides, usual):
        samples = sum(measure.samples for measure in side)
        if weight:
            heavy = max(heavy, sum(measure.time for measure in side) / max(1.0, samples) / weight)
    least = max(usual) or 1.0  # a side without any samples is measured by the other
    return [heavy * (weight or least) for weight in usual]


def _ratio_ends(before: float, after: float, errors: Sequence[float], reach: float) -> tuple[float | None, float | None]:
    """The interval of after / before, from that of its logarithm; None where hardly anything is known of it."""
    if not before or not after:
        return None, None
    factor = exp(min(reach * sqrt(errors[0] / before**2 + errors[1] / after**2), 100.0))
    return (after / before / factor, after / before * factor) if factor <= _WIDEST else (None, None)


def slower_than(comparison: Comparison, limit: float) -> tuple[Change | ComparedRow, ...]:
    """The total, and functions of at least that share of it, that got significantly slower by more than `limit` of themselves.

    What is new is not among them: it is slower than nothing by any measure, and where it costs time the total shows it.
    """
    total = comparison.total
    found: list[Change | ComparedRow] = [total] if _exceeds(total, limit) else []
    for row in comparison.rows:
        change = row.change
        if _exceeds(change, limit) and (change.before >= limit * total.before or change.after >= limit * total.after):
            found.append(row)
    return tuple(found)


def _exceeds(change: Change, limit: float) -> bool:
    return change.verdict == "slower" and change.ratio is not None and change.ratio > 1 + limit


SORT_KEYS: Final[dict[str, Callable[[ComparedRow], Any]]] = {
    "difference": lambda row: -abs(row.change.difference),
    "ratio": lambda row: -(inf if row.change.ratio is None else row.change.ratio),
    "before": lambda row: -row.change.before,
    "after": lambda row: -row.change.after,
    "p": lambda row: (row.change.p is None, row.change.p),
    "function": lambda row: row.place.function.name,
    "module": lambda row: row.place.module.name,
    "line": lambda row: (row.place.file or "", row.place.line or 0),
}
"""What the rows can be sorted by."""

"""filters -- a part of a profile, as a profile: some processes, threads, stacks, some span of time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from collector.profile.categories import Categories, CategoryError
from collector.profile.lock import lock_filter
from collector.profile.model import Function, Profile
from collector.profile.samples import EVER, CategoryFilter, Span, Spans, StackFilter
from collector.units import NS_PER_S, format_seconds

if TYPE_CHECKING:
    from collector.profile.metric_series import MetricSeries

Word = int | str
"""The number of a process or thread, or a shell pattern of its name."""


class FilterError(ValueError):
    """A filter that makes no sense, or fits nothing in the profile."""


def select(
    profile: Profile,
    *,
    pids: Collection[Word] | None = None,
    tids: Collection[Word] | None = None,
    ranks: Container[int] | None = None,
    nodes: Collection[str] | None = None,
    start_ns: int | None = None,
    end_ns: int | None = None,
    between: Sequence[str] | None = None,
    modules: Collection[str] = (),
    functions: Collection[str] = (),
    leaf: Collection[str] = (),
    ignore: Collection[str] = (),
    focus: str | None = None,
    callers_of: str | None = None,
    category: str | None = None,
    categories: Categories | None = None,
    lock: str | None = None,
) -> Profile:
    """The samples of these processes and threads, of these ranks on these nodes (shell patterns), from `start_ns` up to, not including, `end_ns`.

    `between` are the labels of two sample points. Of `modules` (shell patterns of a name or path) and `functions` (regular expressions)
    all must be on a stack, its last function must fit all of `leaf`, and none on it may fit any of `ignore`; it must be of `category`, one of
    `categories`. With `focus` stacks begin at the first function that fits it, with `callers_of` they end at the first that fits that; those
    without one are left out. `lock` is `held` or `released`: whether Python held its lock. None, or nothing, is no restriction. Tables keep their positions;
    only samples, sample points and readings of metrics become fewer. FilterError if something fits nothing.
    """
    processes = _common_processes(profile, pids, ranks, nodes)
    threads = None if processes is None and tids is None else _chosen_threads(profile, processes, tids)
    if between is not None:
        from_ns, to_ns = _span_between(profile, *between)
        start_ns, end_ns = max(start_ns or 0, from_ns), to_ns if end_ns is None else min(end_ns, to_ns)
    identities = None if processes is None else {profile.processes[process].identity for process in processes}
    points = tuple(
        point
        for point in profile.points
        if (identities is None or (point.process is not None and profile.processes[point.process].identity in identities))
        and (start_ns is None or point.time_ns >= start_ns)
        and (end_ns is None or point.time_ns < end_ns)
    )
    series = tuple(
        part
        for one in profile.series
        if processes is None or one.process in processes
        for part in _cut_series(one, start_ns, end_ns)
    )
    stacks = _stack_filter(profile, modules, functions, leaf)._replace(
        nowhere=frozenset().union(*(_named_frames(profile, text) for text in ignore)),
        begin=None if focus is None else _named_frames(profile, focus),
        end=None if callers_of is None else _named_frames(profile, callers_of),
        category=None if category is None or categories is None else _category(profile, category, categories),
    )
    spans = None if threads is None and start_ns is None and end_ns is None else spans_of(profile, threads, start_ns, end_ns)
    try:
        samples = profile.samples.select(spans, stacks if lock is None else stacks.joined(_lock_filter(profile, lock)))
    except ValueError as error:
        raise FilterError(str(error)) from error
    words = {
        "process": pids, "thread": tids, "ranks": None if ranks is None else [ranks], "node": nodes, "module": modules, "function": functions,
        "leaf": leaf, "without": ignore,
    }  # fmt: skip
    told = [*(f"{what} {word}" for what, listed in words.items() for word in listed or ()), *_told_span(profile, between, start_ns, end_ns)]
    single = {"from": focus, "callers of": callers_of, "category": category, "lock": lock}
    told += [f"{what} {word}" for what, word in single.items() if word is not None]
    chosen = profile.chosen if processes is None else frozenset(processes if profile.chosen is None else profile.chosen & processes)
    return profile._replace(samples=samples, points=points, series=series, filters=(*profile.filters, *told), chosen=chosen)


def _told_span(profile: Profile, between: Sequence[str] | None, start_ns: int | None, end_ns: int | None) -> list[str]:
    if between is not None:
        return [f"between {between[0]} and {between[1]}"]
    begin_ns = min(recording.start_ns for recording in profile.recordings)
    ends = [(word, (time_ns - begin_ns) / NS_PER_S) for word, time_ns in (("from", start_ns), ("to", end_ns)) if time_ns is not None]
    return [" ".join(f"{word} {format_seconds(time)} s" for word, time in ends)] if ends else []


def spans_of(profile: Profile, threads: Collection[int] | None, start_ns: int | None = None, end_ns: int | None = None) -> Spans:
    """The same span for each of some threads, or for all of them."""
    chosen, nothing = [Span(_clamped(start_ns or 0), EVER if end_ns is None else _clamped(end_ns))], list[Span]()
    return [chosen if threads is None or thread in threads else nothing for thread in range(len(profile.threads))]


def _clamped(time_ns: int) -> int:
    return min(max(0, time_ns), EVER)


def _cut_series(series: MetricSeries, start_ns: int | None, end_ns: int | None) -> Iterator[MetricSeries]:
    first = 0 if start_ns is None else bisect_left(series.times_ns, start_ns)
    last = len(series.times_ns) if end_ns is None else bisect_left(series.times_ns, end_ns)
    if first < last:
        part = slice(first, last)
        times, intervals, readings = series.times_ns[part], series.intervals_ns[part], series.readings[part]
        yield series._replace(times_ns=times, intervals_ns=intervals, readings=readings)


def _common_processes(
    profile: Profile, pids: Collection[Word] | None, ranks: Container[int] | None, nodes: Collection[str] | None
) -> set[int] | None:
    """The positions of those that are meant in every way; None if nothing was said."""
    chosen = [] if pids is None else [_chosen_processes(profile, pids)]
    if ranks is not None:
        chosen.append({index for index, process in enumerate(profile.processes) if process.rank is not None and process.rank in ranks})
        if not chosen[-1]:
            raise FilterError(f"there is no rank {ranks} in the experiment")
    if nodes is not None:
        chosen.append(_matching("node", nodes, [(0, process.node) for process in profile.processes]))
    return set.intersection(*chosen) if chosen else None


def _chosen_processes(profile: Profile, words: Collection[Word]) -> set[int]:
    names = [
        (process.pid, process.name, process.executable.rpartition("/")[2], process.executable) for process in profile.processes
    ]
    return _matching("process", words, names)


def _chosen_threads(profile: Profile, processes: Collection[int] | None, words: Collection[Word] | None) -> set[int]:
    names = [(thread.tid, thread.name) for thread in profile.threads]
    fitting = range(len(names)) if words is None else _matching("thread", words, names)
    return {index for index in fitting if processes is None or profile.threads[index].process in processes}


def _matching(what: str, words: Collection[Word], names: Sequence[tuple[int | str, ...]]) -> set[int]:
    """The positions of those that a word fits; a number fits the first of the names only, a pattern any other."""
    chosen: set[int] = set()
    for word in words:
        if isinstance(word, int):
            fitting = {index for index, (number, *_) in enumerate(names) if number == word}
        else:
            fitting = {index for index, (_, *texts) in enumerate(names) if any(fnmatchcase(str(text), word) for text in texts)}
        if not fitting:
            raise FilterError(f"there is no {what} {word} in the experiment")
        chosen |= fitting
    return chosen


def _span_between(profile: Profile, first: str, last: str) -> tuple[int, int]:
    """From the first sample point of one label to the first of the other after it."""
    points = sorted(profile.points, key=lambda point: point.time_ns)
    start_ns = next((point.time_ns for point in points if point.label == first), None)
    if start_ns is None:
        raise FilterError(f"no sample point has the label {first!r}")
    end_ns = next((point.time_ns for point in points if point.label == last and point.time_ns > start_ns), None)
    if end_ns is None:
        raise FilterError(f"no sample point after {first!r} has the label {last!r}")
    return start_ns, end_ns


def _stack_filter(profile: Profile, modules: Collection[str], functions: Collection[str], leaf: Collection[str]) -> StackFilter:
    def module_fits(pattern: str) -> Callable[[Function], bool]:
        fitting = {i for i, module in enumerate(profile.modules) if fnmatchcase(module.name, pattern) or fnmatchcase(module.path, pattern)}
        return lambda function: function.module in fitting

    anywhere = [_frames_of(profile, f"module {pattern}", module_fits(pattern)) for pattern in modules]
    anywhere += [_named_frames(profile, text) for text in functions]
    return StackFilter(tuple(anywhere), tuple(_named_frames(profile, text) for text in leaf))


def _lock_filter(profile: Profile, state: str) -> StackFilter:
    stacks = lock_filter(profile, state)
    if stacks is None:
        raise FilterError(f"no sample of a Python function has its lock {state}")
    return stacks


def _category(profile: Profile, name: str, categories: Categories) -> CategoryFilter:
    try:
        return CategoryFilter(categories.roles(profile), categories.number_of(name))
    except CategoryError as error:
        raise FilterError(str(error)) from error


def _named_frames(profile: Profile, text: str) -> frozenset[int]:
    """The frames of functions whose names fit a regular expression."""
    return _frames_of(profile, f"function {text}", _name_fits(text))


def _name_fits(text: str) -> Callable[[Function], bool]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise FilterError(f"{text!r} is no regular expression: {error}") from error
    return lambda function: pattern.search(function.name) is not None


def _frames_of(profile: Profile, what: str, fits: Callable[[Function], bool]) -> frozenset[int]:
    functions = {index for index, function in enumerate(profile.functions) if fits(function)}
    frames = frozenset(index for index, frame in enumerate(profile.frames) if frame.function in functions)
    if not frames:
        raise FilterError(f"no {what} is on any stack")
    return frames

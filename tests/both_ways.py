"""both_ways -- an experiment, read by the analysis in C and by the one in Python, which must give the same answers"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.analysis.library import load_library
from collector.analysis.native import NativeAnalysis
from collector.analysis.plain import PlainAnalysis
from collector.load import load
from collector.profile import aggregate
from collector.profile.call_tree import call_tree
from collector.profile.callers_callees import callers_callees
from collector.profile.filters import select
from collector.profile.groupings import by_function
from collector.profile.model import Profile
from collector.profile.samples import BASE, OWN, THROUGH, CategoryFilter, EdgeSums, Grouping, Span, StackFilter
from collector.profile.source_lines import source_lines
from collector.profile.timeline import timeline


def load_plain(*paths: Path, symbolizer: Any = None, has_interpreter_frames: bool = False) -> Profile:
    """The profile, with `samples` whose stacks can be looked at one by one."""
    return load(list(paths), symbolizer=symbolizer, has_interpreter_frames=has_interpreter_frames, analysis=PlainAnalysis())


def load_native(*paths: Path, symbolizer: Any = None, has_interpreter_frames: bool = False) -> Profile:
    """The profile by the library, which must be there."""
    library = load_library()
    assert library is not None, "libcollector_analysis has not been built"
    return load(list(paths), symbolizer=symbolizer, has_interpreter_frames=has_interpreter_frames, analysis=NativeAnalysis(library))


def load_both_ways(*paths: Path, symbolizer: Any = None, has_interpreter_frames: bool = False) -> Profile:
    """The profile as Python reads it, when both ways were found to agree."""
    plain = load_plain(*paths, symbolizer=symbolizer, has_interpreter_frames=has_interpreter_frames)
    native = load_native(*paths, symbolizer=symbolizer, has_interpreter_frames=has_interpreter_frames)
    return compare(plain, native)


def compare(plain: Profile, native: Profile, turn: int | None = None) -> Profile:
    """The first profile, when both were found to agree; with `turn` in the whole and in a third of their parts, another one each turn."""
    assert aggregate.threads(plain) == aggregate.threads(native)  # the first question of all
    for number, (one, other) in enumerate(zip(parts_of(plain), parts_of(native), strict=True)):
        if number and turn is not None and (number + turn) % 3:
            continue
        assert answers(one) == answers(other)
        for is_folded in (True, False):
            assert _samples(one, is_folded) == _samples(other, is_folded)
        assert timeline(one, 20, True) == timeline(other, 20, True)
    assert (plain.losses, plain.messages, plain.threads, plain.processes) == (native.losses, native.messages, native.threads, native.processes)
    return plain


def parts_of(profile: Profile) -> Iterator[Profile]:
    """The profile, and parts of it: each thread's, and halves and thirds of its time."""
    yield profile
    for tid in sorted({thread.tid for thread in profile.threads})[:3]:
        yield select(profile, tids=[tid])
    start = min(recording.start_ns for recording in profile.recordings)
    end = max(recording.end_ns for recording in profile.recordings)
    yield select(profile, start_ns=(start + end) // 2)
    for stacks in _stack_parts(profile):
        yield profile._replace(samples=profile.samples.select(None, stacks))
    third = (end - start) // 3
    phases = [[Span(start + third // 2, start + third), Span(start + 2 * third, end, thread % 3)][thread % 2 :] for thread in range(len(profile.threads))]
    yield profile._replace(samples=profile.samples.select(phases))
    yield select(select(profile, end_ns=end - (end - start) // 3), start_ns=start + (end - start) // 3)


def _stack_parts(profile: Profile) -> Iterator[StackFilter]:
    """Stacks with some functions, by their names: both ways number frames as they meet them."""
    odd, even = (
        frozenset(index for index, frame in enumerate(profile.frames) if sum(profile.functions[frame.function].name.encode(errors="surrogateescape")) % 3 == rest)
        for rest in (1, 2)
    )
    yield StackFilter((odd,))
    yield StackFilter((odd, even))
    yield StackFilter(last=(odd,))
    yield StackFilter((even,)).joined(StackFilter(last=(odd,)))
    yield StackFilter((even,), nowhere=odd)
    yield StackFilter(begin=odd)
    yield StackFilter((odd,), (even,), begin=even, end=odd)
    roles = bytes((OWN, THROUGH, BASE | 2, 3, 4)[sum(profile.functions[frame.function].name.encode("utf-8", "surrogateescape")) % 5] for frame in profile.frames)
    for category in (OWN, BASE | 2, 4):
        yield StackFilter(category=CategoryFilter(roles, category))


def answers(profile: Profile) -> dict[str, Any]:
    """All that reports are made of, without what depends on the order in which addresses were met."""
    rows = aggregate.functions(profile)
    shown = {row.function for row in rows}
    edges = profile._replace(samples=_Edges(profile.samples.edge_sums(by_function(profile))))
    return {
        "functions": sorted(_row(profile, row) for row in rows),
        "lines": sorted((str(row.file), row.line or 0, _row(profile, row)) for row in aggregate.lines(profile)),
        "objects": sorted((row.module.name, row.exclusive, row.inclusive) for row in aggregate.objects(profile)),
        "threads": aggregate.threads(profile),
        "processes": aggregate.processes(profile),
        "ends": aggregate.stack_ends(profile),
        "total": [pytest.approx(value, rel=1e-12) for value in aggregate.total_values(profile)],
        "tree": sorted(_branch(profile, node) for node in _paths(call_tree(profile))),
        "neighbours": sorted(_neighbours(edges, index) for index, function in enumerate(profile.functions) if function in shown),
    }


class _Edges:
    """What callers_callees asks of samples, found once for all functions."""

    def __init__(self, sums: EdgeSums) -> None:
        self._sums = sums

    def edge_sums(self, grouping: Grouping) -> EdgeSums:
        return self._sums


def _name(profile: Profile, index: int) -> tuple[str, str, str]:
    function = profile.functions[index]
    return function.name, profile.modules[function.module].name, str(function.file)


def _row(profile: Profile, row: Any) -> tuple[Any, ...]:
    return row.function.name, row.module.name, str(row.function.file), row.exclusive, row.inclusive


def _paths(nodes: list[Any]) -> Iterator[tuple[Any, str]]:
    """Each node with the names on its way from the root."""
    names: list[str] = []
    for node in nodes:
        del names[node.depth :]
        names.append(f"{node.title}@{node.module.name if node.module else ''}")
        yield node, ";".join(names)


def _branch(profile: Profile, place: tuple[Any, str]) -> tuple[Any, ...]:
    node, path = place
    return path, node.exclusive, tuple(round(value, 12) for value in node.inclusive)


def _samples(profile: Profile, is_folded: bool) -> list[tuple[Any, ...]]:
    """Each sample with its stack in words."""
    rows = profile.samples.rows(by_function(profile), is_folded)
    stacks = [""]
    for parent, function in zip(rows.parents[1:], rows.groups[1:]):
        stacks.append(f"{stacks[parent]};{_name(profile, function)}")
    return sorted(zip(rows.threads, rows.times_ns, (stacks[node] for node in rows.nodes), rows.is_finished, *rows.values))


def _neighbours(profile: Profile, index: int) -> Any:
    found = callers_callees(profile, index)
    sides = [
        sorted((row.function.name if row.function else "", row.values) for row in rows) for rows in (found.callers, found.callees)
    ]
    return _name(profile, index), found.exclusive, tuple(round(value, 12) for value in found.inclusive), sides


def is_close(one: Any, other: Any) -> bool:
    """Whether two values are the same but for the last bits of their floats."""
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and is_close(dataclasses.astuple(one), dataclasses.astuple(other))  # type: ignore[call-overload]
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_close(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_close, one, other))
    return math.isclose(one, other, rel_tol=1e-11, abs_tol=1e-11) if isinstance(one, float) else one == other


def shown(profile: Profile) -> dict[str, Any]:
    """All that both_ways compares, and the lines of files."""
    found = answers(profile)
    del found["total"]
    files = sorted({frame.file for frame in profile.frames if frame.file})
    return {**found, "source": [source_lines(profile, file) for file in files], "sums": list(aggregate.total_values(profile))}

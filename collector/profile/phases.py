"""phases -- the time between sample points with labels: a phase begins at one and has its label, and ends at the next of the same process"""

from __future__ import annotations

from typing import Final

from collector.profile.groupings import numbered
from collector.profile.model import Process, Profile
from collector.profile.sample_point import SamplePoint
from collector.profile.samples import EVER, Span, Spans

BEFORE: Final = "(before the first label)"

_Key = tuple[int, str, int]
"""Experiment, node and process id."""


def phase_spans(profile: Profile) -> tuple[list[str], Spans]:
    """Titles of the phases in the order in which they begin, and all spans of each thread; phases of one label are one.

    A process without labels has the phases of its parent, or of whoever above it has some.
    """
    points = sorted((point for point in profile.points if point.label), key=lambda point: point.time_ns)
    phases, titles = numbered([BEFORE, *(point.label for point in points)])
    by_process: dict[_Key, list[tuple[SamplePoint, int]]] = {}
    for point, phase in zip(points, phases[1:]):
        node = "" if point.process is None else profile.processes[point.process].node
        by_process.setdefault((point.experiment, node, point.pid), []).append((point, phase))
    parents = {_key_of(process, process.pid): _key_of(process, process.parent_pid) for process in profile.processes}
    spans = {key: _spans(by_process.get(_labelling(key, parents, by_process), [])) for key in parents}
    owners = [profile.processes[thread.process] for thread in profile.threads]
    return titles, [spans[_key_of(process, process.pid)] for process in owners]


def _key_of(process: Process, pid: int) -> _Key:
    return process.experiment, process.node, pid


def _labelling(key: _Key, parents: dict[_Key, _Key], labelled: dict[_Key, list[tuple[SamplePoint, int]]]) -> _Key:
    """The process whose labels count for a process."""
    seen: set[_Key] = set()
    while key not in labelled and key in parents and key not in seen:
        seen.add(key)
        key = parents[key]
    return key


def _spans(points: list[tuple[SamplePoint, int]]) -> list[Span]:
    starts = [(0, 0), *((point.time_ns, phase) for point, phase in points)]
    ends = [start_ns for start_ns, _ in starts[1:]] + [EVER]
    return [Span(start_ns, end_ns, phase) for (start_ns, phase), end_ns in zip(starts, ends) if start_ns < end_ns]

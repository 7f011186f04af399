"""node_clocks -- one clock for the nodes of a parallel job: each has its own CLOCK_MONOTONIC, and wall clocks tell how they differ"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

from collector.experiment.directory import ClockError, ExperimentDirectory, LogFile
from collector.experiment.event_makers import maker_of
from collector.experiment.events import Event
from collector.experiment.log_outline import read_beginning, read_clocks
from collector.experiment.samples import SampleHead

_SAME_CLOCK_NS = 1_000_000
"""Clocks that agree so well are one, as those of containers on one machine."""

_BEHIND_TIME: dict[type, Callable[[object], tuple[object, ...]]] = {}
"""Of records of a class all fields but the first, their time."""

T = TypeVar("T", bound=Event | SampleHead)


def align(directory: ExperimentDirectory) -> ExperimentDirectory:
    """The experiment with the clock of the first node for all its parts, by the wall clocks; as it is if there is one clock."""
    parts = directory.parts
    offsets: dict[str, list[int]] = {}
    services: dict[str, int | None] = {}
    if len({part.node for part in parts}) > 1:
        for part in parts:
            for offset_ns, service_ns in _offsets(part.all_logs[:1]):
                offsets.setdefault(part.node, []).append(offset_ns)
                services[part.node] = service_ns
    known = {node: _low_median(found) for node, found in offsets.items()}
    if not known:
        return directory
    first = next(iter(known.values()))
    shifts = {node: offset - first if abs(offset - first) > _SAME_CLOCK_NS else 0 for node, offset in known.items()}
    if not any(shifts.values()):
        return directory
    vouched = [service_ns for service_ns in services.values() if service_ns is not None]
    service_ns = sum(sorted(vouched)[-2:]) if len(vouched) == len(services) else None
    error = ClockError(max(max(found) - min(found) for found in offsets.values()), service_ns)
    return directory._replace(parts=tuple(_shifted(part, shifts.get(part.node, 0)) for part in parts), clock_error=error)


def _low_median(values: list[int]) -> int:
    """That of the statistics module, whose import takes as long as a small report."""
    return sorted(values)[(len(values) - 1) // 2]


def with_shift(records: Iterable[T], shift_ns: int) -> Iterator[T]:
    """Records whose times are so much later."""
    for record in records:
        if isinstance(record, SampleHead):
            yield record._replace(time=max(0, record.time + shift_ns), last_time=max(0, record.last_time + shift_ns))
        else:
            yield _with_time(record, max(0, record.time + shift_ns)) if record.time else record


def _with_time(record: Any, time: int) -> Any:
    """What dataclasses.replace gives, in a third of the time."""
    cls: Any = type(record)
    if cls not in _BEHIND_TIME:
        first, *others = (field.name for field in fields(cls))
        assert first == "time"
        _BEHIND_TIME[cls] = attrgetter(*others)
    return maker_of(cls)(time, *_BEHIND_TIME[cls](record))


def _offsets(logs: Iterable[LogFile]) -> Iterator[tuple[int, int | None]]:
    """What the wall clock is ahead of the time of each log, as it says at its beginning, and how wrong that clock may be."""
    for log in logs:
        with suppress(OSError):
            clocks = read_clocks(log.path)
            if clocks is not None:
                options = dict(str(option).partition("=")[::2] for option in read_beginning(log.path).get("options") or ())
                error, _, _ = options.get("clock_error", "").partition(" ")
                yield clocks[1] - clocks[0], int(error) if error.isdecimal() else None


def _shifted(part: ExperimentDirectory, shift_ns: int) -> ExperimentDirectory:
    def later(log: LogFile | None) -> LogFile | None:
        return log and log._replace(shift_ns=shift_ns)

    logs = tuple(log._replace(shift_ns=shift_ns) for log in part.logs)
    return part._replace(logs=logs, launch_log=later(part.launch_log), node_log=later(part.node_log), waits_log=later(part.waits_log))

"""sample_points -- the readings at sample points, and what happened between one and the next."""

from __future__ import annotations

from collections.abc import Iterator

from collector.dataclass import dataclass
from collector.profile.model import Profile
from collector.profile.sample_point import SamplePoint
from collector.reading_fields import Counts, Readings
from collector.readings import COUNTS, LEVELS, READINGS
from collector.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class _Seconds:
    user: float | None
    system: float | None


@dataclass(frozen=True, slots=True)
class SampleValues(Counts, _Seconds):
    """Readings of a process, or their changes, with CPU times in seconds; None where the system does not tell."""


@dataclass(frozen=True, slots=True)
class SampleReading:
    """A sample point: readings of a process, all counted from its start but for those of now.

    `change` is since the sample point before of the same process; all of it is None at the first one.
    """

    experiment: str
    time: float
    pid: int
    label: str
    cause: str
    values: SampleValues
    change: SampleValues


def sample_points(profile: Profile) -> list[SampleReading]:
    """All sample points in the order of time, one experiment after the other."""
    return list(_iter_rows(profile))


def labelled_points(profile: Profile) -> list[SampleReading]:
    """The sample points that the program, or whoever recorded it, gave a label."""
    return [row for row in _iter_rows(profile) if row.label]


def _iter_rows(profile: Profile) -> Iterator[SampleReading]:
    before: dict[tuple[int | str, ...], SamplePoint] = {}
    for point in sorted(profile.points, key=lambda point: (point.experiment, point.time_ns)):
        key: tuple[int | str, ...] = (point.experiment, point.pid) if point.process is None else profile.processes[point.process].identity
        recording = profile.recordings[point.experiment]
        time = (point.time_ns - recording.start_ns) / NS_PER_S
        change = _change(before.get(key), point)
        yield SampleReading(recording.name, time, point.pid, point.label, point.cause, _in_seconds(point), _in_seconds(change))
        before[key] = point


def _change(previous: SamplePoint | None, point: SamplePoint) -> Readings:
    return Readings(*(_difference(name, getattr(previous, name, None), getattr(point, name)) for name, _, _ in READINGS))


def _difference(name: str, before: int | None, now: int | None) -> int | None:
    if before is None or now is None:
        return None
    # Readings from inside and from outside a process differ in their grain, so what only grows can come out below zero.
    return now - before if name in LEVELS else max(0, now - before)


def _in_seconds(readings: Readings | SamplePoint) -> SampleValues:
    user, system = (None if time_ns is None else time_ns / NS_PER_S for time_ns in (readings.user_ns, readings.system_ns))
    return SampleValues(user, system, *(getattr(readings, name) for name in COUNTS))

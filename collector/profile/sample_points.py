"""sample_points -- the readings at sample points, and what happened between one and the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collector.profile.model import Profile, SamplePoint
from collector.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class SamplePointRow:
    """A sample point and, where both readings are known, the change since the one before of the same process.

    `time_s` is seconds since the experiment began. The first point of a process has no change.
    """

    point: SamplePoint
    time_s: float
    user_s: float | None = None
    system_s: float | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None


_COUNTS = (
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "read_bytes",
    "written_bytes",
)


def sample_points(profile: Profile) -> list[SamplePointRow]:
    """All sample points in the order of time, one experiment after the other."""
    return list(_iter_rows(profile))


def labelled_points(profile: Profile) -> list[SamplePointRow]:
    """The sample points that the program, or whoever recorded it, gave a label."""
    return [row for row in _iter_rows(profile) if row.point.label]


def _iter_rows(profile: Profile) -> Iterator[SamplePointRow]:
    before: dict[tuple[int, int], SamplePoint] = {}
    for point in sorted(profile.points, key=lambda point: (point.experiment, point.time_ns)):
        key = (point.experiment, point.pid)
        previous = before.get(key)
        before[key] = point
        time_s = (point.time_ns - profile.recordings[point.experiment].start_ns) / NS_PER_S
        if previous is None:
            yield SamplePointRow(point, time_s)
            continue
        user_ns, system_ns = _change(previous, point, "user_ns"), _change(previous, point, "system_ns")
        yield SamplePointRow(
            point,
            time_s,
            None if user_ns is None else user_ns / NS_PER_S,
            None if system_ns is None else system_ns / NS_PER_S,
            *(_change(previous, point, name) for name in _COUNTS),
        )


def _change(previous: SamplePoint, point: SamplePoint, name: str) -> int | None:
    before: int | None = getattr(previous, name)
    now: int | None = getattr(point, name)
    if before is None or now is None:
        return None
    # Readings from inside and from outside a process differ in their grain, so a change can come out below zero.
    return max(0, now - before)

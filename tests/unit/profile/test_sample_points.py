"""test_sample_points -- readings, and what changed between them"""

from __future__ import annotations

from tiny_profile import S, START_NS, build_profile

from collector.profile.sample_point import SamplePoint
from collector.profile.sample_points import labelled_points, sample_points


def point(pid: int, at_s: float, label: str = "", **readings) -> SamplePoint:
    return SamplePoint(None, 0, pid, START_NS + int(at_s * S), label, "api" if label else "periodic", **readings)


def test_points_come_in_order_of_time_with_changes_of_their_own_process() -> None:
    points = (
        point(100, 2, "second", user_ns=3 * S, system_ns=S, read_bytes=700),
        point(200, 1, user_ns=9 * S, system_ns=0, read_bytes=1),
        point(100, 0, "first", user_ns=S, system_ns=S, read_bytes=100),
    )
    rows = sample_points(build_profile([], points=points))
    assert [(row.pid, row.time, row.change.user, row.change.system, row.change.read_bytes) for row in rows] == [
        (100, 0.0, None, None, None),
        (200, 1.0, None, None, None),
        (100, 2.0, 2.0, 0.0, 600),
    ]
    assert [row.label for row in labelled_points(build_profile([], points=points))] == ["first", "second"]


def test_unknown_readings_stay_unknown_and_nothing_falls_below_zero() -> None:
    points = (point(100, 0, user_ns=5 * S, minor_faults=7), point(100, 1, user_ns=4 * S))
    row = sample_points(build_profile([], points=points))[1]
    assert row.change.user == 0.0
    assert row.change.minor_faults is None
    assert row.change.system is None


def test_memory_that_is_given_back_is_a_change_below_zero() -> None:
    row = sample_points(build_profile([], points=(point(100, 0, resident_bytes=9), point(100, 1, resident_bytes=4))))[1]
    assert (row.values.resident_bytes, row.change.resident_bytes) == (4, -5)

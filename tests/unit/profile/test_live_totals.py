"""test_live_totals -- what is shown of the last seconds, and what of all, as looks follow each other"""

from __future__ import annotations

import pytest
from tiny_profile import S, START_NS, build_profile

from collector.profile.live_totals import RECENT_S, LiveTotals
from collector.profile.metric_series import MetricSeries, PluginMetric
from collector.profile.model import Profile


def look(function: str, seconds: float, age_s: float = 1.0) -> Profile:
    profile = build_profile([(f"main;{function}", seconds, 0)])
    (recording,) = profile.recordings
    return profile._replace(recordings=(recording._replace(end_ns=START_NS + round(age_s * S)),))


def rows(totals: LiveTotals) -> dict[str, tuple[float, float, float, float]]:
    return {row.name: (row.recent_exclusive, row.recent_inclusive, row.exclusive, row.inclusive) for row in totals.functions()}


def test_looks_add_up() -> None:
    totals = LiveTotals()
    totals.add(look("work", 0.5), 100.0)
    totals.add(look("work", 0.25), 101.0)
    totals.add(look("read", 1.0), 102.0)
    assert rows(totals) == {"main": (0, 1.75, 0, 1.75), "work": (0.75, 0.75, 0.75, 0.75), "read": (1, 1, 1, 1)}
    assert (totals.recent_s, totals.recent_cpu_s, totals.cpu_s) == (3.0, 1.75, 1.75)


def test_what_is_long_ago_is_not_recent() -> None:
    totals = LiveTotals()
    for number in range(20):
        totals.add(look("work" if number < 10 else "read", 0.5), 100.0 + number)
    found = rows(totals)
    assert found["work"] == (0, 0, 5, 5)
    assert found["read"] == (2.5, 2.5, 5, 5) and totals.recent_s == RECENT_S


def test_the_first_look_at_an_old_experiment_is_not_recent() -> None:
    totals = LiveTotals()
    totals.add(look("work", 300.0, age_s=600.0), 100.0)
    totals.add(look("read", 1.0, age_s=601.0), 101.0)
    assert rows(totals)["work"] == (0, 0, 300, 300)
    assert rows(totals)["read"] == (1, 1, 1, 1) and totals.recent_s == 1.0


def test_a_long_pause_between_looks_is_one_span() -> None:
    totals = LiveTotals()
    totals.add(look("work", 1.0), 100.0)
    totals.add(look("work", 60.0), 160.0)
    assert (totals.recent_s, totals.recent_cpu_s) == (60.0, 60.0)


def test_threads() -> None:
    totals = LiveTotals()
    totals.add(look("work", 1.0), 100.0)
    totals.add(look("work", 2.0), 101.0)
    ((thread),) = totals.threads()
    assert (thread.tid, thread.recent, thread.total, thread.program) == (100, 3.0, 3.0, "test")


@pytest.mark.parametrize(("per_node", "now"), [(False, 30.0), (True, 20.0)])
def test_metrics_of_now(per_node: bool, now: float) -> None:
    """The mean of the last second, summed over the processes that still read it."""
    metric = PluginMetric("a", "A", per_node=per_node)

    def series(end_s: int, *readings: float) -> MetricSeries:
        times = [START_NS + round((end_s - 0.4 * back) * S) for back in reversed(range(len(readings)))]
        return MetricSeries(metric, 0, times, [400_000_000] * len(readings), readings)

    totals = LiveTotals()
    old = series(3, 1000.0)
    totals.add(look("work", 1.0)._replace(series=(series(20, 99.0, 10.0, 10.0, 10.0), series(20, 20.0), old)), 100.0)
    (found,) = totals.metrics()
    assert found.now == now

"""test_metric_series -- values of metrics over time: of several processes, of one node, and those that are no numbers"""

from __future__ import annotations

import math

import pytest

from collector.profile.metric_series import MetricSeries, PluginMetric, resample, sparkline, summarise
from collector.profile.node_series import join_by_node

LOAD = PluginMetric("load", "Load", kind="level", per_node=True)
BYTES = PluginMetric("bytes", "Bytes", units="B/s", kind="rate", per_node=True)
S = 10**9


def series(metric: PluginMetric, rows: list[tuple[int, int, float]], process: int | None = 0, node: str = "a") -> MetricSeries:
    times, intervals, readings = zip(*rows)
    return MetricSeries(metric, process, times, intervals, readings, node=node)


def test_levels_of_a_node_follow_one_another() -> None:
    first = series(LOAD, [(1 * S, S, 2.0), (2 * S, S, 2.0)], process=0)
    second = series(LOAD, [(2 * S + S // 2, S, 4.0), (4 * S, S, 4.0)], process=1)
    (joined,) = join_by_node([first, second])
    assert joined.process is None
    assert list(zip(joined.times_ns, joined.intervals_ns, joined.readings)) == [
        (1 * S, S, 2.0), (2 * S, S, 2.0), (2 * S + S // 2, S // 2, 4.0), (4 * S, S, 4.0),
    ]
    assert max(value for value in resample([joined]).total if value is not None) <= 4.0


def test_what_two_processes_counted_at_once_counts_once() -> None:
    rows = [(second * S, S, 100) for second in range(1, 11)]
    shifted = [(time + S // 3, interval, value) for time, interval, value in rows]
    (joined,) = join_by_node([series(BYTES, rows), series(BYTES, shifted, process=1)])
    summary = summarise(joined)
    assert summary.total == pytest.approx(1000 + 100 / 3)
    assert (summary.least, summary.mean, summary.greatest) == pytest.approx((100, 100, 100))


def test_different_nodes_stay_apart() -> None:
    there = series(LOAD, [(1 * S, S, 3.0)], process=1, node="b")
    assert len(join_by_node([series(LOAD, [(1 * S, S, 2.0)]), there])) == 2


def test_moments_without_an_interval_are_kept() -> None:
    (joined,) = join_by_node([series(LOAD, [(1 * S, 0, 1.0)]), series(LOAD, [(2 * S, 0, 2.0)], process=1)])
    assert joined.readings == (1.0, 2.0)


def test_opposite_infinities_are_no_value() -> None:
    one = series(LOAD, [(1 * S, S, math.inf), (2 * S, S, -math.inf), (3 * S, S, 1.0)])
    assert summarise(one).mean is None
    overview = resample([one], steps=1)
    assert (overview.total, overview.mean) == ((None,), (None,))
    assert sparkline([None, math.inf, -math.inf, 1.0])


def test_sums_have_the_same_digits_with_every_python() -> None:
    """Ten tenths are one, which sum() of Python 3.11 does not say."""
    tenths = summarise(series(BYTES, [(number * S, S, 0.1) for number in range(1, 11)]))
    assert (tenths.total, tenths.mean) == (1.0, 0.1)
    greatest = (1 << 63) + 1
    assert summarise(series(BYTES, [(1 * S, S, greatest), (2 * S, S, 1)])).total == greatest + 1
    assert summarise(series(BYTES, [(1 * S, S, 1.7e308), (2 * S, S, 1.7e308)])).total == math.inf

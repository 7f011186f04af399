"""test_accounting -- what is spread over samples, and what is not"""

from __future__ import annotations

import pytest

from collector.load.accounting import balance

MS = 1_000_000


@pytest.mark.parametrize(
    ("sampled", "accounted", "scale", "unattributed"),
    [
        (100 * MS, 102 * MS, 1.02, 0),  # the time after the last tick
        (100 * MS, 98 * MS, 0.98, 0),  # rounding, the other way
        (100 * MS, 100 * MS, 1.0, 0),
        (10_000 * MS, 10_080 * MS, 1.008, 0),  # less than one percent of a long thread
        (100 * MS, 150 * MS, 1.0, 50 * MS),  # a pause
        (100 * MS, 50 * MS, 1.0, 0),  # more than the kernel says: never below zero
        (0, 3 * MS, 1.0, 3 * MS),  # nothing to spread it over
        (0, 0, 1.0, 0),
    ],
)
def test_small_differences_are_spread_and_large_ones_stated(sampled, accounted, scale, unattributed) -> None:
    assert balance(sampled, accounted, MS) == (pytest.approx(scale), unattributed)


def test_what_the_recorder_says_is_spread_where_recording_was_off_for_a_while() -> None:
    assert balance(100 * MS, 150 * MS, MS, has_gaps=True, pending_ns=2 * MS) == (1.02, 48 * MS)
    assert balance(100 * MS, 101 * MS, MS, has_gaps=True, pending_ns=2 * MS) == (1.01, 0)
    assert balance(100 * MS, 99 * MS, MS, has_gaps=True, pending_ns=2 * MS) == (1.0, 0)


def test_nothing_else_is_spread_there() -> None:
    assert balance(100 * MS, 102 * MS, MS, has_gaps=True) == (1.0, 2 * MS)
    assert balance(100 * MS, 99 * MS, MS, has_gaps=True) == (1.0, 0)

"""test_accounting -- what is spread over samples, and what is not"""

from __future__ import annotations

import pytest

from collector.load.accounting import balance
from collector.load.threads import placed
from collector.profile import model

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


@pytest.mark.parametrize(
    ("missing", "system", "missing_scale", "system_scale"),
    [
        (40 * MS, 0, 0.5, 0.0),  # none of it was found in the kernel: where the ticks were missing
        (40 * MS, 40 * MS, 0.0, 0.5),  # all that was found was: there the rest was, too
        (40 * MS, 10 * MS, 0.375, 0.5),
        (40 * MS, 80 * MS, 0.0, 0.25),
        (10 * MS, 10 * MS, 0.0, 1.0),  # no more than was missing; the others share what is left
        (0, 40 * MS, 0.0, 0.0),
    ],
)
def test_what_is_left_of_missing_ticks(missing: int, system: int, missing_scale: float, system_scale: float) -> None:
    """As much of it is system time as of what was found before; 20 ms of 100 are left, and all is accounted for."""
    process = model.Process(0, 1)
    thread = placed(model.Thread(0, 1, scale=1.2), process, 100 * MS, missing, system)
    assert (thread.missing_scale, thread.system_scale) == (pytest.approx(missing_scale), pytest.approx(system_scale))
    assert thread.scale * 100 + thread.missing_scale * missing / MS + thread.system_scale * system / MS == pytest.approx(120)

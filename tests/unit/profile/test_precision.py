"""test_precision -- sampling errors, held against the distributions that they come from"""

from __future__ import annotations

from math import exp, factorial, inf

import pytest

from collector.profile.precision import sampling_error, waiting_error


def poisson(mean: float, most: int) -> float:
    """How probable it is that a Poisson distribution of this mean gives no more than `most`."""
    return sum(exp(-mean) * mean**k / factorial(k) for k in range(most + 1))


@pytest.mark.parametrize("count", range(1, 10))
def test_the_upper_end_of_few_samples_is_exact(count: int) -> None:
    error = sampling_error((2.0 * count, 0.0, 0.0, count))
    assert error is not None
    assert poisson(count + error / 2.0, count) == pytest.approx(0.025, abs=1e-5)


def test_many_samples_are_nearly_normal() -> None:
    assert sampling_error((5.0, 5.0, 0.0, 100)) == pytest.approx(1.96 * 0.5)
    error = sampling_error((130.0, 0.0, 0.0, 130)) or inf
    assert poisson(130 + error, 130) == pytest.approx(0.025, abs=0.015)


def test_what_has_no_sample_has_no_error() -> None:
    assert sampling_error((0.0, 0.0, 0.0, 0)) is None


def test_the_error_grows_slower_than_the_time() -> None:
    shares = [(sampling_error((float(count), 0.0, 0.0, count)) or inf) / count for count in range(1, 200)]
    assert shares == sorted(shares, reverse=True)


def test_a_row_of_waits_is_as_far_off_as_all_others() -> None:
    """Two rows that share an exact sum: 1e8 units of variance are (0.1 s)^2."""
    assert waiting_error(1e8, inf) == pytest.approx(0.196)
    assert waiting_error(3e8, 4e8) == waiting_error(1e8, 4e8) == pytest.approx(0.196)
    assert waiting_error(4e8, 4e8) == 0

"""test_significance -- formulas against printed tables and against sums that need no formula"""

from __future__ import annotations

from math import comb

import pytest

from collector.profile.significance import counts_p, holm, incomplete_beta, student_p, student_quantile, t_p


@pytest.mark.parametrize(
    ("confidence", "freedom", "t"),
    [(0.95, 1, 12.706), (0.95, 2, 4.303), (0.99, 4, 4.604), (0.95, 10, 2.228), (0.999, 30, 3.646), (0.95, float("inf"), 1.960)],
)
def test_students_t_is_that_of_the_tables(confidence: float, freedom: float, t: float) -> None:
    assert student_quantile(confidence, freedom) == pytest.approx(t, abs=0.0006)
    assert student_p(t, min(freedom, 1e6)) == pytest.approx(1 - confidence, rel=0.002)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.75])
@pytest.mark.parametrize("first", [0, 1, 7, 40])
@pytest.mark.parametrize("second", [0, 3, 25])
def test_two_counts_are_judged_as_the_binomial_sum_does(first: int, second: int, share: float) -> None:
    both = first + second
    chances = [comb(both, k) * share**k * (1 - share) ** (both - k) for k in range(both + 1)]
    assert counts_p(first, second, share) == pytest.approx(min(1, 2 * sum(chances[: first + 1]), 2 * sum(chances[first:])), rel=1e-9)


def test_great_counts_are_no_harder() -> None:
    assert counts_p(1_000_000, 1_003_000, 0.5) == pytest.approx(0.0340, abs=0.0002)  # z = 2.12
    assert counts_p(10_000_000, 10_000_000, 0.5) == 1
    assert counts_p(1e6, 2e6, 0.5) < 1e-300


def test_the_beta_function_has_its_ends_and_its_symmetry() -> None:
    assert (incomplete_beta(2, 3, 0), incomplete_beta(2, 3, 1)) == (0, 1)
    assert incomplete_beta(2, 3, 0.3) == pytest.approx(1 - incomplete_beta(3, 2, 0.7))
    assert incomplete_beta(2, 3, 0.3) == pytest.approx(0.3483)


def test_runs_that_do_not_vary_at_all() -> None:
    assert t_p(0, 0, 3) == 1
    assert t_p(0.1, 0, 3) == 0


def test_holm_multiplies_by_the_tests_that_are_left() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []

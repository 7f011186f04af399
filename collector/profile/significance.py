"""significance -- the few formulas of statistics that a comparison needs: Student's t, the binomial distribution, Holm's correction

All stand on the incomplete beta function (NIST Digital Library of Mathematical Functions, 8.17).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log, log1p

_TINY = 1e-300  # instead of a sum that is 0: one that is not is 1e-16 at least, for one summand is 1
_STEPS = 100_000  # of the continued fraction: it takes about the root of the greater parameter


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b), for a, b > 0."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return scale * _fraction(a, b, x) / a
    return 1 - scale * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 8.17.22, by Lentz's method."""
    numerator = 1.0
    value = denominator = 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    for step in range(1, _STEPS):
        place = a + 2 * step
        even = step * (b - step) * x / ((place - 1) * place)
        denominator = 1 / (1 + even * denominator or _TINY)
        numerator = 1 + even / numerator or _TINY
        value *= numerator * denominator
        odd = -(a + step) * (a + b + step) * x / (place * (place + 1))
        denominator = 1 / (1 + odd * denominator or _TINY)
        numerator = 1 + odd / numerator or _TINY
        factor = numerator * denominator
        value *= factor
        if -1e-14 < factor - 1 < 1e-14:
            break
    return value


def student_p(t: float, freedom: float) -> float:
    """How likely Student's t is at least so far from zero, on either side."""
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def student_quantile(confidence: float, freedom: float) -> float:
    """The t that is not exceeded on either side with this confidence; infinite `freedom` is the normal distribution."""
    freedom = min(freedom, 1e6)
    low, high = 0.0, 1.0
    while student_p(high, freedom) > 1 - confidence:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > 1 - confidence else (low, middle)
    return high


def counts_p(first: float, second: float, share: float) -> float:
    """How likely two counts are to differ at least so much, if `share` of all is expected in the first; exact for Poisson counts.

    Given their sum, one count of two Poisson variables is binomial (Przyborowski and Wilenski, Biometrika 31, 1940).
    Counts need not be whole.
    """
    # Either tail holds what was seen, so together they are more than 1: one below a half is the smaller one.
    tails = (first, second, share), (second, first, 1 - share)
    for most, rest, part in tails if first > (first + second) * share else reversed(tails):
        at_least = incomplete_beta(most, rest + 1, part) if most > 0 else 1.0
        if at_least < 0.5:
            return 2 * at_least
    return 1.0


def t_p(difference: float, error: float, freedom: float) -> float:
    """How likely a difference with this standard error is by chance."""
    if difference == 0:
        return 1.0
    return student_p(difference / error, freedom) if error else 0.0


def holm(values: Sequence[float]) -> list[float]:
    """The p of each of several tests with their number taken into account (Holm, Scandinavian Journal of Statistics 6, 1979).

    Those up to 0.01 contain a test that should not be among them in one of a hundred cases, however the tests depend on each other.
    """
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - rank) * values[position]))
        adjusted[position] = highest
    return adjusted


"""Binomial bounds against mpmath at 40 digits and against exhaustive enumeration."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.special import betainc, betaincc, betaincinv
from scipy.stats import beta, binom

from dpest.errors import InvalidInput
from dpest.numerics import binomial

CASES = [(1, 10), (3, 10**10), (1000, 10**8), (1000, 10**9), (500, 1000), (999, 10**8), (1, 10**10), (7, 7), (0, 10**6), (0, 3)]


def tail_at_least(k: int, n: int, p: float) -> mpmath.mpf:
    """P(Binomial(n, p) >= k) by summing the k terms below it: exact to 40 digits."""
    with mpmath.workdps(40):
        p = mpmath.mpf(p)
        term = mpmath.power(1 - p, n)
        below = mpmath.mpf(0)
        for j in range(k):
            below += term
            term *= (n - j) * p / ((j + 1) * (1 - p))
        return 1 - below


@pytest.mark.parametrize(("k", "n"), CASES)
def test_lower_bound_is_the_clopper_pearson_root_from_below(k: int, n: int) -> None:
    low = binomial.lower(k, n, 0.025)
    if k == 0:
        assert low == 0
    else:
        assert 0.025 * (1 - 1e-7) < tail_at_least(k, n, low) <= 0.025


@pytest.mark.parametrize(("k", "n"), CASES)
def test_upper_bound_is_the_clopper_pearson_root_from_above(k: int, n: int) -> None:
    high = binomial.upper(k, n, 0.025)
    if k == n:
        assert high == 1
    else:
        assert 0.025 * (1 - 1e-7) < 1 - tail_at_least(k + 1, n, high) <= 0.025


def test_the_quantile_that_scipy_gets_wrong_stays_near_the_estimate() -> None:
    low, high = (side(np.array([999, 1000, 1001]), 10**8, 0.025) for side in (binomial.lower, binomial.upper))
    assert np.all(low < np.array([999, 1000, 1001]) / 1e8)
    assert np.all(np.diff(low) > 0)
    assert np.all(np.diff(high) > 0)


def test_no_hits_under_the_second_input_has_a_closed_form() -> None:
    k = 500
    theta = 0.05 ** (1 / k)
    assert binomial.ratio_lower(k, 10**6, 0, 10**6, 0.05) == pytest.approx(math.log(theta / (1 - theta)), rel=1e-9)


def test_unequal_numbers_of_samples_shift_the_ratio_bound() -> None:
    even = binomial.ratio_lower(400, 1000, 100, 1000, 0.05)
    assert binomial.ratio_lower(400, 1000, 100, 2000, 0.05) == pytest.approx(even + math.log(2), rel=1e-9)


@pytest.mark.parametrize(("k1", "k2"), [(0, 0), (0, 5), (5, 5), (3, 100)])
def test_nothing_is_claimed_without_evidence(k1: int, k2: int) -> None:
    assert binomial.ratio_lower(k1, 1000, k2, 1000, 0.05) == 0
    assert binomial.ratio_lower_clopper_pearson(k1, 1000, k2, 1000, 0.05) == 0


def rejection_probability(n1: int, n2: int, r: float, p2: float, alpha: float) -> float:
    """P(the conditional test rejects p1 = r p2) when it is true, summed over all outcomes."""
    x, y = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    p_value = np.where(x == 0, 1.0, betainc(np.maximum(x, 1), y + 1, r * n1 / (r * n1 + n2)))
    weight = binom.pmf(x, n1, min(1.0, r * p2)) * binom.pmf(y, n2, p2)
    return float(weight[p_value <= alpha].sum())


@pytest.mark.parametrize(("n1", "n2"), [(1, 1), (2, 2), (5, 5), (13, 13), (40, 40), (10, 30), (30, 10)])
def test_the_ratio_bound_keeps_its_level_at_every_true_ratio_of_at_least_one(n1: int, n2: int) -> None:
    for r in (1.0, 1.1, 1.5, 3.0, 10.0):
        for p2 in np.linspace(0.01, 1.0, 40) / r:
            for alpha in (0.01, 0.05, 0.3):
                assert rejection_probability(n1, n2, r, float(p2), alpha) <= alpha


def test_the_confidence_sequence_solves_its_own_equation() -> None:
    k, n, alpha = 37, 1000, 0.05
    with mpmath.workdps(30):
        mixture = mpmath.beta(k + 0.5, n - k + 0.5) / mpmath.beta(0.5, 0.5)
        for p in binomial.confidence_sequence(k, n, alpha):
            assert mixture / (mpmath.mpf(p) ** k * (1 - mpmath.mpf(p)) ** (n - k)) == pytest.approx(1 / alpha, rel=1e-6)


def test_the_confidence_sequence_is_wider_than_one_look() -> None:
    low, high = binomial.confidence_sequence(np.array([0, 5, 10]), 10, 0.05)
    once_low, once_high = (side(np.array([0, 5, 10]), 10, 0.025) for side in (binomial.lower, binomial.upper))
    assert np.all(low <= once_low)
    assert np.all(high >= once_high)
    assert binomial.confidence_sequence(0, 0, 0.05) == (0.0, 1.0)


@pytest.mark.parametrize(("k", "n", "alpha"), [(5, 4, 0.05), (-1, 4, 0.05), (1, 4, 0.0), (1, 4, 1.0), (0.5, 4, 0.05)])
def test_impossible_counts_and_levels_are_refused(k: int, n: int, alpha: float) -> None:
    with pytest.raises(InvalidInput):
        binomial.lower(k, n, alpha)


@pytest.mark.parametrize(("k1", "n1", "k2", "n2"), [(400, 1000, 100, 900), (30, 100, 0, 100), (50, 50, 3, 60)])
def test_two_clopper_pearson_bounds_share_alpha(k1: int, n1: int, k2: int, n2: int) -> None:
    low = float(beta.ppf(0.025, k1, n1 - k1 + 1))
    high = float(beta.isf(0.025, k2 + 1, n2 - k2))
    assert binomial.ratio_lower_clopper_pearson(k1, n1, k2, n2, 0.05) == pytest.approx(math.log(low / high), rel=1e-9)


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_the_confidence_sequence_without_hits_has_a_closed_form(n: int) -> None:
    """(1 - p)^n is the likelihood: the upper end is 1 - (alpha B(1/2, n + 1/2) / B(1/2, 1/2))^(1/n)."""
    with mpmath.workdps(30):
        edge = 1 - (mpmath.mpf("0.05") * mpmath.beta(0.5, n + 0.5) / mpmath.beta(0.5, 0.5)) ** (mpmath.mpf(1) / n)
    low, high = binomial.confidence_sequence(0, n, 0.05)
    assert low == 0.0
    assert high == pytest.approx(float(edge), rel=1e-9)
    mirrored = binomial.confidence_sequence(n, n, 0.05)
    assert mirrored[1] == 1.0
    assert mirrored[0] == pytest.approx(1 - float(edge), rel=1e-9)


def test_one_wrong_quantile_among_right_ones_is_mended() -> None:
    a, b = np.array([3, 1000]), np.array([8, 50])
    truth = betaincinv(a, b, 0.05)
    found = binomial._beta_quantile(a, b, 0.05, betainc, lambda *_: np.array([truth[0], 2.4 * truth[1]]))
    assert found == pytest.approx(truth, rel=1e-9)
    upper = binomial._beta_quantile(a, b, 0.05, betaincc, lambda *_: np.array([0.999, 0.5]))
    assert betaincc(a, b, upper) == pytest.approx([0.05, 0.05], rel=1e-9)

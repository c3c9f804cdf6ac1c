"""Gaussian noise in closed form, against 40 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpest.curves.gaussian import _mills_fall, gaussian_delta, gaussian_piece
from tests.oracles.compositions import gaussian

SHIFTS = [1e-6, 0.003, 0.2, 0.49, 0.51, 1.0, 3.0, 20.0]
PLACES = [-8.0, -2.5, -1.01, -0.99, 0.0, 0.7, 3.0, 9.0]


@pytest.mark.parametrize(("mu", "z"), [(mu, z) for mu in SHIFTS for z in PLACES if z + mu / 2 >= 0])
def test_both_ends(mu: float, z: float) -> None:
    epsilon = mu * (z + mu / 2)
    truth = gaussian(mpmath.mpf(mu), epsilon)
    low, high = gaussian_delta(mu, epsilon)
    assert low <= truth <= high
    assert high - low <= 2e-11 * truth + 1e-13 * (z < -1)


@pytest.mark.parametrize("error", [1e-9, 1e-4])
@pytest.mark.parametrize(("mu", "epsilon"), [(0.1, 0.02), (1.0, 0.0), (1.0, 4.0), (3.0, 0.5)])
def test_the_error_of_the_shift_is_inside(mu: float, epsilon: float, error: float) -> None:
    low, high = gaussian_delta(mu, epsilon, error)
    ends = gaussian(mpmath.mpf(mu) * (1 - error), epsilon), gaussian(mpmath.mpf(mu) * (1 + error), epsilon)
    assert low <= ends[0] < ends[1] <= high
    assert high - low <= 1.001 * (ends[1] - ends[0]) + 1e-12 * ends[1]


def test_no_shift_and_huge_shifts() -> None:
    assert gaussian_delta(0.0, 0.0) == (0.0, 0.0)
    low, high = gaussian_delta(100.0, 0.0)
    assert low <= 1.0 == high
    assert low > 1 - 1e-12
    low, high = gaussian_delta(0.01, 10.0)
    assert 0.0 <= low <= high <= 1e-300


@pytest.mark.parametrize("epsilon", [0.0, 5.0])
def test_below_the_mean_the_error_stays_of_the_order_of_rounding(epsilon: float) -> None:
    """z < -1: a difference of two probabilities."""
    low, high = gaussian_delta(6.0, epsilon)
    assert low <= gaussian(mpmath.mpf(6), epsilon) <= high
    assert high - low < 1e-12


@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_the_two_densities(mu: float) -> None:
    piece = gaussian_piece(mu)
    x = np.array([-39.0, -1.0, 0.0, 0.5, mu, 7.0, mu + 39])
    p, q, off = piece.densities(x)
    np.testing.assert_allclose(p, stats.norm.logpdf(x - mu), rtol=1e-13)
    np.testing.assert_allclose(q, stats.norm.logpdf(x), rtol=1e-13)
    assert (np.abs(p - stats.norm.logpdf(x - mu)) <= off).all()
    assert (off < 1e-11).all()
    assert piece.edges[0] == -40.0
    assert piece.edges[-1] == mu + 40.0
    assert np.diff(piece.edges).max() < 0.6
    assert 0 < max(piece.beyond) <= 1e-300
    assert piece.tails is not None
    one, other = piece.tails
    assert (one.low, one.high, one.least, one.most) == (mu, mu, 1.0, 1.0)
    assert (other.low, other.high) == (0.0, 0.0)


def test_the_error_of_the_shift_is_in_the_densities() -> None:
    error, mu = 1e-6, 2.0
    piece = gaussian_piece(mu, error)
    x = np.linspace(-5, 7, 25)
    p, q, off = piece.densities(x)
    for other in (mu * (1 - error), mu * (1 + error)):
        assert (np.abs(p - stats.norm.logpdf(x - other)) <= off).all()
    assert (off <= 1.01 * error * mu * (np.abs(x) + mu) + 1e-13).all()
    assert piece.tails is not None
    assert piece.tails[0].low == mu - error * mu
    assert piece.tails[0].high == mu + error * mu
    assert math.isclose(float(q[0]), float(stats.norm.logpdf(-5)))


@pytest.mark.parametrize(("z", "mu"), [(-1.0, 0.5), (0.0, 0.3), (4.0, 0.5), (0.0, 2.0), (5.0, 1.0)])
def test_the_fall_of_the_mills_ratio(z: float, mu: float) -> None:
    with mpmath.workdps(40):
        a, b = (mpmath.ncdf(-mpmath.mpf(t)) / mpmath.npdf(t) for t in (z, z + mu))
        worst = (1 + abs((z + mu) * b)) / (1 - (z + mu) * b)  # the derivative is 1 - t m(t): relative to its terms
    value, error = _mills_fall(z, mu)
    assert abs(value - (a - b)) <= error * (a - b)
    expected = worst if mu <= 0.5 else (a + b) / (a - b)
    assert 0.9 * 2e-14 * expected <= error <= 1.1 * 2e-14 * expected or (mu <= 0.5 and z < 0)


@pytest.mark.parametrize("mu", [10.0, 300.0, 7001.0, 1e5 / 3])
def test_the_rounding_of_a_large_difference_is_inside(mu: float) -> None:
    """z is a difference of two numbers of the size of mu: what its rounding changes is more than the other errors together."""
    for z in np.linspace(-3.0, 6.0, 37):
        epsilon = mu * (float(z) + mu / 2)
        truth = gaussian(mpmath.mpf(mu), epsilon)
        low, high = gaussian_delta(mu, epsilon)
        assert low <= truth <= high
        assert high - low <= 1e-14 * (1 + mu) * (4 + abs(z)) * truth + 2e-13 * (z < -1)

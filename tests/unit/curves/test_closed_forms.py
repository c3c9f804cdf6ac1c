"""Gaussian and Laplace noise, whose curves are known (rung: closed forms, mpmath)."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpest.curves.curve import Curve, composed
from dpest.curves.gaussian import gaussian_piece
from tests.oracles.compositions import gaussian, laplace, laplace_renyi, two_laplace
from tests.unit.curves.pairs import curve_of, laplace_curve, width


@pytest.mark.parametrize("k", [1, 100, 10**4, 10**6])
@pytest.mark.parametrize("mu", [0.001, 0.1, 1.0, 3.0])
def test_gaussians_add_their_squares(mu: float, k: int) -> None:
    curve = Curve.gaussian(mu).compose(k)
    total = mpmath.sqrt(k) * mpmath.mpf(mu)
    for z in (-1.0, 0.0, 2.0, 5.0, 7.3):
        epsilon = max(0.0, float(total * total / 2 + z * total))
        truth, found = gaussian(total, epsilon), curve.delta(epsilon)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-6 if truth > 1e-14 else True


def test_gaussian_epsilon_at_is_the_inverse() -> None:
    curve = Curve.gaussian(0.7)
    for delta in (0.1, 1e-5, 1e-12):
        found = curve.epsilon_at(delta)
        assert gaussian(mpmath.mpf(0.7), found.upper) <= delta <= gaussian(mpmath.mpf(0.7), found.lower)
        assert width(found) < 1e-9


def test_gaussian_orders() -> None:
    curve = Curve.gaussian(0.5).compose(4)
    assert curve.renyi(3.0).lower <= 1.5 <= curve.renyi(3.0).upper
    assert curve.rho().lower <= 0.5 <= curve.rho().upper
    assert curve.gdp_mu().lower <= 1.0 <= curve.gdp_mu().upper
    assert curve.expected_loss().lower <= 0.5 <= curve.expected_loss().upper
    assert curve.epsilon == math.inf
    truth = stats.norm.cdf(stats.norm.isf(0.05) - 1.0)
    assert curve.tradeoff(0.05).lower <= truth <= curve.tradeoff(0.05).upper
    assert curve.tradeoff(0.05).upper - curve.tradeoff(0.05).lower < 1e-5


def test_cells_of_a_gaussian_compose_to_the_closed_form() -> None:
    """The same law without its closed form: cells, transform and tilt against the analytic curve."""
    curve = curve_of(gaussian_piece(0.3)).compose(50)
    mu = mpmath.sqrt(50) * mpmath.mpf(0.3)
    for epsilon in (0.0, 1.0, 5.0, 12.0, 16.0, 17.5):
        truth, found = gaussian(mu, epsilon), curve.delta(epsilon)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-4
    assert gaussian(mu, 17.5) < 1e-12


def test_narrower_on_request() -> None:
    curve = curve_of(gaussian_piece(0.3)).compose(20, tolerance=5e-6)
    truth, found = gaussian(mpmath.sqrt(20) * mpmath.mpf(0.3), 4.0), curve.delta(4.0)
    assert found.lower <= truth <= found.upper
    assert width(found) < 5e-6


@pytest.mark.parametrize("b", [0.5, 1.0, 20.0])
def test_one_laplace_draw(b: float) -> None:
    curve = laplace_curve(b)
    for share in (0.0, 0.3, 0.9, 0.999, 1.0, 1.5):
        truth, found = laplace(1 / b, share / b), curve.delta(share / b)
        assert found.lower <= truth <= found.upper
    for alpha in (1.1, 2.0, 8.0, 64.0):
        truth, found = laplace_renyi(1 / b, alpha), curve.renyi(alpha)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-5
    assert curve.epsilon.lower <= 1 / b <= curve.epsilon.upper
    loss = curve.expected_loss()
    assert loss.lower <= 1 / b - 1 + math.exp(-1 / b) <= loss.upper
    assert width(loss) < 1e-5


def test_laplace_epsilon_at_is_the_inverse() -> None:
    curve = laplace_curve(2.0)
    for delta in (0.1, 1e-3, 1e-6, 1e-12):
        truth = 0.5 + 2 * math.log1p(-delta)
        found = curve.epsilon_at(delta)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-9


def test_two_laplace_draws() -> None:
    curve = laplace_curve(1.0).compose(2)
    for epsilon in (0.0, 0.3, 1.0, 1.7, 1.99):
        truth, found = two_laplace(1.0, epsilon), curve.delta(epsilon)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-4


def test_laplace_zcdp() -> None:
    """The supremum over orders, by a dense grid of the closed form."""
    truth = max(float(laplace_renyi(1.0, a)) / a for a in np.geomspace(1.0001, 50, 400))
    found = laplace_curve(1.0).rho()
    assert found.lower <= max(truth, math.exp(-1)) * (1 + 1e-9)
    assert found.upper >= truth
    assert width(found) < 1e-4


def test_gaussian_and_laplace_together() -> None:
    """The delta of the Laplace draw, averaged over the loss of the Gaussian one."""
    curve = composed([(laplace_curve(1.0), 1), (Curve.gaussian(0.5), 1)])
    mu = mpmath.mpf(0.5)
    for epsilon in (0.2, 1.5, 3.0):

        def inner(z: mpmath.mpf, epsilon: float = epsilon) -> mpmath.mpf:
            rest = epsilon - (mu * z + mu * mu / 2)
            one = 0 if rest >= 1 else -mpmath.expm1(rest) if rest <= -1 else -mpmath.expm1((rest - 1) / 2)
            return one * mpmath.npdf(z)

        kinks = sorted(float((epsilon - s - mu * mu / 2) / mu) for s in (-1, 1))
        truth = mpmath.quad(inner, [kinks[0], *np.linspace(kinks[0], kinks[0] + 12, 13)[1:-1], kinks[0] + 30])
        found = curve.delta(epsilon)
        assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)
        assert width(found) < 1e-4


def test_total_variation_and_tradeoff_of_laplace() -> None:
    curve = laplace_curve(1.0)
    assert curve.total_variation().lower <= -math.expm1(-0.5) <= curve.total_variation().upper
    for alpha in (0.05, 0.3, 0.5):
        # The optimal test of x ~ Lap(1) against Lap(1) + 1 is a threshold.
        t = math.log(1 / (2 * alpha)) if alpha < 0.5 else 0.0
        truth = 0.5 * math.exp(t - 1) if t < 1 else 1 - 0.5 * math.exp(1 - t)
        found = curve.tradeoff(alpha)
        assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
        assert found.upper - found.lower < 1e-5

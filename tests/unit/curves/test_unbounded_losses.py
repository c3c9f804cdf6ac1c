"""Renyi divergences of losses without a largest one: both ends are finite, and the closed form lies between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats

import dpest
from dpest.curves.curve import Curve
from dpest.curves.tails import NormalTails, log_moment_beyond

ORDERS = [1.1, 1.5, 2, 3, 5, 8, 16, 32, 64]


def subsampled(x: Any, q: float, sigma: float) -> Any:
    return (x if dpest.bernoulli(q) else 0.0) + dpest.gaussian(sigma)


def of_subsampling(alpha: int, q: float, sigma: float) -> float:
    """ln E ((1 - q) + q e^((2 x - 1) / (2 sigma^2)))^alpha over N(0, sigma^2), by the binomial theorem, over alpha - 1."""
    k = np.arange(alpha + 1)
    logs = special.gammaln(alpha + 1) - special.gammaln(k + 1) - special.gammaln(alpha - k + 1)
    logs = logs + k * math.log(q) + (alpha - k) * math.log1p(-q) + k * (k - 1) / (2 * sigma**2)
    return float(special.logsumexp(logs)) / (alpha - 1)


def check(curve: Curve, alpha: float, truth: float, width: float) -> None:
    found = curve.renyi(alpha)
    assert found.lower <= truth * (1 + 1e-12)
    assert truth <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower <= width * truth


@pytest.mark.parametrize("alpha", [2, 3, 5, 8, 16, 32])
@pytest.mark.parametrize(("q", "sigma"), [(0.01, 1.0), (0.1, 2.0), (0.5, 0.7)])
def test_subsampled_gaussians(q: float, sigma: float, alpha: int) -> None:
    curve = dpest.estimate(subsampled, (1.0, 0.0), q=q, sigma=sigma).curve()
    # Of the two directions the mixture over the plain law is the larger one, for whole orders.
    check(curve, alpha, of_subsampling(alpha, q, sigma), 1e-8)
    check(curve.compose(50), alpha, 50 * of_subsampling(alpha, q, sigma), 1e-8)


@pytest.mark.parametrize(("q", "sigma"), [(0.1, 2.0), (0.5, 0.7)])
def test_sampling_does_not_help_zero_concentrated_or_gaussian_privacy(q: float, sigma: float) -> None:
    """At high orders what is left of the sampling is a constant: rho and mu are those of the noise alone."""
    curve = dpest.estimate(subsampled, (1.0, 0.0), q=q, sigma=sigma).curve()
    for k in (1, 50):
        rho, mu = curve.compose(k).rho(), curve.compose(k).gdp_mu()
        assert rho.lower <= k / (2 * sigma**2) <= rho.upper
        assert mu.lower <= math.sqrt(k) / sigma <= mu.upper
        assert rho.upper <= k / (2 * sigma**2) * (1 + 1e-9)
        assert mu.upper <= math.sqrt(k) / sigma * (1 + 1e-9)
        assert rho.lower > 0.95 * rho.upper
        assert mu.lower > 0.97 * mu.upper


def test_nothing_bounds_rho_and_mu_where_deviations_differ() -> None:
    """The Renyi divergence of a wider normal law over a narrower one is infinite from some order on."""
    curve = dpest.estimate(lambda x: (x if dpest.bernoulli(0.5) else 0.0) + dpest.gaussian(1.0 + x), (0.0, 1.0)).curve()
    for found in (curve.rho(), curve.gdp_mu()):
        assert found.upper == math.inf
        assert 0 < found.lower <= found


@pytest.mark.parametrize("alpha", ORDERS)
def test_gaussians_beside_coins_and_laplace_noise(alpha: float) -> None:
    def both(x: Any) -> Any:
        return x + dpest.gaussian(2.0), x + dpest.laplace(3.0)

    b, a = 3.0, float(alpha)
    laplace = math.log(a / (2 * a - 1) * math.exp((a - 1) / b) + (a - 1) / (2 * a - 1) * math.exp(-a / b)) / (a - 1)
    check(dpest.estimate(both, (0.0, 1.0)).curve(), alpha, a / (2 * 2.0**2) + laplace, 1e-4)


@pytest.mark.parametrize("alpha", [1.5, 12.0])
def test_mixtures_of_normal_laws_against_quadrature(alpha: float) -> None:
    def mechanism(x: Any) -> Any:
        k = dpest.integers(0, 2)
        return x * k + dpest.gaussian(1.0) + dpest.gaussian(0.75)

    deviation = math.hypot(1.0, 0.75)

    def log_density(y: float, x: float) -> float:
        top = max(-0.5 * ((y - x * k) / deviation) ** 2 for k in range(3))
        each = [math.exp(-0.5 * ((y - x * k) / deviation) ** 2 - top) for k in range(3)]
        return math.log(sum(each) / (3 * deviation * math.sqrt(2 * math.pi))) + top

    def log_moment(x: float, other: float) -> float:
        top = max(alpha * log_density(y, x) + (1 - alpha) * log_density(y, other) for y in np.linspace(-60, 60, 601))

        def integrand(y: float) -> float:
            return math.exp(alpha * log_density(y, x) + (1 - alpha) * log_density(y, other) - top)

        return math.log(sum(integrate.quad(integrand, a, a + 10, epsabs=0, epsrel=1e-8)[0] for a in range(-60, 60, 10))) + top

    truth = max(log_moment(1.0, 0.0), log_moment(0.0, 1.0)) / (alpha - 1)
    check(dpest.estimate(mechanism, (0.0, 1.0)).curve(), alpha, truth, 1e-6)


def test_what_lies_beyond_is_bounded() -> None:
    one, other = NormalTails(1.0, 1.0, 1.0, 1.0), NormalTails(0.0, 0.0, 1.0, 1.0)
    for place in (1.0, 3.0, 12.0):
        for order in (0.5, 4.0, 40.0):
            # p (p / q)^t is a normal density around t + 1, times e^(t (t + 1) / 2).
            truth = stats.norm.logsf(place, loc=order + 1) + order * (order + 1) / 2
            found = log_moment_beyond(one, other, place, float(stats.norm.logpdf(place - 1)), place - 0.5, order)
            assert truth <= found * (1 + 1e-12) + 1e-12
    wide = NormalTails(0.0, 0.0, 1.0, 1.5)
    assert log_moment_beyond(wide, other, 9.0, -20.0, 3.0, 4.0) == math.inf  # the wider law: its moment is infinite


def test_a_wider_law_has_no_finite_moment() -> None:
    def mechanism(x: Any) -> Any:
        return dpest.gaussian(1.0) if dpest.bernoulli(0.5 + 0.25 * x) else dpest.gaussian(2.0)

    found = dpest.estimate(mechanism, (0, 1)).curve().renyi(2.0)
    assert math.isfinite(found.lower)
    assert found.lower <= found.upper

"""Renyi divergences, zCDP, trade-offs and Gaussian privacy of finite pairs, against sums and Neyman and Pearson's lemma."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from dpest.curves.curve import Curve
from dpest.curves.gaussian import gaussian_piece
from dpest.curves.orders import _between, _divided, _mu_of, _type_two
from dpest.errors import InvalidInput
from dpest.numerics.bracket import Bracketed
from tests.oracles.compositions import gaussian
from tests.unit.curves.pairs import curve_of

P, Q = [0.5, 0.3, 0.15, 0.05], [0.2, 0.3, 0.1, 0.4]


def divergence(p: list[float], q: list[float], alpha: float) -> float:
    logs = [alpha * math.log(a) + (1 - alpha) * math.log(b) for a, b in zip(p, q, strict=True)]
    return float(special.logsumexp(logs)) / (alpha - 1)


def relative_entropy(p: list[float], q: list[float]) -> float:
    return math.fsum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize("alpha", [1.001, 1.5, 2.0, 7.0, 300.0])
def test_divergences_of_a_finite_pair(alpha: float) -> None:
    found = Curve.discrete(P, Q).renyi(alpha)
    truth = max(divergence(P, Q, alpha), divergence(Q, P, alpha))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-9
    thrice = Curve.discrete(P, Q).compose(3).renyi(alpha)
    assert thrice.lower <= 3 * truth <= thrice.upper
    assert thrice.upper - thrice.lower < 3e-9


def test_the_order_infinity_is_the_largest_loss() -> None:
    found = Curve.discrete(P, Q).renyi(math.inf)
    assert found.lower <= math.log(8) <= found.upper
    assert found.upper - found.lower < 1e-10
    for wrong in (1.0, 0.5, math.nan, True, "2"):
        with pytest.raises(InvalidInput, match="order alpha must be a number > 1"):
            Curve.discrete(P, Q).renyi(wrong)  # type: ignore[arg-type]


def test_a_divergence_is_neither_negative_nor_above_the_largest_loss() -> None:
    assert _divided((-1e-17, 2e-17), 0.5, 1.0) == (0.0, pytest.approx(4e-17))
    low, high = _divided((1.0, 3.0), 2.0, 1.25)
    assert low <= 0.5 == pytest.approx(low)
    assert high == 1.25
    low, high = _divided((1.0, 3.0), 2.0, 9.0)
    assert high >= 1.5 == pytest.approx(high)


@pytest.mark.parametrize(("p", "q"), [(P, Q), ([0.6, 0.4], [0.4, 0.6]), ([0.9, 0.1], [0.5, 0.5])])
def test_the_largest_quotient_of_divergence_and_order(p: list[float], q: list[float]) -> None:
    orders = np.geomspace(1.00001, 200, 600)
    each = [divergence(a, b, x) / x for a, b in ((p, q), (q, p)) for x in orders]
    truth = max(*each, relative_entropy(p, q), relative_entropy(q, p))
    found = Curve.discrete(p, q).rho()
    assert found.lower <= truth * (1 + 1e-5)
    assert truth <= found.upper
    assert found.upper - found.lower <= 5e-4 * truth


def test_where_the_quotient_falls_the_mean_is_the_largest() -> None:
    """A large loss that is nearly sure: the divergence hardly grows with its order."""
    p, q = [0.9999, 0.0001], [0.0001, 0.9999]
    truth = relative_entropy(p, q)
    found = Curve.discrete(p, q).rho()
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-3 * truth


def neyman_pearson(p: list[float], q: list[float], level: float) -> float:
    """The smallest type II error of a test of p (type I) against q: outcomes with the largest q / p are rejected first."""
    order = sorted(range(len(p)), key=lambda i: -q[i] / p[i])
    power, left = 0.0, level
    for i in order:
        share = min(1.0, left / p[i])
        power, left = power + share * q[i], left - share * p[i]
        if left <= 0:
            break
    return 1 - power


@pytest.mark.parametrize("level", [0.0, 1e-3, 0.05, 0.2, 0.37, 0.5, 0.9, 1.0])
def test_tradeoffs_of_finite_pairs(level: float) -> None:
    truth = min(neyman_pearson(P, Q, level), neyman_pearson(Q, P, level))
    found = Curve.discrete(P, Q).tradeoff(level)
    # The curve of both directions together is the lower convex hull of both, which lies below either.
    assert found.lower <= truth + 1e-12
    assert found.upper - found.lower < 2e-6
    coin = Curve.discrete([0.8, 0.2], [0.2, 0.8]).tradeoff(level)
    truth = neyman_pearson([0.8, 0.2], [0.2, 0.8], level)
    assert coin.lower <= truth <= coin.upper
    assert coin.upper - coin.lower < 2e-6


def test_what_one_point_of_the_curve_says() -> None:
    assert _type_two(0.0, 0.1, 0.2) == pytest.approx(0.7)
    assert _type_two(1.0, 0.0, 0.1) == pytest.approx(max(1 - math.e / 10, 0.9 / math.e))
    assert _type_two(5.0, 0.0, 0.1) == pytest.approx(0.9 * math.exp(-5))
    assert _type_two(1.0, 0.0, 1.0) == 0.0
    assert _type_two(1000.0, 0.0, 0.5) == 0.0
    for wrong in (-0.1, 1.1, math.nan, "0"):
        with pytest.raises(InvalidInput, match="type I error alpha must lie in"):
            Curve.discrete(P, Q).tradeoff(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_gaussian_privacy_of_randomised_response(epsilon: float) -> None:
    """The trade-off has one kink, at the level 1 / (1 + e^epsilon): there the Gaussian one must be below it."""
    found = Curve.pure(epsilon).gdp_mu()
    truth = 2 * float(stats.norm.ppf(1 / (1 + math.exp(-epsilon))))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 2e-4 * truth


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 2.0])
def test_the_shift_with_a_given_delta(mu: float, epsilon: float) -> None:
    delta = float(gaussian(mu, epsilon))
    if delta < 1e-200:
        assert _mu_of(0.0, epsilon, up=True) == 0.0
        return
    low, high = _mu_of(delta * (1 - 1e-15), epsilon, up=False), _mu_of(delta * (1 + 1e-15), epsilon, up=True)
    assert low <= mu <= high
    assert high - low < 1e-9 * mu


def test_no_shift_and_no_bound() -> None:
    assert _mu_of(0.0, 1.0, up=True) == 0.0
    assert _mu_of(-1.0, 1.0, up=False) == 0.0
    assert _mu_of(1.0, 1.0, up=True) == math.inf


def test_gaussians_alone_have_closed_forms() -> None:
    curve = Curve.gaussian(0.3).compose(7)
    for found, truth in ((curve.rho(), 0.5 * 7 * 0.09), (curve.gdp_mu(), 0.3 * math.sqrt(7))):
        assert found.lower < truth < found.upper
        assert found.upper - found.lower < 1e-13


def test_a_bound_between_two_places() -> None:
    def point(x: float) -> Bracketed:
        return Bracketed(x, 0.9 * x, 1.1 * x)

    far = {0.0: point(0.5), 1.0: point(0.3), 30.0: point(0.2)}
    places = [0.0, 1.0, 30.0]
    level = 0.1
    assert _between(places, far, 1, level) == pytest.approx(max(1 - 0.18 - math.e * level, (1 - 0.18 - level) / math.e))
    assert _between(places, far, 1, 0.3) == pytest.approx((1 - 0.18 - 0.3) / math.e)
    # Close by: the larger of what the right end says, and the chords on either side, continued, say.
    near = {0.0: point(0.5), 0.5: point(0.3), 1.0: point(0.15), 1.5: point(0.07)}
    places = sorted(near)
    t = [math.exp(e) for e in places]
    left = (0.27 - 0.55) / (t[1] - t[0])
    right = (0.077 - 0.135) / (t[3] - t[2])
    below = [max(0.27 + left * (x - t[1]), 0.135 + right * (x - t[2]), 0.0) for x in np.linspace(t[1], t[2], 2001)]
    grid = np.linspace(t[1], t[2], 2001)
    sharp = max(max(1 - b - x * level, (1 - b - level) / x) for b, x in zip(below, grid, strict=True))
    plain = max(1 - 0.135 - t[1] * level, (1 - 0.135 - level) / t[1])
    found = _between(places, near, 1, level)
    assert found == pytest.approx(min(sharp, plain), abs=1e-4)
    assert found >= min(sharp, plain) - 1e-9


def test_gaussian_privacy_without_its_closed_form() -> None:
    """The same law as two densities that declare their tails."""
    curve = curve_of(gaussian_piece(0.5))
    rho, mu = curve.rho(), curve.gdp_mu()
    assert rho.lower <= 0.125 <= rho.upper <= 0.125 * (1 + 1e-9)
    assert mu.lower <= 0.5 <= mu.upper <= 0.5 * (1 + 1e-9)
    assert rho.lower > 0.125 * (1 - 1e-9)
    assert mu.lower > 0.5 * (1 - 1e-9)

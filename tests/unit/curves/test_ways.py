"""Ways, orders and curves of composed losses, against fractions and closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpest.curves.curve import Curve, composed
from dpest.curves.orders import gdp_mu, rho, tradeoff
from dpest.curves.way import Way
from dpest.numerics.bracket import Bracketed
from tests.unit.curves.finite import COIN, SKEW, THIRD, exact_delta, leaf, outcomes

Floats = npt.NDArray[np.float64]
# -- ways, orders and curves -------------------------------------------------------------------------------------------


def test_moments_and_means_of_a_way() -> None:
    way = Way(None, "D over D'", ((COIN, 2), (THIRD, 1)), mu_squared=0.09, mu_error=1e-6)
    for order in (0.5, 3.0):
        with mpmath.workdps(30):
            half = mpmath.fsum(mpmath.mpf(a) * (mpmath.mpf(a) / b) ** order for a, b in ((0.75, 0.25), (0.25, 0.75)))
            third = mpmath.fsum(mpmath.mpf(a) * (mpmath.mpf(a) / b) ** order for a, b in ((0.6, 0.2), (0.3, 0.3), (0.1, 0.5)))
            truth = 2 * mpmath.log(half) + mpmath.log(third) + 0.5 * order * (order + 1) * mpmath.mpf("0.09")
        low, high = way.log_moment(order)
        assert low <= truth <= high
        own = 0.5 * order * (order + 1) * 0.09
        assert own * 4e-6 <= high - low <= own * 4e-6 + 1e-11
    low, high = way.mean()
    mean = 2 * 0.5 * math.log(3) + 0.6 * math.log(3) + 0.1 * math.log(0.2) + 0.045
    assert low <= mean <= high
    assert 0.045 * 4e-6 <= high - low <= 1e-6


def test_the_largest_loss_of_a_way() -> None:
    way = Way(None, "D over D'", ((COIN, 2), (THIRD, 1)))
    low, high = way.largest
    assert low <= 3 * math.log(3) <= high
    assert high - low <= 1e-10
    known = Way(None, "D over D'", ((COIN, 1),), pure=(math.log(3), math.log(3)))
    assert known.largest == (math.log(3), math.log(3))
    wrong = Way(None, "D over D'", ((COIN, 1),), pure=(0.5, 0.5))  # below what the cells show: not used
    assert wrong.largest[0] > 1.0
    assert Way(None, "D over D'", (), mu_squared=1.0).largest == (math.inf, math.inf)
    assert Way(None, "D over D'", ()).largest == (0.0, 0.0)
    gap = leaf([0.5, 0.4, 0.1], [0.5, 0.5, 0.0])
    assert Way(None, "D over D'", ((gap, 2),)).largest == (math.inf, math.inf)
    ends = Way(None, "D over D'", ((gap, 2),)).infinite
    assert ends[0] <= 0.19 <= ends[1]
    assert ends[1] - ends[0] < 1e-11
    assert Way(None, "D over D'", ((gap, 1),)).mean() == (math.inf, math.inf)
    assert Way(None, "D over D'", ((gap, 1),)).log_moment(1.0)[1] == math.inf


def test_delta_is_capped_by_the_largest_loss() -> None:
    way = Way(None, "D over D'", ((COIN, 1),), pure=(math.log(3), math.log(3)))
    assert way.delta(math.log(3), 1e-4) == (0.0, 0.0)
    low, high = way.delta(0.0, 1e-4)
    assert low <= 0.5 <= high
    assert high <= 0.5 + 1e-12


def test_composing_matches_directions() -> None:
    """Skewed pairs: taking one of them the other way round would give another curve."""
    one = Curve.discrete([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])
    two = Curve.discrete([0.5, 0.5], [0.9, 0.1])
    turned = Curve(two.ways[::-1])
    right = [Fraction(1, 2), Fraction(1, 2)], [Fraction(9, 10), Fraction(1, 10)]
    forward = outcomes([(*SKEW, 2), (*right, 3)])
    backward = [(b, a) for a, b in forward]
    for other in (two, turned):
        found = composed([(one, 2), (other, 3)])
        for epsilon in (0.0, 1.0, 2.5):
            truth = max(exact_delta(forward, epsilon), exact_delta(backward, epsilon))
            bracket = found.delta(epsilon)
            assert bracket.lower <= truth <= bracket.upper


def test_largest_losses_that_are_known_add_up() -> None:
    known = Curve((Way(None, "D over D'", ((COIN, 1),), pure=(math.log(3) - 1e-13, math.log(3) + 1e-13)),))
    unknown = Curve((Way(None, "D over D'", ((THIRD, 1),)),))
    noise = Curve((Way(None, "D over D'", (), mu_squared=0.25),))
    (way,) = composed([(known, 4)]).ways
    assert way.pure is not None
    assert way.pure[0] <= 4 * math.log(3) - 4e-13
    assert way.pure[1] >= 4 * math.log(3) + 4e-13
    assert way.pure[1] - way.pure[0] < 1e-12
    assert composed([(known, 2), (unknown, 1)]).ways[0].pure is None
    (mixed,) = composed([(known, 2), (noise, 3)]).ways
    assert mixed.mu_squared == 0.75
    assert mixed.largest == (math.inf, math.inf)


def test_several_pairs_and_the_epsilon_of_a_delta() -> None:
    weak = (
        Way("a", "D over D'", ((leaf([0.6, 0.4], [0.4, 0.6]), 1),)),
        Way("a", "D' over D", ((leaf([0.4, 0.6], [0.6, 0.4]), 1),)),
    )
    strong = Way("b", "D over D'", ((COIN, 1),)), Way("b", "D' over D", ((COIN, 1),))
    curve = Curve((*weak, *strong))
    assert curve.delta(0.0).lower <= 0.5 <= curve.delta(0.0).upper
    assert float(curve.epsilon) == pytest.approx(math.log(3))
    # delta(eps) = 3/4 - e^eps / 4
    for delta in (0.4, 0.1, 1e-6):
        found, truth = curve.epsilon_at(delta), math.log(3 - 4 * delta)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower < 1e-9
    assert curve.epsilon_at(0.0).upper == curve.epsilon.upper
    assert float(curve.epsilon_at(0.6)) == 0.0


def test_concentrated_privacy_of_a_coin() -> None:
    """rho = sup of D_alpha / alpha, by a fine grid of orders."""
    way = Way(None, "D over D'", ((COIN, 1),))
    found = rho([way])

    def quotient(a: float) -> float:
        return math.log(0.75 * 3 ** (a - 1) + 0.25 * 3 ** (1 - a)) / (a - 1) / a

    truth = max(0.5 * math.log(3), *(quotient(a) for a in np.linspace(1.0001, 6.0, 20_000)))  # the first is the limit at 1
    assert found.lower <= truth + 1e-9
    assert found.upper >= truth
    assert found.upper - found.lower <= 1e-4 * truth
    plain = rho([Way(None, "D over D'", (), mu_squared=0.5, mu_error=1e-9)])
    assert plain.lower < 0.25 < plain.upper
    assert plain.upper - plain.lower == pytest.approx(0.25 * 4e-9, rel=1e-3)


@pytest.mark.parametrize("level", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_the_trade_off_of_a_coin(level: float) -> None:
    """Likelihood ratios 3 and 1/3: the type II error falls by 3 per unit of level up to 1/4, then by 1/3."""
    curve = Curve.discrete([0.75, 0.25], [0.25, 0.75])
    found = tradeoff(curve.delta, level, curve.epsilon.upper)
    truth = 1 - 3 * level if level <= 0.25 else (1 - level) / 3
    assert found.lower <= truth + 1e-15
    assert found.upper >= truth
    assert found.upper - found.lower < 1e-5


def test_the_trade_off_of_a_plain_curve() -> None:
    """delta(eps) = (1 - e^eps / 4)+ is that of ratios 4 and 0."""

    def curve(epsilon: float) -> Bracketed:
        value = max(0.0, 1 - math.exp(epsilon) / 4)
        return Bracketed(value, value, value)

    for level in (0.05, 0.2):
        found = tradeoff(curve, level, math.log(4))
        truth = max(0.0, *((1 - curve(e) - math.exp(e) * level) for e in np.linspace(0, math.log(4), 2001)))
        other = max((1 - curve(e) - level) * math.exp(-e) for e in np.linspace(0, math.log(4), 2001))
        assert found.lower <= max(truth, other) + 1e-9
        assert found.upper >= max(truth, other)
        assert found.upper - found.lower < 1e-4


def test_the_gaussian_curve_above_a_coin() -> None:
    """At each epsilon the mu whose Gaussian curve passes through delta(eps) = 3/4 - e^eps / 4; the largest counts."""
    found = gdp_mu(Curve.discrete([0.75, 0.25], [0.25, 0.75]).delta, [Way(None, "D over D'", ((COIN, 1),))], math.log(3))

    def gaussian(mu: float, e: float) -> float:
        return float(norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu))

    each = []
    for e in np.linspace(0, 1.0986, 200):
        wanted = 0.75 - math.exp(e) / 4
        each.append(brentq(lambda mu, e=e, wanted=wanted: gaussian(mu, e) - wanted, 1e-3, 10))
    assert found.lower <= max(each) + 1e-4
    assert found.upper >= max(each)
    assert found.upper - found.lower < 1e-2
    plain = gdp_mu(lambda _: Bracketed(0.0, 0.0, 0.0), [Way(None, "D over D'", (), mu_squared=0.25, mu_error=1e-9)], math.inf)
    assert plain.lower < 0.5 < plain.upper
    assert plain.upper - plain.lower == pytest.approx(1e-9, rel=1e-3)

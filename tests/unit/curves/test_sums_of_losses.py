"""Lists of losses summed as they stand, masses of products, and the root of a curve, against mpmath and fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpest.curves.cells import LossCells, Losses, single, upward_share
from dpest.curves.direct import delta_above, delta_below
from dpest.curves.gaussian import gaussian_delta
from dpest.curves.root import smallest_epsilon
from dpest.curves.tree import (
    Fixed,
    Joined,
    Leaf,
    Masses,
    Mixture,
    ProductPart,
    Swapped,
    Weighted,
    extent,
    factors,
    leaves,
    masses,
    most,
    swapped,
    together,
    weighted,
)
from dpest.numerics.bracket import Bracketed


def losses(seed: int) -> Losses:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    loss = np.sort(rng.normal(0, 3, n))
    return Losses(np.log(rng.dirichlet(np.ones(n + 1)))[:n], loss, float(rng.choice([0.0, 1e-3])))


def delta(given: Losses, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        pairs = zip(given.log_mass.tolist(), given.loss.tolist(), strict=True)
        over = (mpmath.exp(m) * -mpmath.expm1(mpmath.mpf(epsilon) - mpmath.mpf(x)) for m, x in pairs if x > epsilon)
        return mpmath.fsum(over) + given.infinite


@pytest.mark.parametrize("epsilon", [-2.0, 0.0, 0.7, 5.0])
def test_delta_lies_between_both_sums(epsilon: float) -> None:
    for seed in range(30):
        given = losses(seed)
        low, high, truth = delta_below(given, epsilon), delta_above(given, epsilon), delta(given, epsilon)
        assert low <= truth <= high
        assert high - low <= 2e-13 * float(truth) + 1e-14
        assert high > low or truth == 0


def test_losses_at_epsilon_count_by_their_rounding_alone() -> None:
    given = Losses(np.log([0.5, 0.5]), np.array([1.0, 1e6]), 0.0)
    assert delta_below(given, 1e6) == 0.0
    assert 0.0 < delta_above(given, 1e6) <= 1e-9
    everything = Losses(np.array([0.0]), np.array([800.0]), 0.5)
    assert delta_above(everything, 0.0) == 1.0
    assert delta_below(everything, 0.0) == 1.0


def test_a_cell_spread_to_its_ends_keeps_both_masses() -> None:
    """share e^-high + (1 - share) e^-low = e^-loss, rounded so that more of it lies at the higher loss."""
    rng = np.random.default_rng(1)
    low = rng.normal(0, 3, 400)
    high = low + 10.0 ** rng.uniform(-10, 1, 400)
    loss = low + (high - low) * rng.random(400)
    found = upward_share(loss, low, high)
    with mpmath.workdps(40):
        for s, x, a, b in zip(found.tolist(), loss.tolist(), low.tolist(), high.tolist(), strict=True):
            truth = mpmath.expm1(mpmath.mpf(a) - x) / mpmath.expm1(mpmath.mpf(a) - b)
            assert truth <= s <= 1
            assert s <= truth + 1e-13 / min(1.0, b - a)


def test_shares_towards_infinite_ends() -> None:
    inf = math.inf
    found = upward_share(np.array([1.0, 1.0, 1.0]), np.array([0.5, -inf, -inf]), np.array([inf, 2.0, inf]))
    assert found[0] == pytest.approx(-math.expm1(-0.5), rel=1e-14)
    assert found[0] >= -math.expm1(-0.5)
    assert found[1:].tolist() == [1.0, 1.0]


# -- trees -------------------------------------------------------------------------------------------------------------


def leaf(p: list[float], q: list[float]) -> Leaf:
    with np.errstate(divide="ignore"):
        return Leaf(Fixed(single(np.log(p), np.log(q))))


COIN = leaf([0.75, 0.25], [0.25, 0.75])  # losses ln 3 and -ln 3
GAP = leaf([0.5, 0.4, 0.1], [0.5, 0.5, 0.0])  # losses 0, ln 0.8, infinity


@pytest.mark.parametrize("k", [1, 2, 7])
def test_masses_of_copies(k: int) -> None:
    finite, infinite = Fraction(9, 10), Fraction(1, 10)
    found = Masses(float(finite), float(infinite)).power(k)
    assert found.finite == pytest.approx(float(finite**k), rel=1e-14)
    assert found.infinite == pytest.approx(float((finite + infinite) ** k - finite**k), rel=1e-14)
    assert Masses(0.5, 0.0).power(k) == Masses(0.5**k, 0.0)
    assert Masses(0.0, 0.5).power(k) == Masses(0.0, 0.5**k)


def test_masses_of_products_and_mixtures() -> None:
    one, two = Masses(0.6, 0.4), Masses(0.7, 0.2)
    both = one.times(two)
    assert both.finite == pytest.approx(0.42)
    assert both.infinite == pytest.approx(0.9 - 0.42)
    for up in (False, True):
        found = masses(ProductPart(((COIN, 2), (GAP, 3))), up)
        assert (found.finite, found.infinite) == pytest.approx((0.9**3, 1 - 0.9**3), rel=1e-12)
        mixed = masses(Mixture((COIN, GAP)), up)
        assert (mixed.finite, mixed.infinite) == pytest.approx((1.9, 0.1), rel=1e-12)


def test_extent_factors_and_leaves() -> None:
    tree = ProductPart(((COIN, 2), (Mixture((GAP, ProductPart(((COIN, 3),)))), 1)))
    low, high = extent(tree, True)
    assert (low, high) == pytest.approx((-5 * math.log(3), 5 * math.log(3)), rel=1e-9)
    assert extent(Mixture((GAP, COIN)), False) == pytest.approx((-math.log(3), math.log(3)), rel=1e-9)
    assert extent(ProductPart(((GAP, 2), (COIN, 1))), True) == pytest.approx(
        (2 * math.log(0.8) - math.log(3), math.log(3)), rel=1e-9
    )
    assert factors(tree) == 5
    assert leaves(tree) == [COIN, GAP, COIN]
    assert most(ProductPart(((COIN, 4),))) == pytest.approx(4 * math.log(3), rel=1e-9)
    assert most(Mixture((COIN, GAP))) == math.inf
    nothing = Leaf(Fixed(single(np.array([0.0]), np.array([-np.inf]))))
    assert extent(nothing, True) == (0.0, 0.0)


def test_the_other_direction() -> None:
    for tree in (GAP, ProductPart(((GAP, 1),)), Mixture((GAP,))):
        turned = swapped(tree)
        (own,) = leaves(turned)
        assert sorted(np.exp(own.cells.log_p)) == pytest.approx([0.0, 0.5, 0.5])
        assert masses(turned, True).infinite == 0.0
        assert masses(swapped(turned), True).infinite == pytest.approx(0.1)


class Line:
    """Cells of a part that remember which epsilon they were asked for."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.cells = single(np.log([0.75, 0.25]), np.log([0.25, 0.75]))

    def at(self, epsilon: float) -> LossCells:
        self.asked.append(epsilon)
        return self.cells


def test_a_part_with_a_further_event_is_asked_where_its_own_ratio_crosses() -> None:
    line = Line()
    part = weighted(line, math.log(0.5), math.log(0.1), 0.0)
    assert isinstance(part, Weighted)
    found = part.at(2.0)
    assert line.asked == [pytest.approx(2.0 - math.log(5))]
    assert np.exp(found.log_p).sum() == pytest.approx(0.5)
    assert np.exp(found.log_q).sum() == pytest.approx(0.1)
    weighted(line, math.log(0.5), -math.inf, 0.0).at(2.0)
    assert line.asked[-1] == 2.0
    Swapped(line).at(0.5)
    assert line.asked[-1] == -0.5
    assert weighted(line, 0.0, 0.0, 0.0) is line


def test_parts_that_exclude_each_other() -> None:
    line = Line()
    assert together([line]) is line
    assert isinstance(together([line], (0.0, 1e-3)), Joined)
    points = [Fixed(single(np.log([0.5]), np.log([0.25]))), Fixed(single(np.log([0.25]), np.log([0.125])))]
    one = together(list(points))
    assert isinstance(one, Fixed)
    assert one.cells.size == 1  # equal losses become one outcome
    assert float(one.cells.log_p[0]) == pytest.approx(math.log(0.75))
    assert together(list(points), (1e-3, 0.0)).cells.loose == (1e-3, 0.0)
    mixed = together([*points, line], (1e-3, 2e-3))
    assert mixed.cells.size == 3
    assert mixed.cells.loose == (1e-3, 2e-3)
    assert together([*points, line]).cells.loose == (0.0, 0.0)


# -- the epsilon of a delta --------------------------------------------------------------------------------------------


def exponential(rate: float, off: float) -> object:
    """delta(eps) = e^(-rate eps), known up to a relative error."""
    return lambda x: Bracketed(math.exp(-rate * x), math.exp(-rate * x) * (1 - off), math.exp(-rate * x) * (1 + off))


@pytest.mark.parametrize("off", [0.0, 1e-9])
@pytest.mark.parametrize("guess", [(1.0, 1.0), (0.0, 1e-3), (50.0, 10.0)])
def test_the_root_of_an_exponential(off: float, guess: tuple[float, float]) -> None:
    for rate, delta_wanted, end in itertools.product([0.01, 1.0, 300.0], [0.5, 1e-6, 1e-100], [math.inf, 1e9]):
        truth = -math.log(delta_wanted) / rate
        found = smallest_epsilon(exponential(rate, off), delta_wanted, guess, end)  # type: ignore[arg-type]
        assert found.lower <= truth * (1 + 1e-15)
        assert found.upper >= truth * (1 - 1e-15)
        assert found.lower <= float(found) <= found.upper
        assert found.upper - found.lower <= 20 * (off + 1e-13 * (1 - math.log(delta_wanted))) / rate


@pytest.mark.parametrize("power", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("delta_wanted", [0.3, 1e-3, 1e-12])
def test_the_root_towards_a_largest_loss(power: float, delta_wanted: float) -> None:
    """delta(eps) = (1 - eps / 2)^power on [0, 2]: reaches delta at 2 (1 - delta^(1 / power))."""

    def curve(x: float) -> Bracketed:
        value = max(1 - x / 2, 0.0) ** power
        return Bracketed(value, value * (1 - 1e-12), value * (1 + 1e-12))

    calls = []
    found = smallest_epsilon(lambda x: (calls.append(x), curve(x))[1], delta_wanted, (0.5, 1.0), 2.0)
    truth = 2 * (1 - delta_wanted ** (1 / power))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-9
    assert found.upper <= 2.0
    assert len(calls) <= 40  # secants, not halving


def test_ends_of_the_range() -> None:
    curve = exponential(1.0, 1e-9)
    zero = smallest_epsilon(curve, 1.5, (1.0, 1.0), math.inf)  # type: ignore[arg-type]
    assert (float(zero), zero.lower, zero.upper) == (0.0, 0.0, 0.0)
    at_zero = smallest_epsilon(curve, 1.0, (1.0, 1.0), math.inf)  # type: ignore[arg-type]
    assert at_zero.lower == 0.0
    assert 1e-9 <= at_zero.upper <= 1e-7
    never = smallest_epsilon(lambda _: Bracketed(0.5, 0.4, 0.6), 0.1, (1.0, 1.0), 7.0)
    assert never.upper == math.inf
    assert never.lower > 3.5


# -- Gaussian noise ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [-6.0, -1.1, -0.9, 0.0, 2.0, 30.0])
def test_gaussian_noise_in_closed_form(z: float) -> None:
    """delta = Phi(-z) - e^eps Phi(-z - mu) at many digits, with eps = mu z + mu^2 / 2."""
    for mu in (1e-6, 0.03, 0.5, 0.6, 4.0, 30.0):
        epsilon = max(mu * z + mu * mu / 2, 0.0)
        low, high = gaussian_delta(mu, epsilon)
        with mpmath.workdps(400):
            m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
            at = e / m - m / 2
            truth = mpmath.ncdf(-at) - mpmath.exp(e) * mpmath.ncdf(-at - m)
            assert low <= truth <= high
            assert high - low <= 1e-10 * truth + 1e-13


def test_gaussian_noise_without_a_shift_and_with_an_uncertain_one() -> None:
    assert gaussian_delta(0.0, 0.5) == (0.0, 0.0)
    low, high = gaussian_delta(1.0, 0.5, 1e-3)
    assert low <= gaussian_delta(0.999, 0.5)[0]
    assert high >= gaussian_delta(1.001, 0.5)[1]
    assert high <= gaussian_delta(1.0011, 0.5)[1]

"""From traced programs to curves: every way in which outputs go together, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import pytest
from scipy import stats

import dpest
from dpest.errors import NotCovered
from tests.oracles.compositions import gaussian, laplace, two_laplace
from tests.unit.curves.pairs import subsampled_gaussian_curve, width


def curve(mechanism: Any, pair: Any = (0, 1), **parameters: Any) -> dpest.Curve:
    return dpest.estimate(mechanism, pair, method="exact", **parameters).curve()


def holds(found: Any, truth: Any, most: float = 1e-8) -> None:
    assert found.lower <= truth <= found.upper
    assert width(found) < most


def sampled_row(x: float, q: float = 0.1, sigma: float = 2.0) -> Any:
    return (x if dpest.bernoulli(q) else 0) + dpest.gaussian(sigma)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9, 1.0, 2.0])
def test_one_laplace_draw(epsilon: float) -> None:
    found = curve(lambda x: x + dpest.laplace(1)).delta(epsilon)
    assert found.lower <= laplace(1.0, epsilon) <= found.upper
    assert found.upper - found.lower < 1e-12


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 5.0])
def test_a_gaussian_release_is_a_closed_form(epsilon: float) -> None:
    holds(curve(lambda x: x + dpest.gaussian(2)).delta(epsilon), gaussian(mpmath.mpf(0.5), epsilon), 1e-10)


def test_gaussian_noise_through_a_linear_map_is_rotated() -> None:
    def mechanism(x: float) -> Any:
        z, w = dpest.gaussian(1), dpest.gaussian(1)
        return [x + z + w, 2 * x + z - w]

    # z = (y1 + y2) / 2 moves by 3/2 and w = (y1 - y2) / 2 by -1/2.
    holds(curve(mechanism).delta(1.0), gaussian(mpmath.sqrt(mpmath.mpf(5) / 2), 1.0), 1e-9)


def test_independent_gaussian_coordinates_add_their_squares() -> None:
    found = curve(lambda x: [x + dpest.gaussian(1), 2 * x + dpest.gaussian(4), dpest.gaussian(1)])
    holds(found.delta(0.7), gaussian(mpmath.sqrt(mpmath.mpf(5) / 4), 0.7), 1e-10)
    holds(found.compose(1000).renyi(2.0), 1000 * 1.25, 1e-9)


def test_subsampling_comes_from_the_program() -> None:
    mine, direct = curve(sampled_row), subsampled_gaussian_curve(0.1, 2.0)
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        a, b = mine.delta(epsilon), direct.delta(epsilon)
        assert a.lower <= b.upper
        assert b.lower <= a.upper
        assert width(a) < 1e-8
    # D' over D crosses e^eps where q e^((2 y - 1) / 8) = e^eps - 1 + q.
    epsilon, q = 0.2, 0.1
    y = 0.5 + 4 * math.log((math.exp(epsilon) - 1 + q) / q)
    tail = stats.norm(scale=2.0).sf
    truth = q * tail(y - 1) + (1 - q) * tail(y) - math.exp(epsilon) * tail(y)
    found = mine.delta(epsilon)
    assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)


def test_a_coin_that_two_outputs_share() -> None:
    """Both coordinates move together: their sum is sufficient, one mixture with a shift of sqrt(2)."""

    def mechanism(x: float) -> Any:
        moved = x if dpest.bernoulli(0.3) else 0
        return [moved + dpest.gaussian(1), moved + dpest.gaussian(1)]

    sufficient = curve(lambda x: (x if dpest.bernoulli(0.3) else 0) + dpest.gaussian(math.sqrt(0.5)))
    both = curve(mechanism)
    for epsilon in (0.0, 0.5):
        a, b = both.delta(epsilon), sufficient.delta(epsilon)
        assert a.lower <= b.upper
        assert b.lower <= a.upper
        assert width(a) < 1e-4


def test_several_continuous_outputs_compose() -> None:
    """A histogram with three changed cells is one Laplace draw composed three times."""
    three = curve(lambda x: [v + dpest.laplace(10) for v in x], ([1, 1, 1], [2, 0, 0]))
    one = curve(lambda x: x + dpest.laplace(10)).compose(3)
    for epsilon in (0.0, 0.1, 0.25):
        a, b = three.delta(epsilon), one.delta(epsilon)
        assert a.lower <= b.upper
        assert b.lower <= a.upper
        assert width(a) < 1e-4


def test_mass_that_only_one_input_has() -> None:
    def rare(count: Any) -> Any:
        if count is None:
            return None
        noisy = count + dpest.laplace(1)
        return noisy if noisy >= 5 else None

    found = curve(rare, (1, None))
    holds(found.delta(1.0), math.exp(-4) / 2, 1e-11)
    holds(found.compose(10).delta(1e6), -math.expm1(10 * math.log1p(-math.exp(-4) / 2)), 1e-10)


def test_a_loop_without_end_keeps_its_mass_in_the_bracket() -> None:
    def geometric(x: int) -> Any:
        n = 0
        while dpest.bernoulli(0.5):
            n += 1
        return n + x

    found = curve(geometric).delta(0.25)
    assert found.lower <= 0.5 <= found.upper
    assert width(found) < 1e-9


def test_heavy_tails() -> None:
    found = curve(lambda x: x + dpest.from_scipy(stats.cauchy())).delta(0.0)
    holds(found, 2 * stats.cauchy.cdf(0.5) - 1, 1e-9)


def test_discrete_noise_is_exact_and_composes_on_its_lattice() -> None:
    found = curve(lambda x: x + dpest.geometric(2))
    a = math.exp(-0.5)
    holds(found.delta(0.2), (1 - math.exp(0.2 - 0.5)) / (1 + a), 1e-11)
    assert width(found.compose(500).delta(3.0)) < 1e-8


def test_four_outputs_that_share_a_coin_are_refused() -> None:
    def mechanism(x: float) -> Any:
        moved = x if dpest.bernoulli(0.3) else 0
        return [moved + dpest.laplace(1) for _ in range(4)]

    with pytest.raises(NotCovered, match="4 continuous outputs"):
        curve(mechanism).delta(1.0)


def test_shapes_with_several_parts_are_a_mixture_of_products() -> None:
    """The number of outputs tells which branch was taken: delta is the mean of the branches' deltas."""

    def mechanism(x: float) -> Any:
        if dpest.bernoulli(0.25):
            return [x + dpest.laplace(1), x + dpest.laplace(1)]
        return [x + dpest.laplace(1)]

    found = curve(mechanism)
    for epsilon in (0.0, 0.4, 0.95, 1.5):
        truth = 0.25 * two_laplace(1.0, epsilon) + 0.75 * laplace(1.0, epsilon)
        holds(found.delta(epsilon), truth, 1e-4)
    twice = found.compose(2)
    # Two runs release two, three or four values.
    pieces = [(0.75**2, 2), (2 * 0.75 * 0.25, 3), (0.25**2, 4)]
    one = curve(lambda x: x + dpest.laplace(1))
    for epsilon in (0.5, 1.5, 2.5):
        parts = [(w, one.compose(k).delta(epsilon)) for w, k in pieces]
        a = twice.delta(epsilon)
        assert a.lower <= sum(w * d.upper for w, d in parts)
        assert sum(w * d.lower for w, d in parts) <= a.upper
        assert width(a) < 1e-3

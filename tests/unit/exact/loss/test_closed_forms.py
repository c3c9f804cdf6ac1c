"""Closed forms of a released draw at two scales, edges at which densities vanish, and what lies beyond listed points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

import dpest
from dpest.exact.loss.edges import Edge, beside
from dpest.exact.loss.far import UNKNOWN, Far
from dpest.exact.loss.logs import NOTHING, Sup
from dpest.exact.loss.points import _with
from dpest.exact.loss.shift import Release, scaled
from dpest.laws.continuous import Gaussian, Laplace
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact


def release(law: object, c: float = 1.0, constant: float = 0.0) -> Release:
    return Release(law, exact(c), exact(constant))  # type: ignore[arg-type]


def searched(p: Release, q: Release) -> float:
    """The largest log ratio on a fine grid, refined by golden section."""

    def ratio(y: object) -> object:
        at = [np.asarray((np.asarray(y) - float(x.constant)) / float(x.coefficient)) for x in (p, q)]
        logs = [x.law.log_density(v) - math.log(abs(float(x.coefficient))) for x, v in zip((p, q), at, strict=True)]
        return logs[0] - logs[1]

    grid = np.concatenate([np.linspace(-60, 60, 4801), [-1e5, 1e5]])
    at = grid[int(np.argmax(ratio(grid)))]
    found = minimize_scalar(lambda y: -float(ratio(y)), bounds=(at - 0.1, at + 0.1), method="bounded", options={"xatol": 1e-10})
    return max(float(ratio(at)), -float(found.fun))


T3 = from_frozen(stats.t(3))[1]
PAIRS = {
    "laplace": (release(Laplace(1.0), 1, 0.5), release(Laplace(2.0), 1, -1.25)),
    "laplace, turned": (release(Laplace(1.0), -1, 0.5), release(Laplace(1.0), 3, 2)),
    "gaussian": (release(Gaussian(1.0), 1, 0.5), release(Gaussian(1.5), 1, -1)),
    "gaussian, scaled": (release(Gaussian(1.0), 0.5, 0.0), release(Gaussian(1.0), -2, 3)),
    "student, moved": (release(T3, 1, 0.0), release(T3, 1.2, 1.5)),
    "student, wider first": (release(T3, 2, 0.0), release(T3, 1, 0.25)),
    "student, far": (release(T3, 5, 0.0), release(T3, 1, 0.0)),
    "student, one scale": (release(T3, 1, 0.0), release(T3, 1, -2.0)),
    "student, narrower": (release(T3, 1, 0.0), release(T3, 3, 0.0)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_one_family_at_two_scales(name: str) -> None:
    p, q = PAIRS[name]
    found = scaled(p, q)
    assert found is not None
    truth = searched(p, q)
    assert found.lower <= found.value <= found.upper
    assert found.value == pytest.approx(truth, abs=1e-7)
    assert found.upper >= truth - 1e-9
    assert found.upper - found.lower <= 1e-11
    if not found.limit:
        (y,) = found.at
        assert p.log_density(y) - q.log_density(y) == pytest.approx(found.value, abs=1e-12)
        assert (found.log_p, found.log_q) == pytest.approx((p.log_density(y), q.log_density(y)))


@pytest.mark.parametrize("law", [Laplace, Gaussian])
def test_the_wider_one_is_not_bounded_by_the_narrower(law: type) -> None:
    found = scaled(release(law(2.0)), release(law(1.0)))
    assert found is not None
    assert found.value == found.lower == found.upper == math.inf
    assert found.log_p > found.log_q
    moved = scaled(release(Gaussian(1.0), 1, 0.5), release(Gaussian(2.0), 0.5))
    assert moved is not None
    assert moved.value == math.inf


def test_the_mass_of_a_released_value() -> None:
    turned = release(Laplace(1.0), -2, 1)
    assert turned.log_mass(1.0, 3.0) == pytest.approx(math.log(-math.expm1(-1.0) / 2))
    assert turned.log_mass(-math.inf, 1.0) == pytest.approx(math.log(0.5))
    assert turned.log_mass(3.0, math.inf) == pytest.approx(math.log(0.5) - 1)
    assert turned.log_density(3.0) == pytest.approx(-1.0 - math.log(4))


# -- edges -------------------------------------------------------------------------------------------------------------


def ratio(p: list[Edge], q: list[Edge], t: float, high: bool) -> float:
    """The largest (or smallest) ratio that the edges allow at t."""
    top = sum(math.exp(e.high if high else e.low) * t**e.order for e in p)
    bottom = sum(math.exp(e.low if high else e.high) * t**e.order for e in q)
    return math.log(top) - math.log(bottom)


def test_the_ratio_beside_a_place_where_densities_vanish() -> None:
    one, two = Edge(1, 0.9, 1.1, 1.0), Edge(2, -0.1, 0.3, 0.0)
    other = Edge(1, 0.2, 0.6, 0.5)
    found = beside([one, two], [other], 0.01)
    assert found.limit == pytest.approx(0.5)
    for t in (0.01, 1e-3, 1e-9):
        assert found.upper >= ratio([one, two], [other], t, high=True) - 1e-12
    assert found.upper == pytest.approx(ratio([one, two], [other], 0.01, high=True))
    both = beside([one, one], [other, two], 0.01)
    assert both.limit == pytest.approx(1.0 + math.log(2) - 0.5)


def test_orders_decide() -> None:
    low, high = Edge(0, -0.1, 0.1, 0.0), Edge(1, 0.9, 1.1, 1.0)
    assert beside([high], [low], 0.1).limit == -math.inf
    assert beside([low], [high], 0.1) == Far(math.inf, 0.0, math.inf)
    assert beside([], [high], 0.1) == Far(-math.inf, 0.0, -math.inf)
    assert beside([low], [], 0.1) == UNKNOWN
    assert beside([None], [high], 0.1) == UNKNOWN
    assert beside([low], [None], 0.1) == UNKNOWN


def test_edges_that_are_bounds_from_above_alone() -> None:
    sure, loose = Edge(1, 0.9, 1.1, 1.0), Edge(1, -math.inf, 0.5, -math.inf, exactly=False)
    # In the first law it adds to the bound, and the limit is not known.
    found = beside([sure, loose], [sure], 0.1)
    assert found.limit is None
    assert found.upper == pytest.approx(np.logaddexp(1.1, 0.5) - 0.9)
    # In the second law it can only make the ratio smaller.
    under = beside([sure], [sure, loose], 0.1)
    assert under.limit is None
    assert under.upper == pytest.approx(0.2)
    # Of a higher order it does not matter for the limit.
    later = Edge(3, -math.inf, 0.5, -math.inf, exactly=False)
    assert beside([sure], [sure, later], 0.1).limit == pytest.approx(0.0)
    # A lower order that is a bound alone proves nothing.
    assert beside([Edge(0, -math.inf, 0.0, -math.inf, exactly=False)], [sure], 0.1) == UNKNOWN
    assert beside([Edge(0, -0.1, 0.0, 0.0)], [sure, Edge(0, -math.inf, 0.0, -math.inf, exactly=False)], 0.1) == UNKNOWN


def test_edges_of_a_product_add() -> None:
    both = Edge(1, 0.1, 0.4, 0.2) + Edge(2, -0.3, 0.5, 0.1, exactly=False)
    assert (both.order, both.exactly) == (3, False)
    assert (both.low, both.high, both.limit) == pytest.approx((-0.2, 0.9, 0.3))
    assert (Edge(1, 0.1, 0.4, 0.2) + Edge(0, 0.0, 0.0, 0.0)).exactly


# -- beyond the points that are listed ---------------------------------------------------------------------------------

SUP = Sup(1.0, 0.99, 1.01, (3.0,), -2.0, -3.0)


def test_what_lies_beyond_the_last_point() -> None:
    shown = (-40.0, -42.0)
    endless = _with(SUP, Far(math.inf, 0.0, math.inf), -1, shown)
    assert (endless.value, endless.at, endless.limit, endless.log_p, endless.log_q) == (
        math.inf,
        (-math.inf,),
        True,
        -40.0,
        -42.0,
    )
    assert _with(NOTHING, Far(0.5, 0.0, 0.6), 1, shown) is NOTHING
    smaller = _with(SUP, Far(0.5, 1e-9, 0.6), 1, shown)
    assert (smaller.value, smaller.lower, smaller.upper) == (1.0, 0.99, 1.01)
    larger = _with(SUP, Far(1.2, 1e-3, 1.25), 1, shown)
    assert (larger.value, larger.lower, larger.upper) == pytest.approx((1.2, 1.199, 1.25))
    unsure = _with(SUP, Far(None, 0.0, 2.0), 1, shown)
    assert (unsure.value, unsure.lower, unsure.upper) == (1.0, 0.99, 2.0)
    close = _with(SUP, Far(0.995, 1e-3, 1.0), 1, shown)
    assert (close.value, close.lower, close.upper) == pytest.approx((1.0, 0.994, 1.01))


def geometric_pmf(scale: float, k: int) -> float:
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(k)


def sum_pmf(scales: tuple[float, float], k: int) -> float:
    return math.fsum(geometric_pmf(scales[0], j) * geometric_pmf(scales[1], k - j) for j in range(-60, 61))


@pytest.mark.parametrize("scales", [(1.0, 2.0), (0.5, 0.5)])
def test_sums_of_whole_numbers_that_are_moved(scales: tuple[float, float]) -> None:
    def mechanism(x: float) -> object:
        return x + dpest.geometric(scales[0]) + dpest.geometric(scales[1])

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    shown = max(math.log(sum_pmf(scales, k) / sum_pmf(scales, k - 1)) for k in range(-30, 31))
    if scales[0] != scales[1]:  # the heavier one's rate in the limit; two alike approach it like 1/k
        assert found.epsilon == pytest.approx(1 / max(scales), abs=1e-9)
    assert found.lower <= 1 / max(scales) <= found.upper
    assert shown <= found.upper


@pytest.mark.parametrize("scale", [0.7, 3.0])
def test_whole_numbers_scaled(scale: float) -> None:
    """x + 2 G against x + 2 + 2 G: moved by one whole number."""
    found = dpest.estimate(lambda x: x + 2 * dpest.geometric(scale), (0, 2), method="exact")
    assert found.lower <= 1 / scale <= found.upper
    odd = dpest.estimate(lambda x: x + 2 * dpest.geometric(scale), (0, 1), method="exact")
    assert odd.epsilon == math.inf


@pytest.mark.parametrize(("first", "second"), [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)])
def test_sums_of_continuous_draws_that_are_moved(first: float, second: float) -> None:
    """Laplace plus logistic noise: the log ratio tends to the move over the larger scale."""
    found = dpest.estimate(lambda x: x + dpest.laplace(first) - dpest.logistic(second), (0, 1.5), method="exact")
    truth = 1.5 / max(first, second)
    assert found.lower <= truth <= found.upper
    assert found.epsilon == pytest.approx(truth, rel=1e-9)
    one_sided = dpest.estimate(lambda x: x + dpest.exponential(first) + dpest.exponential(second), (0, 1), method="exact")
    assert one_sided.epsilon == math.inf
    gaussian = dpest.estimate(lambda x: x + dpest.gaussian(first) + dpest.laplace(second), (0, 1), method="exact")
    assert gaussian.lower <= 1 / second <= gaussian.upper


@pytest.mark.parametrize("width", [0.5, 1.0, 1.5])
def test_whole_numbers_with_noise_between_end_points(width: float) -> None:
    """y = x + G + U(-w/2, w/2): p(y) is a sum of at most two probabilities; the ratio repeats itself, e^(1/b) per step."""
    b, shift = 1.0, 0.25

    def density(y: float, x: float) -> float:
        return math.fsum(geometric_pmf(b, k) / width for k in range(-30, 31) if abs(y - x - k) < width / 2)

    found = dpest.estimate(lambda x: x + dpest.geometric(b) + dpest.uniform(-width / 2, width / 2), (0, shift), method="exact")
    places = [k + (j + 0.5) / 64 for k in range(-4, 4) for j in range(64)]
    pairs = [(density(y, 0), density(y, shift)) for y in places]
    truth = max((abs(math.log(p / q)) if p > 0 and q > 0 else math.inf) for p, q in pairs if p > 0 or q > 0)
    assert found.lower <= truth <= found.upper
    assert found.epsilon == pytest.approx(truth, abs=1e-9)

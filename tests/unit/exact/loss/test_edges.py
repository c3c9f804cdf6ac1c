"""A piece beside a place at which densities may vanish lies between its two powers of the distance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpest.exact.inference.expressions import Expr, expr, number
from dpest.exact.inference.factors import Between, Bound, Density, Factor, Indicator, Integral
from dpest.exact.inference.rays import Ray
from dpest.exact.loss.edges import Edge, _growth, edge
from dpest.exact.loss.pieces import Piece
from dpest.laws.continuous import Exponential, Gaussian, Laplace, Uniform
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact

Y = -1
WEIGHT, ERROR = math.log(0.3), 1e-12


def at(constant: float, c: float = 1.0) -> Expr:
    return expr(((Y, exact(c)),), exact(constant))


def found(factor: Factor, place: float, side: int, reach: float) -> Edge | None:
    return edge(Piece(WEIGHT, ERROR, (factor,)), exact(place), side, reach)


def laplace_mass(low: float, high: float) -> float:
    return (
        float(stats.laplace.cdf(high) - stats.laplace.cdf(low)) if low * high < 0 else _one_side(*sorted(map(abs, (low, high))))
    )


def _one_side(near: float, far: float) -> float:
    return -math.exp(-near) * math.expm1(near - far) / 2


def between(lowers: tuple[Expr, ...], uppers: tuple[Expr, ...], law: object = None) -> Between:
    return Between(Laplace(1.0) if law is None else law, lowers, uppers)  # type: ignore[arg-type]


# factor, place, side, order, the piece without its weight at place + side * t
CASES = {
    "a bell": (Density(Gaussian(1.0), at(0.0)), 0.5, 1, 0, lambda t: stats.norm.pdf(0.5 + t)),
    "a bell, downwards": (Density(Gaussian(1.0), at(0.0)), 0.5, -1, 0, lambda t: stats.norm.pdf(0.5 - t)),
    "a kink": (Density(Laplace(1.0), at(0.0)), 0.0, -1, 0, lambda t: 0.5 * math.exp(-t)),
    "the beginning": (Density(Exponential(1.0), at(-1.0)), 1.0, 1, 0, lambda t: math.exp(-t)),
    "always": (Indicator(Bound(at(0.0))), 2.0, 1, 0, lambda _: 1.0),
    "a bound beyond the place": (between((at(0.0),), ()), 3.0, 1, 0, lambda t: 0.5 * math.exp(-3 - t)),
    "two bounds that meet": (between((at(0.0),), (at(-1.0, 2.0),)), 1.0, 1, 1, lambda t: laplace_mass(1 + t, 1 + 2 * t)),
    "from above": (between((at(0.0, 2.0),), (at(0.5),)), 0.5, -1, 1, lambda t: laplace_mass(1 - 2 * t, 1 - t)),
    "around zero": (between((at(0.0, -1.0),), (at(0.0, 2.0),)), 0.0, 1, 1, lambda t: laplace_mass(-t, 2 * t)),
    "the end of a law": (between((at(0.0),), (), Uniform(0.0, 1.0)), 1.0, -1, 1, lambda t: t),
    "its beginning": (between((), (at(0.0, 2.0),), Exponential(1.0)), 0.0, 1, 1, lambda t: -math.expm1(-2 * t)),
    "both ends": (between((at(0.0), number(0.25)), (at(0.0, 3.0),), Uniform(0.0, 1.0)), 0.25, 1, 0, lambda t: 0.5 + 2 * t),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("reach", [1e-6, 1e-2, 0.125])
def test_a_piece_lies_between_its_powers(name: str, reach: float) -> None:
    factor, place, side, order, density = CASES[name]
    e = found(factor, place, side, reach)
    assert e is not None
    assert (e.order, e.exactly) == (order, True)
    for t in (reach, 0.7 * reach, 0.1 * reach, 1e-3 * reach):
        truth = WEIGHT + math.log(density(t)) - order * math.log(t)
        assert e.low - 1e-9 * reach <= truth <= e.high + 1e-9 * reach
    near = 1e-8
    assert e.limit == pytest.approx(WEIGHT + math.log(density(near)) - order * math.log(near), abs=1e-6)
    assert e.low <= e.limit <= e.high
    assert e.high - e.low <= 8 * reach + 1e-11
    assert e.high - e.low >= 2 * ERROR


def test_powers_of_an_interval() -> None:
    """The cube of a closing interval has three times the order, and three times the logarithms."""
    factor = CASES["the end of a law"][0]
    cube = found(Between(factor.law, factor.lowers, factor.uppers, power=3), 1.0, -1, 0.01)
    one = found(factor, 1.0, -1, 0.01)
    assert cube is not None
    assert one is not None
    assert cube.order == 3
    assert (cube.low - WEIGHT, cube.high - WEIGHT) == pytest.approx((3 * (one.low - WEIGHT), 3 * (one.high - WEIGHT)), abs=1e-10)


def test_a_bound_that_takes_over_leaves_a_bound_from_above() -> None:
    """P(0 <= L <= min(y, 1/200)) for 0 < y <= 1/100: it vanishes at 0, and how fast is not told."""
    e = found(between((number(0),), (at(0.0), number(0.005))), 0.0, 1, 0.01)
    assert e is not None
    assert (e.order, e.exactly) == (0, False)
    assert (e.low, e.limit) == (-math.inf, -math.inf)
    for t in (1e-8, 1e-3, 0.005, 0.01):
        assert WEIGHT + math.log(laplace_mass(0.0, min(t, 0.005))) <= e.high + 1e-12
    assert e.high <= WEIGHT + math.log(0.005)


@pytest.mark.parametrize("reach", [3.0, 0.6])
def test_nothing_is_told_where_a_piece_ends_within_reach_or_just_beyond(reach: float) -> None:
    """P(y <= L <= -y) is nothing from y = 0 on; the place is -1."""
    assert found(between((at(0.0),), (at(0.0, -1.0),)), -1.0, 1, reach) is None
    assert found(between((at(0.0),), (at(0.0, -1.0),)), -1.0, 1, 0.3) is not None


def test_laws_that_are_not_log_concave_tell_nothing() -> None:
    cauchy = from_frozen(stats.cauchy())[1]
    assert found(Density(cauchy, at(0.0)), 0.0, 1, 0.01) is None
    assert found(between((at(0.0),), (at(0.0, 2.0),), cauchy), 0.0, 1, 0.01) is None


@pytest.mark.parametrize("t", [1e-5, 1e-3, 0.01])
def test_an_integral_over_an_interval_that_closes_is_bounded_from_above(t: float) -> None:
    """The integral of f(v) g(v) over 0 <= v <= y: at most y times both largest values."""
    factor = Integral(0, Laplace(1.0), (number(0),), (at(0.0),), (Density(Gaussian(1.0), expr(((0, exact(1)),), exact(0))),))
    e = found(factor, 0.0, 1, 0.01)
    assert e is not None
    assert (e.order, e.low, e.exactly) == (1, -math.inf, False)
    nodes = (np.arange(400) + 0.5) / 400 * t
    truth = WEIGHT + math.log(np.mean(0.5 * np.exp(-nodes) * stats.norm.pdf(nodes)) * t)
    assert truth <= e.high + e.order * math.log(t)
    assert e.high + math.log(t) <= truth + 0.05


@pytest.mark.parametrize("slope", [0.25, 1.0, 3.0])
def test_how_fast_an_interval_opens(slope: float) -> None:
    """Between y and (1 + slope) y: nothing is told of one that closes, nor of one that is open at the place."""
    ray = Ray(Y, 1, exact(0), 0.01)
    opens = between((at(0.0),), (at(0.0, 1 + slope),), Laplace(2.0))
    assert _growth(opens, ray) == (slope, 0.5)
    assert _growth(between((at(0.0, 1 + slope),), (at(0.0),), Laplace(2.0)), ray) is None
    assert _growth(between((at(0.0),), (at(0.0),), Laplace(2.0)), ray) is None
    assert _growth(between((at(0.0),), (at(0.5, 1 + slope),), Laplace(2.0)), ray) is None
    assert _growth(between((at(0.0),), (at(0.0, 1 + slope),), Exponential(2.0)), ray) is None

"""Half-lines: an expression along one, and which of several bounds is the tightest from its start on."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpest.exact.inference.asymptotics import product_asymptotes
from dpest.exact.inference.expressions import expr, number
from dpest.exact.inference.factors import Density
from dpest.exact.inference.rays import NEUTRAL, Ray, Tail, Unsettled, active
from dpest.laws.asymptote import Asymptote
from dpest.laws.continuous import Laplace
from dpest.numerics.rationals import exact

RAY = Ray(-1, -1, exact(Fraction(3, 2)), 4.0)  # y = 3/2 - t for t >= 4


def at(slope: float, constant: float) -> object:
    return expr(((-1, exact(slope)),), exact(constant))


def test_an_expression_along_a_ray() -> None:
    # 2 y + 5 = 2 (3/2 - t) + 5 = -2 t + 8; a variable that is not the ray's own counts as absent.
    assert RAY.line(expr(((-1, exact(2)), (0, exact(7))), exact(5))) == (-2, 8)
    assert RAY.line(number(3)) == (0, 3)
    assert Ray(-1, 1, exact(10), 1.0).line(at(3, 1)) == (3, 31)
    assert float(RAY.here[-1][0]) == -2.5


def test_the_tightest_bound_from_the_start_on() -> None:
    assert active([], RAY, 1) is None
    # Along the ray 2y + 5 is 8 - 2t and y + 1 is 5/2 - t: they meet at t = 11/2, and the first is the smaller one beyond.
    bounds = [at(2, 5), at(1, 1)]
    with pytest.raises(Unsettled):
        active(bounds, RAY, -1)
    beyond = Ray(-1, -1, exact(Fraction(3, 2)), 5.5)
    assert active(bounds, beyond, -1) == (-2, 8)
    assert active(bounds, beyond, 1) == (-1, Fraction(5, 2))


def test_bounds_that_cross_beyond_the_start_are_unsettled() -> None:
    ray = Ray(-1, 1, exact(0), 2.0)
    # t - 5 overtakes 1 at t = 6, beyond the start: neither is the tightest throughout.
    with pytest.raises(Unsettled):
        active([at(1, -5), number(1)], ray, 1)
    # From t = 6 on it does hold, the meeting point included.
    assert active([at(1, -5), number(1)], Ray(-1, 1, exact(0), 6.0), 1) == (1, -5)
    # As upper bounds the constant is the tightest from 6 on, and at 2 it is not.
    assert active([at(1, -5), number(1)], Ray(-1, 1, exact(0), 6.0), -1) == (0, 1)
    with pytest.raises(Unsettled):
        active([at(1, -5), number(1)], ray, -1)


def test_among_parallel_bounds_the_offset_decides() -> None:
    ray = Ray(-1, 1, exact(0), 3.0)
    lines = [at(2, 1), at(2, 9), at(2, -4), at(2, 0.25)]
    assert active(lines, ray, 1) == (2, 9)
    assert active(lines, ray, -1) == (2, -4)


def test_tails_of_a_product_add() -> None:
    one = Tail(Asymptote(1.0, exact(2), exact(3), exact(4)), -0.1, 0.2, 1e-9)
    two = Tail(Asymptote(0.5, exact(1), exact(-1), exact(2)), -0.3, 0.5, 1e-8)
    both = one + two
    assert both.asymptote == Asymptote(1.5, exact(3), exact(2), exact(6))
    assert (both.low, both.high, both.error) == pytest.approx((-0.4, 0.7, 1.1e-8), rel=1e-14)
    assert one + NEUTRAL == one


def test_an_expression_at_rationals() -> None:
    e = expr(((0, exact(2)), (-1, exact(0.1))), exact(0.3))
    found = e.exactly({0: exact(3), -1: exact(-7)})
    assert Fraction(int(found.numerator), int(found.denominator)) == 6 - 7 * Fraction(0.1) + Fraction(0.3)


@pytest.mark.parametrize("place", [-1000.0, 0.0, 1000.0])
def test_a_product_decays_as_it_does_beyond_all_its_corners(place: float) -> None:
    """Laplace(1) at 0 times Laplace(1/2) at a far place: -|x| - 2 |x - place| - ln 2 on either side."""
    factor = Density(Laplace(0.5), expr(((0, exact(1)),), exact(-place)))
    for side, found in zip((-1, 1), product_asymptotes(Laplace(1.0), 0, [factor]), strict=True):
        assert found is not None
        for t in (2000.0, 6000.0):
            assert found.at(t) == pytest.approx(-t - 2 * abs(side * t - place) - math.log(2), rel=1e-14)

"""Stars that are integrated together have the probabilities that each has alone, and those of closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpest.exact.inference.component import Component
from dpest.exact.inference.eliminate import eliminate, eliminate_together
from dpest.exact.inference.expressions import Expr
from dpest.exact.inference.factors import Between
from dpest.laws.continuous import Exponential, Gaussian, Laplace, Uniform
from dpest.laws.law import Law
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.quadrature import TOLERANCE
from dpest.numerics.rationals import ONE, exact


def star(hub: Law, *spokes: tuple[Law, int, float, int]) -> Component:
    """A shared draw, and (law, side, offset, times): draws above (1) or below (-1) the shared one plus the offset."""
    folded = []
    for law, side, offset, times in spokes:
        place = (Expr(((0, ONE),), exact(offset)),)
        folded.append((Between(law, place, ()) if side > 0 else Between(law, (), place), times))
    return Component((hub,), frozenset(folded), frozenset(), frozenset(), 0)


def probability(measure):
    log, error = measure.log(np.empty((1, 0)))
    return float(log[0]), float(error[0])


@pytest.mark.parametrize("law", [Laplace(2.0), Gaussian(1.5), Exponential(3.0)])
def test_the_largest_of_equal_draws(law):
    """Of n + 1 draws from one law each is the largest with probability 1 / (n + 1)."""
    stars = [star(law, (law, -1, 0.0, n)) for n in (1, 2, 5, 40, 1000)]
    found = dict(eliminate_together(stars))
    for component, n in zip(stars, (1, 2, 5, 40, 1000), strict=True):
        log, error = probability(found[component])
        assert abs(log + math.log(n + 1)) <= error + 4e-16 * abs(log) < 1e-12


def test_one_against_another_at_a_distance():
    """P(X >= Y + c) for Laplace draws of one scale: (1/2 + c / 4b) exp(-c / b) for c >= 0."""
    b = 20.0
    stars = {star(Laplace(b), (Laplace(b), 1, c, 1)): c for c in (0.0, 0.5, 1.0, 30.0, 4000.0)}
    for component, measure in eliminate_together(stars):
        c = stars[component] / b
        log, error = probability(measure)
        assert abs(log - (math.log(0.5 + 0.25 * c) - c)) <= error + 4e-16 * abs(log)


def test_as_each_alone():
    rng = np.random.default_rng(7)
    laws = [Laplace(20.0), Laplace(3.0), Gaussian(4.0), Exponential(2.0)]
    groups = {hub: [] for hub in (Laplace(20.0), Gaussian(2.0), Exponential(5.0))}
    for hub, stars in groups.items():
        for _ in range(25):
            offsets = rng.integers(-3, 4, 4) / 2
            spokes = [(laws[rng.integers(4)], int(rng.choice([-1, 1])), float(c), int(rng.integers(1, 9))) for c in offsets]
            stars.append(star(hub, *spokes))
    found = dict(eliminate_together([s for stars in groups.values() for s in stars]))
    assert len(found) == 75
    for component, measure in found.items():
        (log, error), (own, alone) = probability(measure), probability(eliminate(component))
        assert abs(log - own) <= error + alone
        assert error <= 4 * alone + TOLERANCE  # a panel is accepted whose error is below this share of the whole


@pytest.mark.parametrize("hub", [from_frozen(stats.t(4))[1], Gaussian(2.0), Exponential(5.0)])
def test_errors_of_all_laws_count(hub):
    """scipy's functions are right to 1e-12: so often as one is multiplied, the product is off by as much."""
    other = from_frozen(stats.t(3))[1]
    stars = [star(hub, (law, -1, 0.25, n)) for n in (1, 50) for law in (other, Laplace(2.0))]
    for component, measure in eliminate_together(stars):
        ((f, n),) = component.folded
        error, alone = probability(measure)[1], probability(eliminate(component))[1]
        assert error >= max(hub.error + n * f.law.error, alone / 8)
        assert error < 1e-11 + 3 * n * f.law.error
        assert probability(measure)[0] == pytest.approx(probability(eliminate(component))[0], abs=error + alone)


def test_the_rounding_of_far_places_counts():
    """V <= X - c <= U of uniform noise: X is in an interval of length 1 next to c, whose ends are doubles to 1e-16 c."""
    b = c = 1e8 / 3
    box = Uniform(0.0, 1.0)
    stars = {star(Laplace(b), (box, 1, -c, n), (box, -1, -c, 1)): n for n in (1, 2)}
    for component, measure in eliminate_together(stars):
        n = stars[component]
        (log, error), alone = probability(measure), probability(eliminate(component))[1]
        truth = -c / b - math.log(2 * b) - math.log((n + 1) * (n + 2))  # the integral of t (1 - t)^n, times the density at c
        assert abs(log - truth) <= error + 1 / b
        assert 1e-16 * c <= error < 1e-5
        assert alone / 8 <= error <= 8 * alone


def test_a_star_without_a_run_is_impossible():
    """An exponential draw is never below minus another one."""
    law = Exponential(1.0)
    never = [(Between(law, (), (Expr(((0, -ONE),), -exact(c)),)), 1) for c in (0, 1)]
    stars = [Component((law,), frozenset({f}), frozenset(), frozenset(), 0) for f in never]
    found = dict(eliminate_together(stars))
    assert [found[s].impossible for s in stars] == [eliminate(s).impossible for s in stars] == [True, True]


def test_what_is_no_star_is_left_alone():
    hub = Laplace(1.0)
    with_output = Component((hub,), frozenset(), frozenset(), frozenset({Expr(((-1, -ONE), (0, ONE)), exact(0))}), 1)
    alone = star(hub, (hub, -1, 0.0, 3))
    far_apart = [star(hub, *((hub, -1, float(7 * i + j), 1) for j in range(7))) for i in range(7)]
    assert dict(eliminate_together([with_output, alone])) == {}
    assert dict(eliminate_together(far_apart)) == {}  # more kinks than one table of panels should have


def test_what_integrals_leave_out_is_in_their_errors():
    """P(X >= Y + c) = e^-c / 4 of Laplace and exponential noise. Up to e^-3000 of Y is left out."""
    stars = {star(Exponential(1.0), (Laplace(1.0), 1, c, 1)): c for c in (0.0, 700.0, 2900.0, 2980.0, 3100.0)}
    for component, measure in eliminate_together(stars):
        c = stars[component]
        (log, error), (own, alone) = probability(measure), probability(eliminate(component))
        assert abs(log + c + math.log(4)) <= error + 4e-16 * abs(log) < 1e-11 + math.exp(c - 2998)
        assert abs(own + c + math.log(4)) <= alone + 4e-16 * abs(own)
        assert min(error, alone) >= math.exp(min(c - 3000, 0))

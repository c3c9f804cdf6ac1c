"""Small parts of exact bounds, each against a closed form, a count, or the root that it stands for."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpest.exact.inference.closed_forms import _sum
from dpest.exact.inference.convolve import _differences
from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Between, Bound, Density, Indicator
from dpest.exact.inference.ratio import BoundedDraw
from dpest.exact.loss.direction import Cone
from dpest.exact.loss.direction_search import _bounded
from dpest.exact.loss.edges import _most
from dpest.exact.loss.shift import Release, _unbounded
from dpest.exact.processed import _contradicted
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.checking import together
from dpest.exact.proof.policy import cost_of
from dpest.laws.continuous import Exponential, Gaussian, Laplace, Uniform
from dpest.laws.discrete import Geometric
from dpest.laws.images import Moved
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.binomial import confidence_sequence
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import exact
from dpest.results.pair import CountedBound

# -- bounds from counts ------------------------------------------------------------------------------------------------


def test_samples_contradict_a_bound_where_chance_explains_them_less_than_once_in_a_thousand_million_times() -> None:
    counted = CountedBound(900, 1000, 100, 1000, 0.05, True)

    def at_level(alpha: float) -> float:
        return CountedBound(900, 1000, 100, 1000, alpha, True).lower

    def told(upper: float, epsilon: float = 2.0) -> bool:
        return _contradicted(SimpleNamespace(epsilon=epsilon, counted=(counted,)), upper)  # type: ignore[arg-type]

    assert at_level(2e-10) < at_level(9e-10) < at_level(1e-9) < at_level(1.1e-9)
    assert told(at_level(9e-10))
    assert not told(at_level(1.1e-9))
    assert not told(at_level(1e-9))  # what is no larger contradicts nothing
    assert told(10.0, math.inf)
    assert not told(math.inf, math.inf)
    assert not _contradicted(SimpleNamespace(epsilon=math.inf, counted=()), 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("hits", "trials"), [(3, 50), (900, 1000), (1, 100_000)])
def test_ends_of_a_confidence_sequence_lie_outside_of_the_roots(hits: int, trials: int) -> None:
    """Where the likelihood of p is alpha times that of its mixture, at 30 digits."""
    low, high = (float(x) for x in confidence_sequence(hits, trials, 0.05))
    with mpmath.workdps(30):
        a, b = hits + mpmath.mpf(0.5), trials - hits + mpmath.mpf(0.5)
        level = mpmath.log(mpmath.beta(a, b) / mpmath.beta(0.5, 0.5)) + mpmath.log(mpmath.mpf("0.05"))

        def over(p: mpmath.mpf) -> mpmath.mpf:
            return hits * mpmath.log(p) + (trials - hits) * mpmath.log1p(-p) - level

        for end, outwards in ((low, -1), (high, 1)):
            assert over(mpmath.mpf(end)) < 0
            assert over(mpmath.mpf(end) * (1 - outwards * mpmath.mpf("1e-9"))) > 0


# -- sums and images of laws -------------------------------------------------------------------------------------------


def test_shares_of_gamma_noise_that_make_a_whole_up_to_rounding_are_exponential() -> None:
    near = 1 - 2.0**-52
    found, shift = _sum([SimpleNamespace(name="gamma", shapes=(x,), spread=2.0) for x in (0.5, near - 0.5)])
    assert (found, shift) == (Exponential(2.0), 0)
    off, _ = _sum([SimpleNamespace(name="gamma", shapes=(x,), spread=2.0) for x in (0.5, 0.499)])
    assert off != Exponential(2.0)


def test_differences_of_counts_are_found_beside_other_noise() -> None:
    one, other = from_frozen(stats.geom(0.3))[1], from_frozen(stats.geom(0.4))[1]
    laws = {0: Laplace(1.0), 1: one, 2: Gaussian(1.0), 3: one, 4: other, 5: one, 6: one, 7: other}
    weights = [exact(w) for w in (1, 1, 2, -1, 1, 2, -2, 1)]
    assert _differences(laws, list(laws), weights) == [[1, 3], [5, 6]]


@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0), (-1.0, 3.0), (0.5, 2.0)])
def test_a_logarithm_of_uniform_noise_falls_exponentially_where_the_noise_comes_to_zero(low: float, high: float) -> None:
    law = Moved(Uniform(low, high), 1.0, 0.0, Elementary(Kind.LOG))
    assert law.asymptote(1) is None
    tail = law.asymptote(-1)
    assert (tail is not None) == (low <= 0)
    if tail is not None:
        for t in (5.0, 40.0):
            assert tail.at(t) == pytest.approx(-t - math.log(high - low), abs=1e-12)  # P(log u < -t) = e^-t / width
    for moved in (Moved(Uniform(low, high), 2.0, 0.0, law.function), Moved(Laplace(1.0), 1.0, 0.0, law.function)):
        assert moved.asymptote(-1) is None
    assert Moved(Uniform(low, high), 1.0, 0.0, Elementary(Kind.EXP)).asymptote(-1) is None


# -- the largest values of factors, and of values on a cone ---------------------------------------------------------------


def test_the_largest_logarithm_of_a_factor() -> None:
    y = expr(((-1, exact(1)),), exact(0))
    assert _most(Density(Laplace(2.0), y)) == pytest.approx(-math.log(4.0))
    assert _most(Indicator(Bound(y))) == 0.0
    for law, most in ((Laplace(2.0), 0.0), (SimpleNamespace(log_mass=3.0), None)):
        between = Between.__new__(Between)
        object.__setattr__(between, "law", law)
        assert _most(between) == most


def test_a_cone_gives_a_value_a_sign_only_where_a_row_speaks_of_it_alone() -> None:
    rows = [(1, 0, 0), (0, -2, 0), (1, -1, 0), (0, 1, 3), (-1, 0, -1)]
    cone = Cone(frozenset(tuple(map(exact, row)) for row in rows))
    points = [x for x in itertools.product((-2, -1, 0, 1, 2), repeat=3) if all(np.dot(row, x) >= 0 for row in rows)]
    found = [_bounded(BoundedDraw(Laplace(1.0), exact(1), exact(0)), i, cone) for i in range(3)]
    assert [(x.low, x.high) for x in found] == [(0.0, math.inf), (-math.inf, 0.0), (-math.inf, math.inf)]
    assert all(x.low <= p[i] <= x.high for i, x in enumerate(found) for p in points)


def test_a_ratio_without_bound_is_shown_on_the_side_where_it_grows() -> None:
    wide, narrow = Release(Laplace(2.0), exact(-1), exact(1)), Release(Laplace(1.0), exact(1), exact(3))
    found = _unbounded(wide, narrow)
    assert found.at == (math.inf,)
    y = 1 + 8 * 2.0
    assert found.log_p == pytest.approx(-math.log(4) - abs(y - 1) / 2, abs=1e-12)
    assert found.log_q == pytest.approx(-math.log(2) - abs(y - 3), abs=1e-12)


# -- costs of proofs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("costs", [(1,), (1, 1), (0, 3), (2, 5, 5), (-1, -1, 0, 700)])
def test_what_arrives_from_several_regions_costs_what_their_probabilities_add_up_to(costs: tuple[int, ...]) -> None:
    with mpmath.workdps(40):
        truth = mpmath.log(mpmath.fsum(mpmath.exp(c) for c in costs))
    found = Fraction(together([exact(c) for c in costs]))
    assert truth <= mpmath.mpf(found.numerator) / found.denominator <= truth + 1e-12


@pytest.mark.parametrize("many", [1, 2, 9, 10, 11])
def test_a_shift_by_many_inputs_costs_the_sum_of_their_changes(many: int) -> None:
    """Up to so many inputs every vertex is looked at, and beyond, the ends of each shift: with one draw both are the same."""
    box = Box("all move", tuple((-1 - i, (exact(-1), exact(1))) for i in range(many)))
    policy = {0: expr([(-1 - i, exact(1 + i % 2)) for i in range(many)], exact(1))}
    assert cost_of(policy, {0: Laplace(2.0)}, box) == Fraction(1 + sum(1 + i % 2 for i in range(many)), 2)
    assert cost_of(policy, {0: Geometric(2.0)}, box) is not None
    endless = Box("all move", (*box.moves[1:], (-1, (exact(0), None))))
    assert cost_of(policy, {0: Laplace(2.0)}, endless) is None

"""Frozen scipy distributions: dpest's own families where it has them, a wrapper with the same answers else."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats as stats

import dpest
from dpest.errors import ExactRefused
from dpest.exact.inference.component import Component
from dpest.exact.inference.eliminate import eliminate
from dpest.exact.inference.expressions import Expr
from dpest.exact.inference.factors import Between
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.discrete import Atoms, Geometric, bernoulli_law, integers_law
from dpest.laws.law import Continuous, Discrete
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact

KNOWN = {
    "laplace": (stats.laplace(1.0, 2.0), 1.0, Laplace(2.0)),
    "norm": (stats.norm(scale=3.0), 0.0, Gaussian(3.0)),
    "expon": (stats.expon(loc=-1.0, scale=0.5), -1.0, Exponential(0.5)),
    "gumbel": (stats.gumbel_r(2.0, 4.0), 2.0, Gumbel(4.0)),
    "logistic": (stats.logistic(), 0.0, Logistic(1.0)),
    "uniform": (stats.uniform(2.0, 3.0), 2.0, Uniform(0.0, 3.0)),
    "bernoulli": (stats.bernoulli(0.3), 0.0, bernoulli_law(0.3)),
    "randint": (stats.randint(2, 7), 0.0, integers_law(2, 6)),
    "dlaplace": (stats.dlaplace(0.5, loc=4), 4.0, Geometric(2.0)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_families_are_our_own(name: str) -> None:
    frozen, location, law = KNOWN[name]
    assert from_frozen(frozen) == (location, law)


@pytest.mark.parametrize(
    "frozen", [stats.t(3.0, loc=1.0, scale=2.0), stats.gamma(2.5), stats.beta(2.0, 3.0), stats.gumbel_l(), stats.lognorm(1.0)]
)
def test_a_wrapper_answers_as_scipy_does(frozen: Any) -> None:
    location, law = from_frozen(frozen)
    assert isinstance(law, Continuous)
    x = np.asarray(frozen.ppf([0.001, 0.2, 0.5, 0.9, 0.9999]))
    np.testing.assert_allclose(law.log_density(x - location), frozen.logpdf(x), rtol=1e-10)
    np.testing.assert_allclose(law.log_cdf(x - location), frozen.logcdf(x), rtol=1e-10)
    np.testing.assert_allclose(law.log_sf(x - location), frozen.logsf(x), rtol=1e-10)


def test_equal_parameters_make_equal_laws() -> None:
    assert from_frozen(stats.t(3.0))[1] == from_frozen(stats.t(df=3.0, loc=5.0))[1]
    assert from_frozen(stats.t(3.0))[1] != from_frozen(stats.t(4.0))[1]
    histograms = [stats.rv_histogram((counts, [0.0, 1.0, 2.0]), density=False)() for counts in ([1, 2], [1, 2], [2, 1])]
    laws = [from_frozen(h)[1] for h in histograms]
    assert laws[0] == laws[1] != laws[2]


def test_a_tail_is_known_where_scipy_underflows() -> None:
    law = from_frozen(stats.gamma(2.0))[1]
    assert isinstance(law, Continuous)
    # P(X > x) = (1 + x) e^-x for the sum of two exponentials.
    assert float(law.log_sf(2000.0)) == pytest.approx(math.log(2001.0) - 2000.0, rel=1e-12)


def test_infinitely_many_points() -> None:
    law = from_frozen(stats.poisson(3.0))[1]
    assert isinstance(law, Discrete)
    assert not law.finite
    np.testing.assert_allclose(
        law.log_between([0, 4, 2], [3, np.inf, 2]),
        np.log([*stats.poisson(3.0).cdf([3]), stats.poisson(3.0).sf(3), stats.poisson(3.0).pmf(2)]),
        rtol=1e-11,
    )
    assert float(law.log_between(700.0, np.inf)) == pytest.approx(float(stats.poisson(3.0).logpmf(700)), rel=1e-3)


def test_an_underflow_is_not_taken_for_a_zero() -> None:
    law = from_frozen(stats.skellam(2.0, 3.0))[1]
    with pytest.raises(ExactRefused, match="underflows to zero"):
        law.log_density(3000.0)


def test_a_custom_distribution() -> None:
    result = dpest.estimate(lambda x: x + dpest.from_scipy(stats.rv_discrete(values=([0, 1.5], [0.25, 0.75]))()) >= 1, (0, 1))
    assert float(result) == math.inf
    result = dpest.estimate(
        lambda x: dpest.from_scipy(stats.rv_discrete(values=([0, 1.5], [0.5, 0.25 + 0.25]))()) + 0 * x, (0, 1)
    )
    assert float(result) == 0.0


@pytest.mark.parametrize("size", [None, 3, (2, 2)])
def test_sizes(size: Any) -> None:
    draws = dpest.from_scipy(stats.t(3.0, loc=1.0), size=size)
    assert np.shape(draws) == (() if size is None else (size,) if isinstance(size, int) else size)


@pytest.mark.parametrize(("n", "p"), [(7, 0.3), (60, 0.01), (1000, 0.01), (1000, 0.999)])
def test_binomial_probabilities_to_the_last_digit(n: int, p: float) -> None:
    """Against fractions: SciPy's are off by 1e-13 of a logarithm, which a bracket of 1e-15 must not be built on."""
    _, law = from_frozen(stats.binom(n, p))
    assert isinstance(law, Atoms)
    assert law.off == 0.0
    for k in range(0, n + 1, max(1, n // 40)):
        truth = math.comb(n, k) * Fraction(p) ** k * (1 - Fraction(p)) ** (n - k)
        with mpmath.workdps(40):
            log = float(mpmath.log(mpmath.mpf(truth.numerator)) - mpmath.log(mpmath.mpf(truth.denominator)))
        assert law.log_probabilities[k] == pytest.approx(log, rel=3e-16)


def test_probabilities_that_scipy_works_out_are_not_known_to_the_last_digit() -> None:
    _, law = from_frozen(stats.hypergeom(60, 20, 15))
    assert isinstance(law, Atoms)
    assert law.off > 0


@pytest.mark.parametrize("df", [0.06, 0.03])
def test_tails_that_are_heavier_than_doubles_reach_are_refused(df: float) -> None:
    """5e-10 of the mass of t(0.06) lies beyond 1e154, whose square is no double: integrals would leave it out."""
    with mpmath.workdps(30):
        beyond = mpmath.betainc(df / 2, 0.5, 0, df / (df + mpmath.mpf(10) ** 308), regularized=True) / 2
    assert beyond > 2e-10

    def first_is_larger(x: float) -> Any:
        return x + dpest.from_scipy(stats.t(df)) >= dpest.from_scipy(stats.t(df))

    with pytest.raises(ExactRefused, match="so heavy a tail that doubles end before it does"):
        dpest.estimate(first_is_larger, (0.0, 1.0), method="exact")


def test_heavy_tails_that_end_before_doubles_do_are_not_refused() -> None:
    """Less than 1e-15 of t(0.1) lies beyond 1e154. Of two such draws each is the larger one with probability 1/2."""
    law = from_frozen(stats.t(0.1))[1]
    assert law.reach(-3000)[1] > 1e150
    above = Between(law, (Expr(((0, exact(1)),), exact(0)),), ())
    larger = Component((law,), frozenset({(above, 1)}), frozenset(), frozenset(), 0)
    log, error = eliminate(larger).log(np.empty((1, 0)))
    assert abs(log[0] - math.log(0.5)) <= error[0] < 1e-11


@pytest.mark.parametrize("spread", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("x", [0.7, 3.0, 10.0, 30.0])
def test_how_much_the_rounding_of_a_place_matters(x: float, spread: float) -> None:
    """The slope of ln f is 2 / x - x of Maxwell's law and 1 / x - x of Rayleigh's, at spread 1."""
    for frozen, order in ((stats.maxwell(scale=spread), 2), (stats.rayleigh(scale=spread), 1)):
        law = from_frozen(frozen)[1]
        assert isinstance(law, Continuous)
        truth = abs(order / x - x) / spread
        assert truth <= law.slope(np.array(x * spread)) <= 20 * (1 + truth) / min(spread, 1.0)


@pytest.mark.parametrize("frozen", [stats.skewnorm(4), stats.hypsecant(), stats.loglaplace(2.5), stats.gamma(3)])
def test_slopes_are_bounded(frozen: Any) -> None:
    _, law = from_frozen(frozen)
    for x in (-3.0, -1.0, 0.25, 1.5, 4.0):
        at = np.array([x, x + 1e-6])
        logs = law.log_density(at)
        if np.all(np.isfinite(logs)):
            assert abs(logs[1] - logs[0]) / 1e-6 <= law.slope(at[:1])[0] * (1 + 1e-4)

"""Sums of draws as laws, and the series of a loop's rounds, against closed forms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.stats

from dpest.errors import BudgetExceeded
from dpest.exact.inference.component import Case, components
from dpest.exact.inference.convolve import _differences, _range, sum_law
from dpest.exact.inference.eliminate import _series
from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Bound
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.discrete import Geometric, atoms, integers_law
from dpest.laws.law import Continuous, Discrete, Law
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact


@pytest.mark.parametrize("weight", [1.0, -1.0, 0.5, -3.0])
def test_a_sum_is_tabulated_from_its_lower_to_its_upper_end(weight: float) -> None:
    low, high = _range(Laplace(1.0), Gaussian(2.0), weight)
    assert low < -20 < 20 < high
    assert low == pytest.approx(-high)
    low, high = _range(Uniform(0.0, 1.0), Uniform(2.0, 3.0), weight)
    ends = sorted((2 * weight, 3 * weight))
    assert (low, high) == (ends[0], 1 + ends[1])


@pytest.mark.parametrize("weight", [1.0, -2.0, 0.25])
def test_the_sum_of_a_laplace_and_a_gaussian_draw(weight: float) -> None:
    """The density of Laplace(1) + w * Gaussian(1), which has a closed form in the normal cdf."""
    law = sum_law(Laplace(1.0), Gaussian(1.0), exact(weight))
    assert isinstance(law, Continuous)
    s = abs(weight)
    for x in (-6.0, -1.0, 0.0, 0.3, 4.0):
        parts = [math.exp(s * s / 2 + side * x) / 2 * scipy.stats.norm.cdf(-side * x / s - s) for side in (1, -1)]
        assert float(law.log_density(np.array([x]))[0]) == pytest.approx(math.log(sum(parts)), abs=1e-9)


def test_what_has_no_sum() -> None:
    assert sum_law(Laplace(1.0), integers_law(0, 3), exact(1)) is None
    assert sum_law(integers_law(0, 3), Laplace(1.0), exact(1)) is None
    assert sum_law(Geometric(1.0), integers_law(0, 3), exact(1)) is None


def test_counting_draws_are_subtracted_in_pairs_of_one_kind() -> None:
    same, other, events = (from_frozen(x)[1] for x in (scipy.stats.geom(0.3), scipy.stats.geom(0.4), scipy.stats.poisson(2.0)))
    more = from_frozen(scipy.stats.poisson(5.0))[1]
    laws = dict(enumerate([same, other, same, events, more, same]))
    up, down = exact(1), exact(-1)
    assert _differences(laws, [0, 1], [up, down]) == []
    assert _differences(laws, [0, 2], [up, down]) == [[0, 2]]
    assert _differences(laws, [0, 2], [up, up]) == []
    assert _differences(laws, [3, 4], [up, down]) == [[3, 4]]
    assert _differences(laws, [0, 3], [up, down]) == []
    assert _differences(laws, [0, 5, 2, 4, 3], [up, down, down, down, up]) == [[0, 5], [4, 3]]
    two_sided = sum_law(same, same, exact(-1))
    assert isinstance(two_sided, Discrete)
    for k in (-4, 0, 3):
        assert float(two_sided.log_density(np.array([k]))[0]) == pytest.approx(math.log(0.3 * 0.7 ** abs(k) / 1.7), abs=1e-12)


def _again(probability: float) -> object:
    """A round that is followed by another with this probability: a uniform draw below it."""
    law = Uniform(0.0, 1.0)
    (placed,) = components(Case((law,), (Bound(expr(((0, exact(-1)),), exact(probability))),), ()))
    return ((frozenset(((placed, 1),)), 1),)


@pytest.mark.parametrize("probability", [0.25, 0.5, 0.999])
def test_rounds_that_are_alike_are_a_geometric_series(probability: float) -> None:
    found = _series(_again(probability))  # type: ignore[arg-type]
    logs, error = found.log({})
    assert abs(float(np.ravel(logs)[0]) + math.log1p(-probability)) <= float(np.ravel(error)[0]) <= 1e-11


def test_rounds_that_nearly_always_follow_each_other_lose_digits() -> None:
    """-ln(1 - a) near a = 1: a rounding of a is 1 / (1 - a) times as large there, and the stated error holds it."""
    for k in range(40):
        probability = 1 - (1 + k / 7) * 2.0**-28
        logs, error = _series(_again(probability)).log({})  # type: ignore[arg-type]
        with mpmath.workdps(40):
            truth = -mpmath.log(1 - mpmath.mpf(probability))
            assert abs(float(np.ravel(logs)[0]) - truth) <= float(np.ravel(error)[0]) <= 1e-6


def test_a_loop_without_an_end_is_refused() -> None:
    with pytest.raises(BudgetExceeded, match="goes on for ever"):
        _series(((frozenset(), 1),))  # type: ignore[arg-type]


def poisson(rate: float) -> Law:
    return from_frozen(scipy.stats.poisson(rate))[1]


UNIFORM, SKEWED = Uniform(-1.0, 2.0), Exponential(0.5)
# Laws whose draws are added up one by one, each with a factor.
ADDED: list[list[tuple[Law, float]]] = [
    *([(Laplace(1.5), 1.0)] * n for n in (2, 3, 4, 5)),
    [(Laplace(2.0), 1.0), (Laplace(1.0), -2.0), (Laplace(0.5), 4.0)],
    [(Laplace(2.0), 1.0), (Laplace(1.0), 1.0)],
    [(Laplace(1.0), 1.0), (Laplace(1.0), 1.0), (Laplace(0.25), 2.0)],
    [(Gaussian(1.0), 1.0), (Gaussian(2.0), -0.5), (Gaussian(0.5), 3.0)],
    [(Gaussian(1.0), 1.0), (Laplace(1.0), 0.5)],
    [(UNIFORM, 1.0), (UNIFORM, 1.0)],
    [(UNIFORM, 1.0), (UNIFORM, 1.0), (UNIFORM, 1.0)],
    [(UNIFORM, 1.0), (UNIFORM, -1.0), (UNIFORM, 1.0)],
    [(UNIFORM, 1.0), (Uniform(0.0, 0.5), 2.0)],
    [(UNIFORM, 1.0), (SKEWED, -2.0)],
    [(SKEWED, 1.0), (SKEWED, 1.0)],
    [(SKEWED, 1.0), (Logistic(0.5), 1.5)],
    [(Gumbel(1.0), 1.0), (Gumbel(1.0), -1.0)],
    [(integers_law(0, 5), 1.0), (integers_law(-2, 3), 1.0), (integers_law(0, 1), -3.0)],
    [(atoms({0.0: 0.25, 1.0: 0.5, 5.0: 0.25}), 1.0), (integers_law(0, 3), 2.0)],
    [(poisson(2.0), 1.0), (poisson(3.5), -1.0)],
    [(from_frozen(scipy.stats.geom(0.3))[1], 1.0), (from_frozen(scipy.stats.geom(0.3))[1], -1.0)],
]


def cumulants(law: Law) -> np.ndarray:
    """Mass, mean, variance and third central moment, from the density."""
    if isinstance(law, Discrete):
        x = np.arange(-90.0, 91.0)
        p = np.exp(law.log_density(x))
    else:
        low, high = (max(min(e, 60.0), -60.0) for e in law.support)
        nodes, weights = np.polynomial.legendre.leggauss(20)
        edges = np.unique(np.concatenate([np.linspace(low, high, 1201), [0.0], [k for k in law.kinks if low < k < high]]))
        half = np.diff(edges) / 2
        x = (edges[:-1, None] + half[:, None] * (1 + nodes)).ravel()
        with np.errstate(divide="ignore"):
            p = np.exp(law.log_density(x)) * (half[:, None] * weights).ravel()
    mean = float(p @ x)
    return np.array([p.sum(), mean, p @ (x - mean) ** 2, p @ (x - mean) ** 3])


@pytest.mark.parametrize("parts", ADDED)
def test_mean_variance_and_skew_of_independent_draws_add_up(parts: list[tuple[Law, float]]) -> None:
    """The k-th cumulant of a sum of w X is the sum of w^k times those of X: whichever way the sum is made."""
    total, _ = parts[0]
    truth = cumulants(total)
    for law, weight in parts[1:]:
        added = sum_law(total, law, exact(weight))
        assert added is not None
        total = added
        truth += cumulants(law) * np.array([0.0, weight, weight**2, weight**3])
    np.testing.assert_allclose(cumulants(total), truth, rtol=1e-7, atol=1e-7)

"""Distribution functions and quantiles of SciPy's laws and of the standard library's, on random values."""

from __future__ import annotations

import math
import random
from statistics import NormalDist
from typing import Any

import pytest
import scipy.stats
from scipy import special
from scipy.stats import cauchy, expon, gumbel_r, laplace, logistic, norm, uniform

import dpest


def holds(mechanism: Any, pair: tuple[Any, Any], truth: float) -> None:
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower <= truth * (1 + 1e-12)
    assert found.upper >= truth * (1 - 1e-12)
    assert found.lower == found.upper or found.upper - found.lower < 1e-9


def quantile(family: Any, **options: Any) -> Any:
    return lambda x: x + family.ppf(random.random(), **options)


# The loss of a shift by 1 in closed form: Student's with one degree of freedom has (nu + 1) asinh(1 / 2).
SHIFTS = [
    (quantile(laplace), 1.0),
    (quantile(laplace, scale=4), 0.25),
    (quantile(logistic, scale=2), 0.5),
    (quantile(cauchy), 2 * math.asinh(0.5)),
    (quantile(norm), math.inf),
    (quantile(expon), math.inf),
    (quantile(gumbel_r), math.inf),
    (quantile(uniform, loc=-2, scale=4), math.inf),
    (lambda x: x + laplace.isf(random.random(), 3, 2), 0.5),
    (lambda x: laplace(x, 2).ppf(random.random()), 0.5),
    (lambda x: x + NormalDist(0, 2).inv_cdf(random.random()), math.inf),
    (lambda x: x + math.sqrt(2) * special.erfinv(2 * random.random() - 1), math.inf),
    (lambda x: list(x + laplace.ppf(dpest.uniform(size=2), scale=4)), 0.5),
]


@pytest.mark.parametrize(("mechanism", "truth"), SHIFTS, ids=range(len(SHIFTS)))
def test_a_quantile_of_uniform_noise_is_noise_of_its_family(mechanism: Any, truth: float) -> None:
    holds(mechanism, (0, 1), truth)


@pytest.mark.parametrize(("mechanism", "truth"), [(SHIFTS[4][0], 1.0), (SHIFTS[10][0], 0.5), (SHIFTS[11][0], 1.0)])
def test_gaussian_noise_by_its_quantile(mechanism: Any, truth: float) -> None:
    """At a delta, which a distance of `truth` standard deviations determines."""
    delta = norm.cdf(truth / 2 - 0.5 / truth) - math.exp(0.5) * norm.cdf(-truth / 2 - 0.5 / truth)
    assert dpest.estimate(mechanism, (0, 1), method="exact").delta(0.5) == pytest.approx(delta, abs=1e-12)


CURVES = [
    lambda y: norm.cdf(y),
    lambda y: norm(1, 2).sf(y),
    lambda y: laplace.cdf(y, scale=3),
    lambda y: logistic.cdf(y, 1, 2),
    lambda y: cauchy.sf(y),
    lambda y: gumbel_r.cdf(y),
    lambda y: NormalDist(1, 3).cdf(y),
    math.erf,
    math.erfc,
    special.erf,
    special.erfc,
    special.ndtr,
]


@pytest.mark.parametrize("curve", CURVES, ids=range(len(CURVES)))
def test_a_distribution_function_of_a_noisy_value_tells_what_the_value_tells(curve: Any) -> None:
    holds(lambda x: curve(x + dpest.laplace(2)), (0, 1), 0.5)


def test_p_values() -> None:
    """Of |z| small values lose most: e^0 against e^-1; the test itself compares P(|z| > 1.96), and its complement."""
    holds(lambda x: 2 * norm.sf(abs(x + dpest.laplace(1))), (0, 1), 1.0)
    holds(lambda x: math.erfc(abs(x + dpest.laplace(1)) / math.sqrt(2)), (0, 1), 1.0)
    at = norm.isf(0.025)
    tails = math.exp(-at), 0.5 * (math.exp(1 - at) + math.exp(-1 - at))
    truth = max(abs(math.log(tails[0] / tails[1])), abs(math.log((1 - tails[0]) / (1 - tails[1]))))
    holds(lambda x: 2 * norm.sf(abs(x + dpest.laplace(1))) < 0.05, (0, 1), truth)


def test_other_families_are_refused_by_name() -> None:
    with pytest.raises(dpest.errors.UnsupportedOperation, match=r"scipy\.stats\.beta\.cdf of a random value"):
        dpest.estimate(lambda x: scipy.stats.beta.cdf(x + dpest.laplace(1), 2, 3), (0, 1), method="exact")


def test_methods_are_put_back() -> None:
    before = scipy.stats.rv_continuous.cdf, NormalDist.inv_cdf
    holds(lambda x: norm.cdf(x + dpest.laplace(1)), (0, 1), 1.0)
    assert before == (scipy.stats.rv_continuous.cdf, NormalDist.inv_cdf)
    assert norm.cdf(0.0) == 0.5
    assert NormalDist().inv_cdf(0.5) == 0.0


PHI, DRAWN, AT_LEAST = norm.cdf, laplace.rvs, laplace.sf  # methods by names of their own


def above_the_median(x: float) -> bool:
    return bool(PHI(x + random.gauss(0, 1)) > 0.5)


class Held:
    def __init__(self) -> None:
        self.cdf = norm.cdf

    def above(self, x: float) -> bool:
        return bool(self.cdf(x + random.gauss(0, 1)) > 0.5)


@pytest.mark.parametrize(
    "mechanism",
    [above_the_median, Held().above, lambda x: Held().above(x), lambda x, cdf=norm.cdf: cdf(x + random.gauss(0, 1)) > 0.5],
)
def test_a_method_of_a_distribution_that_has_another_name(mechanism: Any) -> None:
    p = NormalDist().cdf(1.0)
    holds(mechanism, (0.0, 1.0), max(math.log(p / 0.5), math.log(0.5 / (1 - p))))


def test_draws_and_tails_by_another_name() -> None:
    holds(lambda x: x + DRAWN(scale=2.0), (0.0, 1.0), 0.5)
    holds(lambda x: AT_LEAST(x + DRAWN(scale=2.0), scale=3), (0.0, 1.0), 0.5)
    assert DRAWN.__func__ is laplace.rvs.__func__
    assert float(PHI(0.0)) == 0.5

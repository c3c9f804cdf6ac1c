"""Families that are declared log-concave are: no chord of a log density lies above it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

import dpest
from dpest.laws import scipy_tails
from dpest.laws.scipy_law import from_frozen

SHAPES = {
    "beta": (1.0, 3.5),
    "chi": (1.0,),
    "chi2": (2.0,),
    "erlang": (1,),
    "exponnorm": (1.5,),
    "gamma": (1.0,),
    "genlogistic": (0.3,),
    "gennorm": (1.5,),
    "gompertz": (0.4,),
    "laplace_asymmetric": (2.0,),
    "loggamma": (0.5,),
    "powerlaw": (1.2,),
    "skewnorm": (4.0,),
    "trapezoid": (0.2, 0.7),
    "triang": (0.3,),
    "truncexpon": (2.0,),
    "truncnorm": (-1.0, 2.5),
    "weibull_min": (1.0,),
    "weibull_max": (1.3,),
}


@pytest.mark.parametrize("name", sorted(scipy_tails._ALWAYS_LOG_CONCAVE | set(scipy_tails._LOG_CONCAVE)))
def test_no_chord_lies_above(name: str) -> None:
    family = getattr(scipy.stats, name)(*SHAPES.get(name, ()))
    assert scipy_tails.log_concave(name, SHAPES.get(name, ()))
    rng = np.random.default_rng(5)
    ends = np.sort(family.ppf(rng.uniform(1e-6, 1 - 1e-6, (4000, 2))), axis=1)
    share = rng.uniform(0.01, 0.99, 4000)
    inside = ends[:, 0] * share + ends[:, 1] * (1 - share)
    chord = family.logpdf(ends[:, 0]) * share + family.logpdf(ends[:, 1]) * (1 - share)
    assert np.all(family.logpdf(inside) >= chord - 1e-9 * (1 + np.abs(chord)))


@pytest.mark.parametrize(("beta", "truth"), [(0.5, math.sqrt(0.5)), (1.0, 0.5), (2.0, math.inf), (4.0, math.inf)])
def test_the_loss_of_generalised_gaussian_noise(beta: float, truth: float) -> None:
    """|x + d|^beta - |x|^beta is at most |d|^beta for beta <= 1, and grows without end above."""
    family = scipy.stats.gennorm(beta, scale=2.0)
    found = dpest.estimate(lambda x: x + dpest.from_scipy(family), (0, 1), method="exact")
    assert found.lower <= truth <= found.upper
    assert (found.lower == found.upper or found.upper - found.lower < 1e-12)


def test_generalised_gaussian_noise_of_a_known_family_is_that_family() -> None:
    assert from_frozen(scipy.stats.gennorm(1, scale=3))[1] == from_frozen(scipy.stats.laplace(scale=3))[1]
    gaussian = from_frozen(scipy.stats.gennorm(2, scale=3))[1]
    assert gaussian.log_density(1.7) == pytest.approx(scipy.stats.gennorm(2, scale=3).logpdf(1.7), rel=1e-14)


def test_a_truncated_gaussian_has_both_ends() -> None:
    """phi(y - x) / (2 Phi(1) - 1) on [x - 1, x + 1] cut to [0, 1]: truncnorm between fixed ends, around x."""
    found = dpest.estimate(lambda x: scipy.stats.truncnorm.rvs(0 - x, 1 - x, loc=x), (0, 1), method="exact")
    assert found.lower <= 0.5 <= found.upper
    assert found.upper - found.lower < 1e-9

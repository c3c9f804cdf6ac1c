"""One sample of a posterior: beta and Dirichlet draws whose shapes come from the data (oracle: scipy's laws, closed forms)."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.exact.inference.expressions import Expr
from dpest.exact.inference.factors import Density
from dpest.exact.inference.rays import Ray
from dpest.exact.loss.edges import _declared
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact


def posterior_mean(successes, rng: np.random.Generator):
    return rng.beta(successes + 1, 6 - successes)


def of_the_standard_library(successes):
    return random.betavariate(1 + successes, 3)


def proportions(counts, rng: np.random.Generator):
    return rng.dirichlet(np.asarray(counts) + 1)


def as_a_list(counts, rng: np.random.Generator):
    return rng.dirichlet([c + 0.5 + 0.5 for c in counts]).tolist()


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        (posterior_mean, (3, 4)),
        (of_the_standard_library, (3, 4)),
        (proportions, ([3, 2, 1], [4, 2, 1])),
        (proportions, ([3, 2], [2, 3])),
        (as_a_list, ([0, 2, 5, 1], [0, 2, 4, 1])),
    ],
)
def test_a_posterior_sample_tells_the_data(mechanism, pair):
    """y^(a - a') (1 - y)^(b - b') has no bound."""
    assert dpest.estimate(mechanism, pair, method="exact").lower == math.inf
    assert dpest.estimate(mechanism, (pair[0], pair[0]), method="exact").upper == 0


def test_a_sample_that_is_compared_with_a_number():
    result = dpest.estimate(lambda n, rng: rng.dirichlet([n, 3.0, 2.0])[0] > 0.5, (3.0, 4.0), method="exact")
    above, other = (float(stats.beta(a, 5).sf(0.5)) for a in (3, 4))
    truth = max(abs(math.log(above / other)), abs(math.log((1 - above) / (1 - other))))
    assert result.lower - 1e-9 <= truth <= result.upper + 1e-9
    assert result.upper - result.lower < 1e-9


@pytest.mark.parametrize(
    ("law", "side"),
    [(stats.beta(2.5, 4), 1), (stats.beta(2.5, 4, scale=3), -1), (stats.gamma(3, scale=2), 1), (stats.chi2(5), 1)],
)
@pytest.mark.parametrize("slope", [1, 0.25])
def test_beside_an_end_a_density_is_between_what_is_declared(law, side, slope):
    """ln f(end + side * slope * t) - order * ln t, at distances up to the reach."""
    _, own = from_frozen(law)
    end = own.support[0] if side > 0 else own.support[1]
    place = Expr(((-1, exact(slope)),), exact(end))
    found = _declared(own, Density(own, place).place, Ray(-1, side, exact(0), 2.0**-6))
    assert found is not None
    for t in np.geomspace(1e-9, 2.0**-6, 12):
        value = float(law.logpdf(end + side * slope * t)) - found.order * math.log(t)
        assert found.low - 1e-6 <= value <= found.high + 1e-6
    assert found.high - found.low < 0.2
    assert found.low <= found.limit <= found.high

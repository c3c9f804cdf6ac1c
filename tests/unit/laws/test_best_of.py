"""The noise of the best of several scores: its density, what it declares about it, and bounds on how it bends."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from dpest.laws.best_of import BestOf, Rival, RoundCount
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic
from dpest.laws.law import Continuous

UP, DOWN = Rival(0.4, Laplace(1.0), 1.0, 0.0), Rival(0.6, Gumbel(2.0), 0.5, -1.25)
FALLING = Rival(0.6, Logistic(0.5), -2.0, 0.75, falls=True)
MIXED = {
    "two kinds": BestOf(Laplace(1.0), (UP, DOWN), RoundCount(0.2, 1.0)),
    "one that falls": BestOf(Laplace(1.0), (UP, FALLING), RoundCount(0.1, 2.0)),
    "falls itself": BestOf(
        Gaussian(1.5),
        (Rival(0.5, Gaussian(1.5), 1.0, 0.0, falls=True), Rival(0.5, Laplace(1.0), -1.0, 0.3)),
        RoundCount(3.0, 0.0),
        falls=True,
    ),
    "from one point on": BestOf(Exponential(1.0), (Rival(1.0, Exponential(1.0), 1.0, 0.0),), RoundCount(0.5, 1.0)),
}
mixed = pytest.mark.parametrize("law", MIXED.values(), ids=MIXED)


@mixed
def test_the_curvature_is_at_least_that_of_second_differences(law: BestOf) -> None:
    """Between kinks, a chord lies below a concave function by at most M h^2 / 8; far out and near, at random places."""
    rng = np.random.default_rng(5)
    kinks = np.array(law.kinks)
    for _ in range(400):
        low = float(rng.uniform(-9, 9))
        high = low + float(rng.choice([0.01, 0.1, 1.0]))
        if low < law.support[0] or np.any((kinks > low) & (kinks < high)):
            continue
        bound = float(law.curvature(np.array([low]), np.array([high]))[0])
        middle = 0.5 * (low + high)
        a, m, b = law.log_density(np.array([low, middle, high]))
        second = (a - 2 * m + b) / (0.25 * (high - low) ** 2)
        assert second <= bound + 1e-10 / (high - low) ** 2


@mixed
def test_the_chance_to_be_the_best_adds_up(law: BestOf) -> None:
    ends = [max(law.support[0], -80.0), -6.0, *(k for k in law.kinks if -6 < k < 9), 9.0, 80.0]
    whole = math.fsum(
        integrate.quad(lambda z: math.exp(float(law.log_density(z))), a, b, epsabs=0, epsrel=1e-12)[0]
        for a, b in pairwise(sorted({*ends}))
        if a >= law.support[0]
    )
    assert math.exp(law.table.log_mass) == pytest.approx(whole, rel=1e-10)


@mixed
@pytest.mark.parametrize("side", [-1, 1])
def test_a_tail_comes_to_what_is_declared_from_one_side(law: BestOf, side: int) -> None:
    tail = law.asymptote(side)
    if tail is None:
        return
    t = np.array([12.0, 20.0, 40.0, 120.0])
    off = law.log_density(side * t) - [tail.at(float(x)) for x in t]
    assert abs(off[-1]) < 1e-5
    assert all(abs(b) <= abs(a) + 1e-12 for a, b in pairwise(off.tolist()))
    assert all(b >= a - 1e-12 for a, b in pairwise(off.tolist())) or all(b <= a + 1e-12 for a, b in pairwise(off.tolist()))


@pytest.mark.parametrize("noise", [Laplace(1.0), Logistic(0.5), Gumbel(1.0), Gaussian(2.0)])
@pytest.mark.parametrize("rounds", [RoundCount(*x) for x in ((0.2, 1.0), (4.0, 0.0), (0.3, 2.0), (0.999, 1.0), (1e-3, 1.0))])
def test_of_one_kind_by_its_distribution_function(noise: Continuous, rounds: RoundCount) -> None:
    """P(best <= z) = G(F(z)), by the generating function."""
    law = BestOf(noise, (Rival(1.0, noise, 1.0, 0.0),), rounds)
    r, p = rounds.successes, rounds.stop

    def g(u: float) -> float:
        if not r:
            return math.expm1(p * u) / math.expm1(p)
        return math.expm1(-r * math.log1p(-(1 - p) * u)) / math.expm1(-r * math.log(p))

    for z in (-40.0, -5.0, -0.3, 0.0, 0.7, 4.0, 12.0):
        below = g(math.exp(float(noise.log_cdf(np.array([z]))[0])))
        assert float(law.log_cdf(np.array([z]))[0]) == pytest.approx(math.log(below), rel=1e-11, abs=1e-12) if below else True
        if below < 0.999:
            assert math.exp(float(law.log_sf(np.array([z]))[0])) == pytest.approx(1 - below, rel=1e-10)
    assert float(law.log_sf(np.array([30.0]))[0]) < -10

"""The noise of the best of several scores: its density, what it declares about it, and bounds on how it bends."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from dpest.laws.best_of import BestOf, Rival
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic
from dpest.laws.law import Continuous
from dpest.laws.round_counts import Capped, Endless

UP, DOWN = Rival(0.4, Laplace(1.0), 1.0, 0.0), Rival(0.6, Gumbel(2.0), 0.5, -1.25)
FALLING = Rival(0.6, Logistic(0.5), -2.0, 0.75, falls=True)
MIXED = {
    "two kinds": BestOf(Laplace(1.0), (UP, DOWN), Endless(0.2, 1.0)),
    "one that falls": BestOf(Laplace(1.0), (UP, FALLING), Endless(0.1, 2.0)),
    "falls itself": BestOf(
        Gaussian(1.5),
        (Rival(0.5, Gaussian(1.5), 1.0, 0.0, falls=True), Rival(0.5, Laplace(1.0), -1.0, 0.3)),
        Endless(3.0, 0.0),
        falls=True,
    ),
    "capped": BestOf(Laplace(1.0), (UP, DOWN), Capped(0.2, 7)),
    "capped, and hardly a stop": BestOf(Laplace(1.0), (UP, FALLING), Capped(0.01, 3)),
    "from one point on": BestOf(Exponential(1.0), (Rival(1.0, Exponential(1.0), 1.0, 0.0),), Endless(0.5, 1.0)),
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
@pytest.mark.parametrize(
    "rounds",
    [
        *(Endless(*x) for x in ((0.2, 1.0), (4.0, 0.0), (0.3, 2.0), (0.999, 1.0), (1e-3, 1.0))),
        *(Capped(*x) for x in ((0.2, 1), (0.2, 2), (0.1, 1000), (1e-3, 50), (0.7, 13))),
    ],
)
def test_of_one_kind_by_its_distribution_function(noise: Continuous, rounds: Endless | Capped) -> None:
    """P(best <= z) = G(F(z)), by the generating function."""
    law = BestOf(noise, (Rival(1.0, noise, 1.0, 0.0),), rounds)
    p = rounds.stop

    def g(u: float) -> float:
        if isinstance(rounds, Capped):
            n = rounds.most
            return math.fsum(p * (1 - p) ** (t - 1) * u**t for t in range(1, n)) + (1 - p) ** (n - 1) * u**n
        r = rounds.successes
        if not r:
            return math.expm1(p * u) / math.expm1(p)
        return math.expm1(-r * math.log1p(-(1 - p) * u)) / math.expm1(-r * math.log(p))

    for z in (-40.0, -5.0, -0.3, 0.0, 0.7, 4.0, 12.0):
        below = g(math.exp(float(noise.log_cdf(np.array([z]))[0])))
        assert float(law.log_cdf(np.array([z]))[0]) == pytest.approx(math.log(below), rel=1e-11, abs=1e-12) if below else True
        if below < 0.999:
            assert math.exp(float(law.log_sf(np.array([z]))[0])) == pytest.approx(1 - below, rel=1e-10)
    assert float(law.log_sf(np.array([30.0]))[0]) < -10


@pytest.mark.parametrize(("stop", "most"), [(0.2, 1), (0.2, 2), (0.2, 3), (0.1, 40), (1e-3, 64), (0.9, 100)])
def test_how_a_capped_number_of_rounds_grows(stop: float, most: int) -> None:
    """G' and the slopes of its logarithm, in fractions; the bounds hold between the ends, and are met where these are one."""
    p = Fraction(stop)
    chances = {t: p * (1 - p) ** (t - 1) for t in range(1, most)} | {most: (1 - p) ** (most - 1)}
    assert sum(chances.values()) == 1
    rounds = Capped(stop, most)

    def derivative(u: Fraction, k: int) -> Fraction:
        return sum((math.perm(t, k) * c * u ** (t - k) for t, c in chances.items() if t >= k), Fraction())

    def logs(u: Fraction) -> tuple[float, float, float]:
        first, second, third = (derivative(u, k) for k in (1, 2, 3))
        return math.log(first), float(second / first), float(third / first - (second / first) ** 2)

    for rest in (0.0, 0.25, 0.5, 1.0):
        at = np.array([rest])
        growth, slope, bend = logs(1 - Fraction(rest))
        assert float(rounds.log_growth(at)[0]) == pytest.approx(growth, rel=1e-12, abs=1e-12)
        assert float(rounds.slope(at, at)[0]) == pytest.approx(slope, rel=1e-12)
        assert float(rounds.bend(at, at)[0]) == pytest.approx(max(bend, 0.0), rel=1e-9, abs=1e-9 * slope**2)
    for better, worse in ((0.0, 0.1), (0.3, 0.35), (0.0, 1.0)):
        ends = np.array([better]), np.array([worse])
        for rest in np.linspace(better, worse, 7):
            _, slope, bend = logs(1 - Fraction(float(rest)))
            assert slope <= float(rounds.slope(*ends)[0]) * (1 + 1e-12)
            assert bend <= float(rounds.bend(*ends)[0]) * (1 + 1e-12) + 1e-9 * slope**2

"""What laws declare of their densities, against the densities themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.discrete import Geometric
from dpest.laws.images import Moved
from dpest.laws.laplace_sum import LaplaceSum
from dpest.laws.law import Continuous
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import exact

ROOT = Elementary(Kind.POWER, exact(0.5))
OWN: list[Continuous] = [
    Laplace(2.0),
    Gaussian(1.5),
    Exponential(0.7),
    Gumbel(0.5),
    Logistic(3.0),
    LaplaceSum(2.0, 3),
    Uniform(-1.0, 2.0),
    Moved(Exponential(0.7), 2.0, 0.0, ROOT),
    Moved(Exponential(1.3), 0.5, 0.75, ROOT),
]
HEAVY = [
    stats.t(2.5, scale=3),
    stats.cauchy(scale=2),
    stats.halfcauchy(scale=2),
    stats.pareto(2.5, scale=3),
    stats.lomax(1.5, scale=2),
    stats.genpareto(0.7, scale=3),
    stats.levy(scale=2),
    stats.invgamma(2.2, scale=3),
    stats.burr(2.0, 3.0, scale=2),
    stats.burr12(2.0, 3.0, scale=2),
    stats.fisk(2.2, scale=3),
    stats.f(3, 5, scale=2),
]
LIGHT = [stats.gamma(2.5, scale=3), stats.chi2(4.4, scale=2), stats.erlang(3, scale=0.5)]


def scipy_law(frozen: object) -> Continuous:
    _, law = from_frozen(frozen)
    assert isinstance(law, Continuous)
    return law


def approaches(gaps: list[float], last: float) -> None:
    """The distance to what is declared shrinks monotonically, from one side."""
    assert all(abs(b) <= abs(a) + 1e-11 * (1 + abs(a)) for a, b in zip(gaps, gaps[1:], strict=False))
    assert min(gaps) >= -1e-11 or max(gaps) <= 1e-11
    assert abs(gaps[-1]) <= last


@pytest.mark.parametrize("law", OWN, ids=lambda law: law.words())
@pytest.mark.parametrize("side", [1, -1])
def test_own_laws_come_to_what_they_declare(law: Continuous, side: int) -> None:
    declared, mass = law.asymptote(side), law.mass_asymptote(side)
    if declared is None:
        assert math.isfinite(law.support[0 if side < 0 else 1])
        return
    distances = [law.scale * k for k in ((1, 2, 3, 5) if declared.bursts else (4, 8, 16, 32, 64, 512))]
    approaches([float(law.log_density(side * t)) - declared.at(t) for t in distances], 0.02)
    assert mass is not None
    tails = [float(law.log_sf(t) if side > 0 else law.log_cdf(-t)) - mass.at(t) for t in distances]
    approaches(tails, 0.02)


def test_a_root_of_noise_that_is_exponential_on_one_side() -> None:
    """Beyond (y^2 - 1) / 3 = 0, what is declared is the law, up to rounding."""
    law = Moved(Laplace(2.0), 3.0, 1.0, ROOT)
    declared, mass = law.asymptote(1), law.mass_asymptote(1)
    assert declared is not None
    assert mass is not None
    for y in (1.5, 4.0, 30.0, 1e3):
        x = (y * y - 1) / 3
        assert declared.at(y) == pytest.approx(-x / 2 + math.log(0.25 * 2 * y / 3), rel=1e-14)
        assert float(law.log_density(y)) == pytest.approx(declared.at(y), rel=1e-14)
        assert mass.at(y) == pytest.approx(-x / 2 + math.log(0.5), rel=1e-14)
        assert float(law.log_sf(y)) == pytest.approx(mass.at(y), rel=1e-14)
    assert law.asymptote(-1) is law.mass_asymptote(-1) is None


@pytest.mark.parametrize("frozen", HEAVY + LIGHT, ids=lambda f: f.dist.name)
def test_scipy_laws_come_to_what_is_declared_of_them(frozen: object) -> None:
    law = scipy_law(frozen)
    declared = law.asymptote(1)
    assert declared is not None
    distances = [law.scale * k for k in ((20, 60, 200) if declared.rate else (1e2, 1e4, 1e6, 1e8))]
    approaches([float(law.log_density(t)) - declared.at(t) for t in distances], 1e-6)


@pytest.mark.parametrize("law", [*OWN, *(scipy_law(f) for f in LIGHT)], ids=lambda law: law.words())
def test_log_concave_laws_are(law: Continuous) -> None:
    assert law.log_concave
    low, high = law.reach(-40.0)
    x = np.sort(np.random.default_rng(1).uniform(low, high, (3000, 3)), axis=1)
    middle = x[:, 0] + (x[:, 2] - x[:, 0]) * (share := np.random.default_rng(2).uniform(0, 1, 3000))
    left, right = (law.log_density(x[:, k]) for k in (0, 2))
    with np.errstate(invalid="ignore"):
        chord = left + (right - left) * share
    usable = np.isfinite(chord)
    assert np.all(law.log_density(middle)[usable] >= chord[usable] - 1e-9 * (1 + np.abs(chord[usable])))


@pytest.mark.parametrize("nu", [0.7, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
def test_curvature_and_slope_of_students_law_are_bounds(nu: float, scale: float) -> None:
    law = scipy_law(stats.t(nu, scale=scale))
    assert not law.log_concave
    ends = np.sort(np.random.default_rng(3).normal(0, 5 * scale, (400, 2)), axis=1)
    bound = law.curvature(ends[:, 0], ends[:, 1])
    for share in np.linspace(0.01, 0.99, 21):
        x = ends[:, 0] + share * (ends[:, 1] - ends[:, 0])
        second = (nu + 1) * (x**2 - nu * scale**2) / (nu * scale**2 + x**2) ** 2
        assert np.all(second <= bound + 1e-12 / scale**2)
        first = np.abs((nu + 1) * x / (nu * scale**2 + x**2))
        assert np.all(first <= law.slope(x) * (1 + 1e-12))


@pytest.mark.parametrize("law", [Laplace(2.0), Gaussian(1.5), Gumbel(0.5), Logistic(3.0), LaplaceSum(2.0, 3)])
def test_slopes_are_bounds(law: Continuous) -> None:
    x = np.linspace(-6, 6, 2001) * law.scale
    step = 1e-6 * law.scale
    slopes = np.abs(law.log_density(x + step) - law.log_density(x - step)) / (2 * step)
    assert np.all(slopes <= np.maximum(law.slope(x + step), law.slope(x - step)) * (1 + 1e-6) + 1e-6)


@pytest.mark.parametrize("nu", [1.0, 2.0, 7.5])
@pytest.mark.parametrize("d", [-3.0, 0.2, 1.0])
def test_a_moved_students_law(nu: float, d: float) -> None:
    law = scipy_law(stats.t(nu, scale=2.0))
    found = law.shift(d)
    assert found is not None
    x = np.linspace(-60, 60, 1_200_001)
    most = float((law.log_density(x) - law.log_density(x + d)).max())
    assert most - 1e-12 <= found.loss <= most + 1e-6
    assert float(law.log_density(found.at) - law.log_density(found.at + d)) == pytest.approx(found.loss, rel=1e-12)


def test_a_geometric_law_is_what_it_declares() -> None:
    law = Geometric(1.7)
    for k in (1, 5, 100):
        assert law.asymptote(1).at(k) == pytest.approx(float(law.log_density(k)), rel=1e-14)

"""What every law promises, run against every law."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats

from dpest.exact.inference.convolve import sum_law
from dpest.laws.best_of import BestOf, Rival
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.discrete import Atoms, Geometric, atoms, bernoulli_law, categorical_law, integers_law
from dpest.laws.laplace_sum import LaplaceSum
from dpest.laws.law import Continuous, Discrete, Law
from dpest.laws.round_counts import Capped, Endless
from dpest.laws.scipy_law import from_frozen
from dpest.laws.stepped import Stepped
from dpest.laws.uniform_sum import UniformSum
from dpest.numerics.quadrature import integrate, with_tails
from dpest.numerics.rationals import exact


def wrapped(frozen: Any) -> Law:
    return from_frozen(frozen)[1]


CONTINUOUS: dict[str, Continuous] = {
    "laplace": Laplace(2.0),
    "gaussian": Gaussian(0.5),
    "exponential": Exponential(3.0),
    "gumbel": Gumbel(1.5),
    "logistic": Logistic(0.7),
    "uniform": Uniform(-1.0, 2.5),
    "sum of uniforms": UniformSum(-2.0, 0.5, 5),
    "scipy t": wrapped(scipy.stats.t(4.0, scale=2.0)),  # type: ignore[dict-item]
    "scipy gamma": wrapped(scipy.stats.gamma(2.5)),  # type: ignore[dict-item]
    "scipy triangle": wrapped(scipy.stats.triang(0.3, scale=4.0)),  # type: ignore[dict-item]
    "a sum": sum_law(Laplace(1.0), Laplace(2.0), 1.0),  # type: ignore[dict-item]
    "a sum of equals": sum_law(Laplace(2.0), Laplace(1.0), -2.0),  # type: ignore[dict-item]
    "a sum of four equals": LaplaceSum(0.5, 4),
    "a difference": sum_law(Exponential(1.0), Gaussian(0.5), -2.0),  # type: ignore[dict-item]
    "best of a few": BestOf(Laplace(1.5), (Rival(1.0, Laplace(1.5), 1.0, 0.0),), Endless(0.3, 1.0)),
    "best of a few, and no more": BestOf(Laplace(1.5), (Rival(1.0, Laplace(1.5), 1.0, 0.0),), Capped(0.3, 4)),
    "least of a few": BestOf(Logistic(0.7), (Rival(1.0, Logistic(0.7), 1.0, 0.0, falls=True),), Endless(2.0, 0.0), falls=True),
}
DISCRETE: dict[str, Discrete] = {
    "geometric": Geometric(1.7),
    "narrow geometric": Geometric(0.05),
    "bernoulli": bernoulli_law(0.3),
    "certain": bernoulli_law(1.0),
    "categorical": categorical_law([0.2, 0.0, 0.5, 0.3]),
    "integers": integers_law(-3, 4),
    "atoms": atoms({-1.5: 0.25, 0.0: 0.5, 7.25: 0.25}),
    "many atoms": Atoms(tuple(map(float, range(500))), (math.log(1 / 500),) * 500),
    "rounded laplace": Stepped(Laplace(1.3), exact(1), exact(0.5)),
    "floor of multiples": Stepped(Laplace(0.4), exact(-3), exact(0.25)),
    "rounded gaussian": Stepped(Gaussian(2.0), exact(1), exact(0.125)),
    "floor of exponential": Stepped(Exponential(1.5), exact(2), exact(0.75)),
    "floor of a falling exponential": Stepped(Exponential(0.6), exact(-2), exact(0.3)),
    "scipy poisson": wrapped(scipy.stats.poisson(3.0)),  # type: ignore[dict-item]
    "scipy binomial": wrapped(scipy.stats.binom(6, 0.4)),  # type: ignore[dict-item]
}
continuous = pytest.mark.parametrize("law", CONTINUOUS.values(), ids=CONTINUOUS)
discrete = pytest.mark.parametrize("law", DISCRETE.values(), ids=DISCRETE)
every = pytest.mark.parametrize("law", [*CONTINUOUS.values(), *DISCRETE.values()], ids=[*CONTINUOUS, *DISCRETE])


def places(law: Continuous) -> Any:
    """Some points inside the support, kinks included."""
    low, high = law.reach(-30.0)
    return np.unique([*np.linspace(max(low, law.support[0]), min(high, law.support[1]), 17), *law.kinks])


def mass(law: Continuous, low: float, high: float) -> float:
    """The integral of the density."""
    inside = np.array([[k for k in law.kinks if low < k < high]]).reshape(1, -1)
    edges = with_tails(inside, np.array([low]), np.array([high]), law.scale)
    return float(np.exp(integrate(lambda _, x: (law.log_density(x), 0.0), edges).log_value[0]))


@continuous
def test_the_density_integrates_to_the_distribution_function(law: Continuous) -> None:
    points = places(law)
    for low, high in zip(points[:-1], points[1:], strict=True):
        expected = mass(law, float(low), float(high))
        assert float(np.exp(law.log_interval(low, high))) == pytest.approx(expected, rel=2e-11, abs=1e-300)
    assert mass(law, *law.reach(-60.0)) == pytest.approx(1.0, rel=1e-11)


@continuous
def test_both_sides_and_the_middle_make_one(law: Continuous) -> None:
    points = places(law)
    low, high = points[:-1], points[1:]
    total = np.exp(law.log_cdf(low)) + np.exp(law.log_interval(low, high)) + np.exp(law.log_sf(high))
    np.testing.assert_allclose(total, 1.0, rtol=1e-11)
    assert np.all(law.log_interval(high, low) == -np.inf)


@continuous
def test_tails_keep_their_digits(law: Continuous) -> None:
    """Far out, the mass of a step outwards is the difference of two tails."""
    for sign in (-1, 1):
        end = law.support[sign > 0]
        x = law.reach(-100.0)[sign > 0]
        if math.isfinite(end) or not math.isfinite(x):
            continue
        step = x + sign * law.scale
        tail, beyond = ((law.log_sf(x), law.log_sf(step)) if sign > 0 else (law.log_cdf(x), law.log_cdf(step)))
        between = law.log_interval(min(x, step), max(x, step))
        assert float(np.logaddexp(between, beyond)) == pytest.approx(float(tail), abs=1e-9)
        assert float(tail) < -50


@continuous
def test_nothing_lies_outside_the_support_and_little_beyond_the_reach(law: Continuous) -> None:
    low, high = law.support
    for x in (low - 1.0, high + 1.0):
        if math.isfinite(x):
            assert float(law.log_density(x)) == -math.inf
    reach = law.reach(-40.0)
    assert float(law.log_cdf(reach[0])) <= max(-40.0, law.log_beyond(-40.0)) + 1e-9
    assert float(law.log_sf(reach[1])) <= max(-40.0, law.log_beyond(-40.0)) + 1e-9


@continuous
def test_the_density_is_smooth_between_kinks(law: Continuous) -> None:
    """A polynomial through few points predicts the density between them, away from the kinks."""
    points = places(law)
    middle = 0.5 * (points[1:] + points[:-1])
    h = 1e-3 * law.scale
    offsets = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    near = np.exp(law.log_density(middle[:, None] + offsets))
    predicted = near @ np.array([-1.0, 4.0, 4.0, -1.0]) / 6.0
    clear = np.abs(middle[:, None] - np.array(law.kinks)).min(axis=1) > 4 * h
    np.testing.assert_allclose(np.exp(law.log_density(middle))[clear], predicted[clear], rtol=1e-8, atol=1e-200)


@continuous
@pytest.mark.parametrize("d", [-2.0, 0.3])
def test_the_largest_ratio_under_a_shift(law: Continuous, d: float) -> None:
    shift = law.shift(d)
    if shift is None:
        return
    x = np.concatenate([places(law), np.array(law.reach(-200.0)) * 0.999])
    with np.errstate(invalid="ignore"):
        ratio = law.log_density(x) - law.log_density(x + d)
    finite = ratio[np.isfinite(law.log_density(x))]
    assert np.nanmax(finite) <= shift.loss + 1e-9
    if math.isfinite(shift.at) and math.isfinite(shift.loss):
        assert float(law.log_density(shift.at) - law.log_density(shift.at + d)) == pytest.approx(shift.loss, abs=1e-12)


def laplace_tail(x: Any) -> Any:
    return mpmath.exp(-x / 2) / 2 if x > 0 else 1 - mpmath.exp(x / 2) / 2


TAILS = {  # P(X > x)
    "laplace": laplace_tail,
    "gaussian": lambda x: mpmath.erfc(2 * x / mpmath.sqrt(2)) / 2,
    "exponential": lambda x: mpmath.exp(-max(x, mpmath.mpf(0)) / 3),
    "gumbel": lambda x: -mpmath.expm1(-mpmath.exp(-x / mpmath.mpf(1.5))),
    "logistic": lambda x: 1 / (1 + mpmath.exp(x / mpmath.mpf(0.7))),
}


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.parametrize(("low", "high"), [(0.1, 0.2), (-0.5, 1.5), (1.0, 1.0 + 1e-7), (8.0, 9.0), (-3.0, -2.0), (30.0, 31.0)])
def test_intervals_against_fifty_digits(name: str, low: float, high: float) -> None:
    law = CONTINUOUS[name]
    with mpmath.workdps(1000):
        a, b = (TAILS[name](mpmath.mpf(x)) for x in (low, high))
        truth = float(mpmath.log(a - b)) if a > b else -math.inf
        tail = float(mpmath.log(a))
    width = 4e-16 * max(abs(low), abs(high)) / (high - low)  # the rounding of the interval's own ends
    assert float(law.log_interval(low, high)) == pytest.approx(truth, rel=1e-14, abs=1e-13 + width)
    assert float(law.log_sf(low)) == pytest.approx(tail, rel=1e-14, abs=1e-15)


@discrete
def test_points_sum_to_one_and_ranges_add_up(law: Discrete) -> None:
    points, logs = law.window(-60.0)
    np.testing.assert_allclose(law.log_density(points), logs, rtol=1e-13, atol=1e-13)
    assert math.fsum(np.exp(logs)) == pytest.approx(1.0, rel=1e-11)
    first, last = law.first(points, False), law.last(points, False)
    np.testing.assert_array_equal(first, last)
    ranges = law.log_between(first[0], last)
    np.testing.assert_allclose(ranges, np.logaddexp.accumulate(logs), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(law.log_between(first, last), logs, rtol=1e-11, atol=1e-11)


@discrete
def test_strict_bounds_leave_out_the_point(law: Discrete) -> None:
    points, _ = law.window(-20.0)
    inner = points[(points > law.support[0]) & (points < law.support[1])]
    np.testing.assert_array_equal(law.first(inner, True), law.first(inner, False) + 1)
    np.testing.assert_array_equal(law.last(inner, True), law.last(inner, False) - 1)
    np.testing.assert_array_equal(law.first(inner + 1e-9, False), law.first(inner, True))
    assert np.all(law.log_between(law.first(inner, True), law.last(inner, False)) == -np.inf)


@discrete
def test_nothing_between_the_points(law: Discrete) -> None:
    points, _ = law.window(-20.0)
    assert np.all(law.log_density(points + 0.125) == -np.inf)
    assert law.integral == bool(np.all(points == np.floor(points)))


@every
def test_samples_follow_the_distribution_function(law: Law) -> None:
    """Kolmogorov-Smirnov on the continuous ones, chi square on the points of the discrete ones; seeded."""
    values = np.asarray(law.sample(np.random.default_rng(7), 4000), float)
    if isinstance(law, Continuous):
        assert scipy.stats.kstest(values, lambda x: np.exp(law.log_cdf(x))).pvalue > 1e-4
        return
    points, counts = np.unique(values, return_counts=True)
    expected = 4000 * np.exp(law.log_density(points))
    assert np.all(expected > 0)
    common = expected >= 5
    rest = 4000 - counts[common].sum(), 4000 - expected[common].sum()
    statistic = ((counts[common] - expected[common]) ** 2 / expected[common]).sum() + (rest[0] - rest[1]) ** 2 / max(rest[1], 1.0)
    assert scipy.stats.chi2.sf(statistic, common.sum()) > 1e-4


@every
def test_values_lie_in_the_support(law: Law) -> None:
    values = np.asarray(law.sample(np.random.default_rng(1), 500), float)
    assert law.support[0] <= values.min()
    assert values.max() <= law.support[1]


@every
def test_a_law_is_a_value_with_words(law: Law) -> None:
    assert hash(law) == hash(law)
    assert law == law
    assert law != Laplace(123.0)
    assert law.words()
    assert law.error >= 0

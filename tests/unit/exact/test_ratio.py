"""Quotients of two noisy values: densities against mpmath, suprema against a dense grid of mpmath's densities."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.exact.inference.ratio import BoundedDraw, Chart, QuotientSpan, Share, Which, density, enclosed
from dpest.exact.loss.ratio import _Cells, _RatioSearch
from dpest.laws.continuous import Gaussian, Laplace
from dpest.laws.law import Continuous
from dpest.numerics.rationals import exact

L = dpest.laplace


def share(a: float, b: float, top: Continuous, bottom: Continuous, low: float = -math.inf) -> Share:
    return Share(BoundedDraw(top, exact(1), exact(a)), BoundedDraw(bottom, exact(1), exact(b), low))


def oracle(a: float, b: float, y: float, sigma: float | None = None, low: float = -math.inf) -> Any:
    """The density of (a + V) / (b + W) at y, W Laplace of scale 1, V Laplace of scale 1 or Gaussian; b + W above `low`."""

    def f(s: Any) -> Any:
        top = mpmath.exp(-abs(y * s - a)) / 2 if sigma is None else mpmath.npdf(y * s - a, 0, sigma)
        return abs(s) * top * mpmath.exp(-abs(s - b)) / 2

    turns = [t for t in (0.0, b, a / y if y else 0.0, low) if low <= t and abs(t) < 300]
    steps = [2.0**k / (1 + abs(y)) for k in range(-8, 10)]
    start, stop = max(low, min(turns) - 60), max(turns) + 60
    cuts = {start, stop, *turns, *(t + sign * step for t in turns for step in steps for sign in (1, -1))}
    return mpmath.quad(f, sorted(t for t in cuts if start <= t <= stop))


@pytest.mark.parametrize("y", [-3.0, -0.2, 0.0, 0.4, 0.55, 2.0, 40.0])
@pytest.mark.parametrize("sigma", [None, 0.7])
@pytest.mark.parametrize("low", [-math.inf, 1.0])
def test_the_density_is_the_one_of_mpmath(y: float, sigma: float | None, low: float) -> None:
    top: Continuous = Laplace(1.0) if sigma is None else Gaussian(sigma)
    one = (share(5.0, 10.0, top, Laplace(1.0), low),)
    logs, errors = density(one, Chart.Y, np.array([y]))
    truth = float(mpmath.log(oracle(5.0, 10.0, y, sigma, low)))
    assert abs(float(logs[0]) - truth) <= float(errors[0]) + 1e-9
    if y:
        there, _ = density(one, Chart.INVERSE, np.array([1 / y]))
        assert float(there[0]) - 2 * math.log(abs(y)) == pytest.approx(float(logs[0]), abs=1e-9)


@pytest.mark.parametrize("chart", Chart)
@pytest.mark.parametrize("top", [Laplace(1.0), Gaussian(0.7)])
def test_an_enclosure_holds_the_density(chart: Chart, top: Continuous) -> None:
    one = (share(5.0, 10.0, top, Laplace(1.0)),)
    low, high = np.array([-2.0, -0.1, 0.3, 0.5, 1.9]), np.array([-1.5, 0.1, 0.4, 0.52, 2.5])
    tilt = np.array([0.3, 0.0, 8.0, -5.0, -1.0])
    span = QuotientSpan(low, high, tilt)
    (least, e), (most, f) = (enclosed(one, chart, span, which) for which in (Which.LEAST, Which.MOST))
    for share_of in np.linspace(0.0, 1.0, 9):
        z = low + share_of * (high - low)
        here = density(one, chart, z)[0] - tilt * (z - 0.5 * (low + high))
        assert np.all(least - e - 1e-12 <= here)
        assert np.all(here <= most + f + 1e-12)


def coarse(a: float, b: float, y: float) -> Any:
    """The same density by fewer evaluations, for grids."""
    turns = sorted({0.0, b, min(max(a / y if y else 0.0, -300.0), 300.0)})

    def f(s: Any) -> Any:
        return abs(s) * mpmath.exp(-abs(y * s - a)) / 2 * mpmath.exp(-abs(s - b)) / 2

    return mpmath.quad(f, [turns[0] - 60, *turns, turns[-1] + 60])


def losses(ratio: Callable[[float], Any]) -> float:
    """The largest absolute log ratio on a grid that covers the line: y and 1 / y between -2 and 2."""
    grid = [k / 20 for k in range(-40, 41)]
    places = [*grid, *(1 / t for t in grid if t)]
    return max(abs(float(ratio(y))) for y in places)


def test_the_noisy_average_has_the_loss_that_a_grid_shows() -> None:
    r = dpest.estimate(lambda x: (x[0] + L(1.0)) / (x[1] + L(1.0)), ([5, 10], [6, 11]), method="exact")
    grid = losses(lambda y: mpmath.log(coarse(5.0, 10.0, y) / coarse(6.0, 11.0, y)))
    assert grid <= r.upper + 1e-9
    assert r.lower <= r.epsilon <= r.upper < 2.0
    assert r.upper - r.lower <= 1e-3
    assert grid == pytest.approx(r.epsilon, rel=1e-3)
    assert r.witness is not None


def test_a_floor_under_the_count_lets_both_noises_tell_all() -> None:
    """With y to minus infinity the sum is low and the count at its floor, each as unlikely as can be: 1 + 1."""
    r = dpest.estimate(lambda x: (x[0] + L(1.0)) / max(1, x[1] + L(1.0)), ([5, 10], [6, 11]), method="exact")
    assert r.lower <= 2.0 <= r.upper
    assert r.upper - r.lower <= 1e-9


def test_only_the_count_changes() -> None:
    r = dpest.estimate(lambda x: (x[0] + L(2.0)) / (x[1] + L(2.0)), ([5, 10], [5, 11]), method="exact")
    assert r.lower - 1e-9 <= 0.5 <= r.upper + 1e-9  # for y to infinity the count is zero: f(-10) / f(-11)


def test_a_clipped_average_has_atoms() -> None:
    """The atom at 0 is P(sum <= 0 < count or sum >= 0 > count)."""

    def atom(a: float, b: float) -> float:
        top, bottom = 0.5 * math.exp(-a), 0.5 * math.exp(-b)
        return top * (1 - bottom) + (1 - top) * bottom

    r = dpest.estimate(lambda x: np.clip((x[0] + L(1.0)) / (x[1] + L(1.0)), 0.0, 1.0), ([5, 10], [6, 11]), method="exact")
    assert r.lower - 1e-12 <= math.log(atom(5, 10) / atom(6, 11)) <= r.upper + 1e-12
    assert r.upper - r.lower <= 1e-9


def test_a_comparison_of_a_quotient_is_linear() -> None:
    """(x + V) / (10 + W) > 0.1 by a double integral of mpmath's."""

    def holds(x: float) -> Any:
        def f(w: Any) -> Any:
            t = (10 + w) / 10 - x
            tail = mpmath.exp(-t) / 2 if t > 0 else 1 - mpmath.exp(t) / 2
            return mpmath.exp(-abs(w)) / 2 * (tail if w > -10 else 1 - tail)

        return mpmath.quad(f, [-70, -10, 10 * x - 10, 0, 70] if x else [-70, -10, 0, 70])

    p, q = holds(0.0), holds(1.0)
    truth = max(abs(float(mpmath.log(p / q))), abs(float(mpmath.log((1 - p) / (1 - q)))))
    r = dpest.estimate(lambda x: (x + L(1.0)) / (10 + L(1.0)) > 0.1, (0.0, 1.0), method="exact")
    assert r.lower - 1e-9 <= truth <= r.upper + 1e-9


def test_two_averages_that_share_a_count() -> None:
    """Where sum and count come out as 0 the density is f(5) f(10) under one input and f(6) f(11) under the other."""

    def mechanism(x: list[float]) -> Any:
        count = x[2] + L(1.0)
        return (x[0] + L(1.0)) / count, (x[1] + L(1.0)) / count

    r = dpest.estimate(mechanism, ([5, 5, 10], [6, 5, 11]), method="exact")
    assert r.lower - 1e-9 <= 2 <= r.upper + 1e-9
    assert r.upper - r.lower <= 1e-9


def test_two_averages_whose_counts_share_noise_are_bounded_by_it() -> None:
    def mechanism(x: list[float]) -> Any:
        count = x[2] + L(1.0)
        return (x[0] + L(1.0)) / count, (x[1] + L(1.0)) / (count + L(1.0))

    r = dpest.estimate(mechanism, ([5, 5, 10], [6, 5, 11]), samples=20_000, seed=1, progress=False)
    assert r.method == "sampling"
    assert r.upper == pytest.approx(2.0, rel=1e-12)
    assert any("4 noisy values" in n for n in r.notes)


@pytest.mark.parametrize("y", [-50.0, -3000.0, -5990.0, -20_000.0, -1e6])
def test_a_floor_under_the_count_forces_the_sum_far_out(y: float) -> None:
    """With S >= 1 around 1 and T = y * S far below its mean the integral is elementary: k = 1 - y, e^-k (1/k + 1/k^2)."""
    one = (share(0.0, 1.0, Laplace(1.0), Laplace(1.0), 1.0),)
    k = 1 - y
    truth = 1 - math.log(4) - k + math.log(1 / k + 1 / k**2)
    for chart, z, more in ((Chart.Y, y, 0.0), (Chart.INVERSE, 1 / y, -2 * math.log(-y))):
        logs, errors = density(one, chart, np.array([z]))
        assert abs(float(logs[0]) + more - truth) <= float(errors[0]) + 1e-15 * abs(truth) + 1e-10


def test_a_bounded_mean_as_libraries_write_it() -> None:
    """Sum around the middle of the range over a count of at least 1, plus the middle, clipped; against quadrature on a grid."""

    def bounded_mean(xs: list[float]) -> Any:
        total = sum(x - 5 for x in xs) + L(10)
        count = max(1.0, len(xs) + L(2))
        return min(max(5 + total / count, 0.0), 10.0)

    def f(x: Any, b: float) -> Any:
        return mpmath.exp(-abs(x) / b) / (2 * b)

    def below(x: Any, b: float) -> Any:
        return 1 - mpmath.exp(-x / b) / 2 if x > 0 else mpmath.exp(x / b) / 2

    def law(total: float, count: float, y: float) -> tuple[Any, Any]:
        r = y - 5
        cuts = sorted({1.0, count, count + 10, 100.0, *([total / r] if r and 1 < total / r < 100 else [])})
        density = mpmath.quad(lambda c: f(c - count, 2) * c * f(r * c - total, 10), cuts)
        mass = mpmath.quad(lambda c: f(c - count, 2) * below(r * c - total, 10), cuts)
        few = below(1 - count, 2)
        return density + few * f(r - total, 10), mass + few * below(r - total, 10)

    found = dpest.estimate(bounded_mean, ([1.0, 2.0, 3.0, 10.0], [1.0, 2.0, 3.0]), method="exact")
    assert found.upper - found.lower < 1e-5
    ends = [law(-4, 4, 0)[1] / law(-9, 3, 0)[1], (1 - law(-4, 4, 10)[1]) / (1 - law(-9, 3, 10)[1])]
    inner = [law(-4, 4, y)[0] / law(-9, 3, y)[0] for y in np.linspace(0.01, 9.99, 60)]
    largest = max(abs(float(mpmath.log(x))) for x in [*ends, *inner])
    assert found.lower - 1e-9 <= largest <= found.upper + 1e-9  # at the lower end, an output with mass of its own


def log_odds(z: Any) -> Any:
    p = dpest.clip(z / 3, 0.05, 0.95)
    return np.log(p / (1 - p))


def with_a_pole(z: Any) -> Any:
    return (2 * z + 1) / (z - 3) if z > 3 else -(2 * z + 1) / (z - 3)


@pytest.mark.parametrize(("function", "truth"), [(log_odds, 1.0), (with_a_pole, 1.0)])
def test_quotients_of_one_noisy_value_tell_what_it_tells(function: Callable[[Any], Any], truth: float) -> None:
    found = dpest.estimate(lambda x: function(x + L(1)), (2, 3), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


def test_a_quotient_with_a_pole_plus_noise() -> None:
    """z / (z - 3) = 1 + 3 / (z - 3), plus noise, against mpmath at a few outputs: the loss is at least theirs and at most 1."""

    def density(x: float, y: float) -> Any:
        def f(z: Any) -> Any:
            return mpmath.exp(-abs(z - x)) / 2 * mpmath.exp(-abs(y - 1 - 3 / (z - 3))) / 2 if z != 3 else mpmath.mpf(0)

        poles = [3 + 3 / (y - 1)] if y != 1 else []
        return mpmath.quad(f, sorted({-40.0, -5.0, x, 2.0, 3.0, 4.0, 9.0, 45.0, *poles}))

    found = dpest.estimate(lambda x: (lambda z: z / (z - 3) + L(1))(x + L(1)), (0, 1), method="exact")
    shown = max(abs(float(mpmath.log(density(0, y) / density(1, y)))) for y in (-20.0, -2.0, 0.0, 0.5, 3.0, 25.0))
    assert shown - 1e-6 <= found.upper
    assert found.lower <= 1.0 + 1e-12
    assert found.upper - found.lower < 1e-6


@pytest.mark.parametrize("pair", [(0.0, 1.0), (0.5, -1.0)])
@pytest.mark.parametrize("largest", [True, False])
def test_the_largest_of_two_reciprocals(largest: bool, pair: tuple[float, float]) -> None:
    """By the density of max(1 / a, 1 / b) written out: it was taken for a mistake of the cases."""
    pick = dpest.maximum if largest else dpest.minimum
    found = dpest.estimate(lambda x: pick(1 / (x + dpest.laplace(1)), 1 / (x + dpest.laplace(2))), pair, method="exact")
    size = np.exp(np.linspace(-5, 9, 20_001))
    y = np.concatenate([-size, size])
    logs = []
    for x in pair:
        (f, below), (g, under) = (
            (d.pdf(1 / y) / y**2, np.where(y < 0, d.cdf(0) - d.cdf(1 / y), d.cdf(0) + d.sf(1 / y)))
            for d in (stats.laplace(x, 1), stats.laplace(x, 2))
        )
        logs.append(np.log(f * under + g * below if largest else f * (1 - under) + g * (1 - below)))
    truth = float(np.abs(logs[0] - logs[1]).max())
    assert found.lower <= truth + 1e-3
    assert truth <= found.upper + 1e-6
    assert found.upper < math.inf


@pytest.mark.parametrize("chart", Chart)
@pytest.mark.parametrize(
    ("law", "log_density"),
    [
        (Laplace(1.0), lambda x: -abs(x) - mpmath.log(2)),
        (Gaussian(1.0), lambda x: -x * x / 2 - mpmath.log(2 * mpmath.pi) / 2),
    ],
)
def test_the_bound_of_an_interval_as_short_as_can_be_is_above_the_ratio(chart: Chart, law: Continuous, log_density: Any) -> None:
    """Nothing but rounding is left there: (5 + V) / 4 and (6 + V) / 5, near and 3,000 scales out (oracle: 50 digits)."""
    rng = np.random.default_rng(1)
    first, second = (BoundedDraw(law, exact(1), exact(a)) for a in (5, 6))
    sides: Any = [SimpleNamespace(shares=(Share(top, exact(k)),)) for top, k in ((first, 4), (second, 5))]
    search = _RatioSearch(*sides, each=True)
    y = np.concatenate([rng.uniform(-5, 5, 200), rng.uniform(-200, 200, 100), rng.uniform(-3000, 3000, 100)])
    z = y if chart is Chart.Y else 1 / y
    cells = _Cells(chart, z, np.nextafter(z, np.inf), np.ones((2, z.size), bool))
    bounds = search._bounds(cells, search._look(cells))
    with mpmath.workdps(50):
        for k, at in enumerate(z):
            x = mpmath.mpf(float(at)) if chart is Chart.Y else 1 / mpmath.mpf(float(at))
            truth = mpmath.log(4) + log_density(4 * x - 5) - mpmath.log(5) - log_density(5 * x - 6)
            assert truth <= bounds[0, k]
            assert -truth <= bounds[1, k]
            assert bounds[0, k] + bounds[1, k] <= 1e-12 * (1 + x * x)


@pytest.mark.parametrize("low", [-math.inf, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_ratio_on_a_fine_grid_is_above_the_upper_end(seed: int, low: float) -> None:
    """Quotients with maxima between the first places (oracle: both densities, which mpmath has, at 10,000 numbers)."""
    rng = np.random.default_rng(seed)
    ends = [(share(*rng.uniform(2, 6, 2).tolist(), Laplace(1.0), Laplace(2.0), low),) for _ in range(2)]
    with np.errstate(invalid="ignore"):
        found = _RatioSearch(*(SimpleNamespace(shares=x) for x in ends), each=True).answer()  # type: ignore[arg-type]
    reached = [-math.inf, -math.inf]
    for chart in Chart:
        z = np.concatenate([np.linspace(-8, 8, 4_001), np.geomspace(1e-6, 8, 500), -np.geomspace(1e-6, 8, 500)])
        (p, e), (q, f) = (density(x, chart, z) for x in ends)
        known = np.isfinite(p) & np.isfinite(q) & (e + f < 1e-9)
        p, q, off = p[known], q[known], (e + f)[known]
        for way, ratio in enumerate((p - q, q - p)):
            reached[way] = max(reached[way], float((ratio - off).max()))
    for way, most in zip((found.forward, found.backward), reached, strict=True):
        assert way.lower <= way.upper
        assert most - 1e-5 <= way.lower
        assert most <= way.upper
        assert way.upper - way.lower < 1e-2

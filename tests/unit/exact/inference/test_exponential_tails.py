"""Tails of integrals over exponentials, against mpmath's quadrature; and answers that were open for want of them."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate

import dpest
from dpest.exact.inference.exponential_tails import FarLaws, exponential_tail
from dpest.exact.inference.expressions import Expr, expr, number, single
from dpest.exact.inference.factors import Between, Bound, Density, Indicator, Integral
from dpest.exact.inference.rays import Ray
from dpest.laws.continuous import Exponential, Gaussian, Laplace
from dpest.laws.law import Continuous
from dpest.numerics.rationals import exact

Y, V = -1, 0


def line(of_y: float, of_v: float, constant: float) -> Expr:
    return expr([(Y, exact(of_y)), (V, exact(of_v))], exact(constant))


def pdf(law: Continuous, x: Any) -> Any:
    if isinstance(law, Laplace):
        return mpmath.exp(-abs(x) / law.b) / (2 * law.b)
    assert isinstance(law, Exponential)
    return mpmath.exp(-x / law.b) / law.b if x > 0 else mpmath.mpf(0)


def cdf(law: Continuous, x: Any) -> Any:
    if isinstance(law, Laplace):
        return mpmath.exp(x / law.b) / 2 if x < 0 else 1 - mpmath.exp(-x / law.b) / 2
    assert isinstance(law, Exponential)
    return 1 - mpmath.exp(-x / law.b) if x > 0 else mpmath.mpf(0)


def value(f: Integral, y: float) -> Any:
    """The integral by mpmath, between all places at which anything may turn."""

    def at(e: Expr, v: Any) -> Any:
        return mpmath.mpf(float(e.constant)) + float(e.coefficient(Y)) * y + float(e.coefficient(V)) * v

    def product(v: Any) -> Any:
        out = pdf(f.law, v)
        for g in f.factors:
            if isinstance(g, Density):
                out *= pdf(g.law, at(g.place, v))
            elif isinstance(g, Between):
                low = max((at(e, v) for e in g.lowers), default=None)
                high = min((at(e, v) for e in g.uppers), default=None)
                top = 1 if high is None else cdf(g.law, high)
                out *= max(0, top - (0 if low is None else cdf(g.law, low))) ** g.power
        return out

    low = max((at(e, 0) for e in f.lowers), default=mpmath.mpf(-4000))
    high = min((at(e, 0) for e in f.uppers), default=mpmath.mpf(4000))
    lines = [line(0, 1, 0)]
    for g in f.factors:
        exprs = [g.place] if isinstance(g, Density) else [*g.lowers, *g.uppers] if isinstance(g, Between) else []
        lines += exprs
        lines += [expr([*a.terms, *((v, -c) for v, c in b.terms)], a.constant - b.constant) for a in exprs for b in exprs]
    turns = [-at(e, 0) / float(e.coefficient(V)) for e in lines if e.coefficient(V)]
    cuts = {low, high, *(t + s for t in turns for s in (-160, -80, -40, -20, -8, -4, -2, -1, 0, 1, 2, 4, 8, 20, 40, 80, 160))}
    return mpmath.quad(product, sorted(t for t in cuts if low <= t <= high))


def some_integral(rng: random.Random) -> Integral:
    scales = [0.5, 1.0, 2.0, 4.0]

    def law() -> Continuous:
        return Laplace(rng.choice(scales)) if rng.random() < 0.8 else Exponential(rng.choice(scales))

    factors: list[Any] = [Density(law(), line(rng.choice([-1, 1]), rng.choice([-1, 1]), rng.randint(-3, 3)))]
    if rng.random() < 0.6:
        ends = line(0, 1, rng.randint(-3, 3)), line(rng.choice([-1, 1]), 1, rng.randint(-3, 3))
        factors.append(Between(Laplace(rng.choice(scales)), ends[:1], ends[1:], rng.choice([1, 2])))
    if rng.random() < 0.4:
        factors.append(Between(law(), (), (line(rng.choice([0, 1]), -1, rng.randint(-2, 2)),)))
    bounds = (number(rng.randint(-3, 3)),) if rng.random() < 0.5 else ()
    lowers, uppers = (bounds, ()) if rng.random() < 0.5 else ((), bounds)
    return Integral(V, Laplace(rng.choice(scales)), lowers, uppers, tuple(factors))


@pytest.mark.parametrize("seed", range(40))
def test_every_place_beyond_the_start_is_enclosed(seed: int) -> None:
    rng = random.Random(seed)
    f, side = some_integral(rng), rng.choice([-1, 1])
    found = exponential_tail(f, Ray(Y, side, exact(0), 40.0))
    if found is None:
        assert value(f, side * 60.0) == 0 or exponential_tail(f, Ray(Y, side, exact(0), 4000.0)) is not None
        return
    with mpmath.workdps(40):
        for t in (40.0, 55.0, 90.0, 200.0):
            truth = float(mpmath.log(value(f, side * t)))
            middle = found.asymptote.at(t)
            assert middle + found.low - 1e-9 <= truth <= middle + found.high + 1e-9
    later = exponential_tail(f, Ray(Y, side, exact(0), 1e6))
    assert later is not None
    assert later.high - later.low < 1e-4


def test_a_sum_of_two_laplace_draws_of_one_scale_is_its_closed_form() -> None:
    f = Integral(V, Laplace(1.0), (), (), (Density(Laplace(1.0), line(1, -1, 0)),))
    found = exponential_tail(f, Ray(Y, 1, exact(0), 50.0))
    assert found is not None
    assert (found.asymptote.rate, found.asymptote.power) == (1, 1)
    assert found.asymptote.constant == pytest.approx(math.log(0.25), abs=1e-14)  # (1 + t) e^-t / 4
    assert found.high == pytest.approx(math.log1p(1 / 50), rel=1e-12)
    assert found.low == 0


def test_other_noise_and_kinks_that_have_not_crossed_are_left_alone() -> None:
    ray = Ray(Y, 1, exact(0), 5.0)
    assert exponential_tail(Integral(V, Gaussian(1.0), (), (), (Density(Laplace(1.0), line(1, -1, 0)),)), ray) is None
    assert exponential_tail(Integral(V, Laplace(1.0), (), (), (Density(Laplace(1.0), line(1, -1, -9)),)), ray) is None
    assert exponential_tail(Integral(V, Laplace(1.0), (), (), (Density(Laplace(1.0), line(0, -1, -9)),)), ray) is None
    half = (Density(Laplace(1.0), line(1, -1, 0)), Indicator(Bound(single(Y))))
    whole = exponential_tail(Integral(V, Laplace(1.0), (), (), half[:1]), ray)
    assert exponential_tail(Integral(V, Laplace(1.0), (), (), half), ray) == whole


def test_a_mean_winsorised_at_a_noisy_bound_has_the_loss_of_its_integrals() -> None:
    def winsorised(data: Any, rng: Any) -> Any:
        high = np.quantile(data, 0.75) + rng.laplace(0, 4)
        return np.mean(np.minimum(data, high)) + rng.laplace(0, 2)

    one, other = [1.0, 2.0, 8.0], [1.0, 2.0, 5.0]

    def density(data: list[float], y: float) -> float:
        middle = float(np.quantile(data, 0.75))

        def f(high: float) -> float:
            mean = float(np.mean(np.minimum(data, high)))
            return math.exp(-abs(high - middle) / 4 - abs(y - mean) / 2 + max(abs(y) - 10, 0) / 4) / 32

        cuts = sorted({*data, middle, y, middle - 100, middle + 100, y - 60, y + 60, y - 6, y + 6})
        parts = [integrate.quad(f, a, b, epsabs=0, epsrel=1e-10, limit=200)[0] for a, b in zip(cuts, cuts[1:], strict=False)]
        return math.fsum(parts)

    found = dpest.estimate(winsorised, (one, other), method="exact")
    ratios = [abs(math.log(density(one, y) / density(other, y))) for y in np.linspace(-60, 40, 401)]
    assert max(ratios) <= found.upper + 1e-8
    assert found.epsilon == pytest.approx(max(ratios), abs=1e-4)
    assert found.upper - found.lower < 1e-6


def test_the_range_of_noisy_values_tells_most_where_all_of_them_are_equal() -> None:
    """At 0 the range has no density; the ratio of the two tends to that of the densities of three equal values."""

    def spread(data: Any, rng: Any) -> Any:
        noisy = [x + rng.laplace(0, 1) for x in data]
        return max(noisy) - min(noisy)

    one, other = [0, 1, 2], [0, 1, 3]

    def together(data: list[int]) -> float:
        f = lambda v: math.exp(-sum(abs(v - x) for x in data)) / 8  # noqa: E731
        cuts = [-30, *data, 33]
        return math.fsum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in zip(cuts, cuts[1:], strict=False))

    found = dpest.estimate(spread, (one, other), method="exact")
    truth = math.log(together(one) / together(other))
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
    assert found.epsilon == pytest.approx(truth, abs=1e-6)
    assert found.upper - found.lower < 1e-4


# -- the ratio of two laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_the_ratio_of_two_sums_lies_between_its_value_and_its_limit(seed: int) -> None:
    """The two laws differ in where their draws are and in the weights of their cases."""
    rng = random.Random(1000 + seed)
    one = [some_integral(rng) for _ in range(rng.choice([1, 2]))]
    other = [replace(f, factors=tuple(moved(g, rng.choice([0, 1])) for g in f.factors)) for f in one]
    sides = [[(math.log(rng.uniform(0.1, 1)), 0.0, (f,)) for f in side] for side in (one, other)]
    side = rng.choice([-1, 1])
    found = FarLaws(sides[0], sides[1]).ratio(Ray(Y, side, exact(0), 400.0))
    if found is None:
        return

    def log(own: Any, t: float) -> Any:
        return mpmath.log(sum((mpmath.exp(w) * value(fs[0], side * t) for w, _, fs in own), mpmath.mpf(0)))

    with mpmath.workdps(40):
        ratios = [float(log(sides[0], t) - log(sides[1], t)) for t in (400.0, 450.0, 700.0)]
    for ratio in ratios:
        assert found.low - found.error - 1e-8 <= ratio <= found.high + found.error + 1e-8
    assert found.limit in (found.low, found.high)
    assert abs(ratios[-1] - found.limit) <= abs(ratios[0] - found.limit) + 1e-8


def moved(g: Any, by: int) -> Any:
    """A factor whose density is elsewhere."""
    return replace(g, place=expr([*g.place.terms], g.place.constant + by)) if isinstance(g, Density) else g


def test_laws_of_which_one_decays_more_slowly_have_no_such_ratio() -> None:
    slow, fast = ([(0.0, 0.0, (Density(Laplace(b), single(Y)),))] for b in (2.0, 1.0))
    ray = Ray(Y, 1, exact(0), 80.0)
    assert FarLaws(slow, fast).ratio(ray) is None
    assert FarLaws(slow, [*slow, *fast]).ratio(ray) is not None
    near = Ray(Y, 1, exact(0), 5.0)
    assert FarLaws(slow, [*slow, *fast]).ratio(near) is None  # e^-2.5 of the faster one is left


def test_the_last_of_two_clipped_gradient_steps_is_known_to_its_limit() -> None:
    def last(data: Any, rng: Any) -> Any:
        w = 0.0
        for _ in range(2):
            w = w - 0.5 * (sum(np.clip(w - y, -1, 1) for y in data) + rng.laplace(0, 2.0))
        return w

    def density(data: list[float], y: float) -> Any:
        def gradient(w: Any) -> Any:
            return sum(min(mpmath.mpf(1), max(mpmath.mpf(-1), w - x)) for x in data)

        first = -gradient(mpmath.mpf(0)) / 2
        turns = {-2, -1, 0, 1, 2, first, y, y - 1, y + 1}
        cuts = sorted({t + s for t in turns for s in (-300, -60, -20, -6, -1, 0, 1, 6, 20, 60, 300)})
        return mpmath.quad(lambda w: mpmath.exp(-abs(w - first) - abs(y - w + gradient(w) / 2)) / 4, cuts)

    found = dpest.estimate(last, ([1.0, 0.0], [-1.0, 0.0]), method="exact")
    sides = [1.0, 0.0], [-1.0, 0.0]
    ratios = [abs(float(mpmath.log(density(sides[0], y) / density(sides[1], y)))) for y in (-2.0, 0.0, 0.5, 3.0, 20.0, 200.0)]
    assert max(ratios) <= found.upper
    assert ratios[-1] == pytest.approx(found.epsilon, abs=0.01)  # the limit is approached like one over the output
    assert found.upper - found.lower < 1e-9

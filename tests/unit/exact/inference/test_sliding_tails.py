"""Tails of order statistics: the draw that a bound carries along, and limits of medians in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.exact.inference.asymptotics import tail
from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Between, Density, Integral
from dpest.exact.inference.rays import Ray
from dpest.laws.continuous import Exponential, Laplace, Logistic
from dpest.numerics.rationals import exact

Y, V = -1, 0


def line(y: float = 0.0, v: float = 0.0, k: float = 0.0) -> Any:
    return expr([(Y, exact(y)), (V, exact(v))], exact(k))


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("seed", range(12))
def test_a_tail_encloses_the_integral_everywhere_beyond_its_start(seed: int, side: int) -> None:
    rng = np.random.default_rng(seed)
    b, c, d = rng.uniform(0.6, 1.5, 3)
    k = rng.uniform(-2, 2, 4)
    law = Logistic(float(d)) if seed % 3 == 0 else Laplace(float(d))
    inner = (
        Density(Laplace(float(c)), line(2 * side, -1, k[0])),
        Between(law, (line(0, 1, k[1]),) if side > 0 else (), () if side > 0 else (line(0, 1, k[1]),), 2),
        Between(Laplace(1.0), () if side > 0 else (line(2 * side, -1, k[2]),), (line(2 * side, -1, k[2]),) if side > 0 else ()),
    )
    bound = (line(side, 0, k[3]),)
    lowers, uppers = (bound, ()) if side > 0 else ((), bound)
    f = Integral(V, Laplace(float(b)), lowers, uppers, inner)
    ray = Ray(Y, 1, exact(0), 40.0)
    found = tail((f,), ray)
    # s decays at 1/b + 2/d - 1/c for each unit: without that there is no limit, and nothing may be claimed.
    if 1 / b + 2 / d - 1 / c <= 0:
        assert found is None
        return
    assert found is not None
    for t in (40.0, 43.0, 55.0, 80.0):
        logs, error = f.log({Y: np.array([t])})
        gap = float(logs[0]) - found.asymptote.at(t)
        off = float(np.max(error)) + found.error + 1e-12
        assert found.low - off <= gap <= found.high + off


def law_of_tail(q: tuple[float, ...], sign: int) -> float:
    """ln of what the density of the mean of the two middle ones of four is, far out, up to a factor: three of four are there."""
    return sign * sum(q) + math.log(sum(math.exp(-sign * x) for x in q))


def middle(values: Any, rng: np.random.Generator) -> Any:
    return np.median(np.asarray(values) + rng.laplace(0, 1, size=4))


def trimmed(values: Any, rng: np.random.Generator) -> Any:
    noisy = sorted(v + rng.laplace(0, 1) for v in values)
    return sum(noisy[1:-1]) / 2


@pytest.mark.parametrize("mechanism", [middle, trimmed])
@pytest.mark.parametrize("pair", [((1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 4.0, 4.0)), ((0.0, 0.0, 1.0, 5.0), (0.5, 0.0, 1.0, 5.0))])
def test_the_median_of_four_noisy_values_loses_most_far_out(mechanism: Any, pair: Any) -> None:
    r = dpest.estimate(mechanism, pair, method="exact")
    truth = max(abs(law_of_tail(pair[0], s) - law_of_tail(pair[1], s)) for s in (1, -1))
    assert r.lower <= truth + 1e-12
    assert truth - 1e-12 <= r.upper
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize("ratio", [0.25, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_two_exponentials_of_one_rate_on_different_scales(ratio: float, rate: float) -> None:
    """A + ratio V, both of which fall at one rate, has the density rate^2 y e^(-rate y)."""
    f = Integral(V, Exponential(1 / rate / ratio), (), (), (Density(Exponential(1 / rate), line(1, -ratio)),))
    found = tail((f,), Ray(Y, 1, exact(0), 40.0))
    assert found is not None
    for y in (40.0, 100.0, 1000.0):
        truth = 2 * math.log(rate) + math.log(y) - rate * y
        assert found.asymptote.at(y) == pytest.approx(truth, abs=1e-9)
        assert found.low - found.error <= 1e-12
        assert found.high + found.error >= -1e-12

"""Remainders of noise: `(x + noise) % m`, against sums over all turns."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.errors import ExactRefused
from dpest.laws.continuous import Gaussian, Laplace, Logistic
from dpest.laws.wrapped import Wrapped, WrappedLaplace
from dpest.numerics.rationals import exact


def _loss(p: dict[Any, float], q: dict[Any, float]) -> float:
    return max(abs(math.log(p[k] / q[k])) for k in p)


def _residues(x: int, m: int, mass: Callable[[int], float], sign: int = 1) -> dict[int, float]:
    out = dict.fromkeys(range(m), 0.0)
    for k in range(-400, 401):
        out[sign * (x + k) % m] += mass(k)
    return out




def _found(mechanism: Any, pair: tuple[Any, Any]) -> Any:
    return dpest.estimate(mechanism, pair, method="exact")


def _holds(r: Any, truth: float, slack: float = 1e-9) -> None:
    assert r.lower <= truth + slack
    assert truth - slack <= r.upper
    assert r.upper - r.lower <= 1e-4 * max(truth, 1e-3)


@pytest.mark.parametrize(("m", "scale", "sign"), [(2, 2.0, 1), (5, 1.7, 1), (50, 0.3, 1), (4, 2.0, -1)])
def test_the_remainder_of_a_geometric_value(m: int, scale: float, sign: int) -> None:
    def mechanism(x):
        return (sign * (x + dpest.geometric(scale))) % m

    def mass(k: int) -> float:
        return math.exp(-abs(k) / scale)

    _holds(_found(mechanism, (2, 3)), _loss(_residues(2, m, mass, sign), _residues(3, m, mass, sign)))


def test_a_decision_on_a_remainder() -> None:
    def mechanism(x):
        return "even" if (x + dpest.geometric(2.0)) % 2 == 0 else "odd"

    p, q = (_residues(x, 2, lambda k: math.exp(-abs(k) / 2)) for x in (0, 1))
    _holds(_found(mechanism, (0, 1)), _loss(p, q))


def test_the_remainder_of_a_poisson_value() -> None:
    def mechanism(x, rng):
        return (x + rng.poisson(3)) % 4

    p, q = (_residues(x, 4, lambda k: float(stats.poisson(3).pmf(k))) for x in (0, 1))
    _holds(_found(mechanism, (0, 1)), _loss(p, q))


def test_masks_that_cancel_inside_remainders() -> None:
    def mechanism(x):
        mask = random.randrange(32)
        first = (x[0] + dpest.geometric(2.0) + mask) % 32
        second = (x[1] + dpest.geometric(2.0) - mask) % 32
        return (first + second) % 32

    def law(total: int) -> dict[int, float]:
        k = np.arange(-150, 151)
        mass = np.exp(-np.abs(k) / 2)
        out = dict.fromkeys(range(32), 0.0)
        for n, w in zip(range(-300, 301), np.convolve(mass, mass), strict=True):
            out[(total + n) % 32] += float(w)
        return out

    _holds(_found(mechanism, ([3, 1], [3, 2])), _loss(law(4), law(5)))


def test_many_coins_modulo_a_number() -> None:
    def mechanism(bits):
        total = 0
        for b in bits:
            total = (total + b + sum(random.randint(0, 1) for _ in range(5))) % 16
        return total

    def law(ones: int) -> dict[int, float]:
        out = dict.fromkeys(range(16), 0.0)
        for k in range(16):
            out[(ones + k) % 16] += math.comb(15, k)
        return out

    _holds(_found(mechanism, ([1, 0, 1], [1, 1, 1])), _loss(law(2), law(3)))


@pytest.mark.parametrize("scale", [0.05, 0.5, 3.0, 60.0])
def test_laplace_noise_around_a_circle(scale: float) -> None:
    def mechanism(x):
        return (x + dpest.laplace(scale)) % 1.0

    def density(y: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(y) / scale)

    y = np.append(np.linspace(0, 1, 20_001), [0.3, 0.9, 0.8, 0.4])
    p, q = (sum(density(y - x + k) for k in range(-3000, 3001)) for x in (0.3, 0.9))
    _holds(_found(mechanism, (0.3, 0.9)), float(np.max(np.abs(np.log(p / q)))), 1e-7)


def test_gaussian_noise_around_a_circle() -> None:
    def mechanism(x):
        return (x + dpest.gaussian(50.0)) % 360

    y = np.linspace(0, 360, 200_001)
    p, q = (sum(stats.norm(0, 50).pdf(y - x + 360 * k) for k in range(-20, 21)) for x in (10.0, 40.0))
    _holds(_found(mechanism, (10.0, 40.0)), float(np.max(np.abs(np.log(p / q)))), 1e-7)


def test_the_part_behind_the_point() -> None:
    def mechanism(x):
        z = x + dpest.laplace(1.0)
        return z - math.floor(z)

    y = np.append(np.linspace(0, 1, 20_001), [0.25, 0.5, 0.75, 0.0])
    p, q = (sum(np.exp(-np.abs(y - x + k)) for k in range(-300, 301)) for x in (0.25, 0.5))
    _holds(_found(mechanism, (0.25, 0.5)), float(np.max(np.abs(np.log(p / q)))), 1e-7)


def _both(x):
    k = x + dpest.geometric(2.0)
    return k % 3, k


def _two_remainders(x):
    k = x + dpest.geometric(2.0)
    return k % 3, k % 5


def _where_positive(x):
    k = x + dpest.geometric(2.0)
    return k % 3 if k > 0 else -1


def _released_where(x):
    k = x + dpest.geometric(2.0)
    return k if k % 3 == 1 else 0


def _on_circle_where(x):
    z = x + dpest.laplace(1.0)
    return z % 1.0 if z > 0 else -1.0


def _whole_and_smooth(x):
    return (x + dpest.geometric(2.0) + dpest.laplace(1.0)) % 3


@pytest.mark.parametrize(
    "mechanism", [_both, _two_remainders, _where_positive, _released_where, _on_circle_where, _whole_and_smooth]
)
def test_noise_that_is_used_beside_its_remainder_is_refused(mechanism: Any) -> None:
    with pytest.raises(ExactRefused):
        _found(mechanism, (0, 1))


def test_floats_are_not_taken_for_whole_numbers() -> None:
    # 1.2 % 1 and 2.2 % 1 differ in Python: a remainder of tenths tells more than the tenth.
    def mechanism(x):
        return ((x + dpest.geometric(2.0)) / 10) % 1

    with pytest.raises(ExactRefused):
        _found(mechanism, (0, 1))


@pytest.mark.parametrize(
    "law",
    [
        WrappedLaplace(Laplace(0.4), exact(2)),
        Wrapped(Laplace(0.4), exact(-2)),
        Wrapped(Gaussian(0.7), exact(1)),
        Wrapped(Logistic(0.2), exact(1.5)),
    ],
)
def test_a_law_around_a_circle_is_one(law: Wrapped) -> None:
    y = np.linspace(0, 1, 4001)
    f = np.exp(law.log_density(y))
    below = np.exp(law.log_cdf(y))
    cells = np.diff(below)
    assert np.allclose(cells, 0.5 * (f[1:] + f[:-1]) * np.diff(y), rtol=2e-3)
    assert math.isclose(float(below[-1]), 1.0, rel_tol=1e-12)
    assert np.allclose(below + np.exp(law.log_sf(y)), 1.0, atol=1e-12)
    bend = np.diff(law.log_density(y), 2) / (y[1] - y[0]) ** 2
    inside = [not any(abs(m - k) < 1e-3 for k in law.kinks) for m in y[1:-1]]
    assert float(bend[inside].max()) <= float(law.curvature(y[:1], y[1:2])[0]) * (1 + 1e-6) + 1e-6
    drawn = np.asarray(law.sample(np.random.default_rng(1), 4000), float)
    assert stats.kstest(drawn, lambda x: np.exp(law.log_cdf(x))).pvalue > 1e-4


def test_both_forms_of_wrapped_laplace_noise_agree() -> None:
    closed, summed = WrappedLaplace(Laplace(0.3), exact(0.7)), Wrapped(Laplace(0.3), exact(0.7))
    y = np.linspace(0, 1, 101)
    assert np.allclose(closed.log_density(y), summed.log_density(y), atol=1e-12)
    assert np.allclose(closed.log_interval(y[:-1], y[1:]), summed.log_interval(y[:-1], y[1:]), atol=1e-11)

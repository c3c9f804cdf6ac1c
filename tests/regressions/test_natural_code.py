"""Published mechanisms in their authors' idiom that once were wrong, refused or without an upper end, against closed forms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused

Mechanism = Callable[..., Any]


def _piecewise(t: float, rng: np.random.Generator) -> Any:
    """Wang et al. 2019; the two outer parts are one uniform value, cut and moved."""
    z = math.exp(0.65)
    c = (z + 1) / (z - 1)
    left_end = (c + 1) / 2 * t - (c - 1) / 2
    right_end = left_end + c - 1
    if rng.uniform() < z / (z + 1):
        return rng.uniform(left_end, right_end)
    left, right = left_end + c, c - right_end
    x = rng.uniform(0, left + right)
    return -c + x if x < left else right_end + (x - left)


def _hadamard(x: int) -> Any:
    """Acharya et al. 2019, one bit of a row of the Hadamard matrix."""
    j = random.randrange(8)
    bit = (-1) ** bin(j & x).count("1")
    if random.random() >= math.e / (1 + math.e):
        bit = -bit
    return j, bit


def _flipped_bits(v: int, rng: np.random.Generator) -> Any:
    mask = sum(int(rng.random() < 0.25) << i for i in range(3))
    return v ^ mask


def _flipped_array(bits: list[int], rng: np.random.Generator) -> Any:
    return np.array(bits) ^ (rng.random(len(bits)) < 0.25)


def _quantile_function(x: float) -> Any:
    u = random.random() - 0.5
    return x - 2 * math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def _masked(x: int, rng: np.random.Generator) -> Any:
    return rng.integers(0, 8) & 3 if x else rng.integers(0, 4)


def _inverted(x: int, rng: np.random.Generator) -> Any:
    return ~rng.integers(0, 4) if x else -1 - rng.integers(0, 4)


def _staircase(x: float, rng: np.random.Generator) -> Any:
    """Geng and Viswanath 2014, as in their Algorithm 1, epsilon 1."""
    gamma = 1 / (1 + math.exp(0.5))
    sign = rng.choice([-1, 1])
    steps = rng.geometric(1 - math.exp(-1)) - 1
    u = rng.uniform()
    if rng.random() < gamma / (gamma + (1 - gamma) * math.exp(-1)):
        return x + sign * (steps + gamma * u)
    return x + sign * (steps + gamma + (1 - gamma) * u)


def _signed_geometric(x: int, rng: np.random.Generator) -> Any:
    return x + rng.choice([-1, 1]) * (rng.geometric(0.6) - 1)


def _poisson(x: int, rng: np.random.Generator) -> Any:
    return x + rng.poisson(3)


def _skellam(x: int, rng: np.random.Generator) -> Any:
    return x + rng.poisson(3) - rng.poisson(2)


def _integer_histogram(h: list[int], rng: np.random.Generator) -> Any:
    noisy = np.array(h) + rng.laplace(0, 2, len(h))
    return np.maximum(np.rint(noisy), 0).astype(int).tolist()


def _wavelet(x: list[float], rng: np.random.Generator) -> Any:
    h = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]])
    return np.linalg.solve(h, h @ np.array(x) + rng.laplace(0, 3, 4))


def _tosses(p: float) -> int:
    k = 0
    while random.random() > p:
        k += 1
    return k


def _tosses_up_to(p: float, rng: np.random.Generator) -> int:
    k = 0
    while True:
        k += 1
        if rng.random() < p:
            return k


def _coin_tosses(n: int) -> Any:
    return n + _tosses(1 - math.exp(-0.7)) - _tosses(1 - math.exp(-0.7))


def _coin_tosses_from_one(n: int, rng: np.random.Generator) -> Any:
    return n + _tosses_up_to(1 - math.exp(-0.7), rng) - _tosses_up_to(1 - math.exp(-0.7), rng)


def _signed_tosses(n: int) -> Any:
    """Minus zero is drawn again: P(k) is proportional to e^(-0.7 |k|)."""
    while True:
        z, sign = _tosses(1 - math.exp(-0.7)), random.choice([-1, 1])
        if not (z == 0 and sign == -1):
            return n + sign * z


def _best_of_random_many(x: int) -> Any:
    """Liu and Talwar 2019, with a statement that changes nothing; P(0) = p g / (1 - p (1 - g)) with g = 1/4."""
    best = None
    while True:
        _ = x + (1 if random.random() < 0.5 else 0)
        score = 0 if random.random() < 0.6 + 0.1 * x else 1
        if best is None or score > best:
            best = score
        if random.random() < 0.25:
            return best


def _none_better(p: float) -> list[float]:
    none = p * 0.25 / (1 - p * 0.75)
    return [none, 1 - none]


def _log_ratio(x: float, rng: np.random.Generator) -> Any:
    u, v = rng.random(), rng.random()
    return x + 2 * np.log(u / v)


def _box_muller() -> Any:
    u1, u2 = random.random(), random.random()
    return math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2)


def _box_muller_released(x: float) -> Any:
    return x + 3 * _box_muller()


def _box_muller_above(x: float) -> Any:
    return "high" if x + 3 * _box_muller() > 5 else "low"


def _box_muller_both(x: list[float], rng: np.random.Generator) -> Any:
    """The cosine and the sine give two independent values."""
    u, v = rng.random(2)
    r, t = np.sqrt(-2 * np.log(u)), 2 * np.pi * v
    return x[0] + r * np.cos(t) > 0.7, x[1] + r * np.sin(t) > 0.7


def _above(threshold: float) -> list[float]:
    return [0.5 * math.erfc(threshold / math.sqrt(2)), 0.5 * math.erfc(-threshold / math.sqrt(2))]


def _apart(p: list[float], q: list[float]) -> float:
    return max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True))


EXACT: list[tuple[Mechanism, tuple[Any, Any], float]] = [
    *((_piecewise, pair, 1.3) for pair in ((0.68, 0.55), (-0.256, 0.737), (0.524, -0.856), (-0.38, 0.637), (0.9, -0.28))),
    (_hadamard, (1, 2), 1.0),
    (_flipped_bits, (5, 6), 2 * math.log(3)),
    (_flipped_array, ([0, 1], [1, 1]), math.log(3)),
    (_quantile_function, (10, 11), 0.5),
    (_masked, (0, 1), 0.0),
    (_inverted, (0, 1), 0.0),
    *((_staircase, pair, loss) for pair, loss in (((0.0, 1.0), 1.0), ((0.0, 1.75), 2.0))),
    (_signed_geometric, (0, 1), math.log(5)),
    (_signed_geometric, (0, 3), math.log(2 / 0.4**3)),
    (_poisson, (0, 1), math.inf),
    (_skellam, (0, 1), math.inf),
    (_integer_histogram, ([3, 0, 1], [3, 1, 1]), 0.5),
    (_wavelet, ([1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]), 1.0),
    (_coin_tosses, (4, 5), 0.7),
    (_coin_tosses_from_one, (4, 5), 0.7),
    (_signed_tosses, (4, 5), 0.7),
    (_best_of_random_many, (0, 1), _apart(_none_better(0.6), _none_better(0.7))),
    (_log_ratio, (10, 11), 0.5),
    (_box_muller_released, (3, 4), math.inf),
    (_box_muller_above, (3, 4), _apart(_above(2 / 3), _above(1 / 3))),
    (_box_muller_both, ([0.0, 0.0], [1.0, 0.0]), _apart(_above(0.7), _above(-0.3))),
]


@pytest.mark.parametrize(("mechanism", "pair", "truth"), EXACT, ids=lambda x: getattr(x, "__name__", None))
def test_natural_code_is_exact(mechanism: Mechanism, pair: tuple[Any, Any], truth: float) -> None:
    r = dpest.estimate(mechanism, pair, method="exact")
    if math.isinf(truth):
        assert r.lower == math.inf
        return
    assert r.lower - 1e-12 <= truth <= r.upper + 1e-12
    assert r.upper - r.lower <= 1e-6 * max(1.0, truth)


def _signed_steps(x: float, rng: np.random.Generator) -> Any:
    sign = rng.choice([-1, 1])
    return x + sign * (rng.geometric(0.6) - 1 + rng.uniform())


def test_a_law_that_a_search_does_not_find_is_not_impossible() -> None:
    """The density at distance t of x is 0.3 * 0.4^floor(t): one step further costs ln 2.5. The answer once was 0."""
    r = dpest.estimate(_signed_steps, (0.0, 1.0), method="exact")
    assert r.lower - 1e-12 <= math.log(2.5) <= r.upper


def _radius_beside(x: float) -> Any:
    u1, u2 = random.random(), random.random()
    return x + math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2) > 0.3, u1 > 0.5


def _angle_beside(x: float) -> Any:
    u1, u2 = random.random(), random.random()
    if u2 < 0.25:
        return None
    return x + math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2) > 0.3


def _angle_released(x: float) -> Any:
    u1, u2 = random.random(), random.random()
    return x + math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2), u2


@pytest.mark.parametrize("mechanism", [_radius_beside, _angle_beside, _angle_released])
def test_what_a_gaussian_value_is_made_of_is_not_independent_of_it(mechanism: Mechanism) -> None:
    with pytest.raises(ExactRefused, match="made of"):
        dpest.estimate(mechanism, (0.0, 1.0), method="exact")

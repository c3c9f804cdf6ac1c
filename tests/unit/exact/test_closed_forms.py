"""Floors of exponential noise and shares of noise, against the laws that they are by theorem."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused


def bracket(mechanism: Any, pair: Any, truth: float) -> None:
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.lower == math.inf or found.upper - found.lower <= 1e-6


def test_floors_of_exponential_noise_are_geometric() -> None:
    def by_logarithms(n: int) -> Any:
        a = math.exp(-0.7)
        return n + math.floor(math.log(random.random()) / math.log(a)) - math.floor(math.log(random.random()) / math.log(a))

    def by_exponentials(n: int, rng: np.random.Generator) -> Any:
        return n + int(np.floor(rng.exponential(1 / 0.7))) - int(np.floor(rng.exponential(1 / 0.7)))

    def clamped(n: int) -> Any:
        return max(0, n + math.floor(random.expovariate(0.7)) - math.floor(random.expovariate(0.7)))

    for mechanism in (by_logarithms, by_exponentials, clamped):
        bracket(mechanism, (2, 4), 2 * 0.7)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("rounding", [math.floor, math.ceil])
def test_both_roundings_of_both_signs(rounding: Any, sign: int) -> None:
    def mechanism(x: int) -> Any:
        value = rounding(sign * random.expovariate(1.0) + 3) - math.floor(random.expovariate(1.0)) + x
        return min(6, max(-2, value))

    def law(x: int) -> list[float]:
        found = [0.0] * 9
        for k in range(200):
            # The noise lies between k and k + 1.
            rounded = 3 + (k if sign == 1 else -k - 1) + (rounding is math.ceil)
            for j in range(200):
                p = math.exp(-k) * (1 - math.exp(-1)) * math.exp(-j) * (1 - math.exp(-1))
                found[min(6, max(-2, rounded - j + x)) + 2] += p
        return found

    p, q = law(0), law(1)
    bracket(mechanism, (0, 1), max(abs(math.log(a / b)) if a and b else math.inf for a, b in zip(p, q, strict=True) if a or b))


def test_noise_that_is_seen_elsewhere_is_no_draw_of_its_own() -> None:
    def seen(n: int) -> Any:
        e = random.expovariate(0.7)
        return n + math.floor(e) - math.floor(random.expovariate(0.7)), e

    with pytest.raises(ExactRefused):
        dpest.estimate(seen, (2, 3), method="exact")


@pytest.mark.parametrize("n", [2, 3, 7])
def test_gamma_shares_are_laplace_noise(n: int) -> None:
    def shares(x: float, rng: np.random.Generator) -> Any:
        return x + sum(rng.gamma(1 / n, 2.0) - rng.gamma(1 / n, 2.0) for _ in range(n))

    bracket(shares, (0.0, 1.0), 1 / 2.0)


def test_negative_binomial_shares_are_geometric_noise() -> None:
    def shares(x: int, rng: np.random.Generator) -> Any:
        return x + sum(rng.negative_binomial(1 / 3, 0.4) - rng.negative_binomial(1 / 3, 0.4) for _ in range(3))

    bracket(shares, (0, 1), -math.log(1 - 0.4))


def test_shares_that_do_not_add_up_are_refused() -> None:
    def some(x: float, rng: np.random.Generator) -> Any:
        return x + rng.gamma(1 / 3, 2.0) + rng.gamma(1 / 3, 2.0)

    def one_is_seen(x: float, rng: np.random.Generator) -> Any:
        first = rng.gamma(0.5, 2.0)
        return x + first + rng.gamma(0.5, 2.0), first

    for mechanism in (some, one_is_seen):
        with pytest.raises(ExactRefused, match="pole"):
            dpest.estimate(mechanism, (0.0, 1.0), method="exact")


def test_counts_of_several_things() -> None:
    def counts(x: float, rng: np.random.Generator) -> Any:
        return rng.multinomial(3, [0.2 + x, 0.3 - x, 0.5])

    bracket(counts, (0.0, 0.1), 3 * math.log(0.3 / 0.2))


@pytest.mark.parametrize(
    "sign",
    [
        lambda rng: rng.choice([-1, 1]),
        lambda rng: 2 * rng.integers(0, 2) - 1,
        lambda rng: np.sign(rng.random() - 0.5),
        lambda rng: 1 - 2 * (rng.uniform() < 0.5),
    ],
)
def test_exponential_noise_with_a_fair_sign_is_laplace(sign: Any) -> None:
    """Where a denominator comes out as 0 the loss of a numerator alone is left; two-sided noise, as `laplace` has it."""

    def quotient(x: Any, rng: np.random.Generator) -> Any:
        return (x[0] + sign(rng) * rng.exponential(2)) / (x[1] - sign(rng) * 3 * np.log(rng.random()))

    bracket(quotient, ((9, 4), (10, 4)), 0.5)
    bracket(lambda x, rng: x + sign(rng) * rng.exponential(2), (0, 3), 1.5)


def test_exponential_noise_with_another_sign_is_not_laplace() -> None:
    def unfair(x: Any, rng: np.random.Generator) -> Any:
        return x + rng.choice([-1, 1], p=[0.4, 0.6]) * rng.exponential(2)

    def shared(x: Any, rng: np.random.Generator) -> Any:
        sign = rng.choice([-1, 1])
        return [v + sign * rng.exponential(2) for v in x]

    bracket(unfair, (0, 1), math.log(0.6 / 0.4) + 0.5)
    bracket(shared, ((9, 4), (10, 4)), math.inf)


def test_the_floor_of_exponential_noise_begins_at_zero() -> None:
    """P(floor(s E) = k) = r^k (1 - r) from k = 0 on, with r = e^(-1/s); 3 and more are one output."""

    def capped(s: int) -> Any:
        return np.minimum(np.floor(s * dpest.exponential(1.0)), 3)

    laws = [[r**k * (1 - r) for k in range(3)] + [r**3] for r in (math.exp(-1), math.exp(-0.5))]
    bracket(capped, (1, 2), max(abs(math.log(p / q)) for p, q in zip(*laws, strict=True)))

"""Small programs on continuous draws: the exact answer against closed forms and one-dimensional integrals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import dpest

L = dpest.laplace


def asked(mechanism: Callable[[Any], Any], pair: tuple[Any, Any]) -> Any:
    return dpest.estimate(mechanism, pair, method="exact")


def holds(found: Any, truth: float, width: float = 1e-9) -> None:
    assert found.lower <= truth * (1 + 1e-13) + 1e-300
    assert found.upper >= truth * (1 - 1e-13)
    assert truth == math.inf or found.upper - found.lower <= width


def largest(p: list[float], q: list[float]) -> float:
    return max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True))


# -- released values ---------------------------------------------------------------------------------------------------


def decided(x: Any) -> Any:
    k, y = dpest.integers(0, 2), x + L(1)
    return (y, k) if y > k else (None, k)


def linked(x: Any) -> Any:
    k, j, y = dpest.integers(0, 2), dpest.integers(0, 1), x + L(1)
    if y > k and k >= j:
        return (y, j)
    return (0.0, j)


RELEASES: dict[str, tuple[Callable[[Any], Any], tuple[Any, Any], float]] = {
    "one draw": (lambda x: 3 - 2 * (x + L(0.5)), (0, 1), 2.0),
    "two draws": (lambda x: [x + L(2), x - L(4)], (0, 1), 0.75),
    "prefix sums": (lambda x: list(np.cumsum([v + L(2) for v in x])), ([0, 0, 0], [1, -1, 1]), 1.5),
    "twice the same": (lambda x: (lambda y: (y, 2 * y + 1))(x + L(2)), (0, 1), 0.5),
    "an identity that differs": (lambda x: (lambda y: (y, 2 * y + x))(L(2)), (0, 1), math.inf),
    "sum and difference": (lambda x: (lambda a, b: (a + b, a - b))(x + L(1), L(2)), (0, 1), 1.0),
    "shared noise": (lambda x: (lambda z: (x[0] + z, x[1] + z))(L(1)), ([1, 1], [2, 2]), 1.0),
    "shared noise, moved apart": (lambda x: (lambda z: (x[0] + z, x[1] + z))(L(1)), ([1, 1], [1 + 1e-12, 1]), math.inf),
    "a constant beside": (lambda x: (x + L(1), "told"), (0, 1), 1.0),
    "a constant that differs": (lambda x: (L(1), x), (0, 1), math.inf),
    "exponential upwards": (lambda x: x + dpest.exponential(2.0), (0, 1), math.inf),
    "a coin beside": (lambda x: (x + L(1), dpest.bernoulli(0.25 + 0.5 * x)), (0, 1), 1 + math.log(3)),
    "told or not": (lambda x: x + L(1) if dpest.bernoulli(0.25 + 0.5 * x) else None, (0, 1), 1 + math.log(3)),
    "floor": (lambda x: math.floor(x + L(2)), (0, 1), 0.5),
    "floor on two grids": (lambda x: x + dpest.floor(L(1)), (0, 0.5), math.inf),
    "floor, moved by half": (lambda x: dpest.floor(x + L(2)), (0, 0.5), 0.25),
    "rounded to tens": (lambda x: 10 * dpest.floor((x + L(20)) / 10), (0, 1), 0.05),
    "a point beside a value that it decides": (lambda x: decided(x), (0, 1), 1.0),
    "a point linked by a condition": (lambda x: linked(x), (0, 1), 1.0),
    "whole numbers rounded": (lambda x: (x + dpest.geometric(1.0)) // 3, (2, 3), 1.0),
    "whole numbers, turned and rounded": (lambda x: -dpest.floor((x - 2 * dpest.geometric(1.0)) / 4), (0, 2), 1.0),
    "equal laws": (lambda x: (L(1), abs(x) + L(1)), (-1, 1), 0.0),
    "clipped": (lambda x: dpest.clip(x + L(1), -2, 2), (0, 1), 1.0),
    "the larger of noise and a number": (lambda x: dpest.maximum(x + L(2), 0.25), (0, 1), 0.5),
}


@pytest.mark.parametrize("name", RELEASES)
def test_released_values(name: str) -> None:
    mechanism, pair, truth = RELEASES[name]
    holds(asked(mechanism, pair), truth)


# -- decisions ---------------------------------------------------------------------------------------------------------


def laplace_cdf(x: float, b: float = 1.0) -> float:
    return 0.5 * math.exp(x / b) if x < 0 else 1 - 0.5 * math.exp(-x / b)


def test_one_threshold() -> None:
    found = asked(lambda x: x + L(2) >= 1.5, (0, 1))
    p, q = ([1 - laplace_cdf(1.5 - x, 2.0), laplace_cdf(1.5 - x, 2.0)] for x in (0, 1))
    holds(found, largest(p, q))


def test_an_interval_and_its_order() -> None:
    def mechanism(x: float) -> str:
        y = x + L(1)
        if y < -1:
            return "low"
        if y > 0.5:
            return "high"
        return "middle"

    laws = []
    for x in (0.0, 0.75):
        low, top = laplace_cdf(-1 - x), laplace_cdf(0.5 - x)
        laws.append([low, top - low, 1 - top])
    holds(asked(mechanism, (0.0, 0.75)), largest(laws[0], laws[1]))


@pytest.mark.parametrize("scale", [0.7, 3.0])
def test_the_larger_of_two(scale: float) -> None:
    """L - scale L' against 0, by an integral over L'."""
    found = asked(lambda x: dpest.argmax([x + L(1), L(scale)]), (0.0, 1.0))

    def first(x: float) -> float:
        def inner(v: float) -> float:
            return math.exp(-abs(v) / scale) / (2 * scale) * (1 - laplace_cdf(v - x))

        parts = [integrate.quad(inner, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in ((-90, 0), (0, x or 0.5), (x or 0.5, 90))]
        return sum(parts)

    p, q = ([first(x), 1 - first(x)] for x in (0.0, 1.0))
    holds(found, largest(p, q), 1e-7)


def test_a_threshold_shared_by_two_queries() -> None:
    """T ~ L(2), queries with L(4): P(fail, pass) as an integral over the threshold."""

    def mechanism(x: Any) -> Any:
        t = L(2)
        for i, v in enumerate(x):
            if v + L(4) >= t:
                return i
        return None

    def outcome(x: list[float]) -> list[float]:
        def mass(kind: int) -> float:
            def inner(t: float) -> float:
                fail = [laplace_cdf(t - v, 4.0) for v in x]
                own = (1 - fail[0], fail[0] * (1 - fail[1]), fail[0] * fail[1])[kind]
                return math.exp(-abs(t) / 2) / 4 * own

            edges = [-150, *sorted({0.0, *x}), 150]
            return sum(
                integrate.quad(inner, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in zip(edges[:-1], edges[1:], strict=True)
            )

        return [mass(k) for k in range(3)]

    holds(asked(mechanism, ([0.0, 1.0], [1.0, 0.0])), largest(outcome([0.0, 1.0]), outcome([1.0, 0.0])), 1e-7)


def test_a_winner_with_its_value() -> None:
    """The larger of two noisy values is told: f(y - a) F(y - b) + f(y - b) F(y - a), on a grid."""
    found = asked(lambda x: dpest.max([x[0] + L(1), x[1] + L(1)]), ([0.0, 0.0], [1.0, 0.5]))

    def log_density(y: np.ndarray, x: tuple[float, float]) -> np.ndarray:
        f = [np.exp(-np.abs(y - v)) / 2 for v in x]
        cdf = [np.where(y < v, np.exp(y - v) / 2, 1 - np.exp(v - y) / 2) for v in x]
        return np.log(f[0] * cdf[1] + f[1] * cdf[0])

    y = np.linspace(-30, 30, 600_001)
    truth = float(np.abs(log_density(y, (0, 0)) - log_density(y, (1, 0.5))).max())
    assert found.lower <= truth + 1e-6
    assert found.upper >= truth - 1e-9
    assert found.upper - found.lower <= 1e-5


def test_a_gap_that_is_told_with_the_winner() -> None:
    """|L - L'| with the index: density (1 + t) e^-t / 2 moved; at most 2 for a move by 1 of either."""

    def mechanism(x: Any) -> Any:
        a, b = x[0] + L(1), x[1] + L(1)
        return (0, a - b) if a > b else (1, b - a)

    found = asked(mechanism, ([0.0, 0.0], [1.0, 0.0]))
    y = np.linspace(-60, 60, 1_200_001)
    logs = [np.log1p(np.abs(y - d)) - np.abs(y - d) for d in (0.0, 1.0)]
    truth = float(np.abs(logs[0] - logs[1]).max())
    assert found.lower <= 1.0 + 1e-9
    assert found.upper >= truth - 1e-9


# -- deltas ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_delta_of_a_threshold_and_a_value(epsilon: float) -> None:
    """y is told above 1, else nothing is: the sum of an atom and a piece of density."""
    found = asked(lambda x: (lambda y: y if y > 1 else None)(x + L(1)), (0.0, 0.5)).delta(epsilon)
    ways = []
    for a, b in ((0.0, 0.5), (0.5, 0.0)):
        atom = max(0.0, laplace_cdf(1 - a) - math.exp(epsilon) * laplace_cdf(1 - b))

        def over(y: float, a: float = a, b: float = b) -> float:
            return max(0.0, math.exp(-abs(y - a)) / 2 - math.exp(epsilon - abs(y - b)) / 2)

        ways.append(atom + integrate.quad(over, 1, 60, epsabs=1e-13, limit=400)[0])
    assert found.lower <= max(ways) + 1e-9
    assert found.upper >= max(ways) - 1e-9
    assert found.upper - found.lower <= 1e-8


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_delta_of_two_gaussians(epsilon: float) -> None:
    found = asked(lambda x: (x + dpest.gaussian(1.0), 2 * x + dpest.gaussian(3.0)), (0, 1)).delta(epsilon)
    mu = math.hypot(1.0, 2 / 3)
    truth = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    assert found.lower <= truth + 1e-13
    assert found.upper >= truth - 1e-13
    assert found.upper - found.lower <= 1e-9


def test_the_median_of_three_noisy_values_has_an_upper_end() -> None:
    # Rung: closed form. Far to the right two of the three values are as large: the ratio of the sums of their weights.
    def median(xs: list[float]) -> Any:
        return sorted(x + dpest.laplace(1.0) for x in xs)[1]

    truth = math.log((math.e + math.e**3 + math.e**4) / (math.e + math.e**2 + math.e**3))
    result = dpest.estimate(median, ([0.0, 1.0, 2.0], [0.0, 1.0, 3.0]), method="exact")
    assert result.lower <= truth + 1e-12
    assert truth - 1e-12 <= result.upper
    assert result.upper - result.lower < 1e-9

"""delta of steps that build on released ones, against an integral over the earlier step (oracle: integral)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import dpest

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def moved(mu: Any, epsilon: Any) -> Any:
    """delta(epsilon) of N(mu, 1) against N(0, 1), for arrays."""
    with np.errstate(all="ignore"):
        found = special.ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon + special.log_ndtr(-mu / 2 - epsilon / mu))
    return np.where(mu == 0, np.maximum(0, -np.expm1(epsilon)), found)


def truth(log_first: Callable[[Any, Any], Any], shift: Callable[[Any], Any], kinks: list[float], epsilon: float) -> float:
    """The larger direction: the integral of what the last step adds to delta where the first one came out as u."""
    edges = np.array(sorted({*np.linspace(-30, 30, 3001), *kinks}))
    half = np.diff(edges) / 2
    u = ((edges[:-1] + half)[:, None] + half[:, None] * NODES).ravel()
    weights = (half[:, None] * WEIGHTS).ravel()
    p, q = log_first(u, 0), log_first(u, 1)
    ways = [float(weights @ (np.exp(a) * moved(shift(u), epsilon - a + b))) for a, b in ((p, q), (q, p))]
    return max(ways)


def check(mechanism: Any, pair: Any, epsilon: float, expected: float) -> None:
    found = dpest.estimate(mechanism, pair, method="exact").delta(epsilon)
    assert found.lower - 1e-10 <= expected <= found.upper + 1e-10
    assert found.upper - found.lower <= 1e-8 * expected


ROWS = ([(1.0, 2.0), (0.5, -1.0)], [(1.0, 2.0), (0.5, 1.5)])


def gradient(w: Any, rows: Any) -> Any:
    return sum(np.clip((w * x - y) * x, -1, 1) for x, y in rows)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 4.0])
def test_two_clipped_steps_of_gradient_descent(epsilon: float) -> None:
    def descent(rows: Any, rng: np.random.Generator) -> Any:
        w, out = 0.0, []
        for _ in range(2):
            total = 0.0
            for x, y in rows:
                total += min(max((w * x - y) * x, -1), 1)
            w = w - 0.5 * (total + rng.normal(0, 1))
            out.append(w)
        return out

    def first(u: Any, side: int) -> Any:
        return stats.norm.logpdf(u, -0.5 * gradient(0.0, ROWS[side]), 0.5)

    kinks = [y / x + c / x**2 for rows in ROWS for x, y in rows for c in (-1, 1)]
    expected = truth(first, lambda u: abs(gradient(u, ROWS[0]) - gradient(u, ROWS[1])), kinks, epsilon)
    check(descent, ROWS, epsilon, expected)


def test_a_bound_that_was_released_with_another_noise() -> None:
    """A Laplace release sets where the sum is clipped; that the bound has an atom at 1 makes two kinds of output."""

    def adaptive(rows: Any, rng: np.random.Generator) -> Any:
        bound = max(rows) + rng.laplace(0, 1)
        return bound, sum(min(x, bound) for x in rows) + rng.normal(0, 2)

    pair = ([1, 2, 3], [1, 2, 4])
    clipped = [lambda u, rows=rows: sum(np.minimum(x, u) for x in rows) for rows in pair]
    expected = truth(
        lambda u, side: stats.laplace.logpdf(u, max(pair[side])),
        lambda u: abs(clipped[0](u) - clipped[1](u)) / 2,
        [1, 2, 3, 4],
        0.2,
    )
    check(adaptive, pair, 0.2, expected)


def test_the_first_release_chooses_the_noise_of_the_second() -> None:
    def chosen(x: int, rng: np.random.Generator) -> Any:
        first = x + rng.normal(0, 2)
        return first, x + rng.normal(0, 1) if first > 10 else x + rng.normal(0, 5)

    expected = truth(lambda u, side: stats.norm.logpdf(u, 10 + side, 2), lambda u: np.where(u > 10, 1.0, 0.2), [10], 0.2)
    check(chosen, (10, 11), 0.2, expected)


def test_outputs_that_neither_input_has() -> None:
    """Below the floor of the first release there is an atom, and no density."""

    def floored(x: int, rng: np.random.Generator) -> Any:
        first = max(x + rng.normal(0, 1), 0.5)
        return first, min(x, first) + rng.normal(0, 2)

    dense = truth(
        lambda u, side: np.where(u > 0.5, stats.norm.logpdf(u, 3 + side), -1e4),
        lambda u: abs(np.minimum(3, u) - np.minimum(4, u)) / 2,
        [0.5, 3, 4],
        0.2,
    )
    atom = max(0.0, stats.norm.cdf(-2.5) - math.exp(0.2) * stats.norm.cdf(-3.5))
    one = dpest.estimate(floored, (3, 4), method="exact").delta(0.2)
    assert dense - 1e-9 <= one <= dense + atom + 1e-9
    assert one.upper - one.lower < 1e-8


@pytest.mark.slow
def test_three_clipped_steps_are_an_integral_over_two() -> None:
    def descent(rows: Any, rng: np.random.Generator) -> Any:
        w, out = 0.0, []
        for _ in range(3):
            w = w - 0.5 * (sum(min(max((w * x - y) * x, -1), 1) for x, y in rows) + rng.normal(0, 1))
            out.append(w)
        return out

    found = dpest.estimate(descent, ROWS, method="exact").delta(0.3)
    assert found == pytest.approx(0.6775280622334, rel=1e-8)  # a product rule on 181 panels for each axis
    assert found.upper - found.lower < 1e-7

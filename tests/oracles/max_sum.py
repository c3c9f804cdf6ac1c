"""The sum of two noisy maxima, by quadrature of the convolution of their densities."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np

from tests.oracles.exponentials import largest_between
from tests.oracles.patterns import Vector

NODES, WEIGHTS = np.polynomial.legendre.leggauss(30)


def max_density(values: Vector, z: Any, scale: float) -> Any:
    """The density of max(x_i + Laplace(scale)): the product of the distribution functions times the sum of f/F."""
    u = (z[..., None] - np.array(values, dtype=float)) / scale
    tail = np.exp(-np.abs(u)) / 2
    cdf = np.where(u < 0, tail, 1 - tail)
    return np.prod(cdf, axis=-1) * np.sum(tail / scale / cdf, axis=-1)


@cache
def sum_density(values: Vector, s: float, scale: float) -> float:
    """The convolution at s, with no panel across a kink of either factor and tails until nothing is left."""
    half = len(values) // 2
    first, second = values[:half], values[half:]
    kinks = sorted({*map(float, first), *(s - x for x in second)})
    reach = scale * np.array([0.25, 0.5, 1, 2, 4, 8, 16, 30, 45])
    edges = [*(kinks[0] - reach)[::-1], *kinks, *(kinks[-1] + reach)]
    pieces = [np.linspace(a, b, 2 + int(abs(b - a) / scale / 4)) for a, b in itertools.pairwise(edges)]
    grid = np.unique(np.concatenate(pieces))
    middle, width = (grid[1:] + grid[:-1]) / 2, np.diff(grid) / 2
    z = middle[:, None] + width[:, None] * NODES
    inside = max_density(first, z, scale) * max_density(second, s - z, scale)
    return float(np.sum(width * (inside @ WEIGHTS)))


def max_sum_loss(left: Vector, right: Vector, scale: float = 10.0) -> tuple[float, float]:
    """Both directions: the limits in the tails and the largest value between them."""
    return _one_way(left, right, scale), _one_way(right, left, scale)


def _one_way(p: Vector, q: Vector, scale: float) -> float:
    if _halves(p) == _halves(q):
        return 0.0  # the same two maxima, in the other order

    def loss(s: Any) -> Any:
        return np.array([math.log(sum_density(p, float(x), scale) / sum_density(q, float(x), scale)) for x in s])

    inside = largest_between(loss, -20 * scale, 20 * scale, points=80, rounds=1)
    near = largest_between(loss, -scale, 4 + scale, points=40, rounds=3)
    return max(_left_limit(p, q, scale), _right_limit(p, q, scale), inside, near)


def _halves(values: Vector) -> list[list[int]]:
    half = len(values) // 2
    return sorted([sorted(values[:half]), sorted(values[half:])])


def _left_limit(p: Vector, q: Vector, scale: float) -> float:
    """Each maximum has the tail C e^(m z / scale), ln C = -sum(x) / scale; two of one rate make C C' |s| e^(m s / scale)."""
    return (sum(q) - sum(p)) / scale


def _right_limit(p: Vector, q: Vector, scale: float) -> float:
    """Each maximum has the tail e^(-z / scale) times the sum of e^(x / scale)."""
    half = len(p) // 2
    sums = [np.sum(np.exp(np.array(x) / scale)) for x in (p[:half], p[half:], q[:half], q[half:])]
    return float(np.log(sums[0] * sums[1] / sums[2] / sums[3]))

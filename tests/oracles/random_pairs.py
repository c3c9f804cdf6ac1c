"""Random pairs of finite laws, as fractions: close ones, far ones, ones with tiny probabilities, ones with zeros."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

Law = list[Fraction]


def random_pair(rng: np.random.Generator, most: int = 5) -> tuple[Law, Law]:
    """Two laws on the same few outcomes."""
    n, kind = int(rng.integers(2, most + 1)), int(rng.integers(4))
    p = _law(rng, n, kind)
    if kind == 3:
        return p, _normalised([x * Fraction(1000 + int(rng.integers(-30, 31)), 1000) for x in p])
    return p, _law(rng, n, kind)


def _law(rng: np.random.Generator, n: int, kind: int) -> Law:
    weights = [int(x) for x in rng.integers(1, 50, n)]
    if kind == 1 and rng.random() < 0.5:
        weights[int(rng.integers(n))] = 0
    if kind == 2:
        weights = [x**4 + 1 for x in weights]
    return _normalised([Fraction(x) for x in weights])


def _normalised(weights: Law) -> Law:
    total = sum(weights)
    return [x / total for x in weights]

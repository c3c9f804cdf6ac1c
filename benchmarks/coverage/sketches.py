"""Mechanisms of a fifth list: exact samplers in a class and with helpers, rejection, sketches that keep the largest so far."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np

import dpest
from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss

# -- discrete Laplace and Gaussian noise by exact coins ----------------------------------------------------------------


def bernoulli(p, rng):
    return 1 if rng.randrange(p.denominator) < p.numerator else 0


def bernoulli_exp(x, rng):
    k = 1
    while bernoulli(x / k, rng) == 1:
        k += 1
    return k % 2


def laplace_by_fractions(count):
    while True:
        sign = bernoulli(Fraction(1, 2), random)
        size = 0
        while bernoulli_exp(Fraction(1, 2), random) == 1:
            size += 1
        if sign == 1 and size == 0:
            continue
        return count + size * (1 - 2 * sign)


class DiscreteLaplace:
    """The same sampler as a class."""

    def __init__(self, scale):
        self.scale = scale
        self.rng = np.random.default_rng()

    def bernoulli_exp(self, gamma):
        k = 1
        while self.rng.random() < gamma / k:
            k += 1
        return k % 2 == 1

    def sample(self):
        while True:
            size = 0
            while self.bernoulli_exp(1 / self.scale):
                size += 1
            negative = self.rng.random() < 0.5
            if negative and size == 0:
                continue
            return -size if negative else size


def laplace_of_a_class(count):
    return count + DiscreteLaplace(2).sample()


def laplace_with_helpers(count, rng: np.random.Generator, t=2, s=1):
    def coin(gamma):
        k = 1
        while rng.random() < gamma / k:
            k += 1
        return k % 2 == 1

    while True:
        u = rng.integers(0, t)
        if not coin(u / t):
            continue
        v = 0
        while coin(1.0):
            v += 1
        y = (u + t * v) // s
        negative = rng.random() < 0.5
        if negative and y == 0:
            continue
        return count + (-y if negative else y)


def gaussian_by_rejection(count, rng: np.random.Generator, sigma=2.0):
    t = math.floor(sigma) + 1
    while True:
        y = dpest.geometric(t)
        if rng.random() < math.exp(-((abs(y) - sigma**2 / t) ** 2) / (2 * sigma**2)):
            return max(0, min(8, count + y))


def gaussian_law(count, sigma=2.0):
    """The law of a count with discrete Gaussian noise, between 0 and 8."""
    found = Counter()
    for k in range(-60, 61):
        found[max(0, min(8, count + k))] += math.exp(-(k**2) / (2 * sigma**2))
    return {y: w / sum(found.values()) for y, w in found.items()}


# -- the largest so far ------------------------------------------------------------------------------------------------


def flajolet_martin(items, phantoms=3):
    sketch = 0
    for _ in range(len(set(items)) + phantoms):
        level = 1
        while random.random() < 0.5:
            level += 1
        sketch = max(sketch, level)
    return sketch


def sketch_law(n):
    """The law of the largest of n levels, up to where what is left weighs nothing in a ratio."""
    below = [(1 - 0.5**k) ** n for k in range(40)]
    return {k: below[k] - below[k - 1] for k in range(1, 40)}


def largest_so_far(counts, rng: np.random.Generator):
    best = -math.inf
    for c in counts:
        best = max(best, c + rng.laplace(0, 2))
    return best


CASES = (
    Case("discrete Laplace, coins on fractions", "Canonne et al. 2020", laplace_by_fractions, (3, 4), lambda: 0.5, "closed form"),
    Case("discrete Laplace as a class", "Canonne et al. 2020", laplace_of_a_class, (3, 4), lambda: 0.5, "closed form"),
    Case("discrete Laplace, a helper inside", "Canonne et al. 2020", laplace_with_helpers, (5, 6), lambda: 0.5, "closed form"),
    Case(
        "discrete Gaussian by rejection, clamped",
        "Canonne et al. 2020",
        gaussian_by_rejection,
        (3, 4),
        lambda: loss(gaussian_law(3), gaussian_law(4)),
        "enumeration",
    ),
    Case(
        "distinct elements with phantoms",
        "Smith et al. 2020",
        flajolet_martin,
        ([1, 5, 9, 2], [1, 5, 9]),
        lambda: loss(sketch_law(7), sketch_law(6)),
        "closed form",
    ),
    Case("the largest so far", "Ding et al. 2018", largest_so_far, ([1.0] * 6, [2.0] * 6), lambda: 3.0, "closed form"),
)

"""Noise that libraries make themselves of bits and uniform numbers, and what they put it into."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import random
import secrets
import struct
from collections import OrderedDict
from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss

# -- samplers ----------------------------------------------------------------------------------------------------------


class Geometric:
    def __init__(self, *, epsilon, sensitivity=1, random_state=None):
        if not isinstance(epsilon, Real) or epsilon <= 0:
            raise ValueError("Epsilon must be positive")
        self.epsilon, self._scale = float(epsilon), -epsilon / sensitivity
        self._rng = secrets.SystemRandom() if random_state is None else np.random.RandomState(random_state)

    def _check_all(self, value):
        if not isinstance(value, Integral):
            raise TypeError("Value to be randomised must be an integer")

    def randomise(self, value):
        self._check_all(value)
        unif_rv = self._rng.random() - 0.5
        unif_rv *= 1 + np.exp(self._scale)
        sgn = -1 if unif_rv < 0 else 1
        return int(np.round(value + sgn * np.floor(np.log(sgn * unif_rv) / self._scale)))


def histogram(sample, bins=4):
    hist, edges = np.histogram(sample, bins=bins, range=(0, bins))
    mech = Geometric(epsilon=0.6)
    dp_hist = np.zeros_like(hist)
    for i in np.arange(dp_hist.shape[0]):
        dp_hist[i] = mech.randomise(int(hist[i]))
    return dp_hist, edges


class SecureUniform:
    """A uniform number strictly between 0 and 1."""

    bits = 53

    def __call__(self):
        return (secrets.randbits(self.bits) + 0.5) / (1 << self.bits)


def laplace_of_bits(x, scale=2.0):
    u = SecureUniform()() - 0.5
    return x - scale * math.copysign(1.0, u) * math.log(1.0 - 2.0 * abs(u))


def laplace_of_bytes(x, scale=2.0):
    def uniform():
        return 1.0 - int.from_bytes(os.urandom(8), "big") / 2**64

    return x + scale * (math.log(uniform()) - math.log(uniform()))


def coin_of_a_word(bit):
    (word,) = struct.unpack("<H", secrets.token_bytes(2))
    return bit if word < 3 << 14 else 1 - bit


def drawn_again(x, rng: np.random.Generator, low=0.0, high=4.0):
    while not low <= (y := x + rng.normal(0, 2)) <= high:
        pass
    return y


def _gaussian_between(x):
    return math.erf((4 - x) / math.sqrt(8)) + math.erf(x / math.sqrt(8))


# -- what noise is put into --------------------------------------------------------------------------------------------


class Noised:
    """A number that remembers what it cost."""

    def __init__(self, value, eps):
        self.value, self.eps = value, eps

    def __add__(self, other):
        return Noised(self.value + other.value, self.eps + other.eps)

    def __truediv__(self, k):
        return Noised(self.value / k, self.eps)

    def __float__(self):
        return float(self.value)


def mean_of_noised(xs):
    total = Noised(0.0, 0.0)
    for x in xs:
        total = total + Noised(x + np.random.laplace(0, 2), 0.5)
    return float(total / len(xs))


def report(rows, rng: np.random.Generator):
    departments = OrderedDict()
    for row in rows:
        departments.setdefault(row["department"], []).append(row["salary"])
    found = {name: {"n": round(len(s) + rng.laplace(0, 2)), "sum": None} for name, s in departments.items()}
    return json.dumps(found, sort_keys=True, indent=2)


@functools.cache
def scale_of(epsilon, sensitivity):
    return sensitivity / epsilon


@contextmanager
def budget(total):
    left = {"epsilon": total}

    def spend(epsilon):
        if epsilon > left["epsilon"] + 1e-9:
            raise RuntimeError("budget exhausted")
        left["epsilon"] -= epsilon
        return scale_of(epsilon, 1.0)

    yield spend


def within_a_budget(values, rng: np.random.Generator):
    with budget(1.0) as spend:
        total = sum(values) + rng.laplace(0, spend(0.75))
        count = len(values) + rng.laplace(0, spend(0.25))
    return {"total": total, "count": count}


def local_hashing(value, g=4, epsilon=1.0):
    seed = random.randrange(8)
    h = int(hashlib.md5(f"{seed}-{value}".encode()).hexdigest(), 16) % g
    if random.random() < math.exp(epsilon) / (math.exp(epsilon) + g - 1):
        return seed, h
    other = random.randrange(g - 1)
    return seed, other if other < h else other + 1


CASES = (
    Case(
        "a library's histogram, whole numbers of NumPy",
        "Ghosh et al. 2009",
        histogram,
        (np.array([0.5, 1.5, 1.7, 3.2]), np.array([0.5, 1.5, 2.7, 3.2])),
        lambda: 1.2,
        "closed form",
    ),
    Case("Laplace noise of 53 random bits", "Dwork et al. 2006", laplace_of_bits, (0, 1), lambda: 0.5, "closed form"),
    Case("Laplace noise of random bytes", "Dwork et al. 2006", laplace_of_bytes, (0, 1), lambda: 0.5, "closed form"),
    Case("randomized response by two random bytes", "Warner 1965", coin_of_a_word, (0, 1), lambda: math.log(3), "closed form"),
    Case(
        "drawn again until it lies between bounds",
        "Holohan et al. 2018",
        drawn_again,
        (1, 2),
        lambda: max(
            abs(((y - 2) ** 2 - (y - 1) ** 2) / 8 - math.log(_gaussian_between(1) / _gaussian_between(2))) for y in (0, 4)
        ),
        "closed form",
    ),
    Case("a class of noisy numbers", "Dwork et al. 2006", mean_of_noised, ([1, 2], [1, 3]), lambda: 0.5, "closed form"),
    Case(
        "noisy counts as sorted JSON",
        "Dwork et al. 2006",
        report,
        (
            [{"department": "it", "salary": 3}, {"department": "hr", "salary": 4}, {"department": "it", "salary": 9}],
            [{"department": "it", "salary": 3}, {"department": "hr", "salary": 4}],
        ),
        lambda: 0.5,
        "closed form",
    ),
    Case("a budget as a context", "McSherry 2009", within_a_budget, ([1, 0, 1], [1, 0, 1, 1]), lambda: 1.0, "closed form"),
    Case("local hashing with MD5", "Wang et al. 2017", local_hashing, (3, 7), lambda: loss(*map(_hashed, (3, 7))), "enumeration"),
)


def _hashed(value, g=4):
    """The law of the seed and the released hash."""
    right, wrong = math.e / (math.e + g - 1), 1 / (math.e + g - 1)
    hashes = [int(hashlib.md5(f"{seed}-{value}".encode()).hexdigest(), 16) % g for seed in range(8)]
    return {(seed, k): (right if k == h else wrong) / 8 for seed, h in enumerate(hashes) for k in range(g)}

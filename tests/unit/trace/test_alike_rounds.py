"""Rejection sampling in further forms, whose rounds are alike. Oracle: the closed form of Laplace noise cut off at two ends."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest

import dpest

_RNG = np.random.default_rng()


def _over_any_try(x: float) -> Any:
    for _ in itertools.count():
        y = _RNG.laplace(x, 1)
        if y < 0 or y > 5:
            continue
        return y


def _numbered(x: float) -> Any:
    for attempt in count(1):  # noqa: B007 - never read
        y = _RNG.laplace(x, 1)
        if 0 <= y <= 5:
            return y


def _counted_for_nobody(x: float) -> Any:
    tries = 0
    while True:
        tries += 1
        y = _RNG.laplace(x, 1)
        if 0 <= y <= 5:
            return y


class _Mechanism(ABC):
    def __init__(self, scale: float, **kept: Any) -> None:
        self._scale, self.kept = scale, kept

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"

    @property
    def scale(self) -> float:
        return self._scale

    @abstractmethod
    def randomise(self, value: float) -> Any: ...


class _Bounded(_Mechanism):
    def __init__(self, lower: float, upper: float, **rest: Any) -> None:
        super().__init__(**rest)
        self.lower, self.upper = lower, upper

    def randomise(self, value: float) -> Any:
        value = max(min(value, self.upper), self.lower)
        while True:
            u = _RNG.random() - 0.5
            noisy = value - self.scale * np.sign(u) * np.log(1 - 2 * np.abs(u))
            if self.lower <= noisy <= self.upper:
                return noisy


def _of_a_class(x: float) -> Any:
    return _Bounded(lower=0, upper=5, scale=1.0, note="kept").randomise(x)


def _loss(a: float, b: float) -> float:
    """The largest log ratio of exp(-|y - x|) / Z(x) on [0, 5], which is at one of the ends of the interval, at a or at b."""

    def log_density(y: float, x: float) -> float:
        return -abs(y - x) - math.log(2 - math.exp(-x) - math.exp(x - 5))

    return max(abs(log_density(y, a) - log_density(y, b)) for y in (0.0, a, b, 5.0))


@pytest.mark.parametrize("mechanism", [_over_any_try, _numbered, _counted_for_nobody, _of_a_class])
@pytest.mark.parametrize("pair", [(2.0, 3.0), (1.0, 1.5)])
def test_rounds_are_alike(mechanism: Callable[[float], Any], pair: tuple[float, float]) -> None:
    r = dpest.estimate(mechanism, pair, method="exact", progress=False)
    truth = _loss(*pair)
    assert r.lower <= truth + 1e-12
    assert truth - 1e-12 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_count_that_is_read_is_kept() -> None:
    """How many tries it took is geometric, up to the third: P(k) = (1 - p)^(k - 1) p with p = P(z > x)."""

    def tries(x: float) -> int:
        made = 0
        while True:
            made += 1
            if _RNG.laplace(0, 1) > x or made == 3:
                return made

    p, q = 0.5 * math.exp(-1), 0.5 * math.exp(-2)
    truth = max(abs(math.log(p / q)), abs(math.log((1 - p) * p / ((1 - q) * q))), abs(2 * math.log((1 - p) / (1 - q))))
    r = dpest.estimate(tries, (1.0, 2.0), method="exact", progress=False)
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize("start", [-40, 0, 1000])
def test_a_loop_that_keeps_the_best_of_a_few_numbers(start: int) -> None:
    """Wherever the few numbers lie: the best of k tries of four, after a number of tries that a coin ends."""

    def mechanism(x: int, rng: np.random.Generator) -> int:
        best = x + int(rng.integers(start, start + 3, endpoint=True))
        while rng.random() < 0.5:
            new = x + int(rng.integers(start, start + 3, endpoint=True))
            if new > best:
                best = new
        return best - start

    def below(j: int) -> Fraction:
        """P(best <= j) = sum over k >= 1 of 2^-k (j/4)^k."""
        share = Fraction(j + 1, 8)
        return share / (1 - share)

    law = {j: below(j) - (below(j - 1) if j else 0) for j in range(4)}
    assert sum(law.values()) == 1
    found = dpest.estimate(mechanism, (0, 0), method="exact")
    assert found.lower == found.upper == 0
    moved = dpest.estimate(lambda x, rng: mechanism(0, rng) + x <= 2, (0, 1), method="exact")
    small = law[0] + law[1] + law[2], law[0] + law[1]
    truth = max(abs(math.log(a / b)) for a, b in (small, (1 - small[0], 1 - small[1])))
    assert moved.lower - 1e-9 <= truth <= moved.upper + 1e-9
    assert moved.upper - moved.lower < 1e-9

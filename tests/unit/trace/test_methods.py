"""Samplers that are methods: they call themselves, and reject in loops, on objects that were just made."""

from __future__ import annotations

import functools
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest

import dpest

T = TypeVar("T")
_P = 0.4


class Coins:
    def __init__(self, p: float = _P) -> None:
        self.p, self.rng = p, random.SystemRandom()

    def count(self) -> int:
        if self.rng.random() < self.p:
            return 0
        return 1 + self.count()

    def with_a_total(self, k: int = 0) -> int:
        return k if self.rng.random() < self.p else self.with_a_total(k + 1)

    def by_keyword(self, *, k: int) -> int:
        if self.rng.random() >= self.p:
            return self.by_keyword(k=k + 1)
        return k


class InThrees(Coins):
    def count(self) -> int:
        return 2 + super().count()  # which begins again here, and not in the class above


class SometimesReplaced(Coins):
    def __init__(self) -> None:
        super().__init__()
        self.count = functools.partial(int, 7)  # type: ignore[method-assign]


@pytest.mark.parametrize("draw", [Coins.count, Coins.with_a_total, lambda coins: coins.by_keyword(k=0)])
def test_a_method_that_calls_itself_is_a_loop(draw: Callable[[Any], int]) -> None:
    def noisy(x: int) -> int:
        coins = Coins()
        return x + draw(coins) - draw(coins)

    r = dpest.estimate(noisy, (0, 1), method="exact")
    assert r.lower <= -math.log(1 - _P) <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_method_that_means_the_one_of_a_derived_class_is_no_loop() -> None:
    r = dpest.estimate(lambda x: (min(InThrees().count(), 9) == 5) == x, (True, False), method="exact")
    chance = _P * (1 - _P)  # of 2 + 1 + 2: the one of the derived class comes again
    assert r.lower <= math.log((1 - chance) / chance) <= r.upper
    assert r.upper - r.lower < 1e-6


def test_a_method_that_an_object_has_replaced_is_no_loop() -> None:
    r = dpest.estimate(lambda x: x + Coins.count(SometimesReplaced()), (0, 1), method="exact")
    assert math.isinf(r.lower)  # 0 or 8: Coins.count asks the object, which says 7


class Noise(ABC, Generic[T]):
    def __init__(self, scale: float, rng: random.Random | None = None) -> None:
        self.scale, self._rng = scale, rng or random.SystemRandom()

    def _laplace(self) -> float:
        u = self._rng.random() - 0.5
        return -self.scale * math.copysign(1, u) * math.log(1 - 2 * abs(u))

    @abstractmethod
    def release(self, value: T) -> T: ...


class Inside(Noise[float]):
    def release(self, value: float) -> float:
        while True:
            noisy = value + self._laplace()
            if 0 <= noisy <= 1:
                return noisy


class InsideTwice(Inside):
    def release(self, value: float) -> float:
        return super().release(value)


def _inside(x: float) -> float:
    """The probability that Laplace noise of scale 1 stays in [0, 1]."""
    return 1 - 0.5 * math.exp(-x) - 0.5 * math.exp(x - 1)


@pytest.mark.parametrize("kind", [Inside, InsideTwice])
def test_rejection_by_a_method_of_an_object_that_was_just_made(kind: type[Any]) -> None:
    r = dpest.estimate(lambda x: kind(1.0).release(x), (0.0, 0.4), method="exact")
    truth = 0.4 + math.log(_inside(0.4) / _inside(0.0))
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9

"""Bits that are made of uniform numbers, and rare bits, that cancel in rationals: (0.1 * b + 0.3) - 0.1 * b is 0.3, or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from tests.oracles import native

Bit = Callable[[float], Any]
Shown = Callable[[list[Any]], Any]


def less_both(a: list[Any]) -> Any:
    return max(a) - (a[0] + a[1])


def with_its_own(a: list[Any]) -> Any:
    a.append((a[0] + a[1]) - a[0])
    return np.max(a[1:])


def middle(a: list[Any]) -> Any:
    a.append((a[0] + a[1]) - a[0])
    return np.median(a), math.floor(a[0] / 0.1)


def left_and_right(a: list[Any]) -> Any:
    return a[0] // 0.1, a[0] // 0.1 + a[0]


def nothing_left(a: list[Any]) -> Any:
    return a[0] - ((a[0] - a[1]) + a[1])


def more_than_itself(a: list[Any]) -> Any:
    return (a[0] + a[1]) - a[0] > a[1], a[0] > 0.2


def ordered(a: list[Any]) -> Any:
    a.append((a[0] + 0.3) - a[0])
    return np.argmax([*a, 0.3])


def summed_and_spread(a: list[Any]) -> Any:
    return np.cumsum(a)[-1] - max(a)


SHOWN = (less_both, with_its_own, middle, left_and_right, nothing_left, more_than_itself, ordered, summed_and_spread)


def drawn(shown: Shown, way: str) -> Callable[..., Any]:
    """The mechanism with bits that are made in one way."""

    def made(x: list[int], bit: Bit) -> Any:
        return shown([k / 10 + 0.1 * bit(0.25) for k in x])

    if way == "bernoulli":
        return lambda x: made(x, dpest.bernoulli)
    if way == "where":
        return lambda x: made(x, lambda p: dpest.where(dpest.uniform(0, 1) < p, 1, 0))

    def mechanism(x: list[int], rng: np.random.Generator) -> Any:
        return made(x, lambda p: int(rng.random() < p))

    return mechanism


@pytest.mark.parametrize("way", ["int", "where", "bernoulli"])
@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("pair", [([1, 1], [1, 3]), ([2, 3], [3, 3]), ([2, 3], [2, 4]), ([0, 3], [1, 3])])
def test_bits_that_cancel_in_rationals(shown: Shown, way: str, pair: Any) -> None:
    laws = [native.enumerated(lambda x, d: shown([k / 10 + 0.1 * d.bernoulli(0.25) for k in x]), x) for x in pair]
    r = dpest.estimate(drawn(shown, way), pair, method="exact")
    for epsilon in (0.0, 0.4):
        found = r.delta(epsilon)
        assert found.lower - 1e-12 <= native.delta(*laws, epsilon) <= found.upper + 1e-12
    truth = native.loss(*laws)
    assert r.lower == truth == math.inf or r.lower - 1e-12 <= truth <= r.upper + 1e-12 < math.inf


RARE: tuple[Callable[[Any], Any], ...] = (
    lambda b: (0.1 * b + 0.3) - 0.1 * b,
    lambda b: (0.1 * b + 0.3) - 0.1 * b > 0.3,
    lambda b: dpest.argmax([0.3, (0.1 * b + 0.3) - 0.1 * b]),
    lambda b: f"{(0.1 * b + 0.3) - 0.1 * b}",
    lambda b: sum([(0.1 * b + 0.3) - 0.1 * b, -0.3]),
)


@pytest.mark.parametrize("shown", RARE)
def test_rare_bits_that_cancel(shown: Callable[[Any], Any]) -> None:
    """One in 10^4 or 10^6: no run on plain numbers meets it."""
    r = dpest.estimate(lambda x: shown(dpest.bernoulli(1e-4 if x else 1e-6)), (0, 1), method="exact")
    assert r.lower == pytest.approx(math.log(100), abs=1e-9)
    assert r.upper == pytest.approx(math.log(100), abs=1e-9)

"""Samples without replacement from lists in which values come again, against all orders of the list, in fractions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.lang.generators.equals import some_are_equal


def _sampled(data: list[int]) -> Any:
    return random.sample(data, 2)


def _chosen(data: list[int], rng: np.random.Generator) -> Any:
    return rng.choice(data, size=2, replace=False).tolist()


def _first_of_permuted(data: list[int], rng: np.random.Generator) -> Any:
    return [int(x) for x in rng.permutation(data)[:2]]


def _first_of_shuffled(data: list[int]) -> Any:
    people = list(data)
    random.shuffle(people)
    return people[:2]


def _first_two(order: Sequence[int]) -> Any:
    return list(order[:2])


def _law(data: Sequence[int], told: Callable[[Sequence[int]], Any]) -> dict[str, Fraction]:
    """Of what is told of the data in random order, each value behind a coin: 3/4 of them stay."""
    law: dict[str, Fraction] = {}
    orders = list(permutations(data))
    for order in orders:
        seen = told(order)
        for flips in product((0, 1), repeat=len(seen)):
            chance = Fraction(1, 4) ** sum(flips) * Fraction(3, 4) ** (len(seen) - sum(flips)) / len(orders)
            out = repr([x ^ f for x, f in zip(seen, flips, strict=True)])
            law[out] = law.get(out, Fraction(0)) + chance
    return law


@pytest.mark.parametrize("mechanism", [_sampled, _chosen, _first_of_permuted, _first_of_shuffled])
def test_a_few_of_the_rows(mechanism: Callable[..., Any]) -> None:
    def noisy(data: list[int]) -> list[int]:
        rows = mechanism(data, np.random.default_rng()) if mechanism.__code__.co_argcount > 1 else mechanism(data)
        return [x ^ (1 if random.random() < 0.25 else 0) for x in rows]

    pair = ([0, 1, 0, 1, 0], [0, 1, 0, 1, 1])
    p, q = (_law(x, _first_two) for x in pair)
    truth = max(abs(math.log(p[k] / q[k])) for k in p)
    r = dpest.estimate(noisy, pair, method="exact")
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


def _noisy_count(data: list[int]) -> Any:
    return sum(random.sample(data, 5)) + dpest.geometric(1 / 0.6)


def test_many_rows_are_hypergeometric() -> None:
    """Five rows of fourteen; far out, noise of ratio a shows E a^-k of how many rows are 1."""
    pair = ([1, 0] * 7, [1, 0] * 6 + [1, 1])
    a = math.exp(-0.6)
    chances = [[math.comb(s, k) * math.comb(14 - s, 5 - k) / math.comb(14, 5) for k in range(6)] for s in (7, 8)]
    ways = [[math.fsum(p * a ** abs(y - k) for k, p in enumerate(law)) for y in range(-3, 9)] for law in chances]
    truth = max(abs(math.log(p / q)) for p, q in zip(*ways, strict=True))
    r = dpest.estimate(_noisy_count, pair, method="exact")
    assert r.lower - 1e-12 <= truth <= r.upper + 1e-12
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize(
    ("items", "equal"),
    [
        ([1, 2, 1], True),
        (["a", "b", "a"], True),
        ([1, True, 1.0], False),  # which Python takes for equal, and an output shows
        ([0.0, -0.0], False),
        ([np.int64(3), 3], False),
        ([(1,), (1,)], False),  # may be changed, or told apart by what they are
        ([1, 2, 3], False),
    ],
)
def test_equal_values_are_those_that_nobody_tells_apart(items: list[Any], equal: bool) -> None:
    assert some_are_equal(items) is equal

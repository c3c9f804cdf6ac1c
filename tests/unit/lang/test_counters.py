"""Counters of shuffled answers, against all answers in all orders, in fractions."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import dpest


def _answers(bits: Sequence[int]) -> list[int]:
    """Randomised response: 3/4 of the answers are true."""
    return [b if random.random() < 0.75 else 1 - b for b in bits]


def _law(bits: Sequence[int], told: Callable[[list[int]], Any]) -> dict[Any, Fraction]:
    law: dict[Any, Fraction] = {}
    orders = list(permutations(range(len(bits))))
    for flips in product((0, 1), repeat=len(bits)):
        chance = Fraction(1, 4) ** sum(flips) * Fraction(3, 4) ** (len(bits) - sum(flips)) / len(orders)
        for order in orders:
            out = repr(told([bits[k] ^ flips[k] for k in order]))
            law[out] = law.get(out, Fraction(0)) + chance
    return law


def _loss(pair: tuple[list[int], list[int]], told: Callable[[list[int]], Any]) -> float:
    p, q = (_law(x, told) for x in pair)
    return max(abs(math.log(p[k] / q[k])) for k in p) if p.keys() == q.keys() else math.inf


def _sorted_items(answers: list[int]) -> Any:
    return sorted(Counter(answers).items())


PAIR = ([1, 1, 0, 1], [1, 1, 0, 0])


@pytest.mark.parametrize(
    ("told", "same"),
    [
        (lambda x: Counter(x), _sorted_items),
        (lambda x: Counter(x)[1], None),
        (lambda x: Counter(x).get(0, 7), None),
        (lambda x: {k: Counter(x)[k] for k in (0, 1)}, None),
        (lambda x: len(Counter(x)), None),
        (lambda x: 1 in Counter(x), None),
        (lambda x: list(Counter(x)), None),  # in the order in which they came
        (lambda x: Counter(x).most_common(1)[0], None),  # the first of equals
        (lambda x: dict(Counter(x)), _sorted_items),
        (lambda x: list({**Counter(x)}), None),
        (lambda x: max(Counter(x), key=Counter(x).get), None),
        (lambda x: Counter(x[:3]), lambda x: _sorted_items(x[:3])),
        (lambda x: Counter([*x, 1]), lambda x: _sorted_items([*x, 1])),
        (lambda x: list(Counter([1, *x])), None),
    ],
)
def test_a_counter_of_shuffled_answers(told: Callable[[Any], Any], same: Callable[[Any], Any] | None) -> None:
    def mechanism(bits: list[int]) -> Any:
        answers = _answers(bits)
        random.shuffle(answers)
        return told(answers)

    r = dpest.estimate(mechanism, PAIR, method="exact")
    truth = _loss(PAIR, same or told)
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


def test_many_shuffled_answers_are_counted() -> None:
    def mechanism(bits: list[int]) -> Any:
        return Counter(np.random.default_rng().permutation(_answers(bits)).tolist())

    r = dpest.estimate(mechanism, ([1] * 7, [1] * 6 + [0]), method="exact")
    assert r.lower <= math.log(3) <= r.upper
    assert r.upper - r.lower < 1e-9

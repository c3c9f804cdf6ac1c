"""Shuffled answers against an enumeration of their multisets, and uses in which the order matters."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import dpest

KINDS, KEEP = 3, 0.6
Multisets = dict[tuple[int, ...], float]


def one(x: int) -> int:
    return x if random.random() < KEEP else random.randrange(KINDS)


def law(x: int) -> list[float]:
    return [KEEP * (v == x) + (1 - KEEP) / KINDS for v in range(KINDS)]


def multisets(rows: list[int]) -> Multisets:
    found: Multisets = {(): 1.0}
    for x in rows:
        longer: Multisets = {}
        for held, p in found.items():
            for v, q in enumerate(law(x)):
                key = tuple(sorted((*held, v)))
                longer[key] = longer.get(key, 0.0) + p * q
        found = longer
    return found


def largest(left: Multisets, right: Multisets) -> float:
    return max(abs(math.log(left[k] / right[k])) for k in left)


def shuffled_in_place(rows: list[int]) -> Any:
    answers = [one(x) for x in rows]
    random.shuffle(answers)
    return answers


def permuted(rows: list[int], rng: np.random.Generator) -> Any:
    return rng.permutation([x if rng.random() < KEEP else rng.integers(KINDS) for x in rows])


def array_in_place(rows: list[int], rng: np.random.Generator) -> Any:
    answers = np.array([x if rng.random() < KEEP else rng.integers(KINDS) for x in rows])
    rng.shuffle(answers)
    return answers


def sampled(rows: list[int]) -> Any:
    answers = [one(x) for x in rows]
    first, *others = random.sample(answers, len(answers))
    return first, others


@pytest.mark.parametrize("mechanism", [shuffled_in_place, permuted, array_in_place, sampled])
@pytest.mark.parametrize("n", [2, 6])
def test_shuffled_answers(mechanism: Any, n: int) -> None:
    left, right = [1] + [0] * (n - 1), [0] * n
    found = dpest.estimate(mechanism, (left, right), method="exact")
    truth = largest(multisets(left), multisets(right))
    assert found.lower <= truth + 1e-12
    assert truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


def test_a_curve_of_shuffled_answers() -> None:
    left, right = multisets([1, 2, 0]), multisets([0, 2, 0])
    for epsilon in (0.0, 0.3, 1.0):
        e = math.exp(epsilon)
        truth = max(sum(max(0.0, a[k] - e * b[k]) for k in a) for a, b in ((left, right), (right, left)))
        found = dpest.estimate(shuffled_in_place, ([1, 2, 0], [0, 2, 0]), method="exact").delta(epsilon)
        assert found.lower - 1e-12 <= truth <= found.upper + 1e-12


def test_the_order_counts_where_it_is_used() -> None:
    def first(rows: list[int]) -> Any:
        answers = [one(x) for x in rows]
        random.shuffle(answers)
        return answers[0]

    def weighed(rows: list[int]) -> Any:
        answers = [one(x) for x in rows]
        random.shuffle(answers)
        return answers[0] + 10 * answers[1]

    p = [sum(law(x)[v] for x in (1, 0)) / 2 for v in range(KINDS)]
    truth = max(abs(math.log(a / b)) for a, b in zip(p, law(0), strict=True))
    for mechanism, expected in ((first, truth), (weighed, largest(multisets([1, 0]), multisets([0, 0])))):
        found = dpest.estimate(mechanism, ([1, 0], [0, 0]), method="exact")
        assert found.lower - 1e-12 <= expected <= found.upper + 1e-12


def test_the_sum_of_shuffled_values_is_their_sum() -> None:
    def total(rows: list[int], rng: np.random.Generator) -> Any:
        noisy = [x + rng.laplace(scale=2.0) for x in rows[:1]] + list(rows[1:])
        rng.shuffle(noisy)
        return sum(noisy)

    found = dpest.estimate(total, ([1, 0, 1, 2, 0, 1], [0, 0, 1, 2, 0, 1]), method="exact")
    assert found.lower - 1e-12 <= 0.5 <= found.upper + 1e-12


def test_values_that_share_noise_with_another_output() -> None:
    def both(rows: list[int]) -> Any:
        answers = [one(x) for x in rows]
        kept = answers[0]
        random.shuffle(answers)
        return kept, answers

    # The first answer is known, and so is the other: nothing is hidden by the shuffle.
    found = dpest.estimate(both, ([1, 0], [0, 0]), method="exact")
    truth = max(abs(math.log(a / b)) for a, b in zip(law(1), law(0), strict=True))
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12


def test_every_order_of_an_array_that_is_weighed() -> None:
    """A sum over 24 orders of 81 choices: what rounding does to it is inside the bracket."""

    def weighed(rows: list[int], rng: np.random.Generator) -> Any:
        answers = np.array([x if rng.random() < KEEP else rng.integers(KINDS) for x in rows])
        rng.shuffle(answers)
        return answers * np.arange(1, len(rows) + 1)

    found = dpest.estimate(weighed, ([1, 0, 0, 0], [0, 0, 0, 0]), method="exact")
    assert found.lower <= math.log(5.5) <= found.upper
    assert found.upper - found.lower < 1e-12

"""What an expression holds while it asks for a coin is part of the state of a loop, though no variable holds it."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest

import dpest


def truth(steps: tuple[tuple[int, float], ...], most: int = 4) -> dict[int, float]:
    """The law of min(k, most) after rounds that each add a step, and of which each is the last with probability 1/2."""
    found: Counter[int] = Counter()
    now: dict[int, float] = {0: 1.0}
    for _ in range(200):
        then: Counter[int] = Counter()
        for k, w in now.items():
            for step, p in steps:
                found[min(k + step, most)] += 0.5 * w * p  # type: ignore[assignment]
                then[k + step] += 0.5 * w * p  # type: ignore[assignment]
        now = dict(then)
    return dict(found)  # type: ignore[arg-type]


def chance(x: int) -> float:
    return 0.5 + 0.25 * x


def added(x: int) -> int:
    k = 0
    while True:
        k = k + (1 if random.random() < chance(x) else 2)
        if random.random() < 0.5:
            return min(k, 4)


def step(k: int, small: Any) -> int:
    return k + (1 if small else 2)


def handed_on(x: int) -> int:
    k = 0
    while True:
        k = step(k, random.random() < chance(x))
        if random.random() < 0.5:
            return min(k, 4)


def in_a_tuple(x: int) -> int:
    pair = (0, 0)
    while True:
        pair = (pair[0] + (1 if random.random() < chance(x) else 2), 0)
        if random.random() < 0.5:
            return min(pair[0], 4)


def named_on_the_way(x: int) -> int:
    k = 0
    while True:
        k = (old := k) + (1 if random.random() < chance(x) else 2)
        del old
        if random.random() < 0.5:
            return min(k, 4)


@pytest.mark.parametrize("mechanism", [added, handed_on, in_a_tuple, named_on_the_way])
def test_a_count_that_an_expression_holds_is_seen(mechanism: Any) -> None:
    laws = [truth(((1, chance(x)), (2, 1 - chance(x)))) for x in (0, 1)]
    loss = max(abs(math.log(laws[0][k] / laws[1][k])) for k in laws[0])
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-9 <= loss <= found.upper + 1e-9
    assert abs(found.epsilon - loss) < 1e-9
    assert found.lower > loss - 1e-6


def _two(a: Any, b: Any) -> Any:
    return a + b


def in_a_sum(x: int) -> Any:
    while True:
        y = round(math.exp(random.randrange(2))) * 10 + (0 if random.random() < 0.5 else 1)
        if y == x and random.random() < 0.5:
            continue
        return y


def in_a_sum_with_a_whole_number(x: int) -> Any:
    while True:
        y = round(math.exp(random.randrange(2))) * 10 + int(random.randrange(2))
        if y == x and random.random() < 0.5:
            continue
        return y


def in_a_list(x: int) -> Any:
    while True:
        y = sum([round(math.exp(random.randrange(2))) * 10, 0 if random.random() < 0.5 else 1])
        if y == x and random.random() < 0.5:
            continue
        return y


def among_arguments(x: int) -> Any:
    while True:
        y = _two(round(math.exp(random.randrange(2))) * 10, int(random.randrange(2)))
        if y == x and random.random() < 0.5:
            continue
        return y


def from_another_function(x: int) -> Any:
    def tens() -> int:
        return round(math.exp(random.randrange(2))) * 10

    while True:
        y = tens() + (0 if random.random() < 0.5 else 1)
        if y == x and random.random() < 0.5:
            continue
        return y


def in_a_variable_around(x: int) -> Any:
    tens = 0

    def draws() -> int:
        nonlocal tens
        tens = round(math.exp(random.randrange(2))) * 10
        return 0 if random.random() < 0.5 else 1

    while True:
        y = draws() + tens
        if y == x and random.random() < 0.5:
            continue
        return y


HELD = [in_a_sum, in_a_sum_with_a_whole_number, in_a_list, among_arguments, from_another_function, in_a_variable_around]


@pytest.mark.parametrize("mechanism", HELD)
@pytest.mark.parametrize("pair", [(10, 31), (10, 11), (30, 11)])
def test_a_number_that_was_looked_at_before_the_state_is_part_of_it(mechanism: Any, pair: tuple[int, int]) -> None:
    # One of 10, 11, 30 and 31, each alike, but for the input's own, which is drawn again every other time.
    assert pair[0] != pair[1]
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-9 <= math.log(2) <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6

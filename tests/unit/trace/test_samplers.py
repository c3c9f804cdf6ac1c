"""Functions that sample by loops, called with plain arguments: against closed forms."""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.trace.explore import trace
from dpest.trace.liveness import is_live


def bracket(mechanism: Any, pair: Any, truth: float) -> None:
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-6


def coin(p: Fraction) -> int:
    return 1 if random.randrange(p.denominator) < p.numerator else 0


def coin_exp_small(x: Fraction) -> int:
    k = 1
    while True:
        if coin(x / k) == 1:
            k += 1
        else:
            break
    return k % 2


def coin_exp(x: Fraction) -> int:
    while x > 1:
        if coin_exp_small(Fraction(1)) == 1:
            x = x - 1
        else:
            return 0
    return coin_exp_small(x)


def rounds_exp(x: Fraction) -> int:
    k = 0
    while True:
        if coin_exp(x) == 1:
            k += 1
        else:
            return k


def discrete_laplace(scale: Fraction) -> int:
    t = scale.numerator
    while True:
        u = random.randrange(t)
        if coin_exp(Fraction(u, t)) == 0:
            continue
        v = rounds_exp(Fraction(1))
        size = (v * t + u) // scale.denominator
        sign = coin(Fraction(1, 2))
        if sign == 1 and size == 0:
            continue
        return size * (1 - 2 * sign)


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(1), Fraction(9, 4)])
def test_a_coin_of_an_exponential_chance(x: Fraction) -> None:
    def flipped(bit: int) -> int:
        return bit if coin_exp(x) == 0 else 1 - bit

    p = math.exp(-float(x))
    bracket(flipped, (0, 1), abs(math.log((1 - p) / p)))


def test_discrete_laplace_by_coins_alone() -> None:
    bracket(lambda x: x + discrete_laplace(Fraction(2)), (3, 4), 0.5)


def test_permute_and_flip_with_exact_coins() -> None:
    def chosen(scores: list[int]) -> Any:
        order = list(range(len(scores)))
        random.shuffle(order)
        for i in order:
            if coin_exp(Fraction(max(scores) - scores[i], 2)):
                return i
        return None

    def chances(scores: list[int]) -> list[float]:
        out = [0.0] * len(scores)
        for order in permutations(range(len(scores))):
            left = 1 / math.factorial(len(scores))
            for i in order:
                p = math.exp((scores[i] - max(scores)) / 2)
                out[i] += left * p
                left *= 1 - p
        return out

    pair = [3, 2, 0], [2, 3, 1]
    a, b = map(chances, pair)
    bracket(chosen, pair, max(abs(math.log(p / q)) for p, q in zip(a, b, strict=True)))


TOSSES: list[int] = []
LIMIT = [3]


def counted_coin() -> int:
    TOSSES.append(1)
    while secrets.randbelow(3) == 0:
        TOSSES.append(1)
    return len(TOSSES) % 2


def limited(n: int) -> int:
    k = 0
    while k < LIMIT[0] and secrets.randbelow(n) == 0:
        k += 1
    return k


def test_what_a_function_can_change_or_see_changing_is_no_sampler() -> None:
    from dpest.trace.samplers import sees_only_values

    assert not sees_only_values(counted_coin)
    assert not sees_only_values(limited)
    assert sees_only_values(coin_exp)
    state = 0

    def closing() -> int:
        nonlocal state
        while random.random() < 0.5:
            state += 1
        return state

    assert not sees_only_values(closing)
    assert not sees_only_values(len)


def test_a_generator_as_an_argument() -> None:
    def tosses(p: float, rng: np.random.Generator) -> bool:
        even = True
        while rng.random() < p:
            even = not even
        return even

    def told(bit: int, rng: np.random.Generator) -> list[int]:
        return [bit ^ int(tosses(0.25, rng)) for _ in range(3)]

    even = 1 / (1 + 0.25)  # an even number of successes before the first failure
    bracket(told, (0, 1), 3 * math.log(even / (1 - even)))


def test_draws_of_an_earlier_round_that_nobody_reads() -> None:
    def redrawn(x: float, rng: np.random.Generator) -> Any:
        while True:
            sign = rng.integers(2)
            size = rng.geometric(0.5) - 1
            if sign == 1 and size == 0:
                continue
            return x + size * (1 - 2 * sign)

    bracket(redrawn, (0, 1), math.log(2))
    assert trace(redrawn, 0, {}).cycles


def test_a_variable_that_is_read_in_the_next_round_is_state() -> None:
    def remembering(x: int, rng: np.random.Generator) -> Any:
        last = x
        while True:
            now = int(rng.integers(2))
            if now == 1 and last == 1:
                return "twice"
            if rng.random() < 0.5:
                return "stopped"
            last = now

    # P(twice) after a one is a, after a zero b: a = 1/2 + 1/4 b, b = 1/4 a + 1/4 b.
    b = 0.125 / (0.75 - 0.0625)
    a = 0.5 + b / 4
    bracket(remembering, (0, 1), max(math.log(a / b), math.log((1 - b) / (1 - a))))


def test_which_variables_are_live() -> None:
    def loop(n: int) -> int:
        total = 0
        while n:
            part = n * 2
            n = len(str(part)) - n
        return total

    code = loop.__code__
    import dis

    at = next(i.offset for i in dis.get_instructions(code) if i.opname.startswith("CALL") and i.offset > 0)
    assert is_live(code, at, "n")
    assert is_live(code, at, "total")
    assert not is_live(code, at, "part")

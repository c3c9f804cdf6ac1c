"""Loops that end after many tries, and tosses that hardly ever come up: what is rare is part of the answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import mpmath
import pytest

import dpest
from dpest.trace.outcomes import outcomes


def after_a_hundred_tries(x: int) -> int:
    for _ in range(100):
        if random.random() < 0.5:
            return 0
    return x


def after_a_hundred_states(x: int) -> int:
    k = 0
    while k < 100 and dpest.bernoulli(0.5):
        k += 1
    return x if k >= 100 else 0


def after_many_tries(x: int) -> int:
    tries = 0
    while True:
        z = random.randrange(6)
        if z < 2:
            return z
        tries += 1
        if tries > 300:
            return 7 + x


def after_many_releases(x: int) -> float:
    for _ in range(400):
        z = x + dpest.laplace(1)
        if z > 0:
            return z
    return -x


def called_again(x: int) -> int:
    def go(n: int) -> int:
        if n > 100:
            return x
        if random.random() < 0.5:
            return 0
        return go(n + 1)

    return go(0)


def less_likely_than_any_double(x: int) -> int:
    k = 0
    while dpest.uniform(0, 1) < 1e-20:
        k += 1
        if k >= 300:
            return 7 + x
    return min(k, 2)


@pytest.mark.parametrize(
    "mechanism",
    [
        after_a_hundred_tries,
        after_a_hundred_states,
        after_many_tries,
        after_many_releases,
        called_again,
        less_likely_than_any_double,
    ],
)
def test_what_is_returned_after_the_last_try_is_not_left_out(mechanism: Callable[[int], Any]) -> None:
    """The output after the last try tells the input: the loss is infinite. It was said to be 0, with an upper end of 1e-12."""
    assert dpest.estimate(mechanism, (1, 2), method="exact").upper == math.inf


def test_a_hundred_tries_are_followed_to_their_end() -> None:
    assert dpest.estimate(after_a_hundred_tries, (1, 2), method="exact").lower == math.inf
    assert dpest.estimate(after_a_hundred_states, (1, 2), method="exact").lower == math.inf


# -- tosses that hardly ever come up ------------------------------------------------------------------------------------


def laplace_tosses(x: float) -> bool:
    k = 0
    while x + dpest.laplace(1) > 30:
        k += 1
    return k >= 3


def gaussian_tosses(x: float) -> bool:
    k = 0
    while x + dpest.gaussian(1) > 7:
        k += 1
    return k > 0


def rare_coins(p: float) -> bool:
    k = 0
    while dpest.bernoulli(p):
        k += 1
    return k > 0


def nearly_sure(p: float) -> bool:
    k = 0
    while random.random() < p:
        k += 1
    return k > 3


def _tail(x: float) -> mpmath.mpf:
    return mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize(
    ("mechanism", "pair", "truth"),
    [
        (laplace_tosses, (0, 1), 3.0),  # 3.0042
        (gaussian_tosses, (0, 1), mpmath.log(_tail(6) / _tail(7))),  # 4e-5 too small
        (rare_coins, (1e-30, 2e-30), mpmath.log(2)),  # 0
        (rare_coins, (1e-14, 3e-14), mpmath.log(mpmath.mpf(3e-14) / 1e-14)),
        (nearly_sure, (0.99, 0.97), mpmath.log((1 - mpmath.mpf(0.97) ** 4) / (1 - mpmath.mpf(0.99) ** 4))),
    ],
)
def test_the_chance_of_a_round_keeps_its_digits(mechanism: Callable[[Any], Any], pair: tuple[float, float], truth: Any) -> None:
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-8


# -- what code can return -----------------------------------------------------------------------------------------------


def odd(x: int) -> int:
    k = x
    while random.random() < 0.5:
        k += 1
    return k % 2


def odd_of_what_may_be_a_float(x: Any) -> Any:
    k = x
    while random.random() < 0.5:
        k += 0.25
    return k % 2


def truncated(x: float) -> int:
    return int(x % 3)


def decided(x: int) -> bool:
    while True:
        if random.random() < 0.5:
            return x > 3
        if odd(x):
            return False


def kept_between(x: int) -> int:
    return min(3, max(1, x + odd(x)))


def below_twice(x: int) -> int:
    return min(3, min(1, x))


def may_end_without(x: int) -> Any:
    if x > 3:
        return 1


def rebound(x: int) -> Any:
    k: Any = 0
    for k in (0.5, 1.5):
        if k > x:
            break
    return k % 2


def caught(x: int) -> Any:
    k = 0
    try:
        k += 1
    except ValueError as error:
        k = error.args[0]
    return k % 2


def changed_by_another(x: int) -> Any:
    k: Any = 0

    def change() -> None:
        nonlocal k
        k = 0.5

    change()
    return k % 2


def chosen(x: int) -> str:
    kind = "a" if x > 3 else "b"
    return kind


def by_keyword(x: int, *, k: Any = 0.5) -> Any:
    return k % 2


def of_many(*x: Any) -> Any:
    return x


def again_and_again(x: int) -> Any:
    if x > 3:
        return again_and_again(x - 1)
    return again_and_again(x - 2) if x > 2 else 0


def halved(x: Any) -> Any:
    return halved(x / 2) if x > 3 else x % 2


def even_of_the_rest(x: int) -> bool:
    return x == 0 or odd_of_the_rest(x - 1)


def odd_of_the_rest(x: int) -> bool:
    return False if x == 0 else even_of_the_rest(x - 1)


KNOWN: list[tuple[Any, Any, set[Any] | None]] = [
    (odd, 3, {0, 1}),
    (odd, 3.5, None),
    (odd_of_what_may_be_a_float, 3, None),
    (truncated, 0.5, {0, 1, 2}),
    (decided, 3, {False, True}),
    (kept_between, 3, {1, 2, 3}),
    (kept_between, 0.5, None),
    (below_twice, 3, None),
    (may_end_without, 3, None),
    (rebound, 3, None),
    (caught, 3, None),
    (changed_by_another, 3, None),
    (chosen, 3, {"a", "b"}),
    (by_keyword, 3, None),
    (of_many, 3, None),
    (again_and_again, 3, {0}),
    (halved, 3, None),  # a whole number at first
    (even_of_the_rest, 3, {False, True}),
    (math.floor, 3, None),
]


@pytest.mark.parametrize(("function", "x", "known"), KNOWN)
def test_what_a_function_can_return(function: Any, x: Any, known: set[Any] | None) -> None:
    assert outcomes(function, (x,)) == known

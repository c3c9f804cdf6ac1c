"""Coins tossed until one fails, in the forms of loops and recursion that people write: geometric noise in all of them."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused
from dpest.run.settings import Sides, sides_kept

P = 1 - math.exp(-1.0)


def over_count() -> int:
    for k in itertools.count():
        if random.random() < P:
            return k
    raise AssertionError


def over_count_from_one() -> int:
    for k in count(1):  # noqa: B007
        u = random.random()
        if u < P:
            break
    return k


def flagged() -> int:
    n, done = 0, False
    while not done:
        done = random.random() < P
        if not done:
            n += 1
    return n


def flagged_trials() -> int:
    trials, success = 0, False
    while not success:
        trials += 1
        success = random.random() < P
    return trials


def flagged_in_an_if() -> int:
    n = 0
    going = True
    while going:
        if random.random() < P:
            going = False
        else:
            n += 1
    return n


def truth_added() -> int:
    n, done = 0, False
    while not done:
        done = random.random() < P
        n += not done
    return n


def recursive() -> int:
    return 0 if random.random() < P else 1 + recursive()


def recursive_with_if(p: float = P) -> int:
    if random.random() < p:
        return 2
    return recursive_with_if(p) + 1


def recursive_with_the_count(k: int = 0) -> int:
    return k if random.random() < P else recursive_with_the_count(k + 1)


def nested() -> int:
    def flip(p: float) -> bool:
        return random.random() < p

    def geo(p: float) -> int:
        if flip(p):
            return 0
        return 1 + geo(p)

    return geo(P)


def continued() -> int:
    k = 0
    while True:
        if random.random() >= P:
            k += 1
            continue
        return k


def tossed_before() -> int:
    def bit() -> int:
        return int(random.random() >= P)

    k = 0
    b = bit()
    while b:
        k += 1
        b = bit()
    return k


def tossed_beside() -> int:
    k, u = 0, random.random()
    while u >= P:
        u = random.random()
        k += 1
    return k


def backwards() -> int:
    n = 0
    while random.random() >= P:
        n -= 1
    return n


FORMS = [
    *(over_count, over_count_from_one, flagged, flagged_trials, flagged_in_an_if, truth_added, recursive, recursive_with_if),
    *(recursive_with_the_count, nested, continued, tossed_before, tossed_beside, backwards),
]


@pytest.mark.parametrize("form", FORMS)
def test_the_difference_of_two_counts_is_geometric_noise(form: Callable[[], int]) -> None:
    def mechanism(x: int) -> int:
        return x + form() - form()

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower <= 1.0 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_flag_that_is_read_behind_the_loop_keeps_its_value() -> None:
    def mechanism(x: float) -> tuple[bool, int]:
        n, done = 0, False
        while not done:
            if n == 3:
                break
            done = random.random() < x
            n += 1
        return done, n

    def law(p: float) -> dict[tuple[bool, int], float]:
        return {(False, 3): (1 - p) ** 3, **{(True, k): p * (1 - p) ** (k - 1) for k in (1, 2, 3)}}

    # After the third toss that fails, n is 3 and the loop is left with the flag down.
    p, q = law(0.25), law(0.5)
    truth = max(abs(math.log(p[key] / q[key])) for key in p)
    r = dpest.estimate(mechanism, (0.25, 0.5), method="exact")
    assert r.lower <= truth <= r.upper


def test_another_count_is_not_taken_for_that_of_itertools() -> None:
    def mechanism(x: int) -> int:
        def count() -> Any:
            return iter([5, 6, 7, 8])

        for k in count():
            if random.random() < 0.5:
                return x + k
        return x + 9

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower == r.upper == math.inf  # 5 comes with x = 0 only


def test_retrying_by_recursion_is_a_rejection_loop() -> None:
    def retry(n: int) -> int:
        k = random.randrange(8)
        if k >= n:
            return retry(n)
        return k

    r = dpest.estimate(lambda n: retry(n) > 1, (5, 6), method="exact")
    truth = max(math.log((4 / 6) / (3 / 5)), math.log((2 / 5) / (2 / 6)))
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_bounded_walk_is_a_chain_of_few_states() -> None:
    def mechanism(x: int) -> int:
        s, steps = x, 0
        while abs(s) < 3 and steps < 20:
            s += random.choice([-1, 1])
            steps += 1
        return s

    def law(x: int) -> dict[int, float]:
        inside, out = {x: 1.0}, dict[int, float]()
        for _ in range(20):
            after: dict[int, float] = {}
            for s, p in inside.items():
                for t in (s - 1, s + 1):
                    kept = out if abs(t) >= 3 else after
                    kept[t] = kept.get(t, 0.0) + p / 2
            inside = after
        return {**out, **inside}

    p, q = law(0), law(2)
    truth = max(abs(math.log(p[s] / q[s])) for s in p)
    r = dpest.estimate(mechanism, (0, 2), method="exact")
    assert r.lower <= truth + 1e-14
    assert truth - 1e-14 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_recursion_without_end_is_told_and_not_followed() -> None:
    def deep(x: float) -> Any:
        return deep(x)

    def endless(x: float) -> Any:
        return 0 if x > 1e9 else 1 + endless(x)

    def mechanism(x: float, then: Any) -> Any:
        return "above" if x + dpest.laplace(1) > 0 else then(x)

    for function in (deep, endless, lambda x: mechanism(x, deep), lambda x: mechanism(x, endless)):
        with pytest.raises(ExactRefused, match="recurses deeper than Python allows"):
            dpest.estimate(function, (0, 1), method="exact")


def test_a_loop_that_counts_downwards_in_steps() -> None:
    """k <= -4 takes two heads, k <= -2 one: 1/4 and 1/2."""

    def mechanism(x: int) -> str:
        k = 0
        while random.random() < 0.5:
            k -= 2
        return "low" if k + x < -3 else "high"

    found = dpest.estimate(mechanism, (0, -2), method="exact")
    assert found.lower <= math.log(2) <= found.upper
    assert found.upper - found.lower < 1e-9


def test_a_number_that_is_added_through_another_name_of_an_array() -> None:
    """x + 1 + one of 0, 1, 2 is above 2 once in three times for x = 0, and twice for x = 1."""

    def mechanism(x: int, rng: np.random.Generator) -> bool:
        noisy = x + rng.integers(3, size=2)
        other = noisy
        other += 1
        return bool(noisy[0] > 2)

    for sides in Sides:
        with sides_kept(sides):
            found = dpest.estimate(mechanism, (0, 1), method="exact")
        assert found.lower <= math.log(2) <= found.upper
        assert found.upper - found.lower < 1e-9


def _between(x: float, low: float, high: float) -> float:
    return math.erf((high - x) / 2 / math.sqrt(2)) / 2 - math.erf((low - x) / 2 / math.sqrt(2)) / 2


def _named_in_the_test(x: float) -> Any:
    while not 0 <= (y := x + random.gauss(0, 2)) <= 4:
        pass
    return y


def _named_first(x: float) -> Any:
    tries = 0
    while (y := x + random.gauss(0, 2)) < 0 or y > 4:
        tries += 1
    return y


def _named_behind_a_variable(x: float) -> Any:
    low = 0.0
    while True:
        if low < (y := x + random.gauss(0, 2)) < 4:
            break
    return y


@pytest.mark.parametrize("mechanism", [_named_in_the_test, _named_first, _named_behind_a_variable])
def test_values_that_a_test_names_are_drawn_until_they_lie_between_two_bounds(mechanism: Callable[[float], Any]) -> None:
    # ln f(y | 1) / f(y | 2) is linear in y: largest at an end.
    ratios = [((y - 2) ** 2 - (y - 1) ** 2) / 8 - math.log(_between(1, 0, 4) / _between(2, 0, 4)) for y in (0, 4)]
    found = dpest.estimate(mechanism, (1, 2), method="exact")
    assert found.lower <= max(map(abs, ratios)) <= found.upper
    assert found.upper - found.lower < 1e-9


def test_a_name_that_a_call_before_it_may_change_stays_where_it_is() -> None:
    def mechanism(x: int) -> int:
        bound = 0

        def raised() -> Any:
            nonlocal bound
            bound += 1
            return x + dpest.integers(0, 3)

        return 1 if bound < (y := raised()) and bound < y else 0

    # The bound is read before it is raised, and once more behind: 0 < y and 1 < y, where y is x + 0, 1, 2 or 3.
    p = [sum(x + k > 1 for k in range(4)) / 4 for x in (0, 1)]
    q = [1 - y for y in p]
    truth = max(abs(math.log(a[0] / a[1])) for a in (p, q))
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12

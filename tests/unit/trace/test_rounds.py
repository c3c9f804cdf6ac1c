"""Loops whose rounds are alike are a geometric series; loops with a memory are not taken for one."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import dpest
from dpest.errors import ExactRefused
from dpest.trace.explore import trace
from dpest.trace.rounds import kept_in_a_loop

L = dpest.laplace


def cdf(x: float) -> float:
    return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)


def rejection(x: float) -> Any:
    z = x + L(1)
    while abs(z) > 3:
        z = x + L(1)
    return z > 1.5


def walrus(x: float) -> Any:
    while abs(z := x + L(1)) > 3:
        pass
    return z > 1.5


def endless(x: float) -> Any:
    while True:
        z = x + L(1)
        if -3 <= z <= 3:
            return z > 1.5


def in_a_function(x: float) -> Any:
    def truncated() -> Any:
        while True:
            z = x + L(1)
            if abs(z) <= 3:
                return z

    return truncated() > 1.5


def two_in_a_row(x: float) -> Any:
    while abs(a := x + L(1)) > 3:
        pass
    while abs(b := L(1)) > 3:
        pass
    return a > 1.5, b > 1.5


def truncated_law(x: float) -> tuple[Any, Any]:
    with mp.workdps(40):

        def cdf(y: float) -> Any:
            return mp.exp(y) / 2 if y < 0 else 1 - mp.exp(-y) / 2

        mass = cdf(3 - x) - cdf(-3 - x)
        return (cdf(3 - x) - cdf(1.5 - x)) / mass, (cdf(1.5 - x) - cdf(-3 - x)) / mass


@pytest.mark.parametrize("mechanism", [rejection, walrus, endless, in_a_function, two_in_a_row])
@pytest.mark.parametrize("pair", [(0, 1), (0, 0.25), (-2, 2)])
def test_rejection_sampling_has_the_truncated_law(mechanism: Any, pair: tuple[float, float]) -> None:
    p, q = (truncated_law(x) for x in pair)
    truth = max(abs(float(mp.log(a / b))) for a, b in zip(p, q, strict=True))
    r = dpest.estimate(mechanism, pair, method="exact")
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-12
    assert len(trace(mechanism, pair[0], {}).paths) <= 9


def test_a_loop_inside_a_loop() -> None:
    def nested(x: float) -> Any:
        while True:
            while True:
                a = L(1)
                if a > 0:
                    break
            if a + x > 1:
                return 1
            if dpest.bernoulli(0.5):
                return 2

    def law(x: float) -> float:  # P(1): each outer round ends with 1, or else with 2 half of the time
        first = math.exp(-(1 - x))
        return first / (first + (1 - first) / 2)

    truth = max(abs(math.log(law(0) / law(0.5))), abs(math.log((1 - law(0)) / (1 - law(0.5)))))
    r = dpest.estimate(nested, (0, 0.5), method="exact")
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-12


def test_a_way_around_that_depends_on_the_input() -> None:
    def stops(x: float) -> Any:
        while True:
            if dpest.bernoulli(0.25):
                return "a"
            if x + L(1) > 1:
                return "b"

    def law(x: float) -> float:
        beyond = 1 - cdf(1 - x)
        return 0.25 / (0.25 + 0.75 * beyond)

    truth = max(abs(math.log(law(0) / law(1))), abs(math.log((1 - law(0)) / (1 - law(1)))))
    r = dpest.estimate(stops, (0, 1), method="exact")
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-12


def counted(x: int) -> Any:
    k = 0
    while dpest.bernoulli(0.5):
        k += 1
    return x if k == 30 else -1


def remembered_in_a_list(x: int) -> Any:
    seen: list[int] = []
    while dpest.bernoulli(0.5):
        seen.append(1)
    return x if len(seen) == 30 else -1


def remembered_by_an_iterator(x: int) -> Any:
    steps = iter(range(10**6))
    while dpest.bernoulli(0.5):
        next(steps)
    return x if next(steps) == 30 else -1


class Counter:
    def __init__(self) -> None:
        self.k = 0


def remembered_in_an_object(x: int) -> Any:
    c = Counter()
    while dpest.bernoulli(0.5):
        c.k += 1
    return x if c.k == 30 else -1


def remembered_by_a_default(x: int) -> Any:
    def rounds(seen: list[int] = []) -> int:  # noqa: B006  (the state that must be seen)
        seen.append(1)
        return len(seen) - 1

    while dpest.bernoulli(0.5):
        rounds()
    return x if rounds() == 30 else -1


def remembered_in_a_class(x: int) -> Any:
    class Rounds:
        done = 0

    while dpest.bernoulli(0.5):
        Rounds.done += 1
    return x if Rounds.done == 30 else -1


@pytest.mark.parametrize(
    "mechanism",
    [
        counted,
        remembered_in_a_list,
        remembered_by_an_iterator,
        remembered_in_an_object,
        remembered_by_a_default,
        remembered_in_a_class,
    ],
)
def test_a_loop_with_a_memory_is_not_a_series(mechanism: Any) -> None:
    """After thirty rounds the input is returned: no round is like another."""
    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.upper == math.inf
    assert r.lower > 20


def test_a_threshold_that_the_loop_looks_at_is_a_memory() -> None:
    """Each round says more about the threshold: the weights of the rounds are no geometric series."""

    def passes(x: float) -> Any:
        t = L(1)
        while L(1) < t:
            pass
        return t > x

    with pytest.raises(ExactRefused, match="random decisions"):
        dpest.estimate(passes, (0, 1), method="exact")


def test_the_weight_of_a_long_loop_is_joint() -> None:
    """Conditions on one draw are not independent: what is left after many of them is one tail."""

    def walk(x: int) -> Any:
        d, k = dpest.geometric(3), 0
        while d > k:
            k += 1
        return x if k == 30 else -1

    r = dpest.estimate(walk, (0, 1), method="exact")
    assert r.upper == math.inf
    assert r.lower > 10


def test_a_trace_keeps_the_tightest_conditions() -> None:
    def between(x: float) -> Any:
        z = x + L(1)
        return "in" if z > 0 and z > 1 and z < 5 and z < 3 else "out"

    (inside,) = [p for p in trace(between, 0, {}).paths if p.output.leaves == ("in",)]
    assert sorted(float(c.constant) for c in inside.conditions) == [-1.0, 3.0]
    assert len(inside.steps) == 4


def best_of_a_random_number(scores: list[int], rng: Any, gamma: float = 0.3) -> Any:
    best = None
    while True:
        i = rng.integers(0, len(scores))
        passed = 1 if rng.random() < 1 / (1 + math.exp(-scores[i])) else 0
        if best is None or (passed, i) > best:
            best = (passed, i)
        if rng.random() < gamma:
            return best


def test_the_best_of_a_random_number_of_tries_is_state_with_few_values() -> None:
    # Rung: closed form. The largest of N tries, N geometric, has the cdf gamma F / (1 - (1 - gamma) F).
    def law(scores: list[int]) -> list[float]:
        passes = [1 / (1 + math.exp(-s)) for s in scores]
        weights = [(1 - p) / len(scores) for p in passes] + [p / len(scores) for p in passes]
        ends = [0.3 * f / (1 - 0.7 * f) for f in (sum(weights[: k + 1]) for k in range(len(weights)))]
        return [b - a for a, b in zip([0.0, *ends], ends, strict=False)]

    pair = [1, -1], [0, 0]
    truth = max(abs(math.log(p / q)) for p, q in zip(*map(law, pair), strict=True))
    result = dpest.estimate(best_of_a_random_number, pair, method="exact")
    assert result.lower <= truth + 1e-12
    assert truth - 1e-12 <= result.upper
    assert result.upper - result.lower < 1e-9


TICKS = [0]


def _start() -> None:
    TICKS[0] = 0


def _tick() -> None:
    TICKS[0] += 1


def _ticks() -> int:
    return TICKS[0]


class Clock:
    """Counts in a variable that none of its users names."""

    def tick(self) -> None:
        _tick()


@pytest.mark.parametrize("tick", [_tick, Clock().tick])
def test_a_loop_whose_count_only_other_functions_name(tick: Callable[[], None]) -> None:
    """A state that no frame names is state: min(rounds, 3) of a loop that goes on with probability 0.5 or 0.6."""

    def mechanism(x: int, rng: np.random.Generator) -> int:
        _start()
        while rng.random() < 0.5 + 0.1 * x:
            tick()
        return min(_ticks(), 3)

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= 3 * math.log(0.6 / 0.5) <= found.upper + 1e-12


def _one(z: Any) -> int:
    if z == 1:
        return 1
    return 0


def test_code_that_a_function_calls_again_and_again_is_no_loop() -> None:
    """How far `reduce` has come shows in no variable: the sum of two coins of chance 1/2 or 1/3."""

    def mechanism(x: int, rng: np.random.Generator) -> int:
        total, waiting = 0, True
        while waiting:
            total = reduce(lambda a, b: _one(rng.integers(2 + x)) + a, [1, 1], 0)
            waiting = False
        return total

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= math.log((1 / 4) / (1 / 9)) <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


def _until_small(rng: np.random.Generator) -> Any:
    while abs(z := rng.laplace()) > 1:
        pass
    return z


class _Holder:
    """A function as an attribute, and an object that is called."""

    def __init__(self) -> None:
        self.sampler = _until_small
        self.inner = {"first": _until_small}

    def __call__(self, rng: np.random.Generator) -> Any:
        while abs(z := rng.laplace()) > 1:
            pass
        return z


@pytest.mark.parametrize("way", ["attribute", "partial", "key", "called", "place"])
def test_a_loop_in_a_function_that_is_found_in_an_object_is_summed(way: str) -> None:
    """Rung: closed form. A Laplace value between -1 and 1, moved by 1/2: outputs beyond one of both ranges show the input."""
    holder, several = _Holder(), [_until_small]
    named = partial(_until_small)
    ways: dict[str, Callable[..., Any]] = {
        "attribute": lambda x, rng: x + holder.sampler(rng) > 0.25,
        "partial": lambda x, rng: x + named(rng) > 0.25,
        "key": lambda x, rng: x + holder.inner["first"](rng) > 0.25,
        "called": lambda x, rng: x + holder(rng) > 0.25,
        "place": lambda x, rng: x + several[0](rng) > 0.25,
    }
    mechanism = ways[way]
    found = dpest.estimate(lambda x, rng: mechanism(x, rng), (0, 0.5), method="exact")
    inside = 1 - math.exp(-1)
    above = [(math.exp(-0.25) - math.exp(-1)) / 2 / inside, (1 - math.exp(-0.25)) / 2 / inside + 0.5]
    truth = max(abs(math.log(p / q)) for p, q in ((above[0], above[1]), (1 - above[0], 1 - above[1])))
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


@pytest.mark.parametrize(
    ("first", "last", "kept"),
    [(0, 16, True), (1000, 1003, True), (-50, -40, True), (0, 17, False), (-50, 50, False), (-9, 8, False)],
)
def test_draws_that_a_while_loop_compares_are_kept_where_they_have_few_points(first: int, last: int, kept: bool) -> None:
    """Few are those that lie at most 16 apart, wherever they lie."""
    draws = [dpest.integers(first, last) for _ in range(2)]

    def called(mechanism: Callable[[], Any]) -> Any:
        return mechanism()

    def in_a_loop() -> Any:
        found = None
        while found is None:
            found = kept_in_a_loop((draws[0] > draws[1]).node, called.__code__)
        return found

    def outside() -> Any:
        found = kept_in_a_loop((draws[0] > draws[1]).node, called.__code__)
        return found

    assert {id(d) for d in called(in_a_loop)} == ({id(d.node) for d in draws} if kept else set())
    assert called(outside) == []

"""A value with listed points, used where Python wants a plain number: the run forks on it."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError, RandomTruth

A, B = (0.5, 0.25, 0.25), (0.2, 0.2, 0.6)  # the laws of an index on the two inputs
THREE = math.log(3)


def index(x: int) -> Any:
    return dpest.categorical(B if x else A)


def bit(x: int) -> Any:
    return dpest.bernoulli(0.75 if x else 0.25)


def popped(x: int) -> list[str]:
    left = ["a", "b", "c"]
    left.pop(index(x))
    return left


def loss(p: Any, q: Any) -> float:
    """The largest |ln p/q| over outcomes."""
    return max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True))


PLAIN = loss(A, B)
ANSWERED: dict[str, tuple[Callable[[int], Any], float]] = {
    "a list's item": (lambda x: ["a", "b", "c"][index(x)], PLAIN),
    "an array's item": (lambda x: np.array([3.0, 5.0, 7.0])[index(x)], PLAIN),
    "two items alike": (lambda x: ["a", "a", "c"][index(x)], loss((0.75, 0.25), (0.4, 0.6))),
    "pop": (popped, PLAIN),
    "range": (lambda x: [1 for _ in range(index(x))], PLAIN),
    "a dict's item": (lambda x: {0: "a", 1: "b", 2: "c"}[index(x)], PLAIN),
    "dict.get": (lambda x: {0: "a"}.get(index(x), "d"), loss((0.5, 0.5), (0.2, 0.8))),
    "in a set": (lambda x: index(x) in {0, 1}, loss((0.75, 0.25), (0.4, 0.6))),
    "a counter": (lambda x: Counter([bit(x), bit(x)])[1], 2 * THREE),
    "int of a truth value": (lambda x: int(bit(x) == 1), THREE),
    "int of a comparison of noise": (lambda x: int(x + dpest.laplace(1.0) > 1), math.log(math.exp(1))),
    "math.exp": (lambda x: math.exp(index(x)), PLAIN),
    "a sum": (lambda x: ["a", "b", "c"][bit(x) + bit(x)], 2 * THREE),
    "points off the whole numbers": (lambda x: math.exp(index(x) * 0.1 + 0.3), PLAIN),
    "a character": (lambda x: chr(65 + index(x)), PLAIN),
    "the exponential mechanism's candidate": (
        lambda x: ["u", "v", "w"][dpest.argmax([x + dpest.gumbel(1.0), dpest.gumbel(1.0), dpest.gumbel(1.0)])],
        math.log(3 * math.e / (math.e + 2)),
    ),
    "two numbers that depend on each other": (lambda x: (lambda k: ("a", "b", "c")[k] + "xyz"[k])(index(x)), PLAIN),
    "a geometric count": (lambda x: min(5, len(range(abs(dpest.geometric(1.0) + x)))), 1.0),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_the_run_forks_on_the_value(name: str) -> None:
    mechanism, truth = ANSWERED[name]
    result = dpest.estimate(mechanism, (0, 1), method="exact")
    assert result.lower <= truth + 1e-12
    assert truth - 1e-12 <= result.upper
    assert result.epsilon == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("name", ["a list's item", "a dict's item", "math.exp"])
def test_sampling_forks_too(name: str) -> None:
    mechanism, truth = ANSWERED[name]
    result = dpest.estimate(mechanism, (0, 1), method="sampling", samples=20_000, seed=1, progress=False)
    assert result.lower <= truth <= result.upper


def test_whole_numbers_without_end_are_followed_while_they_weigh_something() -> None:
    result = dpest.estimate(lambda x: math.exp(x + dpest.geometric(1.0)), (0, 1), method="exact")
    assert result.lower <= 1.0 <= result.upper


def test_half_an_index_is_refused() -> None:
    with pytest.raises(RandomTruth, match="an index or a range"):
        dpest.estimate(lambda x: [1, 2][dpest.Dist.from_atoms({0.5: 0.5, 1.5: 0.5})], (0, 1))


def test_what_is_remembered_between_runs_is_no_wrong_answer() -> None:
    @functools.lru_cache
    def remembered(k: Any) -> Any:
        return k

    try:
        result = dpest.estimate(lambda x: remembered(index(x)), (0, 1), method="exact")
    except DpestError:
        return
    assert result.lower <= PLAIN <= result.upper


def test_a_key_is_the_number_that_the_program_computes() -> None:
    """3 * (0.1 * 3) is 0.9000000000000001, and 0.9 is no key of this table."""

    def mechanism(x: int) -> object:
        table = {3 * (0.1 * i): i for i in range(-3, 4)}
        return table[3 * (0.1 * dpest.integers(-3, 3))] + x

    assert dpest.estimate(mechanism, (0, 0), method="exact").upper == 0.0
    assert dpest.estimate(mechanism, (0, 1), method="exact").lower == math.inf

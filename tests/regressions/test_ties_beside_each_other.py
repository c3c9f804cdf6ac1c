"""Outputs that are equal in rationals and not in doubles: 0.1 * 3 <= 0.3 does not hold, 0.1 * 3 + 0.2 <= 0.5 does."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest


def tenths(k: Any) -> Any:
    return k * 0.1 <= 0.3, 0.1 * k + 0.2 <= 0.5


def turned_round(k: Any) -> Any:
    return 0.1 * k + 0.2 <= 0.5, k * 0.1 <= 0.3


def alike(k: Any) -> Any:
    return k * 0.1 <= 0.3, k * 0.1 <= 0.3


@pytest.mark.parametrize("shown", [tenths, turned_round, alike])
def test_ties_that_the_program_rounds_apart(shown: Any) -> None:
    laws: list[dict[Any, Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
    for x, law in enumerate(laws):
        for k in range(6 + x):
            law[shown(k)] += Fraction(1, 6 + x)
    r = dpest.estimate(lambda x: shown(dpest.integers(0, 5 + x)), (0, 1), method="exact")
    loss = max(abs(math.log(p / laws[1][key])) for key, p in laws[0].items())
    delta = max(float(sum(max(a[key] - b[key], 0) for key in a)) for a, b in (laws, laws[::-1]))
    found = r.delta(0.0)
    assert r.lower - 1e-12 <= loss <= r.upper + 1e-12
    assert found.lower - 1e-12 <= delta <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


def cut_off(k: Any, m: Any) -> Any:
    return k, int((m / 10 + k / 10) * 10)


def cut_off_alone(k: Any, m: Any) -> Any:
    return int((m / 10 + k / 10) * 10)


def rounded_down(k: Any, m: Any) -> Any:
    return k, math.floor((m / 10 + k / 10) * 10)


def without_a_rest(k: Any, m: Any) -> Any:
    return k, (m / 10 + k / 10) * 10 // 1


def nearest(k: Any, m: Any) -> Any:
    return k, round((m / 10 + k / 10) * 10)


def by_numpy(k: Any, m: Any) -> Any:
    return k, np.trunc((m / 10 + k / 10) * 10)


def of_a_type(k: Any, m: Any) -> Any:
    return k, np.asarray([(m / 10 + k / 10) * 10]).astype(int)[0]


def in_words(k: Any, m: Any) -> Any:
    return k, "abcdefghijk"[int((m / 10 + k / 10) * 10)]


def is_whole(k: Any, m: Any) -> Any:
    return k, (m / 10 + k / 10) * 10 == int((m / 10 + k / 10) * 10)


@pytest.mark.parametrize("size", [2, 5, 7])
@pytest.mark.parametrize(
    "shown", [cut_off, cut_off_alone, rounded_down, without_a_rest, nearest, by_numpy, of_a_type, in_words, is_whole]
)
def test_whole_in_rationals_and_not_in_doubles(shown: Any, size: int) -> None:
    """(0.1 + 0.7) * 10 is 7.999...: int() gives 7. With many cases, sides and points are kept together."""

    def mechanism(x: int, rng: np.random.Generator) -> Any:
        return shown(int(rng.integers(0, size + x)), int(rng.integers(0, 3)))

    laws: list[dict[Any, Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
    for x, law in enumerate(laws):
        for k in range(size + x):
            for m in range(3):
                law[shown(k, m)] += Fraction(1, 3 * (size + x))
    delta = max(float(sum(max(a[key] - b[key], 0) for key in {*a, *b})) for a, b in (laws, laws[::-1]))
    r = dpest.estimate(mechanism, (0, 1), method="exact")
    found = r.delta(0.0)
    assert found.lower - 1e-12 <= delta <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9
    if all(laws[0][key] > 0 for key in laws[1]):
        loss = max(abs(math.log(laws[0][key] / laws[1][key])) for key in laws[1])
        assert r.lower - 1e-12 <= loss <= r.upper + 1e-12
    else:
        assert r.lower == math.inf


def one_less_both(a: list[Any]) -> Any:
    return max(a) - (a[0] + a[1])


def spread_less_sum(a: list[Any]) -> Any:
    return np.ptp(a) - (a[0] + a[1]), a[0] > 0.1


def first_beside_both(a: list[Any]) -> Any:
    return (a[0] + a[1]) - a[0] if a[1] > 0.15 else 0.0


@pytest.mark.parametrize("shown", [one_less_both, spread_less_sum, first_beside_both])
@pytest.mark.parametrize("pair", [([1, 1], [1, 3]), ([1, 2], [2, 2]), ([0, 3], [1, 3])])
def test_draws_that_cancel_in_rationals_and_not_in_doubles(shown: Any, pair: Any) -> None:
    """0.3 - (0.2 + 0.3) is -0.2 or the double next to it, by what a[0] and a[1] are: outputs are the program's doubles."""

    def mechanism(x: list[int]) -> Any:
        return shown([k * 0.1 + 0.1 * dpest.bernoulli(0.25) for k in x])

    laws: list[dict[Any, Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
    for x, law in zip(pair, laws, strict=True):
        for bits in itertools.product((0, 1), repeat=2):
            law[shown([k * 0.1 + 0.1 * bit for k, bit in zip(x, bits, strict=True)])] += Fraction(3 ** (2 - sum(bits)), 16)
    alike = {*laws[0]} == {*laws[1]}
    delta = max(float(sum(max(a[key] - b[key], 0) for key in {*a, *b})) for a, b in (laws, laws[::-1]))
    r = dpest.estimate(mechanism, pair, method="exact")
    found = r.delta(0.0)
    assert found.lower - 1e-12 <= delta <= found.upper + 1e-12
    assert (r.lower < math.inf) is alike

"""Counts that share their noise, against a sum over people in fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.exact.inference.joint_sums import _law
from dpest.lang.nodes import linear

KINDS = 3
HONEST = 0.6  # the double, as the program compares with it
Law = dict[tuple[int, ...], Fraction]


def answer(x: int) -> int:
    return x if random.random() < HONEST else random.randrange(KINDS)


def by_count(rows: list[int]) -> Any:
    answers = [answer(x) for x in rows]
    return [answers.count(v) for v in range(KINDS)]


def by_sums(rows: list[int]) -> Any:
    answers = [answer(x) for x in rows]
    return tuple(sum(1 for y in answers if y == v) for v in range(KINDS))


def by_filling(rows: list[int]) -> Any:
    counts = [0] * KINDS
    for x in rows:
        counts[answer(x)] += 1
    return counts


def by_filling_a_dict(rows: list[int]) -> Any:
    counts = dict.fromkeys(range(KINDS), 0)
    for x in rows:
        counts[answer(x)] += 1
    return counts


def by_bincount(rows: list[int], rng: np.random.Generator) -> Any:
    answers = np.where(rng.random(len(rows)) < HONEST, rows, rng.integers(0, KINDS, size=len(rows)))
    return np.bincount(answers, minlength=KINDS)


def estimated(rows: list[int]) -> Any:
    answers = [answer(x) for x in rows]
    n, q = len(rows), (1 - HONEST) / KINDS
    return {v: (sum(y == v for y in answers) - n * q) / HONEST for v in range(KINDS)}


def counts(rows: list[int]) -> Law:
    """The joint law of the counts, person by person."""
    law: Law = {(0,) * KINDS: Fraction(1)}
    for x in rows:
        longer: Law = {}
        for held, p in law.items():
            for v in range(KINDS):
                more = tuple(k + (i == v) for i, k in enumerate(held))
                longer[more] = longer.get(more, Fraction(0)) + p * ((v == x) * Fraction(HONEST) + (1 - Fraction(HONEST)) / KINDS)
        law = longer
    return law


def largest(left: Law, right: Law) -> float:
    return max(abs(math.log(left[k] / right[k])) for k in left)


@pytest.mark.parametrize("mechanism", [by_count, by_sums, by_filling, by_filling_a_dict, by_bincount, estimated])
@pytest.mark.parametrize("rows", [[1, 0, 2], [2, 1, 0, 0, 1, 2, 2, 0, 1, 0, 0, 2]])
def test_counts_of_answers(mechanism: Any, rows: list[int]) -> None:
    other = [0, *rows[1:]]
    found = dpest.estimate(mechanism, (rows, other), method="exact")
    truth = largest(counts(rows), counts(other))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-10


def test_a_curve_of_counts() -> None:
    rows = [1, 0, 2, 2, 0, 1, 1]
    left, right = counts(rows), counts([0, *rows[1:]])
    result = dpest.estimate(by_sums, (rows, [0, *rows[1:]]), method="exact")
    for epsilon in (0.0, 0.5, 1.2):
        e = Fraction(math.exp(epsilon))
        truth = max(float(sum(max(Fraction(0), a[k] - e * b[k]) for k in a)) for a, b in ((left, right), (right, left)))
        found = result.delta(epsilon)
        assert found.lower - 1e-12 <= truth <= found.upper + 1e-12


def test_one_person_more() -> None:
    """The counts add up to the number of people: no output is possible under both."""
    found = dpest.estimate(by_sums, ([0] * 7, [0] * 8), method="exact")
    assert found.lower == math.inf


def test_sums_of_different_weights() -> None:
    """Two weighted sums of the same coins, one of which a constant moves."""

    def weighed(rows: list[int], rng: np.random.Generator) -> Any:
        bits = [int(x ^ (rng.random() < 0.25)) for x in rows]
        return sum((i + 1) * b for i, b in enumerate(bits)), 3 - 2 * sum(bits)

    rows, other = [1, 0, 0, 1, 1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 0, 1, 0, 1, 1]

    def law(bits: list[int]) -> Law:
        held: Law = {(0, 3): Fraction(1)}
        for i, x in enumerate(bits):
            longer: Law = {}
            for (a, b), p in held.items():
                for y in (0, 1):
                    key = a + (i + 1) * y, b - 2 * y
                    longer[key] = longer.get(key, Fraction(0)) + p * (Fraction(3, 4) if x == y else Fraction(1, 4))
            held = longer
        return held

    found = dpest.estimate(weighed, (rows, other), method="exact")
    assert found.lower <= largest(law(rows), law(other)) <= found.upper
    assert found.upper - found.lower < 1e-10


def test_noise_that_is_used_elsewhere_stays() -> None:
    """The first answer is released beside the counts."""

    def beside(rows: list[int]) -> Any:
        answers = [answer(x) for x in rows]
        return answers[0], answers.count(1), answers.count(2)

    rows = [0, 1, 2, 0, 1, 2, 0]
    truth = math.log((HONEST + (1 - HONEST) / 3) / ((1 - HONEST) / 3))  # post-processing of the first answer and the others
    found = dpest.estimate(beside, (rows, [1, *rows[1:]]), method="exact")
    assert found.lower <= truth + 1e-12
    assert truth - 1e-12 <= found.upper
    assert found.upper - found.lower < 1e-9


def test_random_places_outside_of_a_list_fork() -> None:
    """An index that may be negative, and a dict that lacks a key, are read as Python reads them."""

    def negative(rows: list[int]) -> Any:
        held = [0, 0, 0]
        for x in rows:
            held[random.randrange(3) - 1 if random.random() < 0.5 else x] += 1
        return held

    def missing(rows: list[int]) -> Any:
        held = {0: 0}
        for x in rows:
            k = x if random.random() < 0.5 else 1 - x
            try:
                held[k] += 1
            except KeyError:
                return None
        return held[0]

    # held[-1] is held[2]: one row adds at 2, 0, 1 with chance 1/6 each, and at x with 1/2.
    found = dpest.estimate(negative, ([0, 0], [1, 0]), method="exact")
    assert found.lower <= math.log(4) <= found.upper
    found = dpest.estimate(missing, ([0] * 6, [1] + [0] * 5), method="exact")
    assert found.lower <= 0.0 <= found.upper
    assert found.upper < 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_logarithms_of_rare_outcomes_are_rounded(seed: int) -> None:
    """Twelve coins that come up once in 10^20 to 10^45 tosses, all at once: a sum of logarithms near -900, at 40 digits."""
    rng = random.Random(seed)
    chances = [rng.uniform(1, 9) * 10.0 ** -rng.randint(20, 45) for _ in range(12)]
    coins = [dpest.bernoulli(p) for p in chances]
    sums = [linear(sum(weight(k) * d for k, d in enumerate(coins)).node) for weight in (lambda _: 1, lambda k: k + 1)]
    found = _law(sums, [[d.node] for d in coins])
    assert found is not None
    law, error = found
    with mpmath.workdps(40):
        truth = mpmath.fsum(mpmath.log(p) for p in chances)
        assert abs(law[12, 78] - truth) <= error < 1e-11
    assert law[0, 0] == pytest.approx(-math.fsum(chances), abs=error)
    assert math.fsum(map(math.exp, law.values())) == pytest.approx(1, abs=1e-12)


def test_a_sum_of_whole_numbers_that_doubles_do_not_hold() -> None:
    """2^60 + 1 and 2^60 + 2 are one double, and two numbers in Python: the largest sum shows the input."""

    def mechanism(x: int) -> Any:
        k = dpest.integers(0, 2)
        return dpest.where(k == 0, 0, dpest.where(k == 1, 1, 2**60 + 1 + x)) + dpest.integers(0, 1)

    assert dpest.estimate(mechanism, (0, 1), method="exact").lower == math.inf


def test_a_value_in_a_sum_is_known_no_better_than_alone() -> None:
    """scipy's functions are right to 1e-12: another coin beside the one that shows the input takes nothing off that."""

    def above(x: float) -> Any:
        return dpest.where(x + dpest.from_scipy(stats.t(3)) > 0, 1, 0)

    def added(x: float) -> Any:
        return above(x) + dpest.where(dpest.from_scipy(stats.t(3)) > 0.3, 1, 0)

    alone, beside = (dpest.estimate(m, (0, 1), method="exact") for m in (above, added))
    assert beside.upper - beside.lower >= alone.upper - alone.lower

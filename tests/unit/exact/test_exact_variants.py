"""Mechanisms of every kind that plain Python allows, each against a closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.stats

import dpest
from dpest import laplace
from tests.unit.exact.exact_cases import INF, Case, E, check, finite, geometric_at_least, geometric_mass, laplace_cdf, ln, same

SMALL_FIRST = (ln(laplace_cdf(1.0) / 0.5), 1.0)  # both losses of "x + laplace(1) > 0" for x = 1 and x = 0


def coin(p: float) -> dict[int, float]:
    return {0: 1 - p, 1: p}


RELEASES = {
    "another sign": Case(lambda x: 4 - 3 * (x + laplace(2.0)), 0, 1, same(0.5)),
    "a tiny scale": Case(lambda x: 1e-9 * x + laplace(1e-9), 0, 2, same(2.0)),
    "a huge scale": Case(lambda x: 1e9 * x + laplace(1e9), 0, 2, same(2.0)),
    "loss half a million": Case(lambda x: x + laplace(2e-6), 0, 1, same(5e5)),
    "numpy numbers": Case(lambda x: x * np.float64(1.0) + laplace(np.float64(2.0)), np.float64(0.0), np.float64(1.0), same(0.5)),
    "a scale from the data": Case(lambda x: laplace(1.0 + x), 0, 1, (ln(2), INF)),
    "place and scale from the data": Case(lambda x: x + laplace(1.0 + x), 0, 1, (ln(2) + 0.5, INF)),
    "logistic": Case(lambda x: x + dpest.logistic(2.0), 0, 1, same(0.5)),
    "exponential": Case(lambda x: x + dpest.exponential(2.0), 0, 1, (INF, 0.5)),
    "gumbel": Case(lambda x: x + dpest.gumbel(2.0), 0, 1, (INF, 0.5)),
    "uniform": Case(lambda x: x + dpest.uniform(0, 2), 0, 1, same(INF)),
    "a wider uniform": Case(lambda x: dpest.uniform(0, 2 + x), 0, 1, (ln(1.5), INF)),
    "half a step on a lattice": Case(lambda x: x / 2 + dpest.geometric(2.0), 0, 1, same(INF)),
    "a wider geometric": Case(lambda x: dpest.geometric(1.0 + x), 0, 1, (ln(math.tanh(0.5) / math.tanh(0.25)), INF)),
    "student": Case(lambda x: x + dpest.from_scipy(scipy.stats.cauchy(loc=3.0)), 0, 1, same(ln((3 + math.sqrt(5)) / 2))),
    "two families": Case(lambda x: x + laplace(1.0) + dpest.exponential(2.0), 0, 1, (1.0, 0.5)),
    "laplace and gaussian": Case(lambda x: x + laplace(1.0) + dpest.gaussian(1.0), 0, 1, same(1.0)),
    "laplace and uniform": Case(lambda x: x + laplace(1.0) + dpest.uniform(0, 1), 0, 1, same(1.0)),
    "laplace and geometric": Case(lambda x: x + laplace(2.0) + dpest.geometric(1.0), 0, 1, same(0.5)),
    "a narrow and a wide law": Case(lambda x: x + laplace(0.001) + laplace(1.0), 0, 1, same(1.0)),
    "a difference of exponentials": Case(lambda x: x + dpest.exponential(1.0) - dpest.exponential(1.0), 0, 1, same(1.0)),
    "a difference of gumbels": Case(lambda x: x + dpest.gumbel(1.0) - dpest.gumbel(1.0), 0, 1, same(1.0)),
    "a difference of geometrics": Case(lambda x: x + dpest.geometric(1.0) - dpest.geometric(2.0), 0, 1, same(0.5)),
    "a bit times a number": Case(
        lambda x: dpest.bernoulli(0.3) * x + laplace(1.0), 1, 0, (ln(0.7 + 0.3 * E), -ln(0.7 + 0.3 / E))
    ),
    "a random sign": Case(lambda x: (2 * dpest.bernoulli(0.5) - 1) * (x + laplace(1.0)), 0, 1, (1.0, ln(math.cosh(1)))),
    "a random divisor": Case(lambda x: (x + laplace(1.0)) / dpest.integers(1, 2), 0, 1, same(1.0)),
    "absolute value": Case(lambda x: abs(x + laplace(1.0)), 1, 3, (2.0, ln(math.cosh(3) / math.cosh(1)))),
}

ROUNDED = {
    "floor": Case(lambda x: math.floor(x + laplace(2.0)), 0.3, 1.3, same(0.5)),
    "ceil": Case(lambda x: math.ceil(x + laplace(2.0)), 0, 1, same(0.5)),
    "trunc": Case(lambda x: math.trunc(x + laplace(1.0)), 0, 5, same(5.0)),
    "one digit": Case(lambda x: round(x + laplace(2.0), 1), 0, 1, same(0.5)),
    "halving": Case(lambda x: (x + laplace(1.0)) // 2, 0, 2, same(2.0)),
    "scaled": Case(lambda x: 2 * round(x + laplace(1.0)) + 1, 0, 1, same(1.0)),
    "floor of a gaussian": Case(lambda x: math.floor(x + dpest.gaussian(1.0)), 0, 1, same(INF)),
    "clamped": Case(
        lambda x: dpest.clip(math.floor(x + laplace(1.0)), 0, 3),
        0,
        1,
        finite(
            *(
                {
                    0: laplace_cdf(1 - x),
                    1: laplace_cdf(2 - x) - laplace_cdf(1 - x),
                    2: laplace_cdf(3 - x) - laplace_cdf(2 - x),
                    3: 1 - laplace_cdf(3 - x),
                }
                for x in (0, 1)
            )
        ),
    ),
    "not below zero": Case(
        lambda x: dpest.maximum(0, round(x + laplace(1.0))), 0, 1, (ln(laplace_cdf(0.5) / laplace_cdf(-0.5)), 1.0)
    ),
}

TIES = {
    "greater": Case(
        lambda x: x + dpest.geometric(1.0) > 1, 1, 2, finite(*(coin(geometric_at_least(2 - x, 1.0)) for x in (1, 2)))
    ),
    "at least": Case(
        lambda x: x + dpest.geometric(1.0) >= 1, 1, 2, finite(*(coin(geometric_at_least(1 - x, 1.0)) for x in (1, 2)))
    ),
    "equal": Case(lambda x: x + dpest.geometric(1.0) == 0, 0, 1, finite(*(coin(geometric_mass(x, 1.0)) for x in (0, 1)))),
    "not equal": Case(lambda x: x + dpest.geometric(1.0) != 0, 0, 1, finite(*(coin(geometric_mass(x, 1.0)) for x in (0, 1)))),
    "a die at least": Case(lambda x: dpest.integers(0, 4) >= x, 1, 2, finite(coin(0.8), coin(0.6))),
    "a die above": Case(lambda x: dpest.integers(0, 4) > x, 1, 2, finite(coin(0.6), coin(0.4))),
    "a threshold equal to the data": Case(lambda x: x + laplace(1.0) >= x, 0, 1, same(0.0)),
    "two noises equal": Case(lambda x: x + laplace(1.0) == laplace(1.0), 0, 1, same(0.0)),
}


def two_geometrics(x: Any, first_wins_ties: bool) -> dict[int, float]:
    """The law of the index of the larger of x_i + geometric(1)."""
    first = sum(geometric_mass(k, 1.0) * (1 - geometric_at_least(x[0] + k - x[1] + first_wins_ties, 1.0)) for k in range(-60, 61))
    return {0: first, 1: 1 - first}


TIES["argmax"] = Case(
    lambda v: dpest.argmax([x + dpest.geometric(1.0) for x in v]),
    [1, 2],
    [2, 1],
    finite(*(two_geometrics(v, True) for v in ([1, 2], [2, 1]))),
)
TIES["the last of the largest"] = Case(
    lambda v: 1 - dpest.argmax([x + dpest.geometric(1.0) for x in reversed(v)]),
    [1, 2],
    [2, 1],
    finite(*(two_geometrics(v, False) for v in ([1, 2], [2, 1]))),
)


def first_above(x: float) -> Any:
    index = 0
    while index < 5:
        if x + laplace(1.0) > 1:
            break
        index += 1
    else:
        return "none"
    return index


def first_above_law(x: float) -> dict[Any, float]:
    p = 1 - laplace_cdf(1 - x)
    return {**{i: (1 - p) ** i * p for i in range(5)}, "none": (1 - p) ** 5}


def depth(x: float, d: int = 0) -> Any:
    return depth(x, d + 1) if d < 4 and x + laplace(1.0) > 0 else d


def depth_law(x: float) -> dict[int, float]:
    p = laplace_cdf(x)
    return {**{i: p**i * (1 - p) for i in range(4)}, 4: p**4}


def until_positive(x: float) -> Any:
    while True:
        z = x + laplace(1.0)
        if z >= 0:
            return z


def three_ways(x: float) -> Any:
    z = x + laplace(1.0)
    return None if z < 0 else "many" if z > 10 else z


def either(x: float) -> Any:
    return (x + laplace(1.0) > 0 and x + laplace(1.0) > 1) or x + laplace(1.0) > 2


def either_law(x: float) -> dict[int, float]:
    a, b, c = (laplace_cdf(x - t) for t in (0, 1, 2))
    return coin(1 - (1 - a * b) * (1 - c))


def coin_and_value(x: float) -> Any:
    bit = dpest.bernoulli(0.5)
    return {"bit": bit, "value": dpest.where(bit, x + laplace(1.0), laplace(2.0))}


CONTROL = {
    "break and else": Case(first_above, 0, 1, finite(first_above_law(0), first_above_law(1))),
    "recursion": Case(depth, 0, 1, finite(depth_law(0), depth_law(1))),
    "rejection": Case(until_positive, 0, 1, (1 + ln(2 * laplace_cdf(1)), 1 - ln(2 * laplace_cdf(1)))),
    "early returns": Case(three_ways, 3, 4, same(1.0)),
    "and, or": Case(either, 0, 1, finite(either_law(0), either_law(1))),
    "a chained comparison": Case(
        lambda x: 0 < x + laplace(1.0) < 2,
        0,
        2,
        same(0.0),
    ),
    "nested where": Case(
        lambda x: dpest.where(x + laplace(1.0) > 0, dpest.where(dpest.bernoulli(0.5), 1, 2), 3), 1, 0, SMALL_FIRST
    ),
    "where of lists": Case(
        lambda x: dpest.where(dpest.bernoulli(0.5), [1, x + laplace(1.0)], [2, laplace(1.0)]), 0, 1, same(1.0)
    ),
    "a sum of truths": Case(
        lambda v: sum(x + laplace(1.0) > 0 for x in v), [1, 1], [0, 0], (2 * SMALL_FIRST[0], 2 * SMALL_FIRST[1])
    ),
    "truths in arithmetic": Case(lambda x: (x + laplace(1.0) > 0) + 2 * (laplace(1.0) > 0), 1, 0, SMALL_FIRST),
    "a random scale": Case(
        lambda x: x + laplace(1.0 + dpest.bernoulli(0.5)), 0, 1, same(ln(0.75 / (0.5 / E + 0.25 * math.exp(-0.5))))
    ),
    "a coin beside what it decides": Case(coin_and_value, 0, 1, same(1.0)),
}

FINITE = {
    "a biased bit": Case(lambda x: dpest.bernoulli(0.25 + 0.5 * x), 0, 1, same(ln(3))),
    "a certain bit": Case(lambda x: dpest.bernoulli(0.5 * x), 0, 1, (ln(2), INF)),
    "randomised response": Case(lambda x: dpest.bernoulli(0.25) ^ x, 0, 1, same(ln(3))),
    "not": Case(lambda x: ~dpest.bernoulli(0.25 + 0.5 * x), 0, 1, same(ln(3))),
    "and": Case(lambda x: dpest.bernoulli(0.25) & dpest.bernoulli(0.5 + 0.25 * x), 0, 1, finite(coin(0.125), coin(0.1875))),
    "or": Case(lambda x: dpest.bernoulli(0.25) | dpest.bernoulli(0.5 + 0.25 * x), 0, 1, finite(coin(0.625), coin(0.8125))),
    "categorical": Case(lambda x: dpest.categorical([0.5, 0.25, 0.25] if x else [0.25, 0.5, 0.25]), 0, 1, same(ln(2))),
    "is it that one": Case(lambda x: dpest.categorical([0.2, 0.3, 0.5]) == x, 0, 1, finite(coin(0.2), coin(0.3))),
    "a shifted die": Case(lambda x: x + dpest.integers(0, 3), 0, 1, same(INF)),
    "a product of dice": Case(
        lambda x: dpest.integers(0, 2) * dpest.integers(0, x),
        1,
        2,
        finite({0: 4 / 6, 1: 1 / 6, 2: 1 / 6}, {0: 5 / 9, 1: 1 / 9, 2: 2 / 9, 4: 1 / 9}),
    ),
    "binomial": Case(lambda x: dpest.from_scipy(scipy.stats.binom(5, 0.3 + 0.1 * x)), 0, 1, (5 * ln(7 / 6), 5 * ln(4 / 3))),
    "lists of different length": Case(lambda x: [1] if dpest.bernoulli(0.25 + 0.5 * x) else [1, 2], 0, 1, same(ln(3))),
    "types that differ": Case(lambda x: 1 if dpest.bernoulli(0.5) else ("a" if x else None), 0, 1, same(INF)),
    "infinite values": Case(lambda x: math.inf if x + laplace(1.0) > 0 else -math.inf, 1, 0, SMALL_FIRST),
    "NaN equals itself": Case(lambda x: math.nan if x + laplace(1.0) > 0 else 0.0, 1, 0, SMALL_FIRST),
    "a string": Case(lambda x: "secret" if x else "nothing", 0, 1, same(INF)),
}


def indexed(values: Any, scale: float = 2.0) -> list[Any]:
    return [v + dpest.gumbel(scale) for v in values]


def softmax(values: Any, scale: float = 2.0) -> dict[int, float]:
    weights = [math.exp(v / scale) for v in values]
    return {i: w / sum(weights) for i, w in enumerate(weights)}


SCORES = ([1, 2, 3, 0], [2, 1, 3, 1])
SOFTMAX = finite(softmax(SCORES[0]), softmax(SCORES[1]))
ARRAYS: dict[str, tuple[Callable[[Any], Any], Any, Any, tuple[float, float]]] = {
    "numpy argmax": (lambda v: np.argmax(np.array(v) + dpest.gumbel(2.0, size=4)), *SCORES, SOFTMAX),
    "argmax of a list": (lambda v: np.argmax(np.array(indexed(v))), *SCORES, SOFTMAX),
    "argmin of the negative": (lambda v: dpest.argmin([-z for z in indexed(v)]), *SCORES, SOFTMAX),
    "max with a key": (lambda v: max(range(4), key=indexed(v).__getitem__), *SCORES, SOFTMAX),
    "numpy cumsum": (lambda v: np.cumsum(np.array(v) + laplace(1.0, size=3)), [0, 0, 0], [1, 1, 0], same(2.0)),
    "sorted": (lambda v: sorted(x + laplace(1.0) for x in v), [0, 0], [1, 1], same(2.0)),
    "numpy sort": (lambda v: np.sort(np.array(v) + laplace(1.0, size=2)), [0, 0], [1, 1], same(2.0)),
    "the largest": (lambda v: max(x + laplace(1.0) for x in v), [0, 0], [1, 1], (2.0, 1.0)),
    "numpy max": (lambda v: np.max(np.array(v) + laplace(1.0, size=2)), [0, 0], [1, 1], (2.0, 1.0)),
    "the median": (lambda v: np.median(np.array(v) + laplace(1.0, size=3)), [0, 0, 0], [1, 1, 1], same(2.0)),
    "the mean": (lambda v: np.mean(np.array(v) + dpest.gaussian(1.0, size=2)), [0, 0], [1, 0], same(INF)),
    "clip": (lambda x: np.clip(x + laplace(1.0), 0, 1), 0, 1, same(1.0)),
    "floor of an array": (lambda v: np.floor(np.array(v) + laplace(1.0, size=2)), [0, 0], [1, 0], same(1.0)),
    "an invertible matrix": (
        lambda v: np.array([[1, 1], [1, -1]]) @ (np.array(v) + laplace(1.0, size=2)),
        [0, 0],
        [1, 0],
        same(1.0),
    ),
    "a matrix with a spare row": (
        lambda v: np.array([[0.1, 0.3], [0.7, -0.9], [0.8, -0.6]]) @ (np.array(v) + laplace(1.0, size=2)),
        [0.1, 0.2],
        [1.3, 0.7],
        same(1.7),
    ),
    "a dictionary": (lambda x: {"a": x + laplace(1.0), "b": [x + laplace(2.0), None]}, 0, 1, same(1.5)),
    "discrete beside continuous": (lambda x: (x + dpest.geometric(1.0), x + laplace(1.0)), 0, 1, same(2.0)),
    "one value twice": (lambda x: (lambda z: (z, 2 * z + 1, -z))(x + laplace(1.0)), 0, 1, same(1.0)),
    "the value and its sign": (lambda x: (lambda z: (z > 0, z))(x + laplace(1.0)), 0, 1, same(1.0)),
    "largest and smallest": (
        lambda v: (lambda a, b: (dpest.maximum(a, b), dpest.minimum(a, b)))(*(x + laplace(1.0) for x in v)),
        [0, 0],
        [1, 1],
        same(2.0),
    ),
    "neighbours": (lambda v: [a - b for a, b in pairwise([x + laplace(1.0) for x in v])], [0, 0, 0], [1, 1, 1], same(0.0)),
}

GROUPS: dict[str, dict[str, Case]] = {
    "release": RELEASES,
    "rounded": ROUNDED,
    "ties": TIES,
    "control": CONTROL,
    "finite": FINITE,
    "arrays": {name: Case(*parts) for name, parts in ARRAYS.items()},
}
# Several real coordinates that share noise, and one whose tails are integrals that nothing is declared about.
ALL = {f"{group}, {name}": case for group, cases in GROUPS.items() for name, case in cases.items()}


@pytest.mark.parametrize("name", ALL)
def test_the_exact_loss_is_the_truth(name: str) -> None:
    check(ALL[name])


@pytest.mark.parametrize(("left", "right"), [(0, 1), (1, 2), (3, 6)])
def test_what_lies_between_two_thresholds_that_differ_in_the_last_digit_is_an_output(left: int, right: int) -> None:
    """2.1 / 7 exceeds 0.3 by 1.3e-17 (both doubles, as rationals): noise falls in between, and has the loss of its density."""
    width = float(Fraction(2.1) / 7 - Fraction(0.3))

    def mechanism(x: int) -> Any:
        z = 0.1 * x + laplace(1.0)
        return z >= 0.3, z - 0.3 >= 0, 7 * z >= 2.1

    def law(x: int) -> dict[int, float]:
        return {**coin(1 - laplace_cdf(0.3 - 0.1 * x)), 2: width * math.exp(-abs(0.3 - 0.1 * x)) / 2}

    check(Case(mechanism, left, right, finite(law(left), law(right))))


@pytest.mark.parametrize("scale", [20.0, 1.0, 1e-2, 1e-4])
def test_noises_of_very_different_scale(scale: float) -> None:
    """P(laplace(a) - laplace(b) > z) = (b^2 e^(-z/b) - a^2 e^(-z/a)) / (2 (b^2 - a^2)) for z >= 0."""
    a, b = scale, 21.0

    def above(z: float) -> float:
        return (b * b * math.exp(-z / b) - a * a * math.exp(-z / a)) / (2 * (b * b - a * a))

    check(Case(lambda x: x + laplace(a) > laplace(b), 0, 1, finite(coin(0.5), coin(1 - above(1.0)))))


def test_a_loss_at_the_edge_of_a_rejection_loop_has_a_witness() -> None:
    def until_positive(x: float) -> object:
        while True:
            v = x + dpest.laplace(2.0)
            if v > 0:
                return v

    found = dpest.estimate(until_positive, (1, 0))
    # Given v > 0: density exp(-|v - x| / 2) / 4 over P(v > 0).
    at_zero = math.log(0.25 / 0.5) - math.log(0.25 * math.exp(-0.5) / (1 - 0.5 * math.exp(-0.5)))
    assert found.epsilon == pytest.approx(at_zero, rel=1e-9)
    assert found.witness is not None
    assert found.witness.loss == pytest.approx(found.epsilon, rel=1e-9)
    assert 0 < found.witness.left < found.witness.right

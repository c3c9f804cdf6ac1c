"""Functions on random values give the laws that their names promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from tests.oracles import enumeration

Operation = Callable[[Any, Any], Any]
DICE: dict[str, Operation] = {
    "maximum": lambda m, d: m.max([d[0], d[1]]),
    "minimum": lambda m, d: m.min([d[0], d[1] + 1]),
    "argmax of three": lambda m, d: m.argmax([d[0], d[1], 2]),
    "argmin of three": lambda m, d: m.argmin([d[0], 1, d[1]]),
    "clip": lambda m, d: m.clip(d[0] + d[1], 1, 4),
    "clip within random bounds": lambda m, d: m.clip(2, d[0], d[0] + d[1]),
    "where": lambda m, d: m.where(d[0] > d[1], d[0], -d[1]),
    "where as a bool": lambda m, d: m.where(d[0], "some", "none"),
    "absolute value": lambda m, d: abs(d[0] - d[1]),
    "floor": lambda m, d: m.floor(d[0] / 2 + d[1] / 4),
    "round to even": lambda m, d: round(d[0] / 2),
    "round compared": lambda m, d: round(d[0] / 2) >= d[1],
    "the larger of roundings": lambda m, d: m.max([round(d[0] / 2), m.floor(d[1] / 2)]),
    "remainder": lambda m, d: (d[0] + d[1]) % 3,
    "whole division": lambda m, d: (d[0] - d[1]) // 2,
    "a product": lambda m, d: d[0] * d[1],
    "a square": lambda m, d: (d[0] - 1) ** 2,
    "a quotient": lambda m, d: d[0] / (1 + d[1]),
    "equal": lambda m, d: d[0] == d[1],
    "not equal": lambda m, d: d[0] != d[1],
    "between": lambda m, d: 0 < d[0] <= d[1],
    "nested": lambda m, d: m.max([m.min([d[0], d[1]]), d[0] - d[1]]),
    "several": lambda m, d: [m.max([d[0], d[1]]), d[0] + d[1], d[0] >= d[1]],
}


@pytest.mark.parametrize("name", DICE)
def test_two_dice(name: str) -> None:
    """Exact against the enumeration of both dice, of which one grows with the input."""

    def mechanism(sides: int, m: Any) -> Any:
        return DICE[name](m, (m.integers(0, sides), m.integers(0, 3)))

    (found,) = dpest.estimate(lambda x: mechanism(x, dpest), (2, 3), method="exact").pairs
    p, q = (enumeration.law(mechanism, x) for x in (2, 3))
    assert (found.forward, found.backward) == pytest.approx((enumeration.loss(p, q), enumeration.loss(q, p)), rel=1e-12)


TRUTHS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[bool, bool], bool]]] = {
    "and": (lambda a, b: a & b, lambda a, b: a and b),
    "or": (lambda a, b: a | b, lambda a, b: a or b),
    "xor": (lambda a, b: a ^ b, lambda a, b: a != b),
    "not": (lambda a, b: ~a, lambda a, b: not a),
    "numpy and": (np.logical_and, lambda a, b: a and b),
    "numpy or": (np.logical_or, lambda a, b: a or b),
    "not both": (lambda a, b: ~(a & b), lambda a, b: not (a and b)),
}


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("p", [0.25, 0.75])
def test_truth_values(name: str, p: float) -> None:
    random, plain = TRUTHS[name]

    def chance(a: float, b: float) -> float:
        return sum(
            (a if x else 1 - a) * (b if y else 1 - b) for x in (False, True) for y in (False, True) if plain(x, y)
        )

    result = dpest.estimate(lambda x: random(dpest.bernoulli(p) > 0, dpest.bernoulli(0.5 - 0.25 * x) > 0), (0, 1), method="exact")
    one, other = chance(p, 0.5), chance(p, 0.25)
    expected = max(abs(math.log(one / other)), abs(math.log((1 - one) / (1 - other))))
    assert float(result) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_arrays_go_element_by_element() -> None:
    z = dpest.laplace(1.0, size=3)
    assert dpest.maximum(z, 0).shape == (3,)
    assert dpest.clip(z, 0, 1).shape == (3,)
    assert dpest.where(z > dpest.laplace(1.0), 1, 0).shape == (3,)
    assert dpest.floor(z).shape == (3,)
    assert len(dpest.where(dpest.bernoulli(0.5), [1, 2], [3, 4])) == 2


def test_apply_on_plain_numbers_is_the_function() -> None:
    assert dpest.apply(math.exp, 0.0) == 1.0

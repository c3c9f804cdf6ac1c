"""Comparisons in conditions: those of two values, and those that go through the elements of containers."""

from __future__ import annotations

import ast
import math
import random
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.trace.comparisons import compares_two_values

_KNOWN = {"x": 1.5, "limit": np.float64(2), "xs": [1.0, 2.0], "t": (1, 2), "abs": abs, "sorted": sorted, "math.exp": math.exp}


def _look_up(node: ast.expr) -> Any:
    return _KNOWN.get(ast.unparse(node), object())


def _said(text: str) -> bool:
    return compares_two_values(ast.parse(text, mode="eval").body, _look_up)


@pytest.mark.parametrize(
    "text",
    [
        "f(x) > x",
        "0 <= f(x) <= 4",
        "(y := f(x)) < limit",
        "f(x) < math.exp(-g(x))",
        "abs(f(x)) > g(x)",
        "f(x) - g(x) > h(x)",
        "f(x) + x > h(x)",
        "x * limit > h(x)",
        "f(x) == 'text'",
        "(x if f(x) else limit) < g(x)",
    ],
)
def test_two_values(text: str) -> None:
    assert _said(text)


@pytest.mark.parametrize(
    "text",
    [
        "f(x) > g(x)",
        "xs < f(x)",
        "xs < t",
        "f(x) + g(x) > h(x)",
        "2 * xs < f(x)",
        "0 <= f(x) <= xs < t",
        "sorted(xs) < f(x)",
        "[x] < [y]",
    ],
)
def test_what_may_go_through_containers(text: str) -> None:
    assert not _said(text)


def test_a_list_asks_for_its_elements_one_by_one() -> None:
    """Rounds of (a, b), each of 0, 1, 2: again while [a, b] < [1, x]; then a + b is the output."""

    def mechanism(x: int) -> int:
        while [a := random.randrange(3), b := random.randrange(3)] < [1, x]:
            pass
        return 3 * a + b

    def law(x: int) -> dict[int, float]:
        left = [3 * a + b for a in range(3) for b in range(3) if not [a, b] < [1, x]]
        return {y: 1 / len(left) for y in left}

    for x, y in ((0, 1), (1, 2)):
        p, q = law(x), law(y)
        assert set(p) > set(q)
        found = dpest.estimate(mechanism, (x, y), method="exact")
        assert found.lower == math.inf

    def shares(x: int) -> int:
        while [a := random.randrange(3), random.randrange(3)] < [1, x]:
            pass
        return a

    def of_first(x: int) -> list[float]:
        left = [a for a in range(3) for b in range(3) if not [a, b] < [1, x]]
        return [left.count(a) / len(left) for a in (1, 2)]

    truth = max(abs(math.log(p / q)) for p, q in zip(of_first(0), of_first(1), strict=True))
    found = dpest.estimate(shares, (0, 1), method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-9


def test_a_condition_over_several_lines() -> None:
    def mechanism(x: float) -> float:
        while not (
            0
            <= (y := x + random.gauss(0, 2))
            <= 4
        ):  # fmt: skip
            pass
        return y

    def between(x: float) -> float:
        return (math.erf((4 - x) / 2 / math.sqrt(2)) - math.erf(-x / 2 / math.sqrt(2))) / 2

    truth = max(abs(((y - 2) ** 2 - (y - 1) ** 2) / 8 - math.log(between(1) / between(2))) for y in (0, 4))
    found = dpest.estimate(mechanism, (1, 2), method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-9

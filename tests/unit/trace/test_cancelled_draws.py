"""Draws that cancel in rationals, and need not in the program's own arithmetic: the truth by running it on every combination."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import dpest

POINTS = {-1: Fraction(1, 4), 0: Fraction(1, 4), 1: Fraction(1, 2)}


def by_absolute_value(k1: Any, k2: Any) -> Any:
    return None if abs(k1) >= k2 - (k1 + k2) else "a"


def by_opposite(k1: Any, k2: Any) -> Any:
    return None if -k1 >= k2 - (k1 + k2) else "a"


def by_largest(k1: Any, k2: Any) -> Any:
    return None if max(k1, -k1) > k2 - (k1 + k2) else "a"


def by_equality(k1: Any, k2: Any) -> Any:
    return "a" if (k1 + k2) - k2 == k1 else "b"


def law(program: Callable[[Any, Any], Any], x: float) -> dict[Any, Fraction]:
    found: dict[Any, Fraction] = defaultdict(Fraction)
    for i, (k, p) in product(range(-2, 3), POINTS.items()):
        found[program(x + i, float(k))] += p / 5
    return found


@pytest.mark.parametrize("program", [by_absolute_value, by_opposite, by_largest, by_equality])
@pytest.mark.parametrize("pair", [(0.4, 0.6), (0.1, 0.7), (0.5, 0.25), (0.3, 0.9)])
def test_rounding_decides_where_draws_cancel(program: Callable[[Any, Any], Any], pair: tuple[float, float]) -> None:
    def mechanism(x: float) -> Any:
        return program(x + dpest.integers(-2, 2), dpest.Dist.from_atoms({k: float(p) for k, p in POINTS.items()}))

    p, q = (law(program, x) for x in pair)
    gone = any((p[k] == 0) != (q[k] == 0) for k in {*p, *q})
    truth = math.inf if gone else max((abs(math.log(p[k] / q[k])) for k in p if p[k]), default=0.0)
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-14 <= truth <= found.upper + 1e-14
    assert found.epsilon == pytest.approx(truth, abs=1e-12)


def test_a_side_that_is_lost_in_a_sum() -> None:
    """1e-17 + 0.5 is 0.5 in Python, whichever side the noise takes."""

    def lost(x: float) -> str:
        w = dpest.where(x + dpest.laplace(1) > 0, 1e-17, 0.0)
        return "a" if w + 0.5 > 0.5 else "b"

    assert dpest.estimate(lost, (0.0, 1.0), method="exact").upper < 1e-14

"""Intervals that hold every value of a node, against the program on numbers and against ends that are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import dpest
from dpest.lang.nodes import draws_of
from dpest.lang.plain import evaluate
from dpest.lang.spans import span

U, V = dpest.uniform(-2.0, 1.0).node, dpest.uniform(3.0, 4.0).node
u, v, k = dpest.Dist(U), dpest.Dist(V), dpest.integers(-3, 5)


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (lambda: 2 * u - v + 1, -7, 0),
        (lambda: abs(u), 0, 2),
        (lambda: dpest.maximum(u, v - 4), -1, 1),
        (lambda: dpest.minimum(u, v), -2, 1),
        (lambda: np.floor(u * 1.5), -4, 3),  # whichever way is rounded, and off by one
        (lambda: dpest.where(u > 0, v, k), -3, 5),
        (lambda: u * v, -8, 4),
        (lambda: u > v, 0, 1),
        (lambda: dpest.argmax([u, v, k]), 0, 2),
        (lambda: np.exp(u * 0), 1, 1),
        (lambda: np.exp(u), math.exp(-2), math.e),
        (lambda: -np.log(v), -math.log(4), -math.log(3)),
        (lambda: v**3, 27, 64),
        (lambda: k * dpest.exponential(1), None, None),
        (lambda: (v - 3) * dpest.exponential(1), 0, None),
        (lambda: -v * dpest.exponential(1), None, 0),
    ],
)
def test_ends_are_known_and_hold_every_value(value: Callable[[], Any], low: float | None, high: float | None) -> None:
    node = value().node if isinstance(value(), dpest.Dist) else value()
    ends = span(node)
    assert [None if e is None else pytest.approx(float(e), rel=1e-15) for e in ends] == [low, high]
    rng = np.random.default_rng(1)
    for _ in range(200):
        numbers = {id(d): (d.law.sample(rng, 1)[0]).item() for d in draws_of(node)}
        found = float(evaluate(node, numbers))
        assert ends[0] is None or found >= float(ends[0]) - 1e-12
        assert ends[1] is None or found <= float(ends[1]) + 1e-12


def test_ends_that_are_rounded_lie_outside() -> None:
    low, high = span(np.exp(dpest.uniform(1.0, 2.0)).node)
    assert low is not None
    assert high is not None
    with mpmath.workdps(70):
        assert mpmath.mpf(int(low.numerator)) / int(low.denominator) < mpmath.e
        assert mpmath.mpf(int(high.numerator)) / int(high.denominator) > mpmath.e**2


def test_values_that_are_used_again_and_again_are_looked_at_once() -> None:
    x: Any = dpest.uniform(0.0, 1.0)
    for _ in range(100):
        x = dpest.where(v > 3.5, x / 2, x * x)  # 2^100 ways, 100 nodes
    assert tuple(map(float, span(x.node))) == (0, 1)  # type: ignore[arg-type]

"""Outputs that share noise and fix none of it: the supremum over several released numbers at once.

The truths are upper bounds by a coupling (move the shared draw, or the private ones) that a direction of the plane attains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest import bernoulli, gaussian, laplace
from tests.unit.exact.exact_cases import INF, Case, check, same

Noise = Callable[[], Any]


def together(shared: Noise, own: Noise) -> Callable[[Any], Any]:
    """Each value with noise of its own and with noise that all have in common."""

    def mechanism(values: Any) -> Any:
        common = shared()
        return [v + common + own() for v in values]

    return mechanism


def small() -> Any:
    return laplace(0.2)


def unit() -> Any:
    return laplace(1.0)


def wide() -> Any:
    return laplace(2.0)


def bell() -> Any:
    return gaussian(1.0)


def coin() -> Any:
    return bernoulli(0.5)


def released_above_one_threshold(values: Any) -> Any:
    threshold = laplace(1.0)
    return tuple(z if z > threshold else None for z in (v + laplace(2.0) for v in values))


def ordered_with_their_sum(values: Any) -> Any:
    a, b = (v + laplace(1.0) for v in values)
    return [a, b, a + b] if a > b else [b, a, a + b]


def order_and_value(values: Any) -> Any:
    noisy = [v + laplace(1.0) for v in values]
    return dpest.argmax(noisy), dpest.max(noisy)


ONE, BOTH = ([0, 0], [1, 0]), ([0, 0], [1, 1])
CASES = {
    "shared bell, both change": Case(together(bell, unit), *BOTH, same(2.0)),
    "shared bell, one changes": Case(together(bell, unit), *ONE, same(1.0)),
    "wide shared noise, both change": Case(together(wide, unit), *BOTH, same(0.5)),
    "equal noises, both change": Case(together(unit, unit), *BOTH, same(1.0)),
    "narrow shared noise, both change": Case(together(small, unit), *BOTH, same(2.0)),
    "opposite changes": Case(together(unit, unit), [0, 0], [1, -1], same(2.0)),
    "bells of their own, both change": Case(together(unit, bell), *BOTH, same(1.0)),
    "a shared coin": Case(together(coin, unit), *BOTH, same(2.0)),
    "released above one threshold": Case(released_above_one_threshold, *ONE, same(0.5)),
    "both released above one threshold": Case(released_above_one_threshold, *BOTH, same(1.0)),
    "ordered, with their sum": Case(ordered_with_their_sum, *BOTH, same(2.0)),
    "winner and its value": Case(order_and_value, *ONE, same(1.0)),
    "the difference alone": Case(lambda v: v[0] - v[1] + laplace(1.0), [0, 5], [1, 6], same(0.0)),
    "three at once": Case(together(unit, unit), [0, 0, 0], [1, 1, 1], same(1.0)),
    "two sums of three": Case(
        lambda v: (lambda a, b, c: (a + b, b + c))(*(x + laplace(1.0) for x in v)), [0, 0, 0], [1, 0, 0], same(1.0)
    ),
    "one noise on a line": Case(lambda v: (lambda z: [x + 2 * z for x in v])(laplace(1.0)), [0, 0, 0], [2, 2, 2], same(1.0)),
    "one noise off the line": Case(lambda v: (lambda z: [x + 2 * z for x in v])(laplace(1.0)), [0, 0, 0], [2, 2, 1], same(INF)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_joint_loss_is_the_truth(name: str) -> None:
    check(CASES[name])

"""Outputs on lattices that the program rounds: x / 10 + 0.1 * k shows the input in doubles, and not in rationals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused
from tests.oracles import native

RELEASED: dict[str, Callable[[float, Any], Any]] = {
    "tenths": lambda x, k: x / 10 + 0.1 * k,
    "parts of ten": lambda x, k: x / 10 + k / 10,
    "thirds": lambda x, k: np.mean([x, 1, 0]) + k / 3,
    "a shift": lambda x, k: (x + 0.1) + k,
    "scaled": lambda x, k: (x / 10 + k * 0.1) * 10,
}


def infinite(shown: Callable[[float, Any], Any], pair: tuple[int, int]) -> bool:
    """Whether one of the inputs has outputs that the other one has not, with noise that is any whole number."""
    points = [{float(shown(x, k)) for k in range(-300, 301)} for x in pair]
    inner = [{float(shown(x, k)) for k in range(-200, 201)} for x in pair]
    return bool(inner[0] - points[1] or inner[1] - points[0])


@pytest.mark.parametrize("name", RELEASED)
@pytest.mark.parametrize("pair", [(1, 2), (2, 3), (3, 5)])
@pytest.mark.parametrize("noise", ["geometric", "rounded", "many"])
def test_points_that_doubles_tell_apart(name: str, pair: tuple[int, int], noise: str) -> None:
    shown = RELEASED[name]
    draws: dict[str, Callable[[], Any]] = {
        "geometric": lambda: dpest.geometric(1),
        "rounded": lambda: math.floor(dpest.laplace(1)),
        "many": lambda: dpest.integers(0, 700),
    }
    try:
        r = dpest.estimate(lambda x: shown(x, draws[noise]()), pair, method="exact")
    except ExactRefused:
        return
    assert r.lower == math.inf or not infinite(shown, pair)
    if noise == "many":
        laws = [native.enumerated(lambda x, d: float(shown(x, d.integers(0, 700))), x) for x in pair]
        found = r.delta(0.0)
        assert found.lower - 1e-9 <= native.delta(*laws, 0.0) <= found.upper + 1e-9


@pytest.mark.parametrize(
    "shown",
    [
        lambda x, k: (x + k) / 10,
        lambda x, k: 0.1 * (x + k),
        lambda x, k: x + k,
        lambda x, k: x / 4 + k / 4,
        lambda x, k: round(x + k, 1),
    ],
)
def test_what_is_rounded_once_is_answered(shown: Callable[[float, Any], Any]) -> None:
    r = dpest.estimate(lambda x: shown(x, dpest.geometric(1)), (1, 2), method="exact")
    assert r.lower == pytest.approx(1.0, abs=1e-9)
    assert r.upper == pytest.approx(1.0, abs=1e-9)


def test_values_that_cancel_where_their_points_are_not_few() -> None:
    def left_over(k: Any) -> Any:
        return (0.1 * k + 0.3) - 0.1 * k

    for shown in (left_over, lambda k: left_over(k) > 0.3, lambda k: (left_over(k), k > 3)):
        with pytest.raises(ExactRefused):
            dpest.estimate(lambda x, shown=shown: shown(x + dpest.geometric(1)), (0, 1), method="exact")
        proof = dpest.prove(lambda q, shown=shown: shown(q[0] + dpest.geometric(1)), n=1)
        assert proof.upper == math.inf


def test_finite_noise_that_cancels_is_enumerated() -> None:
    def left_over(k: Any) -> Any:
        return (0.1 * k + 0.3) - 0.1 * k

    laws: list[dict[Any, Any]] = [defaultdict(int), defaultdict(int)]
    for x, law in enumerate(laws):
        for k in range(701):
            law[left_over(k + x)] += 1 / 701
    r = dpest.estimate(lambda x: left_over(x + dpest.integers(0, 700)), (0, 1), method="exact")
    loss = max(abs(math.log(p / laws[1][key])) for key, p in laws[0].items())
    assert r.lower - 1e-9 <= loss <= r.upper + 1e-9


def largest_number(x: Any, d: Any) -> Any:
    if d.bernoulli(0.3):
        pass
    a = np.array([d.integers(-3, 1) + v for v in x])
    return np.nanmax(np.where(a > -1, a, np.nan)) if (a > 0).any() else "none"


@pytest.mark.parametrize("pair", [([1, 2, 1], [1, 2, 2]), ([1, 1, 1], [1, 1, 2]), ([2, 1, 1], [2, 2, 1])])
def test_what_is_not_a_number_is_not_equal_to_itself(pair: Any) -> None:
    """np.nanmax finds what is not a number by x != x."""
    laws = [native.enumerated(largest_number, x) for x in pair]
    r = dpest.estimate(lambda x: largest_number(x, dpest), pair, method="exact")
    found = r.delta(0.0)
    assert found.lower - 1e-9 <= native.delta(*laws, 0.0) <= found.upper + 1e-9
    truth = native.loss(*laws)
    assert r.lower == truth == math.inf or r.lower - 1e-9 <= truth <= r.upper + 1e-9 < math.inf


def test_functions_that_take_no_floats() -> None:
    def divisor(x: Any, d: Any) -> Any:
        a = np.array([d.categorical([0.1, 0.9]) + v for v in x])
        return np.gcd(a[0], 2), np.lcm(abs(a[0]) + 1, 2)

    try:
        r = dpest.estimate(lambda x: divisor(x, dpest), ([1, 1], [0, 1]), method="exact")
    except ExactRefused:
        return
    laws = [native.enumerated(divisor, x) for x in ([1, 1], [0, 1])]
    assert r.lower == native.loss(*laws)

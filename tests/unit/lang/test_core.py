"""`Dist`, the author's handle: identity, affine arithmetic, comparisons, NumPy, words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest import laplace
from dpest.core import Dist, Interval
from dpest.lang.nodes import Linear, is_integral


def test_identity_is_not_law() -> None:
    x, y = laplace(1.0), laplace(1.0)
    assert (x - x) == 0.0
    assert isinstance(x - y, Dist)
    assert hash(x) != hash(y)
    twice = (x + x).node
    assert isinstance(twice, Linear)
    assert [c for _, c in twice.terms] == [2.0]


def test_affine_arithmetic_keeps_one_expression() -> None:
    x, y = laplace(1.0), laplace(1.0)
    node = (3 - 2 * (x - y / 2) + 1).node
    assert isinstance(node, Linear)
    assert [c for _, c in node.terms] == [-2.0, 1.0]
    assert node.constant == 4.0
    assert 0 * x == 0.0
    assert +x is x


@pytest.mark.parametrize("other", [math.inf, -math.inf, math.nan, None, "a"])
def test_comparisons_that_need_no_draw(other: Any) -> None:
    x = laplace(1.0)
    if isinstance(other, float):
        assert (x > other) is (other == -math.inf)
        assert (x <= other) is (other == math.inf)
    assert (x == other) is False
    assert (x != other) is True


def test_plain_operands_stay_plain() -> None:
    assert dpest.where(True, 1, 2) == 1
    assert dpest.maximum(1, 2) == 2
    assert dpest.clip(5, 0, 3) == 3
    assert dpest.argmax([1, 3, 3]) == 1
    assert dpest.floor(2.5) == 2
    assert list(dpest.cumsum([1, 2, 3])) == [1, 3, 6]


def test_numpy_arrays_of_values() -> None:
    x = np.array([1.0, 2.0]) + laplace(1.0, size=2)
    assert x.shape == (2,)
    assert all(isinstance(v, Dist) for v in x)
    assert all(isinstance(v, Dist) for v in (x > laplace(1.0)))
    assert isinstance(np.sum(x), Dist)
    assert (laplace(1.0) + np.zeros((2, 3))).shape == (2, 3)
    assert isinstance(np.abs(x[0]), Dist)
    assert (np.float64(2.0) * x[0]).node.terms[0][1] == 2.0


def test_what_is_whole() -> None:
    g, b = dpest.geometric(1.0), dpest.bernoulli(0.5)
    assert is_integral((2 * g + b - 3).node)
    assert not is_integral((g / 2).node)
    assert round(g) is g
    assert math.floor(b) is b
    assert not is_integral(laplace(1.0).node)
    assert is_integral(round(laplace(1.0)).node)


def test_words() -> None:
    x = laplace(2.0)
    assert repr(x) == "<random value laplace(2)>"
    assert "laplace(2)" in repr(3 * x + 1)
    assert "max(" in repr(dpest.maximum(x, 0))
    assert ">" in repr(x > 1)


def test_interval() -> None:
    assert 1.0 in Interval(0.0, 2.0)
    assert 3.0 not in Interval(0.0, 2.0)
    assert Interval(0.0, 2.0).width == 2.0


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_bits(p: float) -> None:
    result = dpest.estimate(lambda x: dpest.bernoulli(p) + 0 * x, (0, 1))
    assert float(result) == 0.0


def test_a_law_of_ones_own_is_a_draw_like_any_other() -> None:
    coin = dpest.estimate(lambda x: x + dpest.Dist.from_atoms({0: 0.5, 1: 0.25, 2: 0.25}) >= 1, (0, 1))
    assert coin.epsilon == math.inf
    tent = dpest.estimate(lambda x: x + dpest.Dist.from_density([0, 1, 2], [0, 1, 0]) > 1, (0, 0.5))
    assert float(tent) == pytest.approx(math.log(4), rel=1e-12)


def test_dictionaries_are_equal_in_any_order() -> None:
    assert dpest.estimate(lambda x: {"a": 1, "b": 2} if x else {"b": 2, "a": 1}, (0, 1)).epsilon == 0.0

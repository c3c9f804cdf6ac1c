"""Outputs that the conditions of a path leave no choice: the number is the one that the program computes."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest
from dpest.lang.nodes import Draw
from dpest.numerics.rationals import ONE, exact
from dpest.trace.literal import Literal
from dpest.trace.outputs import Flat, flatten
from dpest.trace.settled import settled


def at(draw: Draw, low: int, high: int) -> list[Literal]:
    return [Literal(((draw, ONE),), -exact(low)), Literal(((draw, -ONE),), exact(high))]


@pytest.mark.parametrize(
    "function",
    [
        lambda k: 3 * (0.1 * k),  # 0.9000000000000001 for 3, where the rational number is closer to 0.9
        lambda k: 0.1 * k + 0.2 * k - 0.3,
        lambda k: k * 7 - 1,
        lambda k: dpest.maximum(0.1 * k, 0.25),
        lambda k: math.floor(k / 2),
        lambda k: k > 2,
    ],
)
def test_a_value_of_a_settled_draw_is_the_number_of_the_program(function: Any) -> None:
    draw = dpest.integers(0, 9)
    output = flatten([function(draw), "beside", draw])
    found = settled(output, at(draw.node, 3, 3))
    assert found.leaves == (float(function(3)), "beside", 3)
    assert float(found.leaves[0]).hex() == float(function(3)).hex()


def test_a_sum_of_several_settled_draws_is_added_as_the_program_adds() -> None:
    one, two = dpest.integers(0, 9), dpest.integers(0, 9)
    output = flatten([0.1 * one + 0.2 * two])
    found = settled(output, [*at(one.node, 3, 3), *at(two.node, 3, 3)])
    assert found.leaves == (0.1 * 3 + 0.2 * 3,)
    assert found.leaves[0] != 0.9


def test_a_draw_without_a_last_point_may_be_settled_too() -> None:
    draw = dpest.geometric(2)
    assert settled(flatten([draw, 3 - 2 * draw]), at(draw.node, -4, -4)).leaves == (-4, 11)


def test_what_is_left_open_stays_a_random_value() -> None:
    draw, other = dpest.integers(0, 9), dpest.laplace(1)
    output = flatten([2 * draw, draw + other, 5])
    assert settled(output, at(draw.node, 3, 4)) == output
    assert settled(output, ()) == output
    found = settled(output, at(draw.node, 3, 3))
    assert found == Flat(output.structure, (6, output.leaves[1], 5))

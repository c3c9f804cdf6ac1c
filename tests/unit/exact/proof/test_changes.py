"""By how much what a program computes from its inputs changes between adjacent ones (oracle: the program on a grid)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.exact.proof.certificate import Certificate
from dpest.exact.proof.ranges import change_of
from dpest.exact.proof.symbols import UnknownInput
from dpest.lang.dist import Dist
from dpest.lang.nodes import Draw
from dpest.numerics.ranges import ends

GRID = [k / 4 for k in range(-28, 29)]
MOVES = [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0), (-2.5, -0.5), (0.25, 1.75), (0.0, 3.0)]
PROGRAMS: list[tuple[Any, bool]] = [  # and whether its change has no narrower bounds, whatever the move is
    (lambda x: 3 * x - 1, True),
    (lambda x: x > 1, True),
    (lambda x: x >= 1, True),
    (lambda x: x < 1, True),
    (lambda x: x <= 1, True),
    (lambda x: x == 1, False),
    (lambda x: 2 * (x > 1) - (x > 2), False),
    (lambda x: math.floor(x), True),
    (lambda x: math.ceil(x), True),
    (lambda x: round(x), True),
    (lambda x: dpest.where(x >= 0, math.floor(x), math.ceil(x)), False),
    (lambda x: dpest.maximum(x, 2 * x + 1), False),
    (lambda x: dpest.minimum(x, 2 * x + 1), False),
    (lambda x: dpest.clip(x, -1, 1), False),
]


@pytest.mark.parametrize(("program", "tight"), PROGRAMS)
@pytest.mark.parametrize(("low", "high"), MOVES)
def test_no_change_of_an_input_changes_a_value_by_more(program: Any, tight: bool, low: float, high: float) -> None:
    given = Draw(UnknownInput("x"))
    least, most = change_of(program(Dist(given)).node, {id(given): ends(low, high)})
    steps = np.arange(low, high + 0.25, 0.25)
    seen = [float(program(x + s)) - float(program(x)) for x in GRID for s in steps]
    assert least is not None
    assert most is not None
    assert least <= min(seen) <= max(seen) <= most
    assert not tight or (least, most) == (min(seen), max(seen))


@pytest.mark.parametrize("low", [None, -1])
def test_a_condition_on_an_input_without_bounds_changes_by_one(low: Any) -> None:
    given = Draw(UnknownInput("x"))
    for program in (lambda x: x > 1, lambda x: x == 1):
        assert change_of(program(Dist(given)).node, {id(given): (low, None)}) == (-1, 1)


def test_a_count_that_may_fall_is_not_hidden_by_noise_that_only_falls() -> None:
    """The count minus exponential noise never exceeds the count: a smaller count cannot show the same output."""

    def counted(values: Any) -> Any:
        return sum(x > 3 for x in values) - dpest.exponential(1.0)

    p = dpest.prove(counted, n=3)
    assert p.lower == p.upper == math.inf
    assert p.proof is None


def test_the_largest_noisy_value_moves_by_no_more_than_the_inputs() -> None:
    """With the same noise, the largest of the values moves by 1 at most: the noise that is added to it is all that is shifted."""

    def largest(values: Any) -> Any:
        return max(x + dpest.laplace(1.0) for x in values) + dpest.laplace(2.0)

    p = dpest.prove(largest, n=2)
    assert p.lower <= 1 / 2
    assert float(p.upper) == pytest.approx(1 / 2, rel=1e-12)
    assert p.tight
    assert isinstance(p.proof, Certificate)
    assert p.proof.check()
    assert p.proof.rerun(20) == []

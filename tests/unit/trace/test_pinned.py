"""Values with finitely many points: what a path has settled is not asked for again."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

import dpest
from dpest.errors import ExactRefused
from dpest.lang.nodes import Draw
from dpest.laws.continuous import Laplace
from dpest.laws.discrete import integers_law
from dpest.numerics.rationals import exact
from dpest.trace.literal import Literal
from dpest.trace.pinning import pinned


class Path:
    """Answers for one value of a draw, and counts what it is asked."""

    def __init__(self, value: int) -> None:
        self.value, self.asked = value, 0

    def __call__(self, literal: Literal) -> bool:
        self.asked += 1
        return sum((c * self.value for _, c in literal.terms), exact(literal.constant)) >= 0

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        self.asked += 1
        return next(i for i, o in enumerate(options) if all(self(x) for x in o))


@pytest.mark.parametrize("value", [0, 2, 5])
def test_a_draw_is_asked_for_once(value: int) -> None:
    draw = Draw(integers_law(0, 5))
    path = Path(value)
    became: dict[int, Any] = {}
    assert pinned(draw, path, "a value", became) == value
    assert became[id(draw)] == value
    asked = path.asked
    assert asked > 0
    assert pinned(draw, path, "a value", became) == value
    assert path.asked == asked
    assert pinned(draw, Path(4), "a value", {id(draw): 3}) == 3
    assert pinned(draw, path, "a value") == value


def test_a_value_with_a_density_has_no_points() -> None:
    value: Any = Draw(Laplace(1.0))
    with pytest.raises(ExactRefused, match="a divisor that does not have finitely many points"):
        pinned(value, Path(0), "a divisor")


def test_a_list_that_is_repeated_a_random_number_of_times() -> None:
    """0 to 3 dummies with chances 1/2, 1/4, 1/8, 1/8: more than two rows have chance 1/4 with one row, and 1/2 with two."""

    def padded(rows: int) -> Any:
        return ["row"] * (rows + random.choices([0, 1, 2, 3], weights=[4, 2, 1, 1])[0])

    assert dpest.estimate(padded, (1, 2), method="exact").lower == math.inf
    found = dpest.estimate(lambda n: len(padded(n)) > 2, (1, 2), method="exact")
    assert found.lower - 1e-12 <= math.log(2) <= found.upper + 1e-12

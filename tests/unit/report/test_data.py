"""How many points a picture of a curve has is decided by counted work, not by the clock."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest

from dpest.errors import NotCovered
from dpest.numerics.bracket import Bracketed
from dpest.numerics.effort import spend_steps
from dpest.report.data import PICTURE_WORK, POINTS, profile_points
from dpest.results import Result
from tests.unit.report.samples import result


class Curve:
    """delta = max(1/2 - epsilon / 2, 0), at a price for each point and one for the first."""

    def __init__(self, price: int, first: int = 0) -> None:
        self.price, self.first = price, first
        self.delta = cache(self._delta)

    def _delta(self, epsilon: float) -> Bracketed:
        spend_steps(self.price + self.first)
        self.first = 0
        value = max(0.5 - epsilon / 2, 0.0)
        return Bracketed(value, value, value)


def with_curve(curve: object) -> Result:
    plain = result()
    return replace(plain, pairs=(replace(plain.pairs[0], profile=curve),))


@pytest.mark.parametrize(
    ("price", "first", "points"),
    [
        (1, 0, POINTS[-1]),
        (1, PICTURE_WORK, POINTS[-1]),
        (PICTURE_WORK // 60, 0, 25),
        (PICTURE_WORK // 15, 0, POINTS[0]),
        (PICTURE_WORK, 0, 0),
        (1, 3 * PICTURE_WORK, 0),
    ],
)
def test_points_follow_from_work(price: int, first: int, points: int) -> None:
    assert len(profile_points(with_curve(Curve(price, first)))) == points


def test_the_curve_goes_from_zero_to_past_the_loss() -> None:
    drawn = profile_points(with_curve(Curve(1)))
    assert (drawn[0].epsilon, drawn[0].delta) == (0, 0.5)
    assert drawn[-1].epsilon == pytest.approx(1.1 * math.log(2))


def test_what_is_not_covered_is_not_drawn() -> None:
    class Uncovered:
        def delta(self, epsilon: float) -> Bracketed:
            raise NotCovered("no curve")

    assert profile_points(with_curve(Uncovered())) == ()
    assert profile_points(result()) == ()

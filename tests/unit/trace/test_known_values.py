"""What a state says of random values: numbers where one is left, the making of others, and which of them are open."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest
from dpest.lang.nodes import Draw
from dpest.laws.discrete import Atoms, Whole
from dpest.numerics.rationals import ONE, exact
from dpest.trace.literal import Bounds, Literal, narrowed
from dpest.trace.states import KnownValues

HALVES = Atoms((-0.5, 0.5, 1.5), (math.log(0.2), math.log(0.3), math.log(0.5)))
POINTS = Atoms((0.0, 2.0, 3.0), (math.log(0.2), math.log(0.3), math.log(0.5)))
LAPLACE = dpest.laplace(1).node.law


def whole(low: int = 0, high: int = 9) -> Draw:
    node = dpest.integers(low, high).node
    assert isinstance(node, Draw)
    assert isinstance(node.law, Whole)
    return node


def between(draw: Draw, low: float | None, high: float | None) -> Bounds:
    least = [] if low is None else [Literal(((draw, ONE),), -exact(low))]
    most = [] if high is None else [Literal(((draw, -ONE),), exact(high))]
    return narrowed({}, [*least, *most])


@pytest.mark.parametrize(
    ("law", "low", "high", "point"),
    [
        (whole().law, 3, 3, 3),
        (whole().law, 3, 4, None),
        (whole().law, None, 0, 0),
        (whole().law, 9, None, 9),
        (whole().law, None, None, None),
        (whole(4, 5).law, None, 4, 4),
        (HALVES, None, 0, -0.5),
        (HALVES, 0, 1, 0.5),
        (HALVES, 0, None, None),
        (HALVES, 1, None, 1.5),
        (POINTS, 1, 2, 2),
        (LAPLACE, 1, 1, None),
    ],
)
def test_the_point_that_is_left_of_a_draw(law: Any, low: float | None, high: float | None, point: float | None) -> None:
    draw = Draw(law)
    found = KnownValues(between(draw, low, high)).one_point(draw)
    assert found == point
    assert type(found) is type(point)


def test_a_value_of_known_draws_is_a_number_of_its_type() -> None:
    k = dpest.Dist(whole())
    seen = KnownValues(between(k.node, 3, 3))
    assert seen.of(k + 1) == seen.of(2 * k - 2)
    assert seen.of(k + 1) != seen.of(k + 2)
    assert seen.of(k + 1) != seen.of(k + 1.0)  # an int and a float are not the same state


def test_fresh_draws_are_told_by_their_law_and_place() -> None:
    a, b, c = dpest.laplace(1), dpest.laplace(1), dpest.laplace(2)
    states = [KnownValues({}).of([x, y]) for x, y in ((a, b), (b, a), (a, a), (a, c))]
    assert states[0] == states[1]  # renamed
    assert len({str(x) for x in states}) == 3


@pytest.mark.parametrize(
    ("value", "is_open"),
    [
        (lambda a, b: a, False),
        (lambda a, b: 2 * a + 1, False),
        (lambda a, b: a + b, True),  # several draws
        (lambda a, b: dpest.maximum(a, 0), False),
        (lambda a, b: _again_and_again(a), True),  # computed from itself
    ],
)
def test_values_that_are_better_looked_at(value: Any, is_open: bool) -> None:
    a, b = dpest.Dist(whole()), dpest.Dist(whole())
    seen = KnownValues({})
    seen.of(value(a, b))
    assert bool(seen.open) == is_open
    assert set(seen.open) <= {id(a.node), id(b.node)}


def _again_and_again(x: Any) -> Any:
    for _ in range(8):
        x = dpest.maximum(x - 1, 0)
    return x


def test_draws_that_were_spoken_of_are_not_fresh() -> None:
    a, z = dpest.Dist(whole()), dpest.laplace(1)
    seen = KnownValues({**between(a.node, 2, 7), **between(z.node, 1, None)})
    assert seen.of(a) == "open"
    assert seen.of(z) == "open"
    assert set(seen.open) == {id(a.node), id(z.node)}
    assert not KnownValues(between(a.node, 2, 7)).is_fresh(a.node)
    assert KnownValues(between(a.node, 2, 7)).is_fresh(z.node)


def test_known_numbers_do_not_make_a_sum_long() -> None:
    """A running sum of fifty known numbers and one fresh draw is a function of that draw alone."""
    known = [whole() for _ in range(50)]
    bounds: Bounds = {}
    for draw in known:
        bounds = narrowed(bounds, [Literal(((draw, ONE),), -exact(3)), Literal(((draw, -ONE),), exact(3))])
    seen = KnownValues(bounds)
    fresh = dpest.laplace(1)
    assert seen.of(sum(map(dpest.Dist, known), fresh)) != "open"
    assert not seen.open

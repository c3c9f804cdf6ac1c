"""Small parts that decide, each against a count of points or arithmetic by hand."""

from __future__ import annotations

import copy
import datetime
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused, NotReplayable
from dpest.lang.dist import Dist
from dpest.lang.nodes import Compare, Draw, Linear, Pick, Ranked, Relation, Rounded, Rounding
from dpest.laws.continuous import Laplace
from dpest.laws.discrete import Geometric, integers_law
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import exact
from dpest.trace.functions import FunctionBound, moved
from dpest.trace.kept_state import check_state
from dpest.trace.nonlinear import _proportion
from dpest.trace.one_of import one_of
from dpest.trace.rounding import has_functions
from dpest.trace.roundings import least
from dpest.trace.stepped import steps_of
from dpest.trace.together import _has_all, _merged
from dpest.trace.valuation import Valuation, Value

HOLDS: dict[Relation, Callable[[Any, Any], bool]] = {Relation.GE: operator.ge, Relation.GT: operator.gt, Relation.EQ: operator.eq}


def affine(constant: float, *terms: tuple[Any, float]) -> Linear:
    return Linear(tuple((node, exact(c)) for node, c in terms), exact(constant))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("bound", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize(
    ("function", "of"),
    [
        (Elementary(Kind.POWER, exact(0.5)), math.sqrt),
        (Elementary(Kind.POWER, exact(-1)), lambda x: 1 / x),
        (Elementary(Kind.EXP, exact(2)), lambda x: 2.0**x),
        (Elementary(Kind.LOG, exact(2)), math.log2),
    ],
)
def test_a_comparison_of_a_function_moves_to_the_other_side(
    function: Elementary, of: Callable[[float], float], bound: int, above: bool, strict: bool
) -> None:
    """At squares and powers of two the functions are exact: the comparison says what the function itself says."""
    draw = Draw(integers_law(1, 300))
    found = moved(function, FunctionBound(above, strict, exact(bound)), affine(0, (draw, 1)), None)
    compare = (operator.gt if strict else operator.ge) if above else (operator.lt if strict else operator.le)
    for x in (1, 2, 4, 9, 16, 64, 256):
        if isinstance(found, Compare):
            ((node, c),) = found.value.terms
            assert node is draw
            said = HOLDS[found.relation](c * x + found.value.constant, 0)
        else:
            said = found
        assert said == compare(of(x), bound)


@pytest.mark.parametrize("relation", [Relation.GE, Relation.GT])
@pytest.mark.parametrize("factor", [1, 2, -1, -2])
@pytest.mark.parametrize("constant", [-3, -1, 0, 2, 4])
@pytest.mark.parametrize("program", [None, False, True])
def test_where_a_rounding_meets_a_constant(relation: Relation, factor: int, constant: int, program: bool | None) -> None:
    """Points are tried one by one; what the program says counts at the one next to the bound."""
    node = Draw(integers_law(-9, 9))
    asked: list[int] = []

    def says(point: dict[int, Any]) -> bool | None:
        asked.extend(point.values())
        return program

    stub: Any = type("Stub", (), {"__call__": staticmethod(says), "size_beside": staticmethod(lambda node, k: 1.0)})()
    k, at_least = least(relation, affine(constant, (node, factor)), stub)
    (nearest,) = asked
    for n in range(-9, 10):
        truth = HOLDS[relation](factor * n + constant, 0)
        if n == nearest and program is not None:
            truth = program
        assert ((n >= k) == at_least) == truth


def test_one_of_several_is_each_of_them_alone() -> None:
    draw, conditions = one_of([math.log(0.5), math.log(0.3), math.log(0.2)], "ways")
    for k, literals in enumerate(conditions):
        assert [x for x in range(3) if all(c * x + y.constant >= 0 for y in literals for _, c in y.terms)] == [k]
        assert all(d is draw for y in literals for d, _ in y.terms)


def test_what_an_expression_is_multiplied_by_to_be_another() -> None:
    a, b = Draw(Laplace(1.0)), Draw(Laplace(1.0))
    assert _proportion(affine(-0.5, (a, 1)), affine(-1, (a, 2))) == 2
    assert _proportion(affine(0, (a, 2), (b, 4)), affine(0, (a, -1), (b, -2))) == Fraction(-1, 2)
    assert _proportion(affine(-0.5, (a, 1)), affine(-0.25, (a, 2))) is None
    assert _proportion(affine(0, (a, 1), (b, 1)), affine(0, (a, 2), (b, 3))) is None
    assert _proportion(affine(0, (a, 1)), affine(0, (b, 1))) is None
    assert _proportion(affine(0, (a, 1)), affine(0, (a, 1), (b, 1))) is None


def test_places_that_a_container_has() -> None:
    def places(*numbers: float) -> list[Any]:
        return [exact(x) for x in numbers]

    open_array = np.array([1, dpest, 3], dtype=object)
    for held in ([5, 6, 7], {0: 5, 1: 6, 2: 7}, open_array):
        assert _has_all(held, places(0, 1, 2))
        assert not _has_all(held, places(0, 3))
        assert not _has_all(held, places(-1))
        assert not _has_all(held, places(0.5))
    for other in ((5, 6, 7), np.zeros(3), np.array([[1, dpest], [3, 4]], dtype=object), "abc"):
        assert not _has_all(other, places(0, 1))


@pytest.mark.parametrize("rounding", list(Rounding))
@pytest.mark.parametrize("offset", [-1.75, -1.0, 0.0, 0.25, 3.0, 3.25])
@pytest.mark.parametrize("factor", [2.0, -0.5])
def test_a_rounding_of_noise_is_a_draw_of_whole_numbers(rounding: Rounding, offset: float, factor: float) -> None:
    z = Draw(Laplace(1.0))
    found = steps_of(Rounded(rounding, affine(offset, (z, factor))))
    assert found is not None
    ((draw, c),) = found.terms
    assert isinstance(draw, Draw)
    assert draw.made_of is not None
    plain = {Rounding.FLOOR: math.floor, Rounding.CEIL: math.ceil, Rounding.ROUND: round}[rounding]
    for x in (-3.3, -0.6, 0.1, 0.7, 5.9):
        assert c * exact(draw.made_of.value(exact(x))) + found.constant == plain(factor * x + offset)
    # The same noise a whole number further is the same draw.
    further = steps_of(Rounded(rounding, affine(offset + 3, (z, factor))))
    assert further is not None
    assert further.terms == found.terms
    assert further.constant == found.constant + 3


def test_roundings_that_are_no_draws() -> None:
    z, w, k = Draw(Laplace(1.0)), Draw(Laplace(1.0)), Draw(Geometric(1.0))
    for value in (affine(0, (z, 1), (w, 1)), affine(0, (k, 0.5))):
        assert steps_of(Rounded(Rounding.FLOOR, value)) is None


def valued(*values: Value) -> tuple[Valuation, list[Draw]]:
    draws = [Draw(Laplace(1.0)) for _ in values]
    valuation = Valuation(lambda law: 0.0)
    valuation._draws.update(zip(draws, values, strict=True))
    return valuation, draws


def test_sums_with_values_that_are_not_finite() -> None:
    valuation, (infinite, nothing, two) = valued(
        Value(math.inf, 0.0, True), Value(math.nan, 0.0, True), Value(exact(2), 2.0, False)
    )
    assert valuation.linear(((infinite, -2),), 1).number == -math.inf
    assert valuation.linear(((infinite, 2),), 1).number == math.inf
    for terms in (((nothing, 1),), ((two, 1), (infinite, 1)), ((infinite, 1), (infinite, -1))):
        found = valuation.linear(terms, 1)
        assert math.isnan(found.number)
        assert found.size == math.inf
    found = valuation.linear(((two, -3),), 1)
    assert (found.number, found.size, found.smooth) == (-5, 7.0, False)


@pytest.mark.parametrize("pick", list(Pick))
@pytest.mark.parametrize("place", [False, True])
@pytest.mark.parametrize(("values", "unclear"), [((5, 7, 0), False), ((5, 5, 0), True), ((0, 7, 9), False)])
def test_values_in_order(pick: Pick, place: bool, values: tuple[int, ...], unclear: bool) -> None:
    """Which one is meant is unclear where two values are nearer than rounding, and only there."""
    order = sorted(range(3), key=lambda i: values[i], reverse=pick is Pick.MAX)
    for rank in range(3):
        valuation, draws = valued(*(Value(exact(x), 10.0, True) for x in values))
        found = valuation.number(Ranked(pick, tuple(draws), rank, place))
        assert found.number == (order[rank] if place else values[order[rank]])
        assert valuation.unclear == (unclear and values[order[rank]] == 5)


def test_functions_behind_conditions_are_seen() -> None:
    plain, image = Draw(Laplace(1.0)), Draw(Laplace(1.0), origin=SimpleNamespace())  # type: ignore[arg-type]

    def path(*draws: Draw) -> Any:
        return SimpleNamespace(conditions=[SimpleNamespace(terms=((d, exact(1)),)) for d in draws], nodes=())

    assert not has_functions([path(plain), path(), path(plain, plain)])
    assert has_functions([path(plain), path(plain, image)])
    assert not has_functions([])


def year() -> int:
    return datetime.datetime.now().year


def test_a_function_that_asks_the_calendar_is_told() -> None:
    """The program is not run: no clock that is moved would show what a date decides."""
    ran: list[Any] = []
    with pytest.raises(NotReplayable, match="asks datetime for the time"):
        check_state(lambda x: x + (year() > 9000), 0.0, ran.append)  # type: ignore[arg-type]
    check_state(lambda x: x + 1, 0.0, ran.append)  # type: ignore[arg-type]
    assert not ran


def test_texts_inside_pairs_that_may_be_the_same_are_refused() -> None:
    """A whole number is written as a rounded one is: the two ways are not told apart by how they were made."""

    def mechanism(x: int) -> Any:
        if dpest.bernoulli(0.5):
            return f"{x + dpest.geometric(1)}", 1
        return f"{dpest.laplace(1):.0f}", 1

    with pytest.raises(ExactRefused, match="written in two ways"):
        dpest.estimate(mechanism, (0, 1), method="exact")


def test_what_two_sides_give_is_one_value_where_it_is_the_same() -> None:
    condition = Compare(Relation.GE, affine(0, (Draw(Laplace(1.0)), 1)))
    for same in (2, 0.5, "a", (1, "b"), True):
        assert _merged(condition, same, copy.deepcopy(same)) == same
    for one, other in ((1, 2), (1, 1.0), ("a", "b"), (0.5, 1)):
        assert isinstance(_merged(condition, one, other), Dist)
        assert isinstance(_merged(condition, (one, 3), (other, 3))[0], Dist)
        assert _merged(condition, (one, 3), (other, 3))[1] == 3

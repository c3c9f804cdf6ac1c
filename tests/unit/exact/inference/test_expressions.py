"""Affine expressions: values in floats, algebra in rationals, against the standard library's fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpest.exact.inference.expressions import (
    Expr,
    coordinate,
    distinct,
    expr,
    meetings,
    number,
    plus,
    renamed,
    single,
    solved,
    substituted,
    times,
)
from dpest.numerics.rationals import exact

E = expr(((1, exact(3)), (0, exact(2)), (1, exact(-4))), exact(5))  # 2 v0 - v1 + 5


def random_expr(rng: np.random.Generator) -> Expr:
    terms = ((int(v), exact(Fraction(int(rng.integers(-9, 10)), int(rng.integers(1, 6))))) for v in rng.permutation(4) - 1)
    return expr(terms, exact(Fraction(int(rng.integers(-9, 10)), 7)))


def at(e: Expr, values: dict[int, Fraction]) -> Fraction:
    out = Fraction(int(e.constant.numerator), int(e.constant.denominator))
    return out + sum(Fraction(int(c.numerator), int(c.denominator)) * values[v] for v, c in e.terms)


def test_terms_are_added_up_sorted_and_never_zero() -> None:
    assert E.terms == ((0, 2), (1, -1))
    assert expr(((0, exact(1)), (0, exact(-1))), exact(2)) == number(2)
    assert (E.coefficient(0), E.coefficient(1), E.coefficient(7)) == (2, -1, 0)
    assert E.variables() == {0, 1}
    assert [coordinate(j) for j in range(3)] == [-1, -2, -3]


@pytest.mark.parametrize("seed", range(20))
def test_algebra_against_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_expr(rng), random_expr(rng)
    values = {v: Fraction(int(rng.integers(-20, 20)), int(rng.integers(1, 9))) for v in range(-1, 3)}
    assert at(plus(a, b), values) == at(a, values) + at(b, values)
    assert at(plus(a, b, -3), values) == at(a, values) - 3 * at(b, values)
    assert at(times(a, exact(Fraction(2, 3))), values) == at(a, values) * Fraction(2, 3)
    assert at(substituted(a, 1, b), values) == at(a, {**values, 1: at(b, values)})
    names = {v: 10 - v for v in range(-1, 3)}
    assert at(renamed(a, names), {10 - v: x for v, x in values.items()}) == at(a, values)
    rationals = {v: exact(x) for v, x in values.items()}
    assert Fraction(str(a.exactly(rationals))) == at(a, values)
    assert a.exactly({}) == a.constant
    if a.coefficient(2):
        assert at(a, {**values, 2: at(solved(a, 2), values)}) == 0
        assert 2 not in solved(a, 2).variables()


def test_thirds_of_whole_numbers_stay_whole() -> None:
    third = expr(((0, exact(Fraction(1, 3))),), exact(Fraction(-1, 3)))
    assert third.at({0: np.array([1.0, 4.0, 10.0, -2.0])}).tolist() == [0.0, 1.0, 3.0, -1.0]
    wide = expr(((0, exact(Fraction(1, 3))), (1, exact(2.0**60))), exact(0))
    assert wide.at({0: np.array([3.0]), 1: np.array([1.0])}).tolist() == [2.0**60 + 1]
    half = expr(((0, exact(1)), (1, exact(-0.5))), exact(2))
    assert half.at({0: np.array([1.0]), 1: np.array([3.0])}).tolist() == [1.5]


@pytest.mark.parametrize(
    ("top", "bottom", "x"), [(2**53, 5, 3), (2**53, 3, 5), (2**53, 7, 5), (1, 2**53 + 1, 1), (2**53 - 1, 2**53, 1), (1, 3, 2**53)]
)
def test_one_term_is_rounded_once(top: int, bottom: int, x: int) -> None:
    """The quotient of whole numbers is the double next to it, as long as the numbers are doubles."""
    truth = float(Fraction(top * x, bottom))
    assert expr(((0, exact(Fraction(top, bottom))),), exact(0)).at({0: float(x)}) == truth


@pytest.mark.parametrize("place", ["constant", "term"])
@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_that_doubles_round_are_not_put_over_a_denominator(place: str, sign: int) -> None:
    """(2^53 + 1) / 3 is a whole number below 2^53, and 2^53 + 1 is no double."""
    third, large = exact(Fraction(1, 3)), exact(sign * (2**53 + 1) // 3)
    e = expr(((0, third),), large) if place == "constant" else expr(((0, third), (1, large)), exact(0))
    assert e.at({0: 0.0, 1: 1.0}) == float(large) == sign * 3002399751580331.0


def test_every_two_kinks_meet() -> None:
    """x = 0, 1 - y, 4 - 2 y, 9 - 3 y, ..., of which no three meet in one place: y is where two of them are equal."""
    n = 6
    kinks = [expr(((0, exact(1)), (-1, exact(k))), exact(-k * k)) for k in range(n)]
    found = meetings(kinks, 0)
    assert {-e.constant / e.terms[0][1] for e in found} == {j + k for j in range(n) for k in range(j)}
    assert all([v for v, _ in e.terms] == [-1] for e in found)


def test_kinks_meet() -> None:
    x, y = single(0), single(-1)
    # Kinks at x = y, x = 2 and y = 7 over x: y - 2 where the first two meet, and y - 7 itself.
    found = meetings([plus(x, y, -1), single(0, exact(-2)), single(-1, exact(-7))], 0)
    assert {(e.terms, e.constant) for e in found} == {(((-1, 1),), -2), (((-1, 1),), -7)}
    assert meetings([single(0), times(single(0), exact(5))], 0) == ()


def test_hyperplanes_are_told_once() -> None:
    kinks = [expr(((0, exact(2)), (1, exact(4))), exact(6)), expr(((0, exact(-1)), (1, exact(-2))), exact(-3)), number(4)]
    assert distinct(kinks) == [expr(((0, exact(1)), (1, exact(2))), exact(3))]

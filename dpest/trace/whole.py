"""Comparisons of discrete draws in normal form: whole coefficients, a whole constant, and `>=`.

Rationals decide where the bound lies. Where it lies on a lattice point, or so close to one that rounding could move it
across, the author's own comparison is evaluated there: `k / 10 <= 0.3` holds for k = 3 in Python, although 3/10 is larger
than the double 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

from dpest.errors import ExactRefused
from dpest.lang.extent import Extent, compared
from dpest.lang.nodes import Draw, Node, Relation, is_integral, plain_number
from dpest.lang.plain import Undetermined, evaluate
from dpest.laws.law import Discrete
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import ONE, ZERO, Rational, ceil, common_measure, exact, floor
from dpest.trace.literal import Literal

Terms: TypeAlias = tuple[tuple[Draw, Rational], ...]
Point: TypeAlias = dict[int, int | float]

# Rounding moves a sum by less than this, relative to the largest number in it: a thousand operations of 1.1e-16 each.
ROUNDING = exact(2) ** -43
_MOST_TIES = 5_000  # points at which one comparison is evaluated: some hundredths of a second
_MOST_SIZE = 1e300
_MOST_EXACT = 1 << 52  # whole numbers up to here are doubles, and so is what lies halfway between them
_FAR = -60.0  # ln of the mass beyond which ties of infinite laws are not looked at


@dataclass(frozen=True)
class AsWritten:
    """The author's own comparison, to be evaluated where the draws have given values."""

    condition: Any
    known: Mapping[int, Any]  # by the id of a node: what it came down to, a node or a plain number

    def __call__(self, point: Point) -> bool | None:
        """What the program says where the draws have these values; None where that cannot be told."""
        try:
            return bool(evaluate(self.condition, {**self.known, **point}))
        except (Undetermined, ArithmeticError):
            return None

    def at(self, points: Point) -> AsWritten:
        """The comparison with some draws known."""
        return AsWritten(self.condition, {**self.known, **points})

    @cached_property
    def extent(self) -> Extent:
        """How large the numbers on the way are, and whether any of them is rounded."""
        return compared(self.condition, self.known)

    def near(self, difference: Rational) -> bool:
        """Whether the rounding of the numbers on the way could change the sign of a difference."""
        size = self.extent.size
        return not self.extent.exact and (not size < _MOST_SIZE or abs(difference) <= ROUNDING * exact(size))

    def size_beside(self, node: Node, k: int) -> float:
        """How large numbers are that are rounded on the way, where a rounded value is k; 0 where continuous noise cancels."""
        extent = compared(self.condition, {**self.known, id(node): k})
        return extent.size if math.isfinite(extent.size) and not extent.exact else 0.0


class Uneven(ExactRefused):
    """A comparison that rounding decides differently at points with the same exact value."""


def at_least(terms: Terms, constant: Rational, relation: Relation, program: AsWritten) -> Literal | bool:
    """terms + constant >= 0 (or > 0) for discrete draws, as a literal in normal form or a plain truth."""
    if len(terms) == 1 and not is_integral(terms[0][0]):
        return _among_points(terms[0][0], terms[0][1], constant, relation, program)
    step = common_measure(c for _, c in terms)
    whole = tuple((d, c / step) for d, c in terms)
    bound = -constant / step
    _resolved(whole, bound)
    least = ceil(bound) if relation is Relation.GE else floor(bound) + 1
    told = [(tie, _said(whole, tie, program)) for tie in _ties(bound, step, program)]
    holding = [tie for tie, said in told if said]
    failing = [tie for tie, said in told if said is False]
    if holding and failing and min(holding) < max(failing):
        raise Uneven("a comparison that floating-point rounding makes true and false by turns")
    least = min([least, *holding])
    return Literal(whole, exact(-max([least, *(tie + 1 for tie in failing)])))


def equals(terms: Terms, constant: Rational, program: AsWritten) -> tuple[Literal, Literal] | bool:
    """terms + constant == 0 for discrete draws, as two inequalities that must hold; False where it never does."""
    if len(terms) == 1 and not is_integral(terms[0][0]):
        return _one_point(terms[0][0], terms[0][1], constant, program)
    step = common_measure(c for _, c in terms)
    whole = tuple((d, c / step) for d, c in terms)
    bound = -constant / step
    _resolved(whole, bound)
    told = [(tie, _said(whole, tie, program)) for tie in _ties(bound, step, program)]
    equal = [tie for tie, said in told if (said if said is not None else bound == tie)]
    if len(equal) > 1:
        raise Uneven("numbers that differ, and are equal after floating-point rounding")
    if not equal:
        return False
    return Literal(whole, exact(-equal[0])), Literal(tuple((d, -c) for d, c in whole), exact(equal[0]))


def _resolved(whole: Terms, bound: Rational) -> None:
    """Raises where floats do not tell the lattice values next to a bound apart, and the draws can be taken point by point."""
    listed = all(isinstance(d.law, Discrete) and d.law.finite for d, _ in whole)
    if listed and len(whole) > 1 and max(abs(bound), *(abs(c) for _, c in whole)) > _MOST_EXACT:
        raise Uneven("a comparison of several discrete random values on a lattice that is finer than floats resolve")


def _ties(bound: Rational, step: Rational, program: AsWritten) -> range:
    """The lattice values that the bound lies on, or so close to that rounding could move it across."""
    if program.extent.exact:
        near = ZERO
    else:
        near = ROUNDING * exact(program.extent.size) / step if program.extent.size < _MOST_SIZE else exact(_MOST_TIES)
    ties = range(ceil(bound - near), floor(bound + near) + 1)
    if len(ties) > _MOST_TIES:
        raise Uneven(
            "a comparison of discrete random values on different lattices, such as 0.1 * a against 0.3 * b: rounding decides its "
            "ties; write it in whole numbers, a against 3 * b"
        )
    return ties


def _said(whole: Terms, tie: int, program: AsWritten) -> bool | None:
    """What the program says at points whose exact value is the tie; None where no point has it, or rationals decide."""
    if program.extent.exact:
        return None
    told = {program(point) for point in _points(whole, tie)}
    told.discard(None)
    if len(told) > 1:
        raise Uneven(
            "a comparison of several discrete random values whose ties are decided by floating-point rounding: write it in "
            "whole numbers"
        )
    return told.pop() if told else None


def _points(whole: Terms, tie: int) -> Iterator[Point]:
    """The points of the supports at which the combination has the value `tie`."""
    *others, (draw, c) = sorted(whole, key=lambda term: _width(term[0]))
    if math.prod(_width(d) for d, _ in others) > _MOST_TIES:
        raise Uneven(
            "a comparison of discrete random values with too many ties to look at, which floating-point rounding decides: write "
            "it in whole numbers"
        )
    low, high = draw.law.support
    for values in product(*(_listed(d) for d, _ in others)):
        rest = (tie - sum(n * x for (_, n), x in zip(others, values, strict=True))) / c
        if rest.denominator == 1 and low <= rest <= high:
            point: Point = {id(d): plain_number(x) for (d, _), x in zip(others, values, strict=True)}
            yield {**point, id(draw): int(rest)}


def _width(draw: Draw) -> float:
    """How many points a draw has, as far as they are looked at."""
    low, high = draw.law.support
    return high - low + 1 if math.isfinite(high - low) else float(len(_window(draw)))


def _among_points(draw: Draw, c: Rational, constant: Rational, relation: Relation, program: AsWritten) -> Literal | bool:
    """The comparison of one draw whose points are not whole numbers, looked up point by point."""
    holds = []
    points = _listed(draw)
    for x in points:
        said = program({id(draw): float(x)})
        value = c * x + constant
        holds.append(said if said is not None else (value >= 0 if relation is Relation.GE else value > 0))
    if all(holds) or not any(holds):
        return holds[0]
    up = holds[-1]
    first = holds.index(up) if up else holds.index(False) - 1
    expected = [(i >= first) == up if up else i <= first for i in range(len(holds))]
    if holds != expected:
        raise Uneven("a comparison that floating-point rounding makes true and false by turns")
    return Literal(((draw, ONE if up else -ONE),), -points[first] if up else points[first])


def _one_point(draw: Draw, c: Rational, constant: Rational, program: AsWritten) -> tuple[Literal, Literal] | bool:
    for x in _listed(draw):
        said = program({id(draw): float(x)})
        if said if said is not None else c * x + constant == 0:
            return Literal(((draw, ONE),), -x), Literal(((draw, -ONE),), x)
    return False


def _listed(draw: Draw) -> list[Rational]:
    return [exact(float(x)) for x in _window(draw)]


def _window(draw: Draw) -> Floats:
    assert isinstance(draw.law, Discrete)
    return draw.law.window(0.0 if getattr(draw.law, "finite", False) else _FAR)[0]

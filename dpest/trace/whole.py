"""Comparisons of discrete draws in normal form: whole coefficients, a whole constant, and `>=`.

Rationals decide where the bound lies. Where it lies on a lattice point, or so close to one that rounding could move it
across, the author's own comparison is evaluated there: `k / 10 <= 0.3` holds for k = 3 in Python, although 3/10 is larger
than the double 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

from dpest.errors import ExactRefused
from dpest.lang.nodes import Draw, Relation
from dpest.laws.law import Discrete
from dpest.numerics.rationals import ONE, Rational, ceil, common_measure, exact, floor
from dpest.trace.literal import Literal

Terms: TypeAlias = tuple[tuple[Draw, Rational], ...]
# What the program says where the draws have these values; None where that cannot be told.
Program: TypeAlias = Callable[[dict[int, int | float]], bool | None]

# Rounding moves a sum by less than this, relative to the largest number in it: a thousand operations of 1.1e-16 each.
_ROUNDING = exact(2) ** -43


class Uneven(ExactRefused):
    """A comparison that rounding decides differently at points with the same exact value."""


def at_least(terms: Terms, constant: Rational, relation: Relation, program: Program) -> Literal | bool:
    """terms + constant >= 0 (or > 0) for discrete draws, as a literal in normal form or a plain truth."""
    if len(terms) == 1 and not _integral(terms[0][0]):
        return _among_points(terms[0][0], terms[0][1], constant, relation, program)
    step = common_measure(c for _, c in terms)
    whole = tuple((d, c / step) for d, c in terms)
    bound = -constant / step
    least = ceil(bound) if relation is Relation.GE else floor(bound) + 1
    tie = _tied(bound, step, terms, constant)
    if tie is not None:
        said = _said(whole, tie, program)
        if said is not None:
            least = min(least, tie) if said else max(least, tie + 1)
    return Literal(whole, exact(-least))


def equals(terms: Terms, constant: Rational, program: Program) -> tuple[Literal, Literal] | bool:
    """terms + constant == 0 for discrete draws, as two inequalities that must hold; False where it never does."""
    if len(terms) == 1 and not _integral(terms[0][0]):
        return _one_point(terms[0][0], terms[0][1], constant, program)
    step = common_measure(c for _, c in terms)
    whole = tuple((d, c / step) for d, c in terms)
    bound = -constant / step
    tie = _tied(bound, step, terms, constant)
    if tie is None:
        return False
    said = _said(whole, tie, program)
    if not (said if said is not None else bound == tie):
        return False
    return Literal(whole, exact(-tie)), Literal(tuple((d, -c) for d, c in whole), exact(tie))


def _integral(draw: Draw) -> bool:
    return isinstance(draw.law, Discrete) and draw.law.integral


def _tied(bound: Rational, step: Rational, terms: Terms, constant: Rational) -> int | None:
    """The lattice value that the bound lies on, or so close to that rounding could move it across."""
    nearest = floor(bound + exact(0.5))
    size = max([abs(constant), *(abs(c) for _, c in terms)])
    near = _ROUNDING * size / step
    if near >= 0.25 and len(terms) > 1:
        raise Uneven(
            "a comparison of discrete random values on different lattices, such as 0.1 * a against 0.3 * b: rounding decides its "
            "ties; write it in whole numbers, a against 3 * b"
        )
    return nearest if abs(bound - nearest) <= near else None


def _said(whole: Terms, tie: int, program: Program) -> bool | None:
    """What the program says at points whose exact value is the tie; None where no point has it, or nobody knows."""
    told = {program(point) for point in _points(whole, tie)}
    told.discard(None)
    if len(told) > 1:
        raise Uneven(
            "a comparison of several discrete random values whose ties are decided by floating-point rounding: write it in "
            "whole numbers"
        )
    return told.pop() if told else None


def _points(whole: Terms, tie: int) -> Iterator[dict[int, int | float]]:
    """Some points of the supports at which the combination has the value `tie`."""
    pivot = min(range(len(whole)), key=lambda i: abs(whole[i][1]))
    draw, c = whole[pivot]
    others = [(d, n) for i, (d, n) in enumerate(whole) if i != pivot]
    spare = range(int(abs(c))) if others else range(1)
    for base in (0, 1, -3, 10) if others else (0,):
        for extra in spare:
            point: dict[int, int | float] = {id(d): _inside(d, base) for d, _ in others}
            if others:
                point[id(others[0][0])] = _inside(others[0][0], base + extra)
            rest = (tie - sum(n * exact(point[id(d)]) for d, n in others)) / c
            if rest.denominator == 1 and draw.law.support[0] <= rest <= draw.law.support[1]:
                point[id(draw)] = int(rest)
                yield point
                break


def _inside(draw: Draw, k: int) -> int:
    low, high = draw.law.support
    return int(min(max(k, low), high)) if math.isfinite(low) or math.isfinite(high) else k


def _among_points(draw: Draw, c: Rational, constant: Rational, relation: Relation, program: Program) -> Literal | bool:
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


def _one_point(draw: Draw, c: Rational, constant: Rational, program: Program) -> tuple[Literal, Literal] | bool:
    for x in _listed(draw):
        said = program({id(draw): float(x)})
        if said if said is not None else c * x + constant == 0:
            return Literal(((draw, ONE),), -x), Literal(((draw, -ONE),), x)
    return False


def _listed(draw: Draw) -> list[Rational]:
    assert isinstance(draw.law, Discrete)
    return [exact(float(x)) for x in draw.law.window(0.0)[0]]

"""Comparisons of a rounded value with a constant: floor(a) >= r is a >= ceil(r), and needs no rounding."""

from __future__ import annotations

import operator
from typing import Any, assert_never

from dpest.errors import ExactRefused
from dpest.lang.logic import sign
from dpest.lang.nodes import Compare, Draw, Linear, Relation, Rounded, Rounding, Written, combine, linear
from dpest.lang.spans import reach
from dpest.numerics.rationals import ONE, Rational, ceil, common_measure, exact, floor
from dpest.trace.whole import ROUNDING, AsWritten

HALF = exact(0.5)


def asked(value: Linear, program: AsWritten) -> tuple[Rational, int, bool | None]:
    """Where one rounding meets a constant, the whole number next to it, and what the program says there."""
    node, c = value.terms[0]
    bound = -value.constant / c
    nearest = floor(bound + HALF)
    if not float(ROUNDING) * program.size_beside(node, nearest) < abs(c) / 2:
        raise ExactRefused("a rounded value beside numbers so large that floating-point rounding decides the comparison")
    return bound, nearest, program({id(node): nearest})


def least(relation: Relation, value: Linear, program: AsWritten) -> tuple[int, bool]:
    """(k, True) where the comparison says that the rounding is at least k, (k, False) where it says the opposite."""
    bound, nearest, said = asked(value, program)
    strict = relation is Relation.GT
    if value.terms[0][1] > 0:
        least = floor(bound) + 1 if strict else ceil(bound)
        return (least if said is None else min(least, nearest) if said else max(least, nearest + 1)), True
    most = ceil(bound) - 1 if strict else floor(bound)
    return (most if said is None else max(most, nearest) if said else min(most, nearest - 1)) + 1, False


def reaches(node: Rounded, k: int) -> Any:
    """Whether a rounding is at least a whole number, as a comparison of what it rounds."""
    value, written = linear(node.value), (operator.ge, (node, k))
    match node.rounding:
        case Rounding.FLOOR:
            return _condition(Relation.GE, combine(value, linear(k), -1), written)
        case Rounding.CEIL:
            return _condition(Relation.GT, combine(value, linear(k - 1), -1), written)
        case Rounding.ROUND:
            # Halves go to the even side: at one of them the program itself is asked.
            half = exact(k) - HALF
            return _condition(Relation.GT if k % 2 else Relation.GE, Linear(value.terms, value.constant - half), written)
        case _:
            assert_never(node.rounding)


def _condition(relation: Relation, value: Linear, written: Written) -> Any:
    return Compare(relation, value, written) if value.terms else sign(relation, value.constant)


def meets_whole(value: Linear) -> bool:
    """Whether an affine expression of whole-number draws can be a whole number with positive probability."""
    draws = [(n, c) for n, c in value.terms if isinstance(n, Draw)]
    if any(not d.law.discrete for d, _ in draws):
        return False
    if not all(getattr(d.law, "integral", False) for d, _ in draws):
        return True
    step = common_measure([ONE, *(c for _, c in draws)])
    return bool((value.constant / step).denominator == 1)


_MOST_STEPS = 64  # whole numbers that a rounding is compared with one by one: each is a case of its own


def short(node: Rounded) -> bool:
    """Whether a rounding has few values, since the supports of its draws say so."""
    low, high = reach(node)
    return high - low <= _MOST_STEPS


def comparable(margin: Linear) -> bool:
    """Whether a difference is one inequality between draws: without roundings, or one rounding beside a constant."""
    return len(margin.terms) == 1 or not any(isinstance(n, Rounded) for n, _ in margin.terms)

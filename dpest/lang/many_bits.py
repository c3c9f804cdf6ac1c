"""Whole numbers of so many random bits that a fraction of them is a uniform number: `getrandbits(53) / 2**53`."""

from __future__ import annotations

from typing import Any

from dpest.lang.nodes import Draw, Linear, Rounded, Rounding, Written, linear, scaled
from dpest.laws.continuous import Uniform
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

MANY = 2**52  # whole numbers from which on their fractions have the steps of `random.random()`, whose law counts as uniform
_FINE = 1 / exact(MANY)


def multiplied(node: Any, factor: Rational, written: Written) -> Linear:
    """factor * node; a whole number of many bits that comes down to steps as fine as those of random.random() has no steps."""
    value = linear(node)
    if not 0 < abs(factor) <= _FINE or len(value.terms) != 1:
        return scaled(value, factor, written)
    ((one, c),) = value.terms
    uniform = _unrounded(one)
    if uniform is None or abs(c * factor) > _FINE:
        return scaled(value, factor, written)
    draw, many = uniform
    if abs(abs(many * c * factor) - ONE) <= 2 * _FINE and ZERO <= value.constant / c <= ONE:
        # (k + 1/2) / 2**53 and (k + 1) / (2**53 + 1) keep away from 0 and 1: they are as random.random() is as well.
        return scaled(linear(draw), 1 if c * factor > 0 else -1, written)
    return scaled(Linear(((draw, c * many),), value.constant), factor, written)


def _unrounded(node: Any) -> tuple[Draw, Rational] | None:
    """The uniform draw and the number that it is multiplied by, where a value is one of so many whole numbers."""
    if not isinstance(node, Rounded) or node.rounding is not Rounding.FLOOR:
        return None
    match linear(node.value):
        case Linear(terms=((Draw(law=Uniform(low=0.0, high=1.0)) as draw, many),), constant=0):
            return (draw, many) if many >= MANY else None
        case Linear(terms=((Rounded() as inner, share),), constant=0) if share > 0 and (1 / share).denominator == 1:
            found = _unrounded(inner)  # the last bits of a number of more bits are cut off, as in k >> 3
            return None if found is None or found[1] * share < MANY else (found[0], found[1] * share)
    return None

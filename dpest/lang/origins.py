"""Draws that are functions of other draws: the draw behind them, and conditions brought back to it."""

from __future__ import annotations

from dpest.lang.nodes import Draw, Origin
from dpest.numerics.rationals import Rational


def root(draw: Draw) -> Draw:
    """The draw that was made, behind functions of it; one for all draws that a value is made of together."""
    while draw.origin is not None:
        draw = draw.origin.base
    joined = draw.derived.joined
    return draw if joined is None else root(joined)


def is_joined(draw: Draw) -> bool:
    """Whether a draw is made of others, or makes another one together with them."""
    return draw.derived.joined is not None


def on_base(step: Origin, least: bool, bound: Rational) -> tuple[bool, Rational | None]:
    """A bound on a draw (from below where `least`) as one on its base; without a bound, whether it always holds."""
    there = step.backward(bound)
    if there is not None:
        return least == step.rising, there
    low, _ = step.function.range
    outer = step.coefficient * bound + step.constant
    below = low is not None and outer <= low  # the bound lies below all values of the function, or above them
    return (below if step.coefficient > 0 else not below) == least, None


def at_root(draw: Draw, least: bool, bound: Rational) -> tuple[Draw, bool, Rational] | None:
    """A bound on a function of a draw as one on the draw itself; None where the function's range decides it."""
    while draw.origin is not None:
        least, there = on_base(draw.origin, least, bound)
        if there is None:
            return None
        draw, bound = draw.origin.base, there
    return draw, least, bound


def steps_of(draw: Draw) -> tuple[object, ...]:
    """What was done to the draw behind a function of it: equal for the same function."""
    out: list[object] = []
    while draw.origin is not None:
        step = draw.origin
        out.append((step.function, step.factor, step.offset, step.coefficient, step.constant))
        draw = step.base
    return tuple(out)

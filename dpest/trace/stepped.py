"""Roundings of noise as draws of their own: round(z) of a Laplace draw z is a whole-number draw.

What is computed from it is then arithmetic on whole numbers. Whoever uses the noise itself beside it is refused.
"""

from __future__ import annotations

from dpest.lang.made_of import Steps
from dpest.lang.nodes import Draw, Linear, Rounded, Rounding, combine, linear, scaled
from dpest.laws.law import Continuous
from dpest.laws.stepped import Stepped
from dpest.numerics.rationals import Rational, exact, floor


def with_steps(value: Linear) -> Linear:
    """An affine expression with the roundings of one draw in it as draws of their own."""
    out = Linear((), value.constant)
    for node, c in value.terms:
        steps = steps_of(node) if isinstance(node, Rounded) else None
        out = combine(out, linear(node) if steps is None else steps, c)
    return out


def steps_of(node: Rounded) -> Linear | None:
    """A rounding of one draw with a log-concave density, as a draw of whole numbers; None for others."""
    inner = linear(node.value)
    if len(inner.terms) != 1:
        return None
    draw, factor = inner.terms[0]
    if not isinstance(draw, Draw) or draw.origin is not None or draw.made_of is not None or draw.law.unknown:
        return None
    if not isinstance(draw.law, Continuous) or not draw.law.log_concave:
        return None
    match node.rounding:
        case Rounding.FLOOR:
            return _made(draw, factor, inner.constant)
        case Rounding.CEIL:
            return scaled(_made(draw, -factor, -inner.constant), -1)
        case Rounding.ROUND:  # halves have probability zero
            return _made(draw, factor, inner.constant + exact(0.5))


def _made(draw: Draw, factor: Rational, offset: Rational) -> Linear:
    """floor(factor * draw + offset); data that is whole stays apart from it, so that the noise has one law on both inputs."""
    whole = floor(offset)

    def make() -> Draw:
        assert isinstance(draw.law, Continuous)
        new = Draw(Stepped(draw.law, factor, offset - whole), made_of=Steps(draw, factor, offset - whole))
        new.derived.joined = draw
        return new

    found: Draw = draw.derived.once(("steps", factor, offset - whole), make)
    return combine(linear(found), linear(whole), 1)

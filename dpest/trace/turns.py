"""What is left when whole turns are taken away: `(x + noise) % m`, `z - floor(z)`, as a draw of its own.

Of c * (a - floor(a)) only the fractional parts of the terms of `a` matter. Each is a draw made of another one: a residue where
the draw is a whole number, noise around a circle where it has a density. Whoever uses the draw itself beside it is refused.
"""

from __future__ import annotations

import math
import operator

from dpest.errors import ExactRefused
from dpest.lang.made_of import Steps, Turns
from dpest.lang.nodes import (
    Compare,
    Draw,
    Linear,
    Relation,
    Rounded,
    Rounding,
    combine,
    is_integral,
    is_whole_as_written,
    linear,
    scaled,
)
from dpest.lang.spans import span
from dpest.laws.law import Continuous, Discrete
from dpest.laws.wrapped import residues, wrapped
from dpest.numerics.rationals import ONE, Rational, common_measure, exact, floor
from dpest.trace.atomic import Ask, atomic
from dpest.trace.roundings import short
from dpest.trace.stepped import steps_of, with_steps
from dpest.trace.whole import AsWritten

_MOST_CLASSES = 4_096  # residues of a whole number: each is a point of the law
_FEW_POINTS = 500  # of whole-number draws together, up to which each is looked at by itself
_FEW_TURNS = 8  # that a bounded draw makes: each is a comparison


def without_turns(value: Linear, ask: Ask) -> Linear:
    """An affine expression of draws and roundings without those roundings that take whole turns away from its other terms."""
    if any(isinstance(n, Rounded) and _rounds_again(n) for n, _ in value.terms):
        value = with_steps(value)
    floors = [(n, c) for n, c in value.terms if isinstance(n, Rounded) and n.rounding is Rounding.FLOOR]
    # The outermost first: it takes away what remainders inside it have left.
    for node, c in sorted(floors, key=lambda term: -len(linear(term[0].value).terms)):
        inner = with_steps(linear(node.value))
        rest = combine(value, combine(inner, linear(node), -1), c)
        turned = _turned(inner)
        if _goes_around(node, turned) and not {id(n) for n, _ in rest.terms} & {id(n) for n, _ in (*inner.terms, (node, c))}:
            return without_turns(combine(rest, _left(turned, ask), -c), ask)
    return value


def _rounds_again(node: Rounded) -> bool:
    """Whether a rounding is made of another one, of noise: that one is a whole number by itself."""
    return any(isinstance(n, Rounded) and steps_of(n) is not None for n, _ in linear(node.value).terms)


def _turned(inner: Linear) -> Linear:
    """The terms that do not make whole turns only."""
    return Linear(tuple((n, c) for n, c in inner.terms if c.denominator > 1 or not is_integral(n)), inner.constant)


def _goes_around(node: Rounded, inner: Linear) -> bool:
    """Whether every term is a draw whose fractional part has a law here, and no better way is known."""
    draws = [d for d, _ in inner.terms if isinstance(d, Draw)]
    made = any(d.made_of is not None and not isinstance(d.made_of, Steps) for d in draws)
    if len(draws) < len(inner.terms) or made or any(d.origin is not None or d.law.unknown for d in draws):
        return False
    if not any(d.law.discrete for d in draws):
        return not short(node)
    if not all(map(is_integral, draws)) or not in_whole_numbers(node):
        return False
    few = math.prod(d.law.support[1] - d.law.support[0] + 1 for d in draws) <= _FEW_POINTS
    return not few and all(c.denominator <= _MOST_CLASSES for _, c in inner.terms)


def in_whole_numbers(node: Rounded) -> bool:
    """Whether the program divides a whole number by one, as // does: then rounding decides nothing."""
    function, operands = node.written if node.written is not None else (None, ())
    return function is operator.floordiv and all(isinstance(x, int) or is_whole_as_written(x) for x in operands)


def _left(inner: Linear, ask: Ask) -> Linear:
    """inner - floor(inner), as an affine expression of draws that lie on a few turns."""
    out = Linear((), inner.constant - floor(inner.constant))
    for draw, c in inner.terms:
        assert isinstance(draw, Draw)
        out = combine(out, linear(draw) if _is_bounded(draw, c) else _part(draw, c), c if _is_bounded(draw, c) else 1)
    low, high = span(out)
    assert low is not None
    assert high is not None
    whole = floor(low)
    # In whole numbers, where it is a comparison of such: rounding decides none of them.
    step = common_measure((ONE, out.constant, *(c for _, c in out.terms))) if all(is_integral(n) for n, _ in out.terms) else ONE
    for turn in range(whole + 1, 1 + floor(high)):
        condition = Compare(Relation.GE, scaled(Linear(out.terms, out.constant - turn), ONE / step))
        if not atomic(Relation.GE, condition.value, ask, AsWritten(condition, {})):
            break
        whole = turn
    return Linear(out.terms, out.constant - whole)


def _is_bounded(draw: Draw, factor: Rational) -> bool:
    """Whether a multiple of a draw lies on a few turns: it is compared with each of them."""
    low, high = draw.law.support
    return abs(factor) * exact(high - low) <= _FEW_TURNS if math.isfinite(high - low) else False


def _part(draw: Draw, factor: Rational) -> Linear:
    """The fractional part of a multiple of a draw."""

    def make() -> Linear:
        made_of = Turns(draw, factor)
        if isinstance(draw.law, Discrete):
            new = Draw(residues(draw.law, factor), made_of=made_of)
            out = scaled(linear(new), ONE / made_of.steps)
        elif isinstance(draw.law, Continuous):
            new = Draw(wrapped(draw.law, factor), made_of=made_of)
            out = linear(new)
        else:
            raise ExactRefused(f"whole turns of {draw.law.words()}")
        new.derived.joined = draw
        return out

    found: Linear = draw.derived.once(("turns", factor), make)
    return found

"""The cases of some outputs compared with the expressions that they came from, at numbers drawn for their draws.

A case is worked out by rules: which conditions lead to it, and what the outputs are there. At given numbers the graph says
what the outputs are by arithmetic alone. Where the numbers meet the conditions of the path, some case must hold, and every
case that holds must have the outputs' values. A rule that is wrong shows here as an error, and not as a loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpest.errors import TraceMismatch
from dpest.exact.inference.cases import Affine, Constant, Expansion, Floor, LeafValue, Ratio
from dpest.exact.inference.sphere import Spherical
from dpest.lang.extent import is_rounded
from dpest.lang.nodes import Draw, Linear, Relation
from dpest.laws.law import Law
from dpest.numerics.rationals import Rational, floor
from dpest.run.streams import stream
from dpest.trace.literal import Literal
from dpest.trace.plain_run import SEED, NumberSource
from dpest.trace.valuation import Valuation, Value

# Four draws of numbers took 3 % of the time of 300 random programs and 6 % of a noisy argmax's, whose benchmark has no room for
# that: two. A path that is rarely taken needs more tries until its conditions are met; where they are not, nothing is compared.
_COMPARED, _TRIES = 2, 24
_UNCLEAR = 1e-9  # relative: nearer to a bound than this, rounding may decide, and the numbers say nothing


def check_cases(leaves: Sequence[Any], literals: Sequence[Literal], cases: Sequence[Expansion], *, complete: bool) -> None:
    """Raises `TraceMismatch` where a case disagrees with the outputs; `complete` says that the cases are all there are."""
    source = NumberSource(stream(SEED), block=_TRIES)
    compared = 0
    for _ in range(_TRIES):
        numbers = _Numbers(source)
        if not all(map(numbers.meets, literals)) or numbers.unclear:
            continue
        holding = [case for case in cases if all(map(numbers.meets, case.literals)) and numbers.define(case)]
        expected = [numbers.valuation.leaf(x) for x in leaves]
        if not numbers.unclear and not numbers.valuation.unclear:
            if complete and not holding:
                raise _disagreement(numbers, expected, "no case holds")
            for case in holding:
                if not all(map(numbers.agree, case.values, expected, leaves)):
                    raise _disagreement(numbers, expected, f"a case says {[numbers.said(v) for v in case.values]}")
        compared += 1
        if compared == _COMPARED:
            return


class _Numbers:
    """A number for every draw that is asked for."""

    def __init__(self, source: NumberSource) -> None:
        drawn: list[tuple[Law, float]] = []

        def draw(law: Law) -> float:  # without this object in it: the two would keep each other alive
            drawn.append((law, source.draw(law)))
            return drawn[-1][1]

        self.drawn = drawn
        self.valuation = Valuation(draw)
        self.unclear = False
        self._floats: dict[Draw, float] = {}

    def _float(self, draw: Any) -> float:
        if draw not in self._floats:
            self._floats[draw] = float(self.valuation.number(draw).number)
        return self._floats[draw]

    def meets(self, literal: Literal) -> bool:
        """Whether an inequality holds."""
        total = float(literal.constant)
        size = abs(total)
        for draw, c in literal.terms:
            part = float(c) * self._float(draw)
            total, size = total + part, size + abs(part)
        if abs(total) > _UNCLEAR * size:
            return total > 0
        exactly = self.valuation.linear(literal.terms, literal.constant)
        self.unclear = self.unclear or exactly.smooth or exactly.inexact
        return self.valuation.satisfies(Relation.GE, literal.terms, literal.constant)

    def define(self, case: Expansion) -> bool:
        """Whether the functions of draws that a case speaks of have values: that is a condition which their laws hold."""
        terms = [*(t for x in case.literals for t in x.terms), *(t for v in case.values for x in _parts(v) for t in x.terms)]
        return all(self._has_value(d) for d, _ in terms)

    def _has_value(self, draw: Any) -> bool:
        step = draw.origin
        if step is None:
            return True
        inner = self.valuation.linear(((step.base, step.factor),), step.offset).number
        return isinstance(inner, float) or (step.function.inside(inner) and self._has_value(step.base))

    def said(self, value: LeafValue) -> Any:
        """What a case says of a leaf: a constant, or a `Value`."""
        match value:
            case Constant(value=x):
                return x
            case Affine(value=x):
                return self.valuation.linear(x.terms, x.constant)
            case Floor(inner=inner, scale=scale, offset=offset):
                return self._floor(self.valuation.linear(inner.terms, inner.constant), scale, offset)
            case Spherical(node=node):
                return self.valuation.number(node)
            case Ratio(top=top, bottom=bottom, offset=offset):
                a, b = (self.valuation.linear(x.terms, x.constant) for x in (top, bottom))
                if isinstance(a.number, float) or isinstance(b.number, float) or not b.number:
                    self.unclear = True
                    return None
                return Value(a.number / b.number + offset, a.size / abs(float(b.number)) + abs(float(offset)), True)

    def _floor(self, inner: Value, scale: Rational, offset: Rational) -> Value | None:
        if isinstance(inner.number, float):
            self.unclear = True
            return None
        away = inner.number - floor(inner.number)
        self.unclear = self.unclear or float(min(away, 1 - away)) <= _UNCLEAR * max(1.0, inner.size)
        number = scale * floor(inner.number) + offset
        return Value(number, float(abs(number)) + abs(float(offset)), inner.smooth)

    def agree(self, value: LeafValue, expected: Any, leaf: Any) -> bool:
        """Whether a case's value is the leaf's, up to rounding."""
        said = self.said(value)
        if self.unclear:
            return True
        a, b = (x.number if isinstance(x, Value) else x for x in (said, expected))
        if _is_number(a) and _is_number(b):
            a, b = float(a), float(b)
            size = max(abs(a), abs(b), *(x.size for x in (said, expected) if isinstance(x, Value)), 0.0)
            if a == b or abs(a - b) <= _UNCLEAR * size or (a != a and b != b):
                return True
            return is_rounded(leaf) and abs(a - b) <= _UNCLEAR * self.valuation.largest(leaf)  # large values may have cancelled
        return bool(a == b)


def _parts(value: LeafValue) -> tuple[Linear, ...]:
    match value:
        case Affine(value=x) | Floor(inner=x):
            return (x,)
        case Ratio(top=top, bottom=bottom):
            return top, bottom
    return ()


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | Rational) and not isinstance(x, bool)


def _disagreement(numbers: _Numbers, expected: Sequence[Any], said: str) -> TraceMismatch:
    drawn = ", ".join(f"{value:.6g} ({law.words()})" for law, value in numbers.drawn[:12])
    shown = [float(x.number) if isinstance(x, Value) else x for x in expected]
    return TraceMismatch(
        f"dpest worked out the cases of an output wrongly: with the draws {drawn} the output is {shown}, and {said}. Please "
        "report it, with the mechanism. Meanwhile dpest.audit bounds the loss of any program as a black box"
    )

"""Outputs undone beside other outputs: next to a released n, s / n tells what s tells.

Where one output is a value times, divided by or plus a function of the other outputs, and that function is the same under
both inputs, whoever sees all outputs can take it off. What is left is compared in its place: the step between the two is a
bijection of the outputs, so that it changes no loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from dpest.inputs.shown import affine_text
from dpest.lang.nodes import (
    Compare,
    Extreme,
    Function,
    Linear,
    Pick,
    Product,
    Quotient,
    Relation,
    Rounded,
    Where,
    combine,
    is_node,
    linear,
    simplified,
)
from dpest.lang.spans import is_smooth, span
from dpest.numerics.elementary import Elementary
from dpest.numerics.linear import identities
from dpest.numerics.rationals import ONE, ZERO, Rational

OtherOutputs: TypeAlias = Sequence[tuple[int, Linear]]  # the other outputs, by position
Curved: TypeAlias = Quotient | Product | Function | Rounded  # what makes a value that is not affine
FunctionName: TypeAlias = tuple[Any, ...]  # a function of other outputs, equal for equal functions


class Undoing(Enum):
    """How an output follows from what is left of it."""

    TIMES = "*"
    OVER = "/"
    PLUS = "+"


@dataclass(frozen=True)
class Beside:
    """What was taken off: factor * (value * f) + constant, or value / f, or value + f, for a function f of other outputs."""

    step: Undoing
    by: FunctionName
    factor: Rational
    constant: Rational
    since: tuple[tuple[int, int], ...] = ()  # by place: how much was taken off the other outputs before
    apart: bool = False  # whether numbers at the place are outputs as they are

    def words(self, inner: str, outputs: Callable[[int], str]) -> str:
        """The step around a text; `outputs` are the other outputs as they were then."""
        by = _words(self.by, outputs)
        text = by if self.step is Undoing.PLUS and inner == "0" else f"{inner} {self.step.value} {by}"
        text = text if self.factor == 1 else f"{float(self.factor):g}*({text})"
        return f"({text} + {float(self.constant):g})" if self.constant else f"({text})"

    def value(self, x: float, outputs: Callable[[int], float]) -> float:
        """The step's value at a number; infinite and undefined ones are not a number."""
        by = _value(self.by, outputs)
        match self.step:
            case Undoing.TIMES:
                found = x * by
            case Undoing.OVER:
                found = x / by if by else math.nan
            case Undoing.PLUS:
                found = x + by
        return float(self.factor) * found + float(self.constant)


def undone_beside(rows: Sequence[Sequence[Any]], place: int) -> tuple[Beside, list[Any]] | None:
    """What all random outputs at a place share, and what is left of each of them; None where nothing can be taken off.

    Each row is an output of one path, under either input.
    """
    found: dict[Beside, list[Any]] | None = None
    for row in rows:
        if not is_node(row[place]):
            continue
        others = [(i, linear(x)) for i, x in enumerate(row) if i != place and is_node(x)]
        here = dict(_steps(row[place], others))
        found = {k: [] for k in here} if found is None else found
        found = {k: [*v, here[k]] for k, v in found.items() if k in here}
        if not found:
            return None
    for step, values in (found or {}).items():
        left = iter(values)
        column = [next(left) if is_node(row[place]) else row[place] for row in rows]
        if not any(_number(row[place]) for row in rows) or all(map(is_smooth, values)):
            return step, column
    return None


def _steps(x: Any, others: OtherOutputs) -> Iterator[tuple[Beside, Any]]:
    """The ways in which an output can be undone with the others, and what is left."""
    whole = linear(x)
    for node, c in whole.terms:
        name = _of_node(node, others) if isinstance(node, Curved) else None
        if name is not None:
            yield Beside(Undoing.PLUS, ("sum", ((name, c),), ZERO), ONE, ZERO), simplified(combine(whole, linear(node), -c))
    yield from _cancelled(whole, others)
    if len(whole.terms) != 1:
        return
    ((node, c),) = whole.terms
    if isinstance(node, Product):
        for value, by in ((node.left, node.right), (node.right, node.left)):
            name = _named(linear(by), others)
            if name is not None:
                yield Beside(Undoing.TIMES, name, c, whole.constant), _where_not_zero(by, value)
    elif isinstance(node, Quotient) and is_node(node.left) and never_zero(node.right):
        name = _named(linear(node.right), others)
        if name is not None:
            yield Beside(Undoing.OVER, name, c, whole.constant), node.left


def _cancelled(whole: Linear, others: OtherOutputs) -> Iterator[tuple[Beside, Any]]:
    """Multiples of another output that take a term off which is not linear: both ends of an interval give its middle."""
    own = {id(node): c for node, c in whole.terms if isinstance(node, Curved)}
    if len(own) == len(whole.terms):
        return
    for place, other in others:
        shared = {id(node): c for node, c in other.terms if isinstance(node, Curved)}
        if not shared or not shared.keys() <= own.keys():
            continue
        for factor in dict.fromkeys(own[i] / c for i, c in shared.items()):
            step = Beside(Undoing.PLUS, ("outputs", ((place, factor),), ZERO), ONE, ZERO)
            yield step, simplified(combine(whole, other, -factor))


def never_zero(x: Any) -> bool:
    """Whether a value is zero with probability zero."""
    if is_smooth(x) or (isinstance(x, Quotient) and _number(x.left) and x.left):
        return True
    low, high = span(x)
    return (low is not None and low > 0) or (high is not None and high < 0)


def _where_not_zero(by: Any, value: Any) -> Any:
    """0 * value tells nothing of the value; a product is zero where one of its sides is."""
    if never_zero(by):
        return value
    whole = linear(by)
    if len(whole.terms) == 1 and not whole.constant and isinstance(whole.terms[0][0], Product):
        node = whole.terms[0][0]
        return _where_not_zero(node.left, _where_not_zero(node.right, value))
    return Where(Compare(Relation.EQ, whole), 0.0, value)


def _named(value: Linear, others: OtherOutputs) -> FunctionName | None:
    """A value as a function of the other outputs; None where it is none."""
    if not value.terms:
        return "number", value.constant
    shares = combined(value, others)
    if shares is not None:
        return "outputs", *shares
    terms = []
    for node, c in value.terms:
        name = _of_node(node, others)
        if name is None:
            return None
        terms.append((name, c))
    return "sum", tuple(terms), value.constant


def _of_node(node: Any, others: OtherOutputs) -> FunctionName | None:
    """A node as a function of the other outputs."""
    shares = combined(linear(node), others)
    if shares is not None:
        return "outputs", *shares
    head: Elementary | Undoing | Pick
    values: tuple[Any, ...]
    match node:
        case Function(function=function, value=value):
            head, values = function, (value,)
        case Product(left=left, right=right):
            head, values = Undoing.TIMES, (left, right)
        case Quotient(left=left, right=right):
            head, values = Undoing.OVER, (left, right)
        case Extreme(pick=pick, values=several):
            head, values = pick, several
        case _:
            return None
    names = [_named(linear(v), others) for v in values]
    return None if any(n is None for n in names) else ("node", head, *names)


def combined(value: Linear, others: OtherOutputs) -> tuple[tuple[tuple[int, Rational], ...], Rational] | None:
    """The value as multiples of other outputs, by position, and a constant; None where it is none."""
    met = {_node_key(n) for _, x in others for n, _ in x.terms}
    if any(_node_key(n) not in met for n, _ in value.terms):
        return None
    forms = [value, *(x for _, x in others)]
    parts = [{_node_key(n): c for n, c in x.terms} for x in forms]
    nodes = list(dict.fromkeys(key for part in parts for key in part))
    zero = next(iter(identities([[p.get(n, ZERO) for n in nodes] for p in parts])), None)
    if zero is None or not zero[0]:
        return None
    shares = [(place, x, -c / zero[0]) for (place, x), c in zip(others, zero[1:], strict=True) if c]
    constant = value.constant - sum((c * x.constant for _, x, c in shares), ZERO)
    return tuple((place, c) for place, _, c in shares), constant


def _node_key(node: Any) -> Any:
    """Equal for nodes that have one value: `y // 10` and the floor in `y % 10` are made apart."""
    if not isinstance(node, Rounded):
        return id(node)
    inner = linear(node.value)
    return node.rounding, tuple((id(n), c) for n, c in inner.terms), inner.constant


def _words(name: FunctionName, outputs: Callable[[int], str]) -> str:
    """A function of other outputs, in terms of them."""
    match name:
        case ("number", c):
            return f"{float(c):g}"
        case ("outputs", shares, c):
            return _sum_words([(k, outputs(place)) for place, k in shares], c)
        case ("sum", terms, c):
            return _sum_words([(k, _words(inner, outputs)) for inner, k in terms], c)
        case ("node", Undoing() as step, left, right):
            return f"({_words(left, outputs)} {step.value} {_words(right, outputs)})"
        case ("node", Pick() as pick, *values):
            return f"{pick.value}({', '.join(_words(v, outputs) for v in values)})"
        case ("node", function, inner):
            return str(function.words(_words(inner, outputs)))
    raise AssertionError(name)


def _value(name: FunctionName, outputs: Callable[[int], float]) -> float:
    """A function of other outputs at numbers."""
    match name:
        case ("number", c):
            return float(c)
        case ("outputs", shares, c):
            return math.fsum(float(k) * outputs(place) for place, k in shares) + float(c)
        case ("sum", terms, c):
            return math.fsum(float(k) * _value(inner, outputs) for inner, k in terms) + float(c)
        case ("node", Undoing.TIMES, left, right):
            return _value(left, outputs) * _value(right, outputs)
        case ("node", Undoing.OVER, left, right):
            bottom = _value(right, outputs)
            return _value(left, outputs) / bottom if bottom else math.nan
        case ("node", Pick() as pick, *values):
            return (max if pick is Pick.MAX else min)(_value(v, outputs) for v in values)
        case ("node", function, inner):
            return float(function.values(_value(inner, outputs)))
    raise AssertionError(name)


def others_in(name: FunctionName) -> set[int]:
    """The places of the outputs that a function is about."""
    match name:
        case ("outputs", shares, _):
            return {place for place, _ in shares}
        case ("sum", terms, _):
            return {place for inner, _ in terms for place in others_in(inner)}
        case ("node", _, *values):
            return {place for v in values for place in others_in(v)}
    return set()


def _sum_words(terms: list[tuple[Rational, str]], constant: Rational) -> str:
    text = affine_text(terms, constant, "*")
    return f"({text})" if len(terms) + bool(constant) > 1 else text


def _number(x: Any) -> bool:
    return isinstance(x, int | float)

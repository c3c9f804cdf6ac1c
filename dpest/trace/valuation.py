"""The value of a graph's nodes where each draw has one given value: a plain reference interpreter.

Values are exact rationals of the graph's coefficients. The author's program computes in floating point, so each value
carries the size of the terms that it is the sum of: a difference below `CLOSE` times that size may be rounding. A
decision on a continuous value that lies so close to its bound is marked `unclear`; discrete values are decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np

from dpest.errors import ExactRefused
from dpest.lang.made_of import Steps, Turns
from dpest.lang.nodes import (
    TRUTHS,
    All,
    Apply,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Node,
    Not,
    Pick,
    Product,
    Quotient,
    Ranked,
    Relation,
    Rounded,
    Rounding,
    Where,
    children,
    is_node,
    plain_number,
)
from dpest.lang.plain import Undetermined, evaluate, missing_draws
from dpest.laws.law import Law
from dpest.numerics.elementary import Elementary
from dpest.numerics.rationals import ZERO, Rational, ceil, exact, floor, is_number

# Relative. A thousand operations round by 1e-13 at most; a lie of a program is far larger. At 1e-9, data around 1e9 with
# noise of scale 1 would leave nothing to compare.
CLOSE = 1e-11
_FAR = 1e-3  # relative: a function that has one value over that distance is level there
_LAST_DIGITS = 2.0**-52  # a difference below this share of the terms is lost in the sum


@dataclass(frozen=True, slots=True)
class Value:
    """A number, the size of the terms that it came from, and whether a continuous draw takes part."""

    number: Rational | float  # a float only where it is not finite
    size: float
    smooth: bool
    level: bool = False  # whether a function has this value all around: it underflowed, or came to its limit

    @property
    def slack(self) -> float:
        """How far the program's floating-point result may be from the number."""
        return CLOSE * self.size

    @property
    def inexact(self) -> bool:
        """Whether the program may have rounded: whole numbers of discrete draws are exact."""
        return self.smooth or isinstance(self.number, float) or self.number.denominator != 1


class Valuation:
    """Values of nodes at given values of the draws; draws from outside the run are drawn when they are first met."""

    def __init__(self, outside: Callable[[Law], float]) -> None:
        self.unclear = False
        self.by_rounding = False  # whether rounding, underflow or overflow decided what real numbers decide otherwise, or may
        self._outside = outside
        self._draws: dict[Draw, Value] = {}
        self._known: dict[Node, Value] = {}

    def put(self, draw: Draw, value: float) -> None:
        """The value that a draw has."""
        self._draws[draw] = Value(exact(value), abs(float(value)), not draw.law.discrete)

    def leaf(self, x: Any) -> Any:
        """An output leaf: a `Value`, a bool, or the constant that stands there."""
        while isinstance(x, Where):
            x = x.yes if self.holds(x.condition) else x.no
        if isinstance(x, TRUTHS):
            return self.holds(x)
        return self.number(x) if is_node(x) else x

    def holds(self, condition: Any) -> bool:
        """Whether a condition is true."""
        match condition:
            case Not(value=value):
                return not self.holds(value)
            case All(values=values):
                return all(self.holds(v) for v in values)
            case Compare(relation=relation, value=value):
                return self._compared(relation, self.number(value), condition)
            case _ if is_node(condition):
                return self.number(condition).number != 0
            case _:
                return bool(condition)

    def satisfies(self, relation: Relation, terms: Sequence[tuple[Draw, Any]], constant: Any) -> bool:
        """Whether an inequality over draws holds."""
        return self._compared(relation, self.linear(terms, constant))

    def number(self, node: Any) -> Value:
        """The value of a node, or of a constant."""
        if isinstance(node, Draw):
            if node not in self._draws:
                self._first_met(node)
            return self._draws[node]
        if not is_node(node):
            return _constant(node)
        if node not in self._known:
            self._known[node] = self._computed(node)
        return self._known[node]

    def _first_met(self, draw: Draw) -> None:
        """A draw from outside the run, or one that is a function of another draw."""
        step = draw.origin
        made_of = draw.made_of
        if made_of is not None:
            made = made_of.value(*(self.number(d).number for d in made_of.parts))
            size = max(abs(float(made)), *(self.number(d).size for d in made_of.parts if isinstance(made_of, Turns | Steps)), 0.0)
            self._draws[draw] = Value(exact(made), size, not draw.law.discrete)
            return
        if step is None:
            self.put(draw, self._outside(draw.law))
            return
        inner = self.linear(((step.base, step.factor),), step.offset)
        outer = image_value(step.function, inner, step.function.values)
        if isinstance(outer.number, float):
            self._draws[draw] = outer
            return
        factor = abs(float(step.coefficient))
        size = (outer.size + abs(float(step.constant))) / factor
        self._draws[draw] = Value((outer.number - step.constant) / step.coefficient, size, True)

    def largest(self, node: Any) -> float:
        """The size of the largest number on the way to a node, as the program computes it."""
        found, seen, stack = 0.0, set(), [node]
        while stack:
            x = stack.pop()
            if not is_node(x):
                found = max(found, abs(float(x))) if is_number(x) else found
            elif id(x) not in seen:
                seen.add(id(x))
                stack.extend(children(x))
                stack.extend(x.written[1] if isinstance(x, Linear | Compare | Rounded) and x.written else ())
                found = max(found, self.number(x).size) if isinstance(x, Draw | Linear) else found
        return found

    def linear(self, terms: Sequence[tuple[Any, Any]], constant: Any) -> Value:
        """constant + the sum of coefficient * node."""
        total, size, smooth, level = exact(constant), abs(float(constant)), False, False
        for node, c in terms:
            part = self.number(node)
            if isinstance(part.number, float):
                if math.isnan(part.number) and not part.smooth:
                    return part
                alone = len(terms) == 1 and math.isinf(part.number)  # it overflowed, beyond every bound
                return Value(part.number * math.copysign(1, c), 0.0, True) if alone else Value(math.nan, math.inf, True)
            total += exact(c) * part.number
            size += abs(float(c)) * part.size
            smooth, level = smooth or part.smooth, level or part.level
        return Value(total, size, smooth, level)

    def _compared(self, relation: Relation, value: Value, node: Node | None = None) -> bool:
        if isinstance(value.number, float) and math.isnan(value.number) and not value.smooth:
            return False  # a function has no value there, which nothing compares with: no rounding decided it
        if node is not None and not value.smooth:  # the difference has lost the size of what was subtracted: no test of closeness
            return bool(self._as_written(node))
        self._close(value, value.number)
        match relation:
            case Relation.GE:
                return value.number >= 0
            case Relation.GT:
                return value.number > 0
            case Relation.EQ:
                return not value.smooth and value.number == 0
            case _:
                assert_never(relation)

    def _close(self, value: Value, distance: Any) -> bool:
        """Whether rounding may turn a decision: the distance to its bound is within the slack. A continuous one is marked."""
        close = not abs(float(distance)) > value.slack
        self.unclear = self.unclear or (close and value.smooth)
        if close and value.smooth and (value.level or not abs(float(distance)) > _LAST_DIGITS * value.size):
            # A distance of zero is a point of the law, such as the end of a clipped value, unless a function is level there.
            self.by_rounding = self.by_rounding or value.level or isinstance(distance, float) or distance != 0
        return close

    def _as_written(self, node: Node) -> Any:
        """A discrete value next to a bound, computed as the program computes it: its rounding has the last word there."""
        try:
            return evaluate(node, {id(d): plain_number(self.number(d).number) for d in missing_draws(node, {})})
        except (Undetermined, ArithmeticError):
            self.unclear = True
            return math.nan

    def _computed(self, node: Node) -> Value:
        match node:
            case Draw():
                return self.number(node)
            case Linear(terms=terms, constant=constant):
                return self.linear(terms, constant)
            case Compare() | Not() | All():
                return _constant(self.holds(node))
            case Where(condition=condition, yes=yes, no=no):
                return self.number(yes if self.holds(condition) else no)
            case Extreme(pick=pick, values=values):
                numbers = [self.number(v) for v in values]
                best = numbers[self._first(pick, numbers)]
                return Value(best.number, max(v.size for v in numbers), any(v.smooth for v in numbers))
            case ArgExtreme(pick=pick, values=values):
                numbers = [self.number(v) for v in values]
                first = self._first(pick, numbers)
                for i, other in enumerate(numbers):
                    if i != first and (numbers[first].smooth or other.smooth):
                        gap = Value(0.0, numbers[first].size + other.size, True)
                        self._close(gap, numbers[first].number - other.number)
                return _constant(first)
            case Ranked():
                return self._ranked(node, [self.number(v) for v in node.values])
            case Rounded():
                return self._rounded(node, self.number(node.value))
            case Function():
                return self._function(node)
            case Product(left=left, right=right):
                a, b = self.number(left), self.number(right)
                return _product(a, b)
            case Quotient(left=left, right=right):
                return _quotient(self.number(left), self.number(right))
            case Apply():
                return self._applied(node)
            case _:
                assert_never(node)

    def _first(self, pick: Pick, numbers: list[Value]) -> int:
        values = [v.number for v in numbers]
        return values.index(max(values) if pick is Pick.MAX else min(values))

    def _ranked(self, node: Ranked, numbers: list[Value]) -> Value:
        order = sorted(range(len(numbers)), key=lambda i: numbers[i].number, reverse=node.pick is Pick.MAX)
        found = order[node.rank]
        for i in order:
            if i != found and (numbers[found].smooth or numbers[i].smooth):
                gap = Value(0.0, numbers[found].size + numbers[i].size, True)
                self._close(gap, numbers[found].number - numbers[i].number)
        return _constant(found) if node.place else numbers[found]

    def _rounded(self, node: Rounded, value: Value) -> Value:
        x = value.number
        if isinstance(x, float):
            return value
        shifted = x + exact(0.5) if node.rounding is Rounding.ROUND else x
        away = shifted - floor(shifted)
        if self._close(value, min(away, 1 - away)) and not value.smooth:
            whole = self._as_written(node)
        else:
            whole = _whole(node.rounding, x)
        return Value(exact(whole), float(abs(whole)), False)

    def _applied(self, node: Apply) -> Value:
        """The function's value, and how much it moves when its arguments do: that is the size of its rounding."""
        arguments = [self.number(v) if is_node(v) else v for v in node.values]

        def at(shift: float) -> float:
            given = [float(a.number) + shift * a.slack if isinstance(a, Value) else a for a in arguments]
            # Two elements: some versions of NumPy let a function of plain numbers have an array of one.
            arrays = [np.array([x, x]) if isinstance(a, Value) else x for a, x in zip(arguments, given, strict=True)]
            with np.errstate(all="ignore"):
                try:
                    found = node.function(*arrays)
                except TypeError:  # a function of plain numbers
                    found = _of_plain_numbers(node.function, given)
                return float(np.ravel(np.asarray(found, dtype=float))[0])

        return _moving(at, True)

    def _function(self, node: Function) -> Value:
        return image_value(node.function, self.number(node.value), node.call)


def _of_plain_numbers(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    try:
        return function(*given)
    except TypeError as error:
        name = getattr(function, "__name__", "a function")
        raise ExactRefused(f"{name} is applied to a random value, and takes no floats: {error}") from error


def image_value(function: Elementary, inner: Value, call: Callable[[Any], Any]) -> Value:
    """An elementary function of a value, computed as the author's call does, and the size of its rounding."""

    def at(shift: float) -> float:
        x = float(inner.number) + shift * inner.slack
        try:
            with np.errstate(all="ignore"):
                return float(call(x))
        except (ArithmeticError, ValueError):
            return float(function.values(x))

    found = _moving(at, inner.smooth)
    far = _FAR / CLOSE
    return replace(found, level=inner.smooth and inner.size > 0 and at(-far) == at(0.0) == at(far))


def _moving(at: Callable[[float], float], smooth: bool) -> Value:
    middle, sides = at(0.0), (at(-1.0), at(1.0))
    moved = max(abs(s - middle) for s in sides) / CLOSE
    size = abs(middle) + (moved if math.isfinite(moved) else 0.0)
    return Value(exact(middle) if math.isfinite(middle) else middle, size, smooth)


def _whole(rounding: Rounding, x: Rational) -> int:
    match rounding:
        case Rounding.FLOOR:
            return floor(x)
        case Rounding.CEIL:
            return ceil(x)
        case Rounding.ROUND:
            nearest: int = round(x)
            return nearest
        case _:
            assert_never(rounding)


def _constant(x: Any) -> Value:
    if isinstance(x, float) and not math.isfinite(x):
        return Value(x, 0.0, False)
    return Value(exact(x), abs(float(x)), False)


def _product(a: Value, b: Value) -> Value:
    if isinstance(a.number, float) or isinstance(b.number, float):
        return Value(math.nan, math.inf, True)
    return Value(a.number * b.number, a.size * b.size, a.smooth or b.smooth)


def _quotient(a: Value, b: Value) -> Value:
    """a / b; its rounding grows where the divisor is a small difference of large terms."""
    if isinstance(a.number, float) or isinstance(b.number, float) or b.number == ZERO:
        return Value(math.nan, math.inf, True)
    divisor = abs(float(b.number))
    size = a.size / divisor + abs(float(a.number)) * b.size / divisor**2
    return Value(a.number / b.number, size, a.smooth or b.smooth)

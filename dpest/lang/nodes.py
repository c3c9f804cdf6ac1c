"""The closed set of operations on random values.

A node is one value: an operation applied to earlier values. Nodes are compared by identity: two draws from one
family are two values. Everything affine is kept as one `Linear` with rational coefficients, so that `x - x` is 0, `x + x`
is 2x and `3 * (x / 3)` is x. What the author wrote is kept beside it, for the places where Python's rounding has the last
word.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, TypeAlias, cast

from dpest.lang.made_of import Polar, Steps, Turns, TwoTurned
from dpest.laws.law import Law
from dpest.numerics.elementary import Elementary
from dpest.numerics.rationals import ONE, ZERO, Rational, exact


class Relation(Enum):
    """How a value compares with zero."""

    GE = ">="
    GT = ">"
    EQ = "=="


class Pick(Enum):
    """Which of several values."""

    MAX = "max"
    MIN = "min"


class Rounding(Enum):
    """To which whole number."""

    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"


def whole(rounding: Rounding, x: float) -> int:
    """A plain number rounded to a whole one."""
    match rounding:
        case Rounding.FLOOR:
            return math.floor(x)
        case Rounding.CEIL:
            return math.ceil(x)
        case Rounding.ROUND:
            return round(x)


@dataclass(frozen=True, eq=False, slots=True)
class Draw:
    """One fresh noise value, or one that follows from another draw by a function (`origin` says how)."""

    law: Law
    origin: Origin | None = None
    made_of: Polar | TwoTurned | Turns | Steps | None = None  # other draws, of which it is made in a way that is not monotone
    derived: Derived = field(default_factory=lambda: Derived())


class Derived:
    """What was made of a draw so far. It lives as long as the draw: every path that makes the same has the same."""

    __slots__ = ("_made", "joined")

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}
        self.joined: Draw | None = None  # another draw, from which it must not be told apart

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """A function of the draw as a draw of its own, made when it is first asked for."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


@dataclass(frozen=True, eq=False, slots=True)
class Origin:
    """A draw as a monotone function of another one: (function(factor * base + offset) - constant) / coefficient."""

    base: Draw
    factor: Rational
    offset: Rational
    function: Elementary
    coefficient: Rational
    constant: Rational

    @property
    def rising(self) -> bool:
        """Whether the draw grows with its base."""
        return bool((self.factor > 0) == (self.coefficient > 0)) == self.function.rising

    def forward(self, x: Rational) -> Rational | None:
        """The draw's value where its base has the value x; None outside the domain of the function."""
        inner = self.factor * x + self.offset
        return (self.function.at(inner) - self.constant) / self.coefficient if self.function.inside(inner) else None

    def backward(self, y: Rational) -> Rational | None:
        """The base's value where the draw has the value y; None where no value of the base leads to it."""
        outer, undo = self.coefficient * y + self.constant, self.function.inverse()
        return (undo.at(outer) - self.offset) / self.factor if undo.inside(outer) else None


# The call that the author wrote: a function of plain numbers, and its operands (nodes or plain numbers).
Written: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True, eq=False, slots=True)
class Linear:
    """constant + the sum of coefficient * node."""

    terms: tuple[tuple[Node, Rational], ...]
    constant: Rational
    written: Written | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Compare:
    """Whether `value` is >= 0, > 0 or == 0."""

    relation: Relation
    value: Linear
    written: Written | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Not:
    """The negation of a truth value."""

    value: Node


@dataclass(frozen=True, eq=False, slots=True)
class All:
    """Whether every one of the truth values holds."""

    values: tuple[Node, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Where:
    """`yes` where the condition holds, else `no`; only the one that is taken is looked at."""

    condition: Node
    yes: Any
    no: Any


@dataclass(frozen=True, eq=False, slots=True)
class Extreme:
    """The largest or smallest of several values."""

    pick: Pick
    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ArgExtreme:
    """The first index of the largest or smallest value."""

    pick: Pick
    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Ranked:
    """What stands at a place when the values are put in order, the best first and equal ones in the order they had.

    The value itself, or where it came from.
    """

    pick: Pick
    values: tuple[Any, ...]
    rank: int
    place: bool


@dataclass(frozen=True, eq=False, slots=True)
class Rounded:
    """A value rounded to a whole number (`round` sends halves to the even side)."""

    rounding: Rounding
    value: Node
    written: Written | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """An elementary function of a value that lies in its domain, and the call that the author wrote."""

    function: Elementary
    value: Node
    call: Callable[[Any], Any]


@dataclass(frozen=True, eq=False, slots=True)
class Product:
    """The product of two random values."""

    left: Node
    right: Node


@dataclass(frozen=True, eq=False, slots=True)
class Quotient:
    """A value divided by a random value."""

    left: Any
    right: Node


@dataclass(frozen=True, eq=False, slots=True)
class Apply:
    """An arbitrary vectorised function of values: it can be sampled, not inferred."""

    function: Callable[..., Any]
    values: tuple[Any, ...]


Node: TypeAlias = (
    Draw | Linear | Compare | Not | All | Where | Extreme | ArgExtreme | Ranked | Rounded | Function | Product | Quotient | Apply
)
TRUTHS = (Compare, Not, All)
NODES = (Draw, Linear, Compare, Not, All, Where, Extreme, ArgExtreme, Ranked, Rounded, Function, Product, Quotient, Apply)


_NODE_TYPES = frozenset(NODES)


def is_node(x: Any) -> bool:
    """Whether x is a random value of the graph (rather than a constant)."""
    return type(x) in _NODE_TYPES


def linear(x: Any) -> Linear:
    """A node or number as an affine expression."""
    kind = type(x)
    if kind is Linear:
        return cast(Linear, x)
    if kind in _NODE_TYPES:
        return Linear(((x, ONE),), ZERO)
    return Linear((), exact(x))


def combine(a: Linear, b: Linear, factor: Rational | int, written: Written | None = None) -> Linear:
    """a + factor * b; terms that cancel are dropped."""
    constant = a.constant - b.constant if factor == -1 else a.constant + factor * b.constant
    if not b.terms:
        return Linear(a.terms, constant, written)
    if len(a.terms) == 1 and len(b.terms) == 1 and a.terms[0][0] is not b.terms[0][0]:
        node, c = b.terms[0]
        return Linear((a.terms[0], (node, factor * c)), constant, written)
    total: dict[int, tuple[Node, Rational]] = {id(n): (n, c) for n, c in a.terms}
    for node, c in b.terms:
        old = total.get(id(node))
        total[id(node)] = (node, factor * c if old is None else old[1] + factor * c)
    return Linear(tuple((n, c) for n, c in total.values() if c), constant, written)


@lru_cache(maxsize=1 << 12, typed=True)
def moved(draw: Draw, by: float) -> Linear:
    """draw + a plain number; in the runs that a trace makes again and again, the same object each time."""
    return Linear(((draw, ONE),), exact(by), (operator.add, (draw, by)))


def scaled(a: Linear, factor: Rational | int, written: Written | None = None) -> Linear:
    """factor * a."""
    if not factor:
        return Linear((), ZERO)
    return Linear(tuple((n, c * factor) for n, c in a.terms), a.constant * factor, written)


def simplified(a: Linear) -> Any:
    """The plain number, or the single node, that an affine expression comes down to; else itself."""
    if not a.terms:
        return plain_number(a.constant)
    if len(a.terms) == 1 and a.terms[0][1] == 1 and not a.constant:
        return a.terms[0][0]
    return a


def plain_number(x: Rational) -> int | float:
    """A rational as Python's nearest number: an int where it is whole, so that no digit is lost."""
    return int(x.numerator) if x.denominator == 1 else float(x)


def children(node: Node) -> tuple[Any, ...]:
    """The values that a node is computed from, constants included."""
    return _CHILDREN[type(node)](node)


def _of_draw(node: Draw) -> tuple[Any, ...]:
    return () if node.origin is None else (node.origin.base,)


def _of_linear(node: Linear) -> tuple[Any, ...]:
    return tuple([n for n, _ in node.terms])


_value, _values, _both = (lambda x: (x.value,)), operator.attrgetter("values"), operator.attrgetter("left", "right")
# Graphs are walked again and again: a look-up takes a third of the time of a match statement.
_CHILDREN: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Draw: _of_draw,
    Linear: _of_linear,
    **dict.fromkeys((Compare, Not, Rounded, Function), _value),
    **dict.fromkeys((All, Extreme, ArgExtreme, Ranked, Apply), _values),
    Where: operator.attrgetter("condition", "yes", "no"),
    **dict.fromkeys((Product, Quotient), _both),
}


def ancestors(*roots: Any, without: Container[int] = ()) -> Iterator[Node]:
    """Every node that the roots depend on, themselves included, each once; those in `without` (by id) are not looked behind."""
    seen: set[int] = set()
    stack = [r for r in roots if type(r) in _NODE_TYPES]
    while stack:
        node = stack.pop()
        key = id(node)
        if key in seen or key in without:
            continue
        seen.add(key)
        yield node
        stack += [c for c in _CHILDREN[type(node)](node) if type(c) in _NODE_TYPES]


def draws_of(*roots: Any) -> list[Draw]:
    """The draws that the roots depend on, in no particular order."""
    if not any(map(is_node, roots)):  # most parts of most outputs are constants
        return []
    return [node for node in ancestors(*roots) if type(node) is Draw]


def selected(condition: Any, yes: Any, no: Any) -> Any:
    """`yes if condition else no` on plain numbers: what the author wrote, where the graph has a sum."""
    return yes if condition else no


def is_whole_as_written(node: Any) -> bool:
    """Whether a value is a whole number in the author's own arithmetic too: (0.1 * k) / 0.1 need not be."""
    waiting, seen = [node], set()
    while waiting:
        x = waiting.pop()
        if id(x) in seen:  # sums are long, and what they are made of comes again and again
            continue
        if not isinstance(x, Linear) or x.written is None:
            if not isinstance(x, Rounded) and not is_integral(x):
                return False
            continue
        seen.add(id(x))
        function, operands = x.written
        if function is not selected and function not in (operator.add, operator.sub, operator.mul, operator.neg, operator.mod):
            return False
        waiting += operands[1:] if function is selected else operands
    return True


def is_integral(node: Any) -> bool:
    """Whether a value can only be a whole number (a bool counts as 0 or 1)."""
    waiting, seen = [node], set()
    while waiting:
        x = waiting.pop()
        if id(x) in seen and type(x) in _NODE_TYPES:
            continue
        seen.add(id(x))
        parts = _whole_where(x)
        if parts is None:
            return False
        waiting += parts
    return True


def _whole_where(node: Any) -> tuple[Any, ...] | None:
    """The values that must be whole numbers for a value to be one; None where it need not be one."""
    match node:
        case Draw(law=law):
            return () if law.discrete and getattr(law, "integral", False) else None
        case Linear(terms=terms, constant=constant):
            whole = constant.denominator == 1 and all(c.denominator == 1 for _, c in terms)
            return tuple(n for n, _ in terms) if whole else None
        case Rounded() | ArgExtreme() | Compare() | Not() | All() | Ranked(place=True):
            return ()
        case Where(yes=yes, no=no):
            return yes, no
        case Extreme(values=values) | Ranked(values=values):
            return values
        case Product(left=left, right=right):
            return left, right
        case Quotient() | Function() | Apply():
            return None
        case _:
            plain = isinstance(node, int | bool) or (isinstance(node, float) and math.isfinite(node) and node.is_integer())
            return () if plain else None

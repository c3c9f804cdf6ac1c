"""Output values that are still random expressions, worked out into cases: conditions, and constants or affine values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from dpest.engine.component import Case
from dpest.engine.expressions import Expr, coordinate, expr, plus
from dpest.engine.factors import Bound
from dpest.engine.knowledge import implied, narrowed, open_options
from dpest.engine.resolve import Literal, floor_form, halves_matter, has_finitely_many_points, leaf, pinned
from dpest.errors import BudgetExceeded, ExactRefused
from dpest.graph.nodes import Draw, Linear, Relation, Rounded, draws_of, is_node, linear
from dpest.laws.law import Law

MOST_CASES = 20_000


@dataclass(frozen=True)
class Constant:
    """A leaf that is a plain value on this case."""

    value: Any


@dataclass(frozen=True, eq=False)
class Affine:
    """A leaf that is an affine expression of draws: a real number, or a lattice point where all draws are discrete."""

    value: Linear

    @property
    def continuous(self) -> bool:
        return any(not n.law.discrete for n, _ in self.value.terms if isinstance(n, Draw))


@dataclass(frozen=True, eq=False)
class Floor:
    """A leaf that is scale * floor(inner) + offset."""

    inner: Linear
    scale: float
    offset: float


LeafValue: TypeAlias = Constant | Affine | Floor


@dataclass(frozen=True, eq=False)
class Expansion:
    """One case of some leaves: the conditions it needs, and the leaves' values."""

    literals: tuple[Literal, ...]
    values: tuple[LeafValue, ...]


Bounds = dict[Any, tuple[float, bool, float, bool]]


def known_bounds(literals: Sequence[Literal]) -> Bounds:
    """What a path's conditions say about the directions they compare."""
    return narrowed({}, literals)


def expand(
    leaves: Sequence[Any], literals: Sequence[Literal], classes: Sequence[int], pins: Collection[int] = ()
) -> list[Expansion]:
    """Every case of the leaves; leaves of one class are exchangeable, and only sorted assignments are listed.

    Leaves at `pins` have finitely many points, and each point is a case of its own.
    """
    done: list[Expansion] = []
    base = known_bounds(literals) if any(map(is_node, leaves)) else {}
    stack: list[tuple[tuple[Literal, ...], Bounds, tuple[LeafValue, ...]]] = [(tuple(literals), base, ())]
    while stack:
        held, bounds, values = stack.pop()
        if len(values) == len(leaves):
            done.append(Expansion(held, values))
        else:
            at = len(values)
            for value, more, narrower in _options(leaves[at], held, bounds, at in pins):
                if _in_order((*values, value), classes):
                    stack.append((more, narrower, (*values, value)))
        if len(done) + len(stack) > MOST_CASES:
            raise BudgetExceeded(f"the outputs have more than {MOST_CASES} cases")
    return done


def pinned_leaves(leaves: Sequence[Any], literals: Sequence[Literal]) -> set[int]:
    """Leaves of finite draws that share noise with a leaf that has a density: each of their points is a case of its own."""
    draws = [draws_of(x) for x in leaves]
    linked = {id(d) for ds in draws if any(not d.law.discrete for d in ds) for d in ds}
    size = -1
    while linked and len(linked) != size:
        size = len(linked)
        linked.update(id(d) for x in literals if any(id(d) in linked for d, _ in x.terms) for d, _ in x.terms)
    return {
        i
        for i, ds in enumerate(draws)
        if any(id(d) in linked for d in ds) and all(getattr(d.law, "finite", False) for d in ds)
    }


def _in_order(values: tuple[LeafValue, ...], classes: Sequence[int]) -> bool:
    """Whether the newest value does not come before an earlier one of its class."""
    newest = values[-1]
    for i in range(len(values) - 2, -1, -1):
        if classes[i] == classes[len(values) - 1]:
            return _rank(values[i]) <= _rank(newest)
    return True


def _rank(value: LeafValue) -> tuple[str, str]:
    if isinstance(value, Constant):
        return type(value.value).__name__, repr(value.value)
    return "~", ""


def _options(
    node: Any, held: tuple[Literal, ...], bounds: Bounds, pin: bool
) -> list[tuple[LeafValue, tuple[Literal, ...], Bounds]]:
    """The values that one leaf can take, each with the conditions that lead to it."""
    if not is_node(node):
        return [(Constant(node), held, bounds)]
    out = []
    pending = [(held, bounds)]
    while pending:
        run = _Fork(*pending.pop(), pending)
        with suppress(_Contradiction):
            value = _leaf_value(leaf(node, run), run, pin)
            out.append((value, run.literals, run.bounds))
        if len(out) + len(pending) > MOST_CASES:
            raise BudgetExceeded(f"one output has more than {MOST_CASES} cases")
    return out


class _Contradiction(Exception):
    """The conditions taken so far cannot hold together."""


class _Fork:
    """Decides inequalities one way and queues the others."""

    def __init__(self, literals: tuple[Literal, ...], bounds: Bounds, pending: list[Any]) -> None:
        self.literals, self.bounds, self.pending = literals, bounds, pending

    def __call__(self, literal: Literal) -> bool:
        known = implied(literal, self.bounds)
        if known is not None:
            return known
        self.pending.append(self._with((literal.negated(),)))
        self.literals, self.bounds = self._with((literal,))
        return True

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        chosen, left = open_options(options, self.bounds)
        if chosen is not None:
            return chosen
        if not left:
            raise _Contradiction
        self.pending.extend(self._with(new) for _, new in left[1:])
        self.literals, self.bounds = self._with(left[0][1])
        return left[0][0]

    def _with(self, new: tuple[Literal, ...]) -> tuple[tuple[Literal, ...], Bounds]:
        return (*self.literals, *new), narrowed(self.bounds, new)


def _leaf_value(x: Any, run: _Fork, pin: bool) -> LeafValue:
    if not is_node(x):
        return Constant(x)
    if pin:
        return Constant(pinned(x, run, "an output"))
    value = linear(x)
    rounded = [(n, c) for n, c in value.terms if isinstance(n, Rounded)]
    if not rounded:
        return Affine(value)
    if (len(value.terms) > 1 or halves_matter(rounded[0][0])) and has_finitely_many_points(value):
        return Constant(pinned(x, run, "an output"))
    if len(value.terms) > 1:
        raise ExactRefused("an output is a sum of a rounded value and another random value")
    inner, sign = floor_form(rounded[0][0], run)
    return Floor(inner, sign * rounded[0][1], value.constant)


class Numbering:
    """Numbers draws in the order in which they are met."""

    def __init__(self) -> None:
        self.laws: list[Law] = []
        self.of: dict[int, int] = {}

    def number(self, draw: Draw) -> int:
        """The draw's number; a new one if it was not met before."""
        key = id(draw)
        if key not in self.of:
            self.of[key] = len(self.laws)
            self.laws.append(draw.law)
        return self.of[key]

    def expression(self, terms: Sequence[tuple[Any, float]], constant: float) -> Expr:
        """An affine expression of draws, in numbers."""
        return expr(((self.number(d), c) for d, c in terms), constant)

    def bounds(self, literals: Sequence[Literal]) -> list[Bound]:
        """A path's conditions, in numbers."""
        return [Bound(self.expression(x.terms, x.constant), x.relation is Relation.GT) for x in literals]


def floor_bounds(value: Floor, numbering: Numbering, j: int) -> list[Bound]:
    """y = scale * floor(a) + offset as bounds on a: k <= a < k + 1 with k = (y - offset) / scale."""
    a = numbering.expression(value.inner.terms, value.inner.constant)
    k = Expr(((coordinate(j), 1.0 / value.scale),), -value.offset / value.scale)
    return [Bound(plus(a, k, -1.0), False), Bound(plus(Expr(k.terms, k.constant + 1.0), a, -1.0), True)]


def conditions_case(literals: Sequence[Literal]) -> Case:
    """A case without outputs: the probability that the conditions hold."""
    numbering = Numbering()
    bounds = numbering.bounds(literals)
    return Case(tuple(numbering.laws), tuple(bounds), ())

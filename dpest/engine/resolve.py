"""Brings a condition down to comparisons of draws alone, asking for a decision wherever it needs one.

The rules are lazy: of a `where`, only the side that is taken is looked at; of a maximum compared with a bound, only
as many arguments as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, Protocol, assert_never

from dpest.errors import ExactRefused
from dpest.graph.logic import compare, conjunction, negate, truth
from dpest.graph.nodes import (
    NODES,
    All,
    Apply,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Linear,
    Node,
    Not,
    Pick,
    Product,
    Quotient,
    Relation,
    Rounded,
    Rounding,
    Where,
    combine,
    draws_of,
    linear,
    scaled,
    simplified,
    whole,
)
from dpest.laws.law import Continuous, Discrete


@dataclass(frozen=True)
class Literal:
    """A comparison of draws with a constant that holds on a path: terms + constant >= 0, > 0 or == 0."""

    terms: tuple[tuple[Draw, float], ...]
    constant: float
    relation: Relation

    @cached_property
    def spokes(self) -> dict[int, Any]:
        """What the condition contributes to a star, by the draw at the star's centre; filled by `stars`."""
        return {}

    @cached_property
    def direction(self) -> tuple[Any, float, bool]:
        """As `direction >= bound`, or <= where flipped: (direction, bound, flipped)."""
        terms = sorted(((id(d), c) for d, c in self.terms), key=lambda t: t[0])
        lead = terms[0][1]
        return tuple((i, c / lead) for i, c in terms), -self.constant / lead, lead < 0

    @cached_property
    def smooth(self) -> bool:
        """Whether a continuous draw takes part: ties then have probability zero."""
        return any(not d.law.discrete for d, _ in self.terms)

    @cached_property
    def by_support(self) -> bool | None:
        """Whether the draws' supports alone decide the inequality; None where they do not."""
        low = high = self.constant
        for draw, c in self.terms:
            a, b = draw.law.support
            low += c * (a if c > 0 else b)
            high += c * (b if c > 0 else a)
        strict = self.relation is Relation.GT
        if low > 0 or (low == 0 and (self.smooth or not strict)):
            return True
        return False if high < 0 or (high == 0 and (self.smooth or strict)) else None

    @cached_property
    def grain(self) -> float:
        """How far apart two bounds on one direction may be by the rounding of their constants alone; 0 on a lattice."""
        scales = [abs(c) * d.law.scale for d, c in self.terms if isinstance(d.law, Continuous)]
        lead = abs(min(self.terms, key=lambda t: id(t[0]))[1])
        return (1e-13 * sum(scales) + 1e-14 * abs(self.constant)) / lead if scales else 0.0

    def negated(self) -> Literal:
        """The opposite of an inequality."""
        opposite = Relation.GT if self.relation is Relation.GE else Relation.GE
        out = Literal(tuple((d, -c) for d, c in self.terms), -self.constant, opposite)
        direction, bound, flipped = self.direction
        out.__dict__["direction"] = direction, bound, not flipped
        return out


class Ask(Protocol):
    """Decides what the graph leaves open, forking the run where neither supports nor earlier conditions decide it."""

    def __call__(self, literal: Literal) -> bool:
        """Which way one inequality over draws goes."""

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        """Which of several disjoint, exhaustive conjunctions holds."""


def decide(condition: Any, ask: Ask) -> bool:
    """Which way a condition goes, by way of decisions on inequalities between draws."""
    match condition:
        case bool() | int() | float():
            return bool(condition)
        case Not(value=value):
            return not decide(value, ask)
        case All(values=values):
            return all(decide(v, ask) for v in values)
        case Compare(relation=relation, value=value):
            return _compared(relation, value, ask)
        case _:
            return decide(truth(condition), ask)


def affine(x: Any, ask: Ask) -> Linear:
    """A number as an affine expression of draws (or of roundings, which stay); truth values count as 0 and 1."""
    value = linear(x)
    plain = all(isinstance(n, Draw | Rounded) for n, _ in value.terms)
    if plain:
        return value
    out = Linear((), value.constant)
    for node, c in value.terms:
        out = combine(out, _reduced(node, ask), c)
    return affine(out, ask)


def leaf(x: Any, ask: Ask) -> Any:
    """An output value brought down to a constant, an affine expression of draws, or a rounding of one."""
    while isinstance(x, Where):
        x = x.yes if decide(x.condition, ask) else x.no
    match x:
        case Compare() | Not() | All():
            return decide(x, ask)
        case ArgExtreme():
            return _index(x, ask)
        case _ if isinstance(x, NODES):
            return simplified(affine(x, ask))
        case _:
            return x


def _reduced(node: Node, ask: Ask) -> Linear:
    """One node as an affine expression of simpler ones."""
    match node:
        case Draw() | Rounded():
            return linear(node)
        case Linear():
            return node
        case Compare() | Not() | All():
            return linear(float(decide(node, ask)))
        case Where(condition=condition, yes=yes, no=no):
            return linear(_numeric(yes if decide(condition, ask) else no))
        case Extreme(pick=pick, values=values):
            return linear(values[_index(ArgExtreme(pick, values), ask)])
        case ArgExtreme():
            return linear(float(_index(node, ask)))
        case Product(left=left, right=right):
            return _product(left, right, ask)
        case Quotient(left=left, right=right):
            return scaled(linear(left), 1.0 / pinned(right, ask, "a division by a random value"))
        case Apply(function=function):
            name = getattr(function, "__name__", "a function")
            raise ExactRefused(f"{name} is applied to a random value: such a function can be sampled, not inferred")
        case _:
            assert_never(node)


def _numeric(x: Any) -> Any:
    if isinstance(x, NODES) or (isinstance(x, int | float) and math.isfinite(x)):
        return x
    raise ExactRefused(f"arithmetic on a value that may be {x!r}")


@lru_cache(maxsize=1 << 14)
def _plain_literal(relation: Relation, value: Linear) -> Literal | None:
    """An inequality of draws alone, as one object for one node: what is known of it is worked out once."""
    terms = tuple((n, c) for n, c in value.terms if isinstance(n, Draw))
    plain = relation is not Relation.EQ and len(terms) == len(value.terms) > 0
    return Literal(terms, value.constant, relation) if plain else None


def _compared(relation: Relation, value: Linear, ask: Ask) -> bool:
    """Decides value >= 0, > 0 or == 0; an extreme value is compared argument by argument."""
    plain = _plain_literal(relation, value)
    if plain is not None:
        return ask(plain)
    if relation is not Relation.EQ:
        for node, c in value.terms:
            if isinstance(node, Extreme):
                rest = combine(value, linear(node), -c)
                each = (compare(relation, combine(rest, linear(v), c), 0.0) for v in node.values)
                some = (node.pick is Pick.MAX) == (c > 0)
                return any(decide(e, ask) for e in each) if some else all(decide(e, ask) for e in each)
    expression = affine(value, ask)
    if any(isinstance(n, Rounded) for n, _ in expression.terms):
        return _rounded_compared(relation, expression, ask)
    return _atomic(relation, expression, ask)


def _atomic(relation: Relation, value: Linear, ask: Ask) -> bool:
    """A comparison of draws alone; equality is two inequalities, and never holds where a continuous draw is left."""
    terms = tuple((n, c) for n, c in value.terms if isinstance(n, Draw))
    if not terms:
        return decide(compare(relation, value, 0.0), ask)
    if relation is not Relation.EQ:
        return ask(Literal(terms, value.constant, relation))
    if any(not d.law.discrete for d, _ in terms):
        return False
    at_least = Literal(terms, value.constant, Relation.GE)
    return ask(at_least) and not ask(Literal(terms, value.constant, Relation.GT))


def _rounded_compared(relation: Relation, value: Linear, ask: Ask) -> bool:
    """floor(a) >= r is a >= ceil(r): a comparison of one rounding with a constant needs no rounding."""
    node, c = value.terms[0]
    if len(value.terms) != 1 or (halves_matter(node) and has_finitely_many_points(value)):
        return decide(compare(relation, _unrounded(value, ask), 0.0), ask)
    assert isinstance(node, Rounded)
    inner, sign = _as_floor(node)
    bound = -value.constant / (c * sign)  # c * sign * floor(inner) relation' -constant
    if relation is Relation.EQ:
        whole = bound == math.floor(bound)
        return whole and decide(conjunction((_floor_at_least(inner, bound), negate(_floor_at_least(inner, bound + 1)))), ask)
    strict = relation is Relation.GT
    if c * sign > 0:
        return decide(_floor_at_least(inner, math.floor(bound) + 1 if strict else math.ceil(bound)), ask)
    return not decide(_floor_at_least(inner, math.ceil(bound) if strict else math.floor(bound) + 1), ask)


def _as_floor(node: Rounded) -> tuple[Linear, float]:
    """(a, s) such that the rounding is s * floor(a), almost surely."""
    value = linear(node.value)
    match node.rounding:
        case Rounding.FLOOR:
            return value, 1.0
        case Rounding.CEIL:
            return scaled(value, -1.0), -1.0
        case Rounding.ROUND:
            if halves_matter(node):
                raise ExactRefused("round() of a discrete random value with infinitely many points (halves go to the even side)")
            return Linear(value.terms, value.constant + 0.5), 1.0
        case _:
            assert_never(node.rounding)


def halves_matter(node: Node) -> bool:
    """Whether a value is rounded to the nearest whole number and may lie half-way between two."""
    return isinstance(node, Rounded) and node.rounding is Rounding.ROUND and all(d.law.discrete for d in draws_of(node))


def _floor_at_least(inner: Linear, bound: float) -> Any:
    return compare(Relation.GE, inner, bound)


def floor_form(node: Rounded, ask: Ask) -> tuple[Linear, float]:
    """(a, s) with a affine in draws such that the rounding is s * floor(a), almost surely."""
    inner, sign = _as_floor(node)
    reduced = affine(inner, ask)
    if any(isinstance(n, Rounded) for n, _ in reduced.terms):
        reduced = _unrounded(reduced, ask)
    return reduced, sign


def _unrounded(value: Linear, ask: Ask) -> Linear:
    """Roundings of values with finitely many points, worked out point by point."""
    out = Linear((), value.constant)
    for node, c in value.terms:
        part = linear(node) if isinstance(node, Draw) else linear(pinned(node, ask, "arithmetic on a rounded value"))
        out = combine(out, part, c)
    return out


def _index(node: ArgExtreme, ask: Ask) -> int:
    """Which argument is the extreme one: the first among equals, as in NumPy."""
    plain = _plain_options(node.pick, node.values)
    if plain is not None:
        return plain[1][ask.choose(plain[0])]
    sign = 1.0 if node.pick is Pick.MAX else -1.0
    values = [scaled(affine(v, ask), sign) for v in node.values]
    if not all(_comparable(combine(a, b, -1.0)) for a, b in combinations(values, 2)):
        values = [_unrounded(v, ask) for v in values]
    options, indices = _winners(values, ask)
    return indices[ask.choose(options)]


@lru_cache(maxsize=256)
def _plain_options(pick: Pick, values: tuple[Any, ...]) -> tuple[list[tuple[Literal, ...]], list[int]] | None:
    """The ways in which each argument can win, where all are affine in draws: the same on every path."""
    expressions = [linear(v) for v in values]
    if not all(isinstance(n, Draw) for e in expressions for n, _ in e.terms):
        return None
    return _winners([scaled(e, 1.0 if pick is Pick.MAX else -1.0) for e in expressions], None)


def _winners(values: list[Linear], ask: Ask | None) -> tuple[list[tuple[Literal, ...]], list[int]]:
    options: list[tuple[Literal, ...]] = []
    indices: list[int] = []
    for i in range(len(values)):
        beaten = _beats_all(values, i, ask)
        if beaten is not None:
            options.append(beaten)
            indices.append(i)
    return options, indices


def _comparable(margin: Linear) -> bool:
    """Whether a difference is one inequality between draws: without roundings, or one rounding beside a constant."""
    return len(margin.terms) == 1 or not any(isinstance(n, Rounded) for n, _ in margin.terms)


def _beats_all(values: list[Linear], i: int, ask: Ask | None) -> tuple[Literal, ...] | None:
    """What it takes for value i to be the first of the largest; None where it cannot be."""
    out: list[Literal] = []
    for j, other in enumerate(values):
        if j == i:
            continue
        relation = Relation.GT if j < i else Relation.GE
        margin, relation = _without_rounding(combine(values[i], other, -1.0), relation, ask)
        if margin.terms:
            out.append(Literal(margin.terms, margin.constant, relation))  # type: ignore[arg-type]
        elif margin.constant < 0 or (margin.constant == 0 and relation is Relation.GT):
            return None
    return tuple(out)


def _without_rounding(margin: Linear, relation: Relation, ask: Ask | None) -> tuple[Linear, Relation]:
    """c * floor(a) + k >= 0 (or > 0) as an inequality of a."""
    if not margin.terms or not isinstance(margin.terms[0][0], Rounded):
        return margin, relation
    node, c = margin.terms[0]
    assert isinstance(node, Rounded)
    assert ask is not None
    inner, sign = floor_form(node, ask)
    bound, strict = -margin.constant / (c * sign), relation is Relation.GT
    if c * sign > 0:
        least = math.floor(bound) + 1 if strict else math.ceil(bound)
        return combine(inner, linear(least), -1.0), Relation.GE
    most = math.ceil(bound) if strict else math.floor(bound) + 1
    return combine(linear(most), inner, -1.0), Relation.GT


def _product(left: Node, right: Node, ask: Ask) -> Linear:
    a, b = affine(left, ask), affine(right, ask)
    if not has_finitely_many_points(a) and not has_finitely_many_points(b):
        raise ExactRefused("a product of two random values, neither of which has finitely many points")
    if has_finitely_many_points(a) and not (has_finitely_many_points(b) and len(b.terms) < len(a.terms)):
        a, b = b, a
    return scaled(a, pinned(b, ask, "a product of random values"))


def has_finitely_many_points(value: Linear) -> bool:
    return all(getattr(d.law, "finite", False) for d in draws_of(value))


def pinned(x: Any, ask: Ask, what: str) -> float:
    """The plain number that a value with finitely many points has on this path."""
    value = affine(x, ask)
    if not has_finitely_many_points(value):
        raise ExactRefused(f"{what} that does not have finitely many points")
    total = value.constant
    for node, c in value.terms:
        total += c * (_point(node, ask) if isinstance(node, Draw) else _rounding_value(node, ask))
    return total


def _rounding_value(node: Node, ask: Ask) -> float:
    assert isinstance(node, Rounded)
    inner = pinned(node.value, ask, "a rounding")
    return float(whole(node.rounding, inner))


def _point(draw: Draw, ask: Ask) -> float:
    """The point that a finite draw takes on this path."""
    assert isinstance(draw.law, Discrete)
    points = [float(x) for x in draw.law.window(0.0)[0]]
    for point, following in zip(points, points[1:], strict=False):
        if not ask(Literal(((draw, 1.0),), -following, Relation.GE)):
            return point
    return points[-1]

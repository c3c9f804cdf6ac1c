"""Brings a condition down to comparisons of draws alone, asking for a decision wherever it needs one.

Of a `where`, only the side that is taken is looked at; of a maximum compared with a bound, as many arguments as it takes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, assert_never

from dpest.errors import ExactRefused
from dpest.lang.logic import truth
from dpest.lang.nodes import (
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
    combine,
    linear,
    scaled,
    simplified,
)
from dpest.lang.spans import never_negative
from dpest.numerics.rationals import Rational
from dpest.trace.atomic import Ask, Became, atomic, pinned_draws, settled, side_taken
from dpest.trace.coins import at_the_coin
from dpest.trace.functions import NotFinite, both_sides, holds, numeric, other_side, product_compared, without_function
from dpest.trace.literal import Literal, smooth_literal
from dpest.trace.nonlinear import known_product, nonlinear, with_laplace
from dpest.trace.rests import as_computed
from dpest.trace.roundings import HALF, asked, comparable, least, meets_whole, reaches, short
from dpest.trace.stepped import steps_of
from dpest.trace.turns import without_turns
from dpest.trace.whole import AsWritten, Uneven, at_least


def decide(condition: Any, ask: Ask) -> bool:
    """Which way a condition goes, by way of decisions on inequalities between draws."""
    match condition:
        case bool() | int() | float():
            return bool(condition)
        case Not(value=value):
            return not decide(value, ask)
        case All(values=values):
            return all(decide(v, ask) for v in values)
        case Compare():
            return _compared(condition, ask, {})
        case _:
            return decide(truth(condition), ask)


def affine(x: Any, ask: Ask, became: Became | None = None) -> Linear:
    """A number as an affine expression of draws (or of roundings, which stay); truth values count as 0 and 1."""
    value = linear(x)
    if all(isinstance(n, Draw | Rounded) for n, _ in value.terms):
        return without_turns(value, ask) if any(isinstance(n, Rounded) for n, _ in value.terms) else value
    out = Linear((), value.constant)
    beyond = 0.0
    for node, c in with_laplace(value).terms:
        try:
            out = combine(out, _reduced(node, ask, {} if became is None else became), c)
        except NotFinite as found:
            beyond += float(c) * found.value
    if beyond:  # NaN counts as true
        raise NotFinite(beyond)
    return affine(out, ask, became)


def _reduced(node: Node, ask: Ask, became: Became) -> Linear:
    """One node as an affine expression of simpler ones; what it came down to is noted."""
    out: Any
    match node:
        case Draw() | Rounded():
            return linear(node)
        case Linear():
            return node
        case Compare() | Not() | All():
            out = decide(node, ask)
        case Where():
            out = numeric(side_taken(node, ask, decide))
        case Extreme(pick=pick, values=values):
            place, found = _extreme(ArgExtreme(pick, values), ask, became)
            became[id(node)] = values[place]
            return found  # not worked out again: extremes inside extremes would double the work with every one of them
        case ArgExtreme() | Ranked(place=True):
            out = index(node, ask)
        case Ranked(values=values):
            from dpest.trace.ranking import split

            out = values[split(node, ask)]
        case Function() | Product() | Quotient():
            from dpest.trace.pinning import Here

            return nonlinear(node, Here(ask, became), became)
        case Apply(function=function):
            name = getattr(function, "__name__", "a function")
            raise ExactRefused(f"{name} is applied to a random value: such a function can be sampled, not inferred")
        case _:
            assert_never(node)
    became[id(node)] = out
    return linear(out)


# -- comparisons -------------------------------------------------------------------------------------------------------


def _compared(condition: Compare, ask: Ask, became: Became) -> bool:
    """Decides a comparison with zero; an extreme value is compared argument by argument."""
    relation, value = condition.relation, condition.value
    if (plain := smooth_literal(relation, value)) is not None:
        return ask(plain)
    if len(value.terms) == 1 and isinstance(value.terms[0][0], Where):
        return _side_compared(condition, value.terms[0][0], value.terms[0][1], ask, became)
    if len(value.terms) == 1 and isinstance(value.terms[0][0], Function | Quotient):
        moved = other_side(condition, *value.terms[0], partial(decide, ask=ask))
        if moved is not None:
            return _compared(moved, ask, became) if isinstance(moved, Compare) else moved
    product = value.terms[0][0] if len(value.terms) == 1 and not value.constant else None
    if isinstance(product, Product) and known_product(product.left, product.right) is None:
        return product_compared(relation, *value.terms[0], partial(decide, ask=ask))
    inside = both_sides(condition) or at_the_coin(condition, partial(decide, ask=ask))
    if inside is not None:
        return _compared(inside, ask, became) if isinstance(inside, Compare) else inside
    if relation is not Relation.EQ:
        if len(value.terms) > 1 and not value.constant and never_negative(value.terms, relation):
            some = any(_compared(Compare(Relation.GT, linear(n)), ask, became) for n, _ in value.terms)
            return some == (relation is Relation.GT)
        for node, c in value.terms:
            if isinstance(node, Extreme):
                return _extreme_compared(condition, node, c, ask, became)
    try:
        expression = affine(value, ask, became)
    except NotFinite as beyond:
        return holds(relation, beyond.value)
    program = as_computed(AsWritten(condition, became), expression, became, partial(affine, ask=ask, became=became))
    if any(isinstance(n, Rounded) for n, _ in expression.terms):
        return _rounded_compared(relation, expression, ask, became, program)
    return atomic(relation, expression, ask, program)


def _side_compared(condition: Compare, node: Where, c: Rational, ask: Ask, became: Became) -> bool:
    """A case distinction compared with a number: the side that is taken."""
    x = side_taken(node, ask, decide)
    if isinstance(x, float) and not math.isfinite(x):
        return holds(condition.relation, float(c) * x)
    value = combine(Linear((), condition.value.constant), linear(numeric(x)), c)
    return _compared(Compare(condition.relation, value, condition.written), ask, {**became, id(node): x})


def _extreme_compared(condition: Compare, node: Extreme, c: Rational, ask: Ask, became: Became) -> bool:
    rest = combine(condition.value, linear(node), -c)

    def holds(v: Any) -> bool:
        one = Compare(condition.relation, combine(rest, linear(v), c), condition.written)
        return _compared(one, ask, {**became, id(node): v})

    return (any if (node.pick is Pick.MAX) == (c > 0) else all)(map(holds, node.values))


# -- roundings ---------------------------------------------------------------------------------------------------------


def _rounded_compared(relation: Relation, value: Linear, ask: Ask, became: Became, program: AsWritten) -> bool:
    """floor(a) >= r is a >= ceil(r): a comparison of one rounding with a constant needs no rounding."""
    node = value.terms[0][0]
    if len(value.terms) != 1:
        return atomic(relation, unrounded(value, ask, became), ask, program)
    assert isinstance(node, Rounded)
    if relation is Relation.EQ:
        bound, nearest, said = asked(value, program)
        ties = bound == nearest if said is None else said
        return ties and decide(reaches(node, nearest), ask) and not decide(reaches(node, nearest + 1), ask)
    whole, upwards = least(relation, value, program)
    return decide(reaches(node, whole), ask) == upwards


def floor_form(node: Rounded, ask: Ask, became: Became) -> tuple[Linear, int]:
    """(a, s) with a affine in draws such that the rounding is s * floor(a), almost surely."""
    value = linear(node.value)
    match node.rounding:
        case Rounding.FLOOR:
            inner, sign = value, 1
        case Rounding.CEIL:
            inner, sign = scaled(value, -1), -1
        case Rounding.ROUND:
            inner, sign = Linear(value.terms, value.constant + HALF), 1
        case _:
            assert_never(node.rounding)
    reduced = affine(inner, ask, became)
    if any(isinstance(n, Rounded) for n, _ in reduced.terms):
        reduced = unrounded(reduced, ask, became)
    if node.rounding is Rounding.ROUND and meets_whole(reduced):
        raise ExactRefused("round() of a discrete random value with infinitely many points (halves go to the even side)")
    return reduced, sign


def meets_halves(node: Node, ask: Ask, became: Became) -> bool:
    """Whether a value is rounded to the nearest whole number and may lie half-way between two."""
    if not isinstance(node, Rounded) or node.rounding is not Rounding.ROUND:
        return False
    value = affine(node.value, ask, became)
    return any(isinstance(n, Rounded) for n, _ in value.terms) or meets_whole(Linear(value.terms, value.constant + HALF))


def unrounded(value: Linear, ask: Ask, became: Became) -> Linear:
    """Roundings of values with finitely many points, worked out point by point; those of noise as draws of whole numbers."""
    from dpest.trace.pinning import pinned

    out = Linear((), value.constant)
    for node, c in value.terms:
        if isinstance(node, Draw):
            part = linear(became.get(id(node), node))
        else:
            steps = steps_of(node) if isinstance(node, Rounded) and not short(node) else None
            if steps is not None:
                became[id(node)] = simplified(steps)
            part = linear(pinned(node, ask, "arithmetic on a rounded value", became)) if steps is None else steps
        out = combine(out, part, c)
    return out


# -- the largest and the smallest --------------------------------------------------------------------------------------


def index(node: ArgExtreme | Ranked, ask: Ask) -> int:
    """Which argument is the extreme one, or stands at a place in their order: the first among equals, as in NumPy."""
    if isinstance(node, Ranked):
        from dpest.trace.ranking import peeled

        return peeled(node, ask)
    return _extreme(node, ask, {})[0]


def _extreme(written: ArgExtreme, ask: Ask, became: Became) -> tuple[int, Linear]:
    """Which argument is the extreme one, and that argument on this path."""
    node = without_function(written)
    plain = plain_options(node.pick, node.values)
    if plain is not None:
        place = plain[1][ask.choose(plain[0])]
        return place, linear(written.values[place])
    place, value = chosen(node.values, ask, lambda values, known: _winners(node.pick, node.values, values, ask, known), became)
    return place, value if node is written else linear(written.values[place])


Ways = tuple[list[tuple[Literal, ...]], list[int]]  # what each argument takes to be chosen, and its index


def chosen(written: Sequence[Any], ask: Ask, ways: Callable[[list[Linear], Became], Ways], became: Became) -> tuple[int, Linear]:
    """Which of several values is chosen, from what that takes for each of them, and that value on this path."""
    values = on_path = [affine(v, ask, became) for v in written]
    if not all(comparable(combine(a, b, -1)) for a, b in combinations(values, 2)):
        values = [unrounded(v, ask, became) for v in values]
    try:
        options, indices = ways(values, became)
    except Uneven:  # rounding decides ties: the draws that have few points are taken point by point
        options, indices = ways([pinned_draws(v, ask, became) for v in values], became)
    place = indices[ask.choose(options)]
    return place, on_path[place]


@lru_cache(maxsize=256)
def plain_options(pick: Pick, values: tuple[Any, ...]) -> Ways | None:
    """The ways in which each argument can win, where all are affine in draws: the same on every path."""
    expressions = [linear(v) for v in values]
    if not all(isinstance(n, Draw) for e in expressions for n, _ in e.terms):
        return None
    try:
        return _winners(pick, values, expressions, None, {})
    except Uneven:
        return None


def _winners(pick: Pick, written: Sequence[Any], values: list[Linear], ask: Ask | None, became: Became) -> Ways:
    """For each argument that can win: what it takes, and its index. An earlier one wins a tie."""
    options: list[tuple[Literal, ...]] = []
    indices: list[int] = []
    signed = values if pick is Pick.MAX else [scaled(v, -1) for v in values]
    better = (operator.gt, operator.ge) if pick is Pick.MAX else (operator.lt, operator.le)
    for i in range(len(values)):
        beaten: list[Literal] | None = []
        for j in range(len(values)):
            if j != i and beaten is not None:
                relation, wins = (Relation.GT, better[0]) if j < i else (Relation.GE, better[1])
                condition = Compare(relation, combine(signed[i], signed[j], -1), (wins, (written[i], written[j])))
                one = as_literal(condition, ask, became)
                beaten = [*beaten, one] if isinstance(one, Literal) else beaten if one else None
        if beaten is not None:
            options.append(tuple(beaten))
            indices.append(i)
    return options, indices


def as_literal(condition: Compare, ask: Ask | None, became: Became) -> Literal | bool:
    """A comparison of draws, or of one rounding with a constant, as a single inequality."""
    relation, value = condition.relation, condition.value
    program = AsWritten(condition, became)
    program = as_computed(program, value, became, None if ask is None else partial(affine, ask=ask, became=became))
    if not value.terms:
        return settled(relation, value.constant, program, ask)
    node = value.terms[0][0]
    if isinstance(node, Rounded):
        assert ask is not None
        return _rounding_literal(node, *least(relation, value, program), ask, became)
    terms = tuple((n, k) for n, k in value.terms if isinstance(n, Draw))
    if any(not d.law.discrete for d, _ in terms):
        return Literal(terms, value.constant)
    return at_least(terms, value.constant, relation, program)


def _rounding_literal(node: Rounded, whole: int, upwards: bool, ask: Ask, became: Became) -> Literal | bool:
    """Whether a rounding is at least a whole number (or is not), as a single inequality."""
    reached = reaches(node, whole)
    if isinstance(reached, bool):
        return reached == upwards
    inner = affine(reached.value, ask, became)
    if len(inner.terms) > 1 and any(isinstance(n, Rounded) for n, _ in inner.terms):
        inner = unrounded(inner, ask, became)
    one = as_literal(Compare(reached.relation, inner, reached.written), ask, became)
    if isinstance(one, bool):
        return one == upwards
    return one if upwards else one.negated()

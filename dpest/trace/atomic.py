"""Comparisons of draws alone, decided or asked for: the last step of every condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Protocol

from dpest.errors import ExactRefused
from dpest.lang.logic import sign
from dpest.lang.nodes import Draw, Linear, Relation, Where, combine, draws_of, is_integral, linear
from dpest.lang.plain import missing_draws
from dpest.laws.discrete import Whole
from dpest.laws.law import Discrete
from dpest.numerics.rationals import ONE, Rational, exact
from dpest.trace.literal import InputLiteral, Literal
from dpest.trace.whole import AsWritten, Uneven, at_least, equals

Became = dict[int, Any]  # by the id of a node: what it came down to on this path, a node or a plain number


class Ask(Protocol):
    """Decides what the graph leaves open, forking the run where neither supports nor earlier conditions decide it."""

    def __call__(self, literal: Literal) -> bool:
        """Which way one inequality over draws goes."""

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        """Which of several disjoint, exhaustive conjunctions holds."""


def side_taken(choice: Where, ask: Ask, decide: Callable[[Any, Ask], bool]) -> Any:
    """The value that a choice comes down to. Runs that can remember it do: in a nest of choices each asks for all inside it."""
    side = getattr(ask, "side", None)
    return (choice.yes if decide(choice.condition, ask) else choice.no) if side is None else side(choice)


def settled(relation: Relation, constant: Rational, program: AsWritten, ask: Ask | None) -> bool:
    """A comparison in which no draw is left: the program's own word, if it is known or if rounding could decide.

    Draws that cancel in rationals need not in the program's own arithmetic: (k + 0.4) - k is not always 0.4.
    """
    draws = missing_draws(program.condition, program.known) if program.near(constant) else []
    if draws and all(getattr(d.law, "finite", False) for d in draws):
        if ask is None:
            raise Uneven("a comparison of random values that cancel: rounding decides it")
        said = program({id(d): point(d, ask) for d in draws})
    elif draws and all(d.law.discrete for d in draws):
        raise ExactRefused("a comparison in which values without finitely many points cancel: rounding decides it")
    else:
        said = program({})
    return sign(relation, constant) if said is None else said


def atomic(relation: Relation, value: Linear, ask: Ask, program: AsWritten) -> bool:
    """A comparison of draws alone; equality never holds where a continuous draw is left."""
    terms = tuple((n, c) for n, c in value.terms if isinstance(n, Draw))
    if not terms:
        return settled(relation, value.constant, program, ask)
    if any(not d.law.discrete for d, _ in terms):
        return relation is not Relation.EQ and ask(Literal(terms, value.constant))
    if any(d.law.unknown for d, _ in terms):
        return _of_inputs(relation, InputLiteral(terms, value.constant), ask)
    if cancelled := _cancelled(terms, program):
        return atomic(relation, value, ask, program.at({id(d): point(d, ask) for d in cancelled}))
    uneven = [d for d, _ in terms if not getattr(d.law, "integral", False)] if len(terms) > 1 else []
    if uneven:
        return _at_points(relation, value, uneven, ask, program)
    try:
        if relation is Relation.EQ:
            both = equals(terms, value.constant, program)
            return both if isinstance(both, bool) else ask(both[0]) and ask(both[1])
        one = at_least(terms, value.constant, relation, program)
    except Uneven:
        if not has_finitely_many_points(value):
            raise
        return _at_points(relation, value, [d for d, _ in terms], ask, program)
    return one if isinstance(one, bool) else ask(one)


def _cancelled(terms: tuple[tuple[Draw, Rational], ...], program: AsWritten) -> list[Draw]:
    """Draws that cancel in rationals beside others that do not, where the program rounds: (0.2 + 0.1) - 0.2 is more than 0.1."""
    if program.extent.exact:
        return []
    own = {id(d) for d, _ in terms}
    missing = [d for d in missing_draws(program.condition, program.known) if id(d) not in own]
    return missing if all(getattr(d.law, "finite", False) for d in missing) else []


def _of_inputs(relation: Relation, at_least: InputLiteral, ask: Ask) -> bool:
    """A comparison in which an unknown real number takes part, and no continuous draw: ties may matter."""
    above = replace(at_least, strict=True)
    match relation:
        case Relation.GE:
            return ask(at_least)
        case Relation.GT:
            return ask(above)
        case Relation.EQ:
            return ask(at_least) and not ask(above)


def _at_points(relation: Relation, value: Linear, draws: list[Draw], ask: Ask, program: AsWritten) -> bool:
    """The comparison with some of its draws replaced by the points that they take on this path."""
    points: dict[int, int | float] = {id(d): point(d, ask) for d in draws}
    out = Linear((), value.constant)
    for node, c in value.terms:
        out = combine(out, linear(points.get(id(node), node)), c)
    return atomic(relation, out, ask, program.at(points))


def has_finitely_many_points(value: Linear) -> bool:
    """Whether every draw behind a value has finitely many points."""
    return all(getattr(d.law, "finite", False) for d in draws_of(value))


def is_listed(value: Linear, ask: Ask) -> bool:
    """Whether a value's points are looked at one by one: finitely many, or the whole numbers of one draw where runs fork."""
    if has_finitely_many_points(value):
        return True
    own = [d for d, _ in value.terms if isinstance(d, Draw) and d.origin is None and is_integral(d)]
    return getattr(ask, "counts_up", False) and len(own) == len(value.terms) == 1


def pinned_draws(value: Linear, ask: Ask, became: Became) -> Linear:
    """The value with the points of its finite draws on this path."""
    out = Linear((), value.constant)
    for node, c in value.terms:
        if isinstance(node, Draw) and has_finitely_many_points(linear(node)):
            became.setdefault(id(node), point(node, ask))
        out = combine(out, linear(became.get(id(node), node)), c)
    return out


def point(draw: Draw, ask: Ask) -> int | float:
    """The point that a discrete draw takes on this path."""
    assert isinstance(draw.law, Discrete)
    law = draw.law
    if not law.finite:
        return _counted(draw, ask)
    # No list of numbers: each case asks for a few of them only.
    points: Any = range(law.low, law.high + 1) if isinstance(law, Whole) else law.window(0.0)[0]

    def number(k: int) -> int | float:
        return int(points[k]) if integral else float(points[k])

    integral = law.integral
    low, high = 0, len(points) - 1
    while low < high:  # by halves: one after another, a thousand points would be half a million questions
        middle = (low + high + 1) // 2
        if ask(Literal(((draw, ONE),), -exact(number(middle)))):
            low = middle
        else:
            high = middle - 1
    return number(low)


def _counted(draw: Draw, ask: Ask) -> int:
    """The whole number that a draw is, one after another away from zero: far ones weigh too little to be followed."""
    low, high = draw.law.support
    up = low >= 0 or (high > 0 and ask(Literal(((draw, ONE),), exact(0))))
    sign, first = (1, max(0, int(low)) if low > 0 else 0) if up else (-1, max(1, -int(high)) if high < 0 else 1)
    return next(sign * k for k in count(first) if not ask(Literal(((draw, sign * ONE),), exact(-k - 1))))

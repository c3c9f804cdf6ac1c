"""A part of a path that shares no draw with the rest, in a canonical form under which equal parts are equal.

Draws that meet only one other draw (each query against the threshold, each loser against the winner) are folded into
factors of that other draw at once: sequences that differ in order alone then become the same component.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dpest.exact.inference.expressions import Expr, renamed, solved
from dpest.exact.inference.factors import Between, Bound
from dpest.laws.law import Law
from dpest.numerics.links import Links


@dataclass(frozen=True)
class Case:
    """Conditions on draws 0, 1, ..., and equations that tie output coordinates -1, -2, ... to them."""

    laws: tuple[Law, ...]
    bounds: tuple[Bound, ...]
    equations: tuple[Expr, ...]  # each == 0
    wholes: tuple[Expr, ...] = ()  # each a whole number


# The ways around a loop whose rounds are alike, each as the components of its conditions, with how often each occurs.
Parts: TypeAlias = "frozenset[tuple[Placed, int]]"
LoopRounds: TypeAlias = "frozenset[tuple[Parts, int]]"


@dataclass(frozen=True)
class Component:
    """A connected part of a case: what is left after draws that meet one other draw are folded in.

    One with `rounds` is a number: how often a loop is entered on average, 1 / (1 - P(another round)).
    """

    laws: tuple[Law, ...]
    folded: frozenset[tuple[Between, int]]
    bounds: frozenset[Bound]
    equations: frozenset[Expr]
    outputs: int
    wholes: frozenset[Expr] = frozenset()
    rounds: LoopRounds = frozenset()


@dataclass(frozen=True)
class Placed:
    """A component, and which output coordinates its own stand for."""

    component: Component
    outputs: tuple[int, ...]


def repeated(rounds: LoopRounds) -> Placed:
    """The weight of a loop's rounds together, in terms of the first one's."""
    return Placed(Component((), frozenset(), frozenset(), frozenset(), 0, frozenset(), rounds), ())


def components(case: Case) -> list[Placed]:
    """The case, split into parts that share no draw."""
    link = Links()
    for e in _all_expressions(case):
        link.join([v for v, _ in e.terms])
    parts: dict[Hashable, tuple[list[Bound], list[Expr], list[Expr]]] = {}

    def part(e: Expr) -> tuple[list[Bound], list[Expr], list[Expr]]:
        return parts.setdefault(link.root(_anchor(e)), ([], [], []))

    for b in case.bounds:
        part(b.expression)[0].append(b)
    for e in case.equations:
        part(e)[1].append(e)
    for e in case.wholes:
        part(e)[2].append(e)
    return [_component(case.laws, *lists) for lists in parts.values()]


def _all_expressions(case: Case) -> Iterable[Expr]:
    yield from (b.expression for b in case.bounds)
    yield from case.equations
    yield from case.wholes


def _anchor(e: Expr) -> int:
    return e.terms[0][0] if e.terms else 10**9


def _component(laws: Sequence[Law], bounds: list[Bound], equations: list[Expr], wholes: list[Expr]) -> Placed:
    folded, bounds = _fold(laws, bounds, equations)
    used: dict[int, None] = {}
    for e in [*equations, *wholes, *(b.expression for b in bounds), *(x for f in folded for x in f.lowers + f.uppers)]:
        used.update(dict.fromkeys(v for v, _ in e.terms))
    draws = [v for v in used if v >= 0]
    outputs = sorted((v for v in used if v < 0), reverse=True)
    names = {v: i for i, v in enumerate(draws)} | {v: -1 - j for j, v in enumerate(outputs)}
    renamed_folded = Counter({_renamed(f, names): 0 for f in folded})
    for f, k in folded.items():
        renamed_folded[_renamed(f, names)] += k
    component = Component(
        tuple(laws[v] for v in draws),
        frozenset(renamed_folded.items()),
        frozenset(Bound(renamed(b.expression, names)) for b in bounds),
        frozenset(renamed(e, names) for e in equations),
        len(outputs),
        frozenset(renamed(e, names) for e in wholes),
    )
    return Placed(component, tuple(-1 - v for v in outputs))


def _renamed(f: Between, names: dict[int, int]) -> Between:
    return replace(
        f,
        lowers=tuple(renamed(e, names) for e in f.lowers),
        uppers=tuple(renamed(e, names) for e in f.uppers),
    )


def _fold(laws: Sequence[Law], bounds: list[Bound], equations: list[Expr]) -> tuple[Counter[Between], list[Bound]]:
    """Draws that meet at most one other draw, and no equation, as factors of that draw."""
    where: dict[int, list[Bound]] = {}
    for b in bounds:
        for v, _ in b.expression.terms:
            if v >= 0:
                where.setdefault(v, []).append(b)
    fixed = {v for e in equations for v in e.variables()}
    others = {v: {w for b in bs for w, _ in b.expression.terms if w != v and w >= 0} for v, bs in where.items()}
    folded: Counter[Between] = Counter()
    gone: set[int] = set()
    # Where two draws meet only each other, one of them must stay: fold the discrete one last, else in order.
    for v in sorted(where, key=lambda v: (len(where[v]), laws[v].discrete)):
        meets = others[v]
        if v in fixed or len(meets) > 1 or meets & gone or (len(where) - len(gone) == 1 and not fixed):
            continue
        if laws[v].discrete and any(not laws[w].discrete for w in meets):
            continue
        folded[between(laws[v], v, where[v])] += 1
        gone.add(v)
    kept = [b for b in bounds if not any(v in gone for v, _ in b.expression.terms)]
    return folded, kept


def between(law: Law, draw: int, bounds: Iterable[Bound]) -> Between:
    """The probability that a draw satisfies its bounds, as a function of the other variables in them."""
    lowers: set[Expr] = set()
    uppers: set[Expr] = set()
    for b in bounds:
        side = lowers if b.expression.coefficient(draw) > 0 else uppers
        side.add(solved(b.expression, draw))
    return Between(law, tuple(sorted(lowers, key=_order)), tuple(sorted(uppers, key=_order)))


def _order(e: Expr) -> tuple[object, ...]:
    return e.terms, e.constant

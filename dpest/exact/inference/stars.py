"""Conditions alone, split into components: the quick way for stars, where each condition joins at most one shared draw.

A sparse-vector run with a thousand queries has a thousand paths of up to a thousand conditions each. The paths share
their conditions, and every query is compared with the same threshold: what a condition contributes is worked out once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

from dpest.exact.inference.cases import conditions_case
from dpest.exact.inference.component import Case, Component, Placed, between, components, repeated
from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Between, Bound
from dpest.lang.nodes import Draw
from dpest.laws.law import Law
from dpest.numerics.rationals import Rational
from dpest.trace.images import in_one_form
from dpest.trace.literal import Literal
from dpest.trace.rounds import Loop

# What a condition contributes to a star, by the condition and the star's centre. The condition is kept: its id stays its own.
Spokes = dict[tuple[int, int], tuple[Literal, int, Between]]
_OF_LOOPS: WeakKeyDictionary[Loop, Placed] = WeakKeyDictionary()


def condition_components(
    literals: Sequence[Literal], loops: Sequence[Loop] = (), spokes: Spokes | None = None
) -> list[Placed]:
    """The components of a case without outputs; `spokes` keeps what is worked out, for other cases of the same question."""
    single, rest = _alone(literals)
    star = _one_star(rest, {} if spokes is None else spokes)
    joint = (components(conditions_case(rest)) if rest else []) if star is None else [Placed(star, ())]
    return [*(_one(x.terms[0][0].law, x.terms[0][1], x.constant) for x in single), *joint, *map(loop_component, loops)]


def _alone(literals: Sequence[Literal]) -> tuple[list[Literal], list[Literal]]:
    """Conditions on a single draw that no other condition looks at, and the others."""
    if all(len(x.terms) > 1 for x in literals):
        return [], list(literals)
    met = Counter(id(d) for x in literals for d, _ in x.terms)
    single = [x for x in literals if len(x.terms) == 1 and met[id(x.terms[0][0])] == 1]
    return single, [x for x in literals if len(x.terms) > 1 or met[id(x.terms[0][0])] > 1]


@lru_cache(maxsize=1 << 14)
def _one(law: Law, c: Rational, constant: Rational) -> Placed:
    """The component of one condition on one draw: a program's loops make the same one again and again."""
    (placed,) = components(Case((law,), (Bound(expr(((0, c),), constant)),), ()))
    return placed


def loop_component(loop: Loop) -> Placed:
    """What a loop whose rounds are alike multiplies the weight of its first round by; worked out once for all ways out of it."""
    found = _OF_LOOPS.get(loop)
    if found is None:
        found = _OF_LOOPS[loop] = _of_rounds(loop)
    return found


def _of_rounds(loop: Loop) -> Placed:
    rounds = ((in_one_form(c.literals), c.loops) for c in loop.cycles)
    ways = Counter(
        frozenset(Counter(condition_components(literals, loops)).items()) for literals, loops in rounds if literals is not None
    )
    return repeated(frozenset(ways.items()))


def _one_star(literals: Sequence[Literal], spokes: Spokes) -> Component | None:
    """The component where all conditions compare one shared draw with a draw of their own; None where they do not."""
    if len(literals) < 2:
        return None
    hub = _shared(literals[0], literals[1])
    if hub is None:
        return None
    seen: set[int] = {id(hub)}
    counts: Counter[int] = Counter()
    factors: dict[int, Between] = {}
    for literal in literals:
        spoke = spokes.get((id(literal), id(hub)))
        if spoke is None:
            found = _spoke(literal, hub)
            if found is None:
                return None
            spoke = spokes[id(literal), id(hub)] = (literal, *found)
        _, draw, factor = spoke
        if draw in seen:
            return None
        seen.add(draw)
        counts[id(factor)] += 1
        factors[id(factor)] = factor
    folded: Counter[Between] = Counter()
    for i, f in factors.items():
        folded[f] += counts[i]
    return Component((hub.law,), frozenset(folded.items()), frozenset(), frozenset(), 0)


def _shared(a: Literal, b: Literal) -> Draw | None:
    both = {id(d) for d, _ in a.terms} & {id(d) for d, _ in b.terms}
    return next((d for d, _ in a.terms if id(d) in both), None) if len(both) == 1 else None


def _spoke(literal: Literal, hub: Draw) -> tuple[int, Between] | None:
    """The condition's own draw, and the probability that the condition holds as a function of the hub."""
    if len(literal.terms) != 2:
        return None
    own = [(d, c) for d, c in literal.terms if d is not hub]
    at_hub = [c for d, c in literal.terms if d is hub]
    if len(own) != 1 or (own[0][0].law.discrete and not hub.law.discrete):
        return None
    draw, c = own[0]
    return id(draw), _factor(draw.law, c, at_hub[0], literal.constant)


@lru_cache(maxsize=1 << 16)
def _factor(law: Law, own: Rational, hub: Rational, constant: Rational) -> Between:
    # Equal conditions give one and the same object: they are counted by identity.
    return between(law, 1, [Bound(expr(((0, hub), (1, own)), constant))])

"""Truth values of the graph: comparisons and their combinations, with the constants worked out."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

from dpest.lang import extent
from dpest.lang.nodes import NODES, All, Compare, Draw, Node, Not, Relation, Where, combine, linear
from dpest.lang.plain import rests_on
from dpest.numerics.rationals import Rational

_OPERATORS = {Relation.GE: operator.ge, Relation.GT: operator.gt, Relation.EQ: operator.eq}


def compare(relation: Relation, left: Any, right: Any) -> Any:
    """The truth of `left relation right` as a node, or a plain bool where no draw is left in the difference.

    Draws with finitely many points that cancel leave a node too, unless the author's arithmetic is exact: rounding may decide.
    """
    if left is right and isinstance(left, Where):
        return _with_itself(relation, left)
    difference = combine(linear(left), linear(right), -1)
    one = Compare(relation, difference, (_OPERATORS[relation], (left, right)))
    if difference.terms or _rounds(one):
        return one
    return sign(relation, difference.constant)


def _with_itself(relation: Relation, x: Any) -> Any:
    """The truth of `x relation x`: where a side of a choice is not a number, nothing holds of it."""
    if not isinstance(x, Where):
        return compare(relation, x, x) if isinstance(x, NODES) else bool(_OPERATORS[relation](x, x))
    yes, no = (_with_itself(relation, side) for side in (x.yes, x.no))
    if yes is no:
        return yes
    one, other = conjunction((x.condition, yes)), conjunction((negate(x.condition), no))
    return negate(conjunction((negate(one), negate(other))))


def sign(relation: Relation, x: Rational) -> bool:
    """Whether a number is >= 0, > 0 or == 0."""
    match relation:
        case Relation.GE:
            return bool(x >= 0)
        case Relation.GT:
            return bool(x > 0)
        case Relation.EQ:
            return bool(x == 0)


def _rounds(one: Compare) -> bool:
    """Whether only discrete draws are behind a comparison, and what is computed from them is rounded."""
    if one.written is None or not any(isinstance(x, NODES) for x in one.written[1]) or one.written[1][0] is one.written[1][1]:
        return False
    return all(d.law.discrete for d in rests_on(one, {})[0]) and not extent.compared(one).exact


@lru_cache(maxsize=1 << 12)
def compared(relation: Relation, left: Node, right: Node) -> Any:
    """The truth of `left relation right` for two random values; in runs that are made again, the same object each time."""
    return compare(relation, left, right)


def negate(x: Any) -> Any:
    """not x, for a truth node or a plain bool."""
    if isinstance(x, Not):
        return x.value
    return Not(x) if isinstance(x, NODES) else not x


def conjunction(values: tuple[Any, ...]) -> Any:
    """Whether all hold, with the constants worked out."""
    nodes = tuple(v for v in values if isinstance(v, NODES))
    if any(not v for v in values if not isinstance(v, NODES)):
        return False
    return (nodes[0] if len(nodes) == 1 else All(nodes)) if nodes else True


def truth(x: Any) -> Any:
    """A value as a truth value: a number counts as true where it is not zero."""
    if isinstance(x, Compare | Not | All) or not isinstance(x, NODES):
        return x
    if isinstance(x, Draw) and x.law.discrete and x.law.support[0] >= 0:
        return compare(Relation.GT, x, 0)
    return negate(compare(Relation.EQ, x, 0))

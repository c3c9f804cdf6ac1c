"""Which outputs are exchangeable: swapping them leaves both laws as they are, so that only sorted outputs need a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dpest.exact.inference.cases import Affine, Expansion
from dpest.lang.nodes import Draw, draws_of
from dpest.lang.origins import root
from dpest.lang.signature import signature
from dpest.numerics.rationals import Rational
from dpest.trace.literal import Literal


def signatures(leaves: Sequence[Any], literals: Sequence[Literal]) -> list[Any]:
    """For each leaf a key, equal for leaves that differ in their own private draws alone."""
    count: Counter[int] = Counter()
    for x in leaves:
        count.update(id(d) for d in draws_of(x))
    shared = {d for d, k in count.items() if k > 1} | {id(root(d)) for x in literals for d, _ in x.terms}
    return [signature(x, shared, {}) for x in leaves]


def classes(left: Sequence[Any], right: Sequence[Any]) -> list[int]:
    """Numbers the leaves by their signature under both inputs."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(key, len(seen)) for key in zip(left, right, strict=True)]


def canonical(case: Expansion) -> Any:
    """A key that is equal for cases that differ in the names of their draws alone; None where that is not easily told.

    The winners of a maximum differ in name alone where the values are equal: one of them is worked out for all.
    """
    if case.loops:
        return None
    role: dict[int, int] = {}
    values: list[Any] = []
    for x in case.values:
        if not isinstance(x, Affine):
            return None
        terms = [(d, c) for d, c in x.value.terms if isinstance(d, Draw)]
        values.append((tuple((role.setdefault(id(d), len(role)), c, d.law) for d, c in terms), x.value.constant))
    private: set[int] = set()
    marks: Counter[Any] = Counter()
    for literal in case.literals:
        own: list[tuple[int, Rational, Any]] = []
        for d, c in literal.terms:
            if id(d) in role:
                own.append((role[id(d)], c, None))
            elif id(d) in private:
                return None  # a draw that several conditions share has no name of its own
            else:
                private.add(id(d))
                own.append((-1, c, d.law))
        marks[(tuple(own), literal.constant)] += 1
    return tuple(values), frozenset(marks.items())

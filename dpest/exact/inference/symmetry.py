"""Which outputs are exchangeable: swapping them leaves both laws as they are, so that only sorted outputs need a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from dpest.exact.inference.cases import Affine, Constant, Expansion
from dpest.lang.extent import is_rounded
from dpest.lang.nodes import Draw
from dpest.lang.origins import root
from dpest.lang.signature import as_written, signature
from dpest.numerics.rationals import Rational
from dpest.trace.literal import Literal


def signatures(leaves: Sequence[Any], draws: Sequence[Sequence[Draw]], literals: Sequence[Literal]) -> list[Any]:
    """For each leaf, given with its draws, a key, equal for leaves that differ in their own private draws alone."""
    count: Counter[int] = Counter()
    for own in draws:
        count.update(map(id, own))
    shared = {d for d, k in count.items() if k > 1} | {id(root(d)) for x in literals for d, _ in x.terms}
    return [(signature(x, shared, {}), _rounding(x, own, shared)) for x, own in zip(leaves, draws, strict=True)]


def _rounding(x: Any, own: Sequence[Draw], shared: set[int]) -> Any:
    """How the program works out a discrete value: equal in rationals, two such values may differ where it rounds ties."""
    return as_written(x, shared) if own and (all(d.law.discrete for d in own) or is_rounded(x)) else None


def classes(left: Sequence[Any], right: Sequence[Any]) -> list[int]:
    """Numbers the leaves by their signature under both inputs."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(key, len(seen)) for key in zip(left, right, strict=True)]


def canonical(case: Expansion, fixed: Collection[int] = ()) -> Any:
    """A key that is equal for cases that differ in the names of their draws alone; None where that is not easily told.

    Constants at the places `fixed` are left out. The winners of a maximum differ in name alone where the values are equal, and
    so do the places of a sparse vector at which equal queries pass: one of them is worked out for all. Draws that are released,
    or that several conditions share, are numbered as they come: cases that list them in another order may have other keys.
    """
    if case.loops:
        return None
    role: dict[int, int] = {}
    values: list[Any] = []
    for i, x in enumerate(case.values):
        if i in fixed and isinstance(x, Constant):
            continue
        if not isinstance(x, Affine):
            return None
        terms = [(d, c) for d, c in x.value.terms if isinstance(d, Draw)]
        values.append((tuple((role.setdefault(id(d), len(role)), c, d.law) for d, c in terms), x.value.constant))
    met = Counter(id(d) for literal in case.literals for d, _ in literal.terms)
    marks: Counter[Any] = Counter()
    for literal in case.literals:
        own: list[tuple[int, Rational, Any]] = []
        for d, c in literal.terms:
            if met[id(d)] > 1:
                role.setdefault(id(d), len(role))
            own.append((role.get(id(d), -1), c, d.law))
        marks[(tuple(own), literal.constant)] += 1
    return tuple(values), frozenset(marks.items())

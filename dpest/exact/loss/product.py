"""Cases of several outputs that are a product: outputs that share no noise, each with cases of its own.

Two noisy averages that are clipped one after the other have nine paths, three for each. The paths together are one group of
outputs; where its cases are every combination of those of the one with those of the other, the law is a product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.exact.inference.cases import Affine, Constant, Expansion, Ratio
from dpest.lang.nodes import Linear
from dpest.lang.origins import root
from dpest.numerics.links import Links
from dpest.trace.columns import constant_key
from dpest.trace.literal import Literal

_BARE = "no output"  # the owner of conditions that touch none


@dataclass(frozen=True, eq=False)
class IndependentPart:
    """Some outputs (none, for what conditions alone weigh) and their own cases under either input."""

    members: tuple[int, ...]  # of the outputs that were asked about
    left: list[Expansion]
    right: list[Expansion]


def independent_parts(
    left: Sequence[Expansion], right: Sequence[Expansion], places: Sequence[int]
) -> list[IndependentPart] | None:
    """The parts that the outputs at some places fall into; None where there is one alone, or the cases are no product."""
    if any(case.loops or not all(map(_known, case.values)) for case in (*left, *right)):
        return None
    owners = _owners([*left, *right], places)
    roots = list(dict.fromkeys(owners.root(("output", i)) for i in places))
    # Apart from the conditions that do not touch it, one output has the same law in many strata: it is found once.
    bare = len(places) == 1 and any(owners.root(_draw(x)) not in roots for case in (*left, *right) for x in case.literals)
    if len(roots) < 2 and not bare:
        return None
    members = [tuple(j for j, i in enumerate(places) if owners.root(("output", i)) == r) for r in roots]
    sides = []
    for cases in (left, right):
        columns = _factors(cases, [[places[j] for j in part] for part in members], lambda x: owners.root(_draw(x)), roots)
        if columns is None:
            return None
        sides.append(columns)
    return [IndependentPart(m, p, q) for m, p, q in zip([*members, ()], *sides, strict=True)]


def _known(value: Any) -> bool:
    return isinstance(value, Constant | Affine | Ratio)


def _draw(x: Literal) -> Hashable:
    return id(root(x.terms[0][0]))


def _forms(value: Any) -> tuple[Linear, ...]:
    match value:
        case Ratio(top=top, bottom=bottom):
            return top, bottom
        case Affine(value=form):
            return (form,)
    return ()


def _owners(cases: Sequence[Expansion], places: Sequence[int]) -> Links:
    """Outputs and draws, joined where a case has them together."""
    out = Links()
    for case in cases:
        for i in places:
            out.join([("output", i), *(id(root(d)) for form in _forms(case.values[i]) for d, _ in form.terms)])  # type: ignore[arg-type]
        for x in case.literals:
            out.join([id(root(d)) for d, _ in x.terms])
    return out


def _factors(
    cases: Sequence[Expansion], parts: Sequence[Sequence[int]], owner: Callable[[Literal], Hashable], roots: Sequence[Hashable]
) -> list[list[Expansion]] | None:
    """The cases of each part, and of the conditions that touch none; None where the list is not every combination, once."""
    own: list[dict[Hashable, Expansion]] = [{} for _ in (*parts, _BARE)]
    seen: set[tuple[Hashable, ...]] = set()
    for case in cases:
        held: dict[Hashable, list[Literal]] = {}
        for x in case.literals:
            held.setdefault(at if (at := owner(x)) in roots else _BARE, []).append(x)
        marks = []
        for column, part, at in zip(own, (*parts, ()), (*roots, _BARE), strict=True):
            literals, values = tuple(held.get(at, ())), tuple(case.values[i] for i in part)
            marks.append((frozenset(map(_condition_key, literals)), tuple(map(_value_key, values))))
            column.setdefault(marks[-1], Expansion(literals, values))
        seen.add(tuple(marks))
    if len(seen) < len(cases) or len(seen) < math.prod(map(len, own)):
        return None
    return [list(column.values()) for column in own]


def _condition_key(x: Literal) -> Hashable:
    return frozenset((id(d), c) for d, c in x.terms), x.constant


def _value_key(value: Any) -> Hashable:
    if isinstance(value, Constant):
        return constant_key(value.value)  # type: ignore[no-any-return]
    forms = tuple((frozenset((id(d), c) for d, c in form.terms), form.constant) for form in _forms(value))
    return forms, value.offset if isinstance(value, Ratio) else None

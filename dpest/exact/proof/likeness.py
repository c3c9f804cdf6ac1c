"""Which pairs of regions differ in the names of their draws alone: they have the same cheapest alignment.

The winners of a noisy maximum of equal values are alike, and so are the queries of a sparse vector that did not pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from dpest.exact.proof.regions import Region, Row, Terms
from dpest.laws.law import Law


def likeness(source: Region, target: Region, laws: Mapping[int, Law]) -> Hashable:
    """A key that only pairs have in common which are equal up to the names of their draws.

    Draws that are released, or that several conditions share, are numbered as they come; the others are told by their law.
    Pairs that are alike, and list their draws in another order, may have different keys.
    """
    groups: dict[Terms, list[tuple[int, Row]]] = {}
    for side, region in enumerate((source, target)):
        for row in region.rows:
            groups.setdefault(_unsigned(row.terms), []).append((side, row))
    used = Counter(v for terms in groups for v, _ in terms)
    released = tuple(r for region in (source, target) for r in region.released)
    number: dict[int, int] = {}
    for v in _in_order(used, (v for r in released for v, _ in r.terms)):
        number[v] = len(number)
    values = [(_named(r.terms, number, laws), r.constant, r.offset) for r in released]
    conditions: Counter[Hashable] = Counter()
    for terms, rows in groups.items():
        sign, named = _named(terms, number, laws)
        ends = frozenset((side, sign if row.terms == terms else -sign, row.constant, row.strict) for side, row in rows)
        conditions[named, ends] += 1
    described = tuple((v in source.law, v in target.law, laws[v]) for v in number)
    return len(source.released), tuple(values), frozenset(conditions.items()), described


def _unsigned(terms: Terms) -> Terms:
    """The terms with a positive leading coefficient: bounds from both sides are about one expression."""
    return terms if not terms or terms[0][1] > 0 else tuple((v, -c) for v, c in terms)


def _in_order(used: Counter[int], released: Iterable[int]) -> Iterable[int]:
    """The draws that have a number: those that are released, then those that several conditions share."""
    return dict.fromkeys((*released, *(v for v, times in used.items() if times > 1)))


def _named(terms: Terms, number: dict[int, int], laws: Mapping[int, Law]) -> tuple[int, tuple[Any, ...]]:
    """The terms by the numbers of their draws, with a positive leading coefficient, and the sign that was taken out."""
    known, own = [], []
    for v, c in terms:
        if v in number:
            known.append((number[v], c))
        else:
            own.append((c, v))
    known.sort()
    if len(own) > 1:
        own.sort(key=lambda term: (abs(term[0]), term[0]))
    lead = known[0][1] if known else own[0][0] if own else 1
    if lead > 0:
        return 1, (tuple(known), tuple((c, laws[v]) for c, v in own))
    return -1, (tuple((k, -c) for k, c in known), tuple((-c, laws[v]) for c, v in own))

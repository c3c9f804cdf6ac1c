"""Which pairs of regions differ in the names of their draws alone: they have the same cheapest alignment.

The winners of a noisy maximum of equal values are alike, and so are the queries of a sparse vector that did not pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpest.exact.proof.regions import Region, Terms, common_laws
from dpest.laws.law import Law


@dataclass(frozen=True)
class _NumberedForm:
    """A region as numbers, which are equal for what is equal: most regions differ in their constants alone."""

    number: int  # of its conditions and released values but for their constants, in their order, and of its laws
    partner: int  # of the same in any order, and of its key: what a region and its partner in another program share
    ends: tuple[int, ...]  # of the constant of each condition, and whether it is strict
    values: int  # of the constants of the released values


@dataclass(frozen=True)
class _Layout:
    """What the conditions of two regions have in common, whatever their constants are."""

    number: int  # of the released values, and of the draws that have a number
    twins: tuple[tuple[int, int, int], ...]  # (label, row, row) of conditions that either region has once
    others: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...]  # (label, its rows: side, sign, number of the row)


class Likenesses:
    """Keys of pairs of regions; what forms have in common is worked out once."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._forms: dict[int, tuple[Region, _NumberedForm]] = {}  # by id, which is another region's once the region is gone
        self._layouts: dict[tuple[int, int], _Layout | None] = {}

    def key(self, source: Region, target: Region) -> Hashable | None:
        """A key that only pairs have in common which are equal up to the names of their draws.

        None where they draw a value from different laws, or release another number of values. Draws that are released, or that
        several conditions share, are numbered as they come; the others are told by their law. Pairs that are alike, and list
        their draws in another order, may have different keys.
        """
        a, b = self._form(source), self._form(target)
        pair = a.number, b.number
        if pair not in self._layouts:
            self._layouts[pair] = self._layout(source, target)
        layout = self._layouts[pair]
        if layout is None:
            return None
        ends = a.ends, b.ends
        twins = sorted([(label, a.ends[i], b.ends[j]) for label, i, j in layout.twins])
        others = sorted([(label, *sorted({(s, sign, ends[s][i]) for s, sign, i in rows})) for label, rows in layout.others])
        return layout.number, a.values, b.values, tuple(twins), tuple(others)

    def partner(self, region: Region) -> int:
        """Equal for regions that differ in constants alone: conditions, released values, and the shape of the output."""
        return self._form(region).partner

    def _number(self, x: Hashable) -> int:
        return self._numbers.setdefault(x, len(self._numbers))

    def _form(self, region: Region) -> _NumberedForm:
        known = self._forms.get(id(region))
        if known is None:
            terms, released = tuple(r.terms for r in region.rows), tuple(r.terms for r in region.released)
            form = _NumberedForm(
                self._number(("form", terms, released, region.laws)),
                self._number(("partner", frozenset(terms), released, region.key)),
                tuple([self._number((r.constant, r.strict)) for r in region.rows]),
                self._number(("values", *((r.constant, r.offset) for r in region.released))),
            )
            known = self._forms[id(region)] = region, form
        return known[1]

    def _layout(self, source: Region, target: Region) -> _Layout | None:
        laws = common_laws(source, target)
        if laws is None or len(source.released) != len(target.released):
            return None
        groups: dict[Terms, list[tuple[int, int, Terms]]] = {}
        for side, region in enumerate((source, target)):
            for i, row in enumerate(region.rows):
                groups.setdefault(_unsigned(row.terms), []).append((side, i, row.terms))
        used = Counter(v for terms in groups for v, _ in terms)
        released = [r.terms for region in (source, target) for r in region.released]
        number: dict[int, int] = {}
        for v in _in_order(used, (v for terms in released for v, _ in terms)):
            number[v] = len(number)
        values = tuple(_named(terms, number, laws) for terms in released)
        described = tuple((v in source.law, v in target.law, laws[v]) for v in number)
        twins, others = [], []
        for terms, rows in groups.items():
            sign, named = _named(terms, number, laws)
            signed = [(side, sign if own == terms else -sign, i) for side, i, own in rows]
            if [side for side, _, _ in signed] == [0, 1]:
                label = self._number((named, signed[0][1], signed[1][1]))
                twins.append((label, signed[0][2], signed[1][2]))
            else:
                others.append((self._number(named), tuple(signed)))
        return _Layout(self._number(("layout", values, described)), tuple(twins), tuple(others))


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

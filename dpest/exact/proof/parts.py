"""Regions split by shared draws, and equal conditions put together.

Conditions that differ only in draws and inputs of their own (each query of a sparse vector with its own noise) are
interchangeable: given the shared shifts, each of them has the same cheapest completion. One of them stands for all, at the
price of all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpest.exact.proof.regions import Region, Released, Row, drawn
from dpest.laws.law import Law
from dpest.numerics.links import Links
from dpest.numerics.ranges import Range
from dpest.numerics.rationals import Rational


@dataclass(frozen=True)
class Part:
    """Conditions and released values that share draws with each other and with nothing else."""

    rows: tuple[Row, ...]
    released: tuple[Released, ...]
    laws: tuple[tuple[int, Law], ...]


@dataclass(frozen=True)
class Folded:
    """A part with one condition of each kind, and the draws that each draw of its own stands for."""

    part: Part
    members: Mapping[int, Sequence[int]]  # itself included; a draw that is not listed stands for itself

    def times(self, draw: int) -> int:
        """How many draws are shifted as this one is."""
        return len(self.members[draw]) if draw in self.members else 1


def parts(region: Region) -> list[Part]:
    """The region split by shared draws; conditions on inputs alone are left out, they hold for both inputs."""
    link = Links()
    for terms in (*(r.terms for r in region.rows), *(r.terms for r in region.released)):
        link.join([v for v, _ in terms if v >= 0])
    rows: dict[object, list[Row]] = {}
    released: dict[object, list[Released]] = {}
    for i, row in enumerate(region.conditions):
        rows.setdefault(_root(link, row.terms, i), []).append(row)
    for i, value in enumerate(region.released):
        released.setdefault(_root(link, value.terms, i), []).append(value)
    law = region.law
    out = []
    for key in dict.fromkeys((*rows, *released)):
        own_rows, own_released = rows.get(key, []), released.get(key, [])
        used = sorted(drawn(own_rows, own_released))
        out.append(Part(tuple(own_rows), tuple(own_released), tuple((v, law[v]) for v in used)))
    return out


def _root(link: Links, terms: Iterable[tuple[int, Rational]], i: int) -> object:
    draws = [v for v, _ in terms if v >= 0]
    return link.root(draws[0]) if draws else ("alone", i)


def folded(part: Part, moves: Mapping[int, Range]) -> Folded:
    """The part with interchangeable conditions put together."""
    uses = _uses(part)
    law = dict(part.laws)
    found: dict[Hashable, list[list[int]]] = {}
    first: dict[Hashable, Row] = {}
    for row in part.rows:
        shared, draws, inputs = [], [], []
        for v, c in row.terms:
            if uses[v] > 1:
                shared.append((v, c))
            elif v >= 0:
                draws.append((v, c))
            elif v in moves:
                inputs.append((c, moves[v]))
        if len(draws) > 1:
            draws.sort(key=lambda p: (law[p[0]].words(), p[1]))
        if len(inputs) > 1:
            inputs.sort(key=repr)
        key = (tuple(shared), tuple((law[v], c) for v, c in draws), tuple(inputs))
        first.setdefault(key, row)
        found.setdefault(key, []).append([v for v, _ in draws])
    members = {own[0]: own for lists in found.values() for own in zip(*lists, strict=True)}
    stand_ins = {v for own in members.values() for v in own[1:]}
    # Shared draws first: programs of different paths then have their columns in one order.
    laws = sorted(((v, x) for v, x in part.laws if v not in stand_ins), key=lambda p: (p[0] in members, p[0]))
    return Folded(Part(tuple(first.values()), part.released, tuple(laws)), members)


def _uses(part: Part) -> dict[int, int]:
    """How often each draw and input occurs; what is released counts as shared."""
    uses: dict[int, int] = {}
    for row in part.rows:
        for v, _ in row.terms:
            uses[v] = uses.get(v, 0) + 1
    for value in part.released:
        for v, _ in value.terms:
            uses[v] = uses.get(v, 0) + 2
    return uses

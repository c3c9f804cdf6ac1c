"""Equal parts of a linear program, solved once.

Rows that differ only in columns of their own (each query of a sparse vector with its own noise) are interchangeable: given
the shared columns, each of them has the same cheapest completion. One of them stands for all, at the price of all; programs
that become the same in this way are solved once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

from dpest.exact.proof.programs import Program
from dpest.numerics.effort import spend_steps
from dpest.numerics.rationals import ZERO, Rational

_ENTRIES_IN_A_STEP = 8  # of a program that is looked at for equal rows, a microsecond or two each

Known: TypeAlias = dict[Hashable, list[Rational] | None]
_Private: TypeAlias = tuple[Rational, Rational, Rational | None, bool]  # coefficient, cost, low, whole


@dataclass(frozen=True)
class _Class:
    """Rows that are equal but for columns of their own, which are listed in one order for all of them."""

    shared: tuple[tuple[int, Rational], ...]
    privates: tuple[_Private, ...]
    bound: Rational
    equality: bool
    members: list[tuple[int, ...]]  # the private columns of each row


def solve_folded(program: Program, known: Known) -> list[Rational] | None:
    """As `Program.solve`, with interchangeable rows put together; `known` holds the programs that were solved before."""
    spend_steps(1 + sum(len(terms) for terms, _, _ in program.rows) // _ENTRIES_IN_A_STEP)
    classes = _classes(program)
    small, places = _folded(program, classes)
    key = _key(small)
    if key not in known:
        known[key] = small.solve()
    point = known[key]
    if point is None:
        return None
    out: list[Any] = [None] * len(program.costs)
    for column, place in places.items():
        out[column] = point[place]
    for j, low in enumerate(program.lows):
        if out[j] is None:  # in no row
            out[j] = ZERO if low is None else low
    return out


def _classes(program: Program) -> list[_Class]:
    uses: dict[int, int] = {}
    for terms, _, _ in program.rows:
        for j in terms:
            uses[j] = uses.get(j, 0) + 1
    found: dict[Any, _Class] = {}
    for terms, bound, equality in program.rows:
        own = [(c, program.costs[j], program.lows[j], program.whole[j], j) for j, c in terms.items() if uses[j] == 1]
        if len(own) > 1:
            own.sort(key=lambda p: (p[0], p[1], p[2] is None, p[2] or 0, p[3]))
        shared = tuple(sorted((j, c) for j, c in terms.items() if uses[j] > 1)) if len(own) < len(terms) else ()
        privates = tuple(p[:4] for p in own)
        key = (shared, privates, bound, equality)
        if key not in found:
            found[key] = _Class(shared, privates, bound, equality, [])
        found[key].members.append(tuple(p[4] for p in own))
    return sorted(found.values(), key=_rank)


def _rank(c: _Class) -> Any:
    """An order that does not depend on how the shared columns are numbered."""
    privates = tuple((x, cost, low is None, low or 0, whole) for x, cost, low, whole in c.privates)
    return c.equality, c.bound, len(c.members), privates, tuple(sorted(x for _, x in c.shared))


def _folded(program: Program, classes: list[_Class]) -> tuple[Program, dict[int, int]]:
    small = Program()
    places: dict[int, int] = {}
    for number, c in enumerate(classes):
        terms: dict[int, Rational] = {}
        for j, x in c.shared:
            places[j] = small.column(("shared", j), cost=program.costs[j], low=program.lows[j], whole=program.whole[j])
            terms[places[j]] = x
        times = len(c.members)
        for k, (x, cost, low, whole) in enumerate(c.privates):
            column = small.column(("own", number, k), cost=cost * times, low=low, whole=whole)
            terms[column] = x
            places.update({member[k]: column for member in c.members})
        small.rows.append((terms, c.bound, c.equality))
    return small, places


def _key(program: Program) -> Hashable:
    rows = tuple((tuple(sorted(terms.items())), bound, equality) for terms, bound, equality in program.rows)
    return tuple(program.costs), tuple(program.lows), tuple(program.whole), rows

"""Regions that release the same outputs and whose union is again described by inequalities, put together.

A fork whose two sides return the same thing costs nothing; without this an alignment would have to keep to one side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region, Row, scaled_row, with_rows
from dpest.laws.law import Law
from dpest.numerics.rationals import ONE, ZERO, Rational

# Programs spent on one group of equal outputs; past it the regions stay apart, which is sound and may be less tight.
_MOST_PROGRAMS = 400
NO_INPUTS: Mapping[int, Law] = MappingProxyType({})


def contradictory(rows: Iterable[Row], smooth: Collection[int]) -> bool:
    """Whether the rows cannot hold together but on a set of probability zero; proved by multipliers in rationals."""
    return contradiction(list(rows), smooth) is not None


def contradiction(given: Sequence[Row], smooth: Collection[int]) -> tuple[tuple[int, Rational], ...] | None:
    """Multipliers (number of a row, factor) whose combination of the rows says 0 > 0; None where none were found."""
    quick = _opposites(given, smooth)
    if quick is not None:
        return quick
    program = Program()
    columns = [program.column(i, cost=ONE, low=ZERO) for i in range(len(given))]
    sums: dict[int, dict[int, Rational]] = {}
    gap: dict[int, Rational] = {}
    strictly: dict[int, Rational] = {}
    for j, row in zip(columns, given, strict=True):
        for v, c in row.terms:
            sums.setdefault(v, {})[j] = c
        gap[j] = -row.constant
        strict = row.strict or any(v in smooth for v, _ in row.terms)
        strictly[j] = gap[j] + (ONE if strict else ZERO)
    for terms in sums.values():
        program.equal(terms, ZERO)
    program.at_least(gap, ZERO)
    program.at_least(strictly, ONE)
    point = program.solve()
    return None if point is None else tuple((i, x) for i, x in enumerate(point) if x)


def _opposites(given: Sequence[Row], smooth: Collection[int]) -> tuple[tuple[int, Rational], ...] | None:
    """Two rows that contradict each other as they stand: most cells of inputs do, and need no linear program."""
    tightest: dict[tuple[tuple[int, Rational], ...], int] = {}
    for i, row in enumerate(given):
        j = tightest.get(tuple((v, -c) for v, c in row.terms))
        if j is not None:
            room = row.constant + given[j].constant
            strict = row.strict or given[j].strict or any(v in smooth for v, _ in row.terms)
            if room < 0 or (room == 0 and strict):
                return (j, ONE), (i, ONE)
        k = tightest.setdefault(row.terms, i)
        if (row.constant, not row.strict) < (given[k].constant, not given[k].strict):
            tightest[row.terms] = i
    return None


def merged(regions: Sequence[Region], inputs: Mapping[int, Law] = NO_INPUTS) -> list[Region]:
    """The regions, put together as far as unions of two go; `inputs` are the laws that stand for unknown inputs."""
    groups: dict[Any, list[Region]] = {}
    for region in regions:
        groups.setdefault((region.group, region.key, region.released), []).append(region)
    return [r for group in groups.values() for r in (_merged_group(group, inputs) if len(group) > 1 else group)]


def _merged_group(group: list[Region], inputs: Mapping[int, Law]) -> list[Region]:
    drawn = {v: law for region in group for v, law in region.laws}
    laws = drawn | dict(inputs)
    smooth = {v for v, law in drawn.items() if not law.discrete}
    sets = _without_complements([frozenset(r.rows) for r in group], laws)
    budget = [_MOST_PROGRAMS]
    i = 0
    while i < len(sets):
        for j in range(i + 1, len(sets)):
            union = _union(sets[i], sets[j], laws, smooth, budget)
            if union is not None:
                sets = [union, *(s for k, s in enumerate(sets) if k not in (i, j))]
                i = -1
                break
        i += 1
    together = _union_of_all(sets, laws, smooth, budget) if len(sets) > 2 else None
    sets = sets if together is None else [together]
    whole = Region(group[0].key, (), group[0].released, tuple(sorted(drawn.items(), key=lambda t: t[0])), group[0].group)
    return [with_rows(whole, sorted(s, key=_order)) for s in sets]


def _order(row: Row) -> Any:
    return row.terms, row.constant, row.strict


def _without_complements(sets: list[frozenset[Row]], laws: Mapping[int, Law]) -> list[frozenset[Row]]:
    """Two regions that differ in one condition and its opposite are the region without it."""
    pool = dict.fromkeys(sets)
    stack = list(pool)
    while stack:
        rows = stack.pop()
        if rows not in pool:
            continue
        for row in rows:
            rest = rows - {row}
            other = rest | {opposite(row, laws)}
            if other in pool:
                del pool[rows], pool[other]
                pool[rest] = None
                stack.append(rest)
                break
    return list(pool)


def opposite(row: Row, laws: Mapping[int, Law]) -> Row:
    """The opposite of a row in the form in which a region has it."""
    flipped = row.negated()
    return scaled_row(flipped.terms, flipped.constant, flipped.strict, laws)


def _union_of_all(
    sets: Sequence[frozenset[Row]], laws: Mapping[int, Law], smooth: set[int], budget: list[int]
) -> frozenset[Row] | None:
    """The rows that describe the union of several regions no two of which have one: which of three values is the largest."""
    listed = sorted(frozenset.union(*sets), key=_order)

    def everywhere(row: Row) -> bool:
        lacking = [s for s in sets if row not in s]
        budget[0] -= len(lacking)
        return budget[0] >= 0 and all(contradictory([*s, opposite(row, laws)], smooth) for s in lacking)

    common = frozenset(r for r in listed if everywhere(r))
    own = [sorted(s - common, key=_order) for s in sets]

    def covered(rows: tuple[Row, ...], at: int) -> bool:
        budget[0] -= 1
        if budget[0] < 0 or at == len(own):
            return budget[0] >= 0 and contradictory(rows, smooth)
        if at and contradictory(rows, smooth):
            return True
        return all(covered((*rows, opposite(r, laws)), at + 1) for r in own[at])

    return common if all(own) and covered(tuple(common), 0) else None


def _union(
    a: frozenset[Row], b: frozenset[Row], laws: Mapping[int, Law], smooth: set[int], budget: list[int]
) -> frozenset[Row] | None:
    """The rows that describe the union of two regions exactly, where there are such rows."""
    own_a, own_b = [r for r in a if r not in b], [r for r in b if r not in a]
    if len(own_a) * len(own_b) > 16:
        return None

    def empty(rows: Iterable[Row]) -> bool:
        budget[0] -= 1
        return budget[0] >= 0 and contradictory(rows, smooth)

    left = [r for r in own_a if not empty([*b, opposite(r, laws)])]
    right = [r for r in own_b if not empty([*a, opposite(r, laws)])]
    hull = (a | b) - set(left) - set(right)
    # What the hull has beyond the union breaks a condition of each.
    if all(empty([*hull, opposite(x, laws), opposite(y, laws)]) for x in left for y in right):
        return hull
    return None

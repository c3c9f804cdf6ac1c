"""Regions with one output, bounded together: how fast their total probability can change.

Which of several noisy values pass is often not released, only how many do, or whether most of them do. Shifts have to keep each
region to itself and pay for every value; the probability of all regions together changes less. Given the draws that the regions
share, each other draw is only asked on which side of one threshold it lies, so that the total is a polynomial Q, affine in each
a_i = P(draw i is above). Move the inputs along a line, the shared draws with them: a_i changes at a rate of at most
r_i min(a_i, 1 - a_i) for each unit by which the threshold moves (r_i: the cost of a unit shift of draw i), and

    K Q + the sum over i of (dQ / da_i) e_i f_i  >=  0   for 0 <= f_i <= r_i min(a_i, 1 - a_i)

bounds the loss by K. The left side is affine in each (a_i, f_i), which lies in a triangle: it is enough to look at its corners,
where a_i is 0, 1/2 or 1. That is a check in whole numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.align import Shifts
from dpest.exact.proof.corners import Corner, Corners, all_corners, allowed, change_at, cost_at, told_costs_fault
from dpest.exact.proof.folding import Known, solve_folded
from dpest.exact.proof.maxima import without_transitive
from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region, Released, Row, Terms
from dpest.laws.law import Law
from dpest.numerics.ranges import Range
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

_MOST_OWN = 7  # draws with a threshold: 3^7 corners of the triangles
_MOST_MEMBERS = 200  # regions of one pool
_MOST_CUTS = 60  # corners of the triangles that are added to a program one by one; most need fewer than five

Slopes: TypeAlias = tuple[Rational, ...]  # for each own draw: the change of ln Q when its margin grows by one unit


@dataclass(frozen=True)
class PooledRegions:
    """Regions whose total probability is bounded: the shifts of the shared draws at each corner of the differences."""

    members: tuple[int, ...]
    shared: tuple[int, ...]
    corners: Corners


@dataclass(frozen=True)
class _Split:
    """What all members of a pool have in common, and on which side of its threshold each own draw is in each of them."""

    rows: tuple[Row, ...]
    released: tuple[Released, ...]
    laws: Mapping[int, Law]
    margins: tuple[tuple[int, Terms], ...]  # own draw, the rest of (draw - threshold)
    sides: npt.NDArray[np.int64]  # 1: above, -1: below, 0: either; members by own draws

    @property
    def inputs(self) -> list[int]:
        """The inputs that occur in it."""
        terms = [*(r.terms for r in self.rows), *(r.terms for r in self.released), *(t for _, t in self.margins)]
        return sorted({v for listed in terms for v, _ in listed if v < 0})


def cheapest_pool(
    regions: Sequence[Region], members: Sequence[int], box: Box, most: Rational, known: Known
) -> tuple[PooledRegions, Rational] | None:
    """The pool of some regions with one output, and its cost; None where there is none that costs less than `most`."""
    own = [without_transitive(regions[i]) for i in members] if len(members) <= _MOST_MEMBERS else []
    if len(own) < 2 or not box.moves:
        return None
    shared = _shared(own)
    split = _split(own, shared)
    moves = dict(box.moves)
    corners = None if split is None else all_corners([v for v in split.inputs if v in moves], moves)
    if split is None or corners is None:
        return None
    found = _found_corners(split, corners, most, known)
    return None if found is None else (PooledRegions(tuple(members), tuple(sorted(shared)), found), max(c for _, _, c in found))


def _found_corners(split: _Split, corners: Iterable[Corner], most: Rational, known: Known) -> Corners | None:
    rates = _rates(split)
    cuts: list[Slopes] = []
    seen: dict[Terms, None] = {(): None}  # no shift, and shifts of earlier corners, which often do for others as well
    found = []
    largest = ZERO
    for corner in corners:
        told = ((shifts, _cost(split, corner, shifts, rates)) for shifts in reversed(seen))
        shifts, cost = next(((s, c) for s, c in told if c is not None and c <= largest), (None, None))
        if shifts is None:
            shifts = _at_corner(split, corner, rates, cuts, known)
            cost = None if shifts is None else _cost(split, corner, shifts, rates)
            still = _cost(split, corner, (), rates)
            if still is not None and cost is not None and still <= cost:
                shifts = ()
        if shifts is None or cost is None or cost >= most:
            return None
        seen[shifts] = None
        largest = max(largest, cost)
        found.append((tuple(sorted(corner.items())), shifts, cost))
    return tuple(found)


def _shared(regions: Sequence[Region]) -> set[int]:
    """Draws to shift: those that are released, and those without which each condition has at most one draw left."""
    out = {v for region in regions for value in region.released for v, _ in value.terms if v >= 0}
    thresholds: dict[int, set[tuple[Terms, Rational]]] = {}
    beside: dict[int, set[int]] = {}
    for row in {r for region in regions for r in region.rows}:
        for v, c in row.terms:
            if v >= 0:
                thresholds.setdefault(v, set()).add(_margin(row, v, c))
                beside.setdefault(v, set()).update(u for u, _ in row.terms if u >= 0 and u != v)
    while True:
        left = {v: len(others - out) for v, others in beside.items() if v not in out and others - out}
        if not left:
            break
        # The draw that most others are compared with; of two that are compared, the one with more thresholds.
        out.add(max(left, key=lambda v: (left[v], len(thresholds[v]), -v)))
    return out | {v for v, found in thresholds.items() if len(found) > 1}


def _margin(row: Row, v: int, c: Rational) -> tuple[Terms, Rational]:
    """The rest of a condition where draw v has the coefficient 1."""
    return tuple((u, x / c) for u, x in row.terms if u != v), row.constant / c


def _split(regions: Sequence[Region], shared: Iterable[int]) -> _Split | None:
    """The regions as sides of thresholds; None where they are not of that form."""
    apart = set(shared)
    first = regions[0]
    laws = {v: law for region in regions for v, law in region.laws}
    margins: dict[int, tuple[Terms, Rational]] = {}
    common: list[frozenset[Row]] = []
    sides: list[dict[int, int]] = []
    for region in regions:
        same = (region.key, region.group, region.released, region.cell)
        if same != (first.key, first.group, first.released, first.cell):
            return None
        if any(laws[v] != law for v, law in region.laws):
            return None
        read = _sides(region, apart, margins)
        if read is None:
            return None
        common.append(read[0])
        sides.append(read[1])
    if len(set(common)) > 1 or not apart <= set(laws) or not allowed(laws[v] for v in apart):
        return None
    if any(v >= 0 and v not in apart for value in first.released for v, _ in value.terms):
        return None
    listed = sorted(margins)
    if not 0 < len(listed) <= _MOST_OWN or not all(_steady(laws[v]) for v in listed):
        return None
    table = np.array([[own.get(v, 0) for v in listed] for own in sides], dtype=np.int64)
    order = sorted(common[0], key=lambda r: (r.terms, r.constant))
    moved = {v: law for v, law in laws.items() if v in apart}
    kept = tuple((v, margins[v][0]) for v in listed)
    return _Split(tuple(order), first.released, moved | {v: laws[v] for v in listed}, kept, table)


def _sides(
    region: Region, shared: set[int], margins: dict[int, tuple[Terms, Rational]]
) -> tuple[frozenset[Row], dict[int, int]] | None:
    """The conditions on shared draws, and the side of each other draw; `margins` grows by new thresholds."""
    rows, sides = [], {}
    for row in region.rows:
        own = [(v, c) for v, c in row.terms if v >= 0 and v not in shared]
        if not own:
            if not row.bare:
                rows.append(row)
            continue
        (v, c), margin = own[0], _margin(row, *own[0])
        if len(own) > 1 or v in sides or margins.setdefault(v, margin) != margin:
            return None
        sides[v] = 1 if c > 0 else -1
    return frozenset(rows), sides


def _steady(law: Law) -> bool:
    """Whether a shift costs the same either way, in proportion: the log density then has that slope at most."""
    up, down = law.shift_cost()
    return not law.discrete and up is not None and up == down and type(law).shift_loss is Law.shift_loss


def _rates(split: _Split) -> list[Slopes]:
    """(dQ / da_i) f_i / Q at every corner of the triangles where Q is positive, once each.

    Where Q is zero, so are all derivatives that count: Q is affine and not negative on both sides of 1/2.
    """
    count = split.sides.shape[1]
    twice = np.array(list(itertools.product((0, 1, 2), repeat=count)), dtype=np.int64)  # 2 a_i
    a = twice[:, None, :]
    factors = np.where(split.sides > 0, a, np.where(split.sides < 0, 2 - a, 2))  # corners, members, draws
    totals = factors.prod(axis=2).sum(axis=1)
    slopes = np.zeros((len(twice), count), dtype=np.int64)
    for i in range(count):
        others = np.delete(factors, i, axis=2).prod(axis=2)
        slopes[:, i] = np.where(twice[:, i] == 1, (others * split.sides[:, i]).sum(axis=1), 0)
    prices = [split.laws[v].shift_cost()[0] or ZERO for v, _ in split.margins]
    distinct = {(*map(int, s), int(t)) for s, t in zip(slopes, totals, strict=True) if t}
    return sorted({tuple(p * x / exact(t) for p, x in zip(prices, s, strict=True)) for *s, t in distinct})


def _loss(grown: Sequence[Rational], rates: Slopes) -> Rational:
    """By how much ln Q falls when the margins grow so much, at these rates."""
    return -sum((r * x for r, x in zip(rates, grown, strict=True) if r and x), ZERO)


def _margins(split: _Split, corner: Corner, shifts: Mapping[int, Rational]) -> list[Rational]:
    """By how much the margin of each own draw grows."""
    return [_grown(terms, corner, shifts) for _, terms in split.margins]


def _grown(terms: Terms, corner: Corner, shifts: Mapping[int, Rational]) -> Rational:
    """By how much an expression grows from one input to the other."""
    return change_at(terms, corner) + sum((c * shifts.get(v, ZERO) for v, c in terms if v >= 0), ZERO)


def _at_corner(split: _Split, corner: Corner, rates: Sequence[Slopes], cuts: list[Slopes], known: Known) -> Terms | None:
    """The cheapest shifts of the shared draws at a corner; `cuts` are the rates that mattered so far."""
    own = {v for v, _ in split.margins}
    still = _margins(split, corner, {})
    for _ in range(_MOST_CUTS):
        program = Program()
        shifts = Shifts(program, {v: law for v, law in split.laws.items() if v not in own})
        for value in split.released:
            program.equal(shifts.along(value.terms), -change_at(value.terms, corner))
        for row in split.rows:
            program.at_least(shifts.along(row.terms), -change_at(row.terms, corner))
        price = program.column("rate", cost=ONE, low=ZERO)
        for cut in cuts:
            terms: dict[int, Rational] = {price: ONE}
            for r, (_, margin) in zip(cut, split.margins, strict=True):
                for column, c in shifts.along(margin).items():
                    terms[column] = terms.get(column, ZERO) + r * c
            program.at_least(terms, _loss(still, cut))
        point = solve_folded(program, known)
        if point is None:
            return None
        moved = shifts.moved(point)
        grown = _margins(split, corner, moved)
        loss, worst = max((_loss(grown, r), r) for r in rates)
        if worst in cuts or loss <= point[price]:
            return tuple((v, x) for v, x in sorted(moved.items()) if x)
        cuts.append(worst)
    return None


def _cost(split: _Split, corner: Corner, shifts: Terms, rates: Sequence[Slopes]) -> Rational | None:
    """What the shifts of one corner cost with the change of Q; None where they break a condition or a released value."""
    moved = dict(shifts)
    shared = {v for v in split.laws if v not in {u for u, _ in split.margins}}
    if not set(moved) <= shared or len(moved) != len(shifts):
        return None
    if any(_grown(value.terms, corner, moved) != 0 for value in split.released):
        return None
    if any(_grown(row.terms, corner, moved) < 0 for row in split.rows):
        return None
    price = cost_at(shifts, split.laws)
    grown = _margins(split, corner, moved)
    return None if price is None else price + max(ZERO, max(_loss(grown, r) for r in rates))


def pool_fault(regions: Sequence[Region], pool: PooledRegions, box: Box, cost: Rational) -> str | None:
    """What is wrong with a pool; None where it proves the cost."""
    if len(set(pool.members)) != len(pool.members) or len(pool.members) < 2:
        return "regions that are bounded together must be several"
    if not all(0 <= i < len(regions) for i in pool.members):
        return "it speaks of a region that does not exist"
    split = _split([without_transitive(regions[i]) for i in pool.members], pool.shared)
    if split is None:
        return "regions that are bounded together are not of one form"
    moves: Mapping[int, Range] = dict(box.moves)
    mixed, rates = [v for v in split.inputs if v in moves], _rates(split)
    return told_costs_fault(pool.corners, mixed, moves, cost, lambda corner, shifts: _cost(split, corner, shifts, rates))

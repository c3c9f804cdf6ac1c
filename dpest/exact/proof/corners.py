"""Shifts for each corner of the box of differences: the cheapest alignment there is, where no one affine policy reaches it.

Conditions and released values are affine in the difference and in the shifts, and the cost is convex. Between the corners the
shifts are mixed as the difference is: what holds at all corners holds in between, at a cost that is no larger.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.align import Shifts
from dpest.exact.proof.folding import Known, solve_folded
from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region, Row, Terms
from dpest.laws.law import Law
from dpest.numerics.ranges import Range
from dpest.numerics.rationals import ZERO, Rational

MOST_MIXED = 8  # inputs whose corners are looked at, 256 of them

Corner: TypeAlias = dict[int, Rational]
Corners: TypeAlias = tuple[tuple[Terms, Terms, Rational], ...]  # (input, change) of a corner, (draw, shift) there, their cost


def allowed(laws: Iterable[Law]) -> bool:
    """Whether mixed shifts are shifts: no whole-number draws, and costs that are convex."""
    return all(not law.discrete and type(law).shift_loss is Law.shift_loss for law in laws)


def all_corners(mixed: Sequence[int], moves: Mapping[int, Range]) -> list[Corner] | None:
    """Every combination of the ends of the changes of some inputs; None where an end is missing or there are too many."""
    ends = [[(i, end) for end in dict.fromkeys(moves[i]) if end is not None] for i in mixed]
    if len(mixed) > MOST_MIXED or any(None in moves[i] for i in mixed):
        return None
    return [dict(choice) for choice in itertools.product(*ends)]


def cheapest_corners(
    region: Region, box: Box, mixed: Sequence[int], first: Corner, most: Rational, known: Known
) -> tuple[Corners, Rational] | None:
    """The cheapest shifts at each corner, and the largest cost; None where it is not below `most`."""
    moves = dict(box.moves)
    corners = all_corners(mixed, moves)
    if corners is None or not allowed(law for _, law in region.laws):
        return None
    found = []
    largest = ZERO
    for corner in [first, *(c for c in corners if c != first)]:
        shifts = _at_corner(region, corner, moves, known)
        if shifts is None:
            return None
        cost = cost_at(shifts, region.law)
        if cost is None or cost >= most:
            return None
        largest = max(largest, cost)
        found.append((tuple(sorted(corner.items())), shifts, cost))
    return tuple(found), largest


def cost_at(shifts: Terms, laws: Mapping[int, Law]) -> Rational | None:
    """What the shifts of one corner cost; None where a law does not allow one of them."""
    prices = [laws[v].shift_loss(s) for v, s in shifts]
    return None if any(p is None for p in prices) else sum((p for p in prices if p is not None), ZERO)


def _at_corner(region: Region, corner: Corner, moves: Mapping[int, Range], known: Known) -> Terms | None:
    program = Program()
    shifts = Shifts(program, dict(region.laws))
    for value in region.released:
        program.equal(shifts.along(value.terms), -change_at(value.terms, corner))
    for row in region.conditions:
        least = least_at(row, corner, moves)
        if least is None:
            return None
        program.at_least(shifts.along(row.terms), -least)
    point = solve_folded(program, known)
    return None if point is None else tuple((v, x) for v, x in sorted(shifts.moved(point).items()) if x)


def change_at(terms: Terms, corner: Corner) -> Rational:
    """By how much the inputs of a corner change an expression."""
    return sum((c * corner[v] for v, c in terms if v in corner), ZERO)


def least_at(row: Row, corner: Corner, moves: Mapping[int, Range]) -> Rational | None:
    """The same with the other inputs at their worst; None where nothing bounds that."""
    total = change_at(row.terms, corner)
    for v, c in row.terms:
        if v in moves and v not in corner:
            end = moves[v][0 if c > 0 else 1]
            if end is None:
                return None
            total += c * end
    return total


def corners_fault(region: Region, corners: Corners, box: Box, cost: Rational) -> str | None:
    """What is wrong with shifts at corners; None where they prove the cost."""
    moves = dict(box.moves)
    mixed = sorted(v for v, _ in corners[0][0]) if corners else []
    if not mixed or any(i not in moves for i in mixed) or not allowed(law for _, law in region.laws):
        return "shifts that differ between corners are not made for these draws or inputs"
    if any(v in moves and v not in mixed for value in region.released for v, _ in value.terms):
        return "an input that is released has no corners"
    return told_costs_fault(corners, mixed, moves, cost, lambda corner, shifts: _corner_cost(region, corner, shifts, moves))


def told_costs_fault(
    corners: Corners,
    mixed: Sequence[int],
    moves: Mapping[int, Range],
    cost: Rational,
    cost_of: Callable[[Corner, Terms], Rational | None],
) -> str | None:
    """What is wrong with a list of corners and their costs; None where every corner is there and costs what is told."""
    listed = [dict(corner) for corner, _, _ in corners]
    wanted = all_corners(mixed, moves)
    if wanted is None or len(wanted) != len(listed) or any(c not in listed for c in wanted):
        return "a corner is missing"
    for corner, (_, shifts, told) in zip(listed, corners, strict=True):
        own = cost_of(corner, shifts)
        if own is None:
            return "a condition need not hold after the shift, or a released value does not stay as it is"
        if own != told:
            return "the cost of a corner is not what its shifts cost"
    return None if max(told for _, _, told in corners) == cost else "the cost is not what the shifts cost"


def _corner_cost(region: Region, corner: Corner, shifts: Terms, moves: Mapping[int, Range]) -> Rational | None:
    """What the shifts of one corner cost; None where they do not carry the region to itself."""
    moved = dict(shifts)
    if not set(moved) <= set(region.law) or len(moved) != len(shifts):
        return None

    def along(terms: Terms) -> Rational:
        return sum((c * moved.get(v, ZERO) for v, c in terms if v >= 0), ZERO)

    if any(along(value.terms) + change_at(value.terms, corner) != 0 for value in region.released):
        return None
    for row in region.conditions:
        least = least_at(row, corner, moves)
        if least is None or along(row.terms) + least < 0:
            return None
    return cost_at(shifts, region.law)


def between(corners: Corners, moves: Mapping[int, Range], change: Mapping[int, Rational]) -> dict[int, Rational]:
    """The shifts at a difference inside the box: those of the corners, mixed as the difference is."""
    out: dict[int, Rational] = {}
    for corner, shifts, _ in corners:
        weight = ZERO + 1
        for i, end in corner:
            low, high = moves[i]
            if low is not None and high is not None and high != low:
                share = (change[i] - low) / (high - low)
                weight *= share if end == high else 1 - share
        for v, s in shifts:
            out[v] = out.get(v, ZERO) + weight * s
    return out

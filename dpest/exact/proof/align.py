"""An upper bound on the loss of one pair of inputs, by alignments.

An alignment of a region of the first program is a shift of its draws that carries every run in it to a run of one region
of the second program that releases the same output. Runs become less likely by at most the cost of the shift, so that

    P(output in S)  <=  e^cost  P'(output in S)

once no two runs are carried to the same one: different regions go to different regions, or their costs are added up as
probabilities. The cheapest shift is a linear program; its answer is checked in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from dpest.errors import ExactRefused
from dpest.exact.proof.folding import Known, solve_folded
from dpest.exact.proof.merge import contradictory, merged
from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region, Released, Row, Terms, Variables, regions, support_rows
from dpest.laws.law import Law
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.trace.explore import Trace

# More regions than this on one side are not aligned: the bound is an extra, and the engine's own bracket stands.
_MOST_REGIONS = 2_000
_MOST_ATTEMPTS = 4_000  # programs for regions without an obvious partner
_MOST_MULTIPLIERS = 2_500  # unknowns of the implication of one region's conditions by another's


def alignment_bound(left: Trace, right: Trace) -> tuple[float, float] | None:
    """Upper bounds on the loss from left to right and from right to left; infinite where no alignment was found.

    None where the programs are not of the form that alignments are made for.
    """
    if max(left.log_unexplored, right.log_unexplored) > -math.inf or left.cycles or right.cycles:
        return None
    try:
        forms: dict[Any, int] = {}
        sides = [_merged_regions(t, forms) for t in (left, right)]
    except ExactRefused:
        return None
    if sides[0] is None or sides[1] is None:
        return None
    known: Known = {}
    return _one_way(sides[0], sides[1], known), _one_way(sides[1], sides[0], known)


def _merged_regions(trace: Trace, forms: dict[Any, int]) -> list[Region] | None:
    found: list[Region] = []
    variables = Variables(forms=forms)
    for path in trace.paths:
        found.extend(regions(path, variables))
        if len(found) > _MOST_REGIONS:
            return None
    return merged(found)


def _one_way(source: Sequence[Region], target: Sequence[Region], known: Known) -> float:
    """The bound on ln P(S) - ln P'(S), from the regions of P to those of P'."""
    by_key: dict[Any, list[int]] = {}
    for j, region in enumerate(target):
        by_key.setdefault(region.key, []).append(j)
    form = {(_form(region), region.key): j for j, region in enumerate(target)}
    attempts = 0
    arriving: dict[int, list[Rational]] = {}
    for region in source:
        first = form.get((_form(region), region.key))
        options = [first] if first is not None else []
        found = _cheapest(region, target, options, known)
        if found is None:
            others = [j for j in by_key.get(region.key, []) if j != first]
            attempts += len(others)
            found = _cheapest(region, target, others, known) if attempts <= _MOST_ATTEMPTS else None
        if found is not None:
            arriving.setdefault(found[0], []).append(found[1])
        elif not _impossible(region):
            return math.inf
    return max((_together(costs) for costs in arriving.values()), default=0.0)


def _form(region: Region) -> Any:
    """The conditions and released values but for their constants: what a region and its partner have in common."""
    return frozenset(r.terms for r in region.rows), tuple(r.terms for r in region.released)


def _cheapest(region: Region, target: Sequence[Region], options: Iterable[int], known: Known) -> tuple[int, Rational] | None:
    costs = [(cost, j) for j in options if (cost := shift_cost(region, target[j], known)) is not None]
    if not costs:
        return None
    cost, j = min(costs)
    return j, cost


def _impossible(region: Region) -> bool:
    """Whether no run takes the region, but with probability zero."""
    smooth = {v for v, law in region.laws if not law.discrete}
    return contradictory([*region.rows, *support_rows(region.laws)], smooth)


def _together(costs: Sequence[Rational]) -> float:
    """ln of the sum of e^cost, rounded up: what arrives in one region from several."""
    if len(costs) == 1:
        return rounded_up(costs[0])
    most = max(costs)
    total = math.fsum(math.exp(float(c - most)) for c in costs)
    value = float(most) + math.log(total)
    return value + 1e-14 * (1.0 + abs(value))  # exp, log and the sums are off by a few units in the last place


def rounded_up(x: Rational) -> float:
    """The smallest double that is at least x, or the one after it."""
    value = float(x)
    return value if exact(value) >= x else math.nextafter(value, math.inf)


def shift_cost(source: Region, target: Region, known: Known) -> Rational | None:
    """The cost of the cheapest alignment of one region with another; None where none was found."""
    laws = _common_laws(source, target)
    if laws is None or len(source.released) != len(target.released):
        return None
    program = Program()
    shifts = Shifts(program, laws)
    for a, b in zip(source.released, target.released, strict=True):
        if not _same_value(program, shifts, a, b):
            return None
    if not _follows(program, shifts, source, target):
        return None
    point = solve_folded(program, known)
    if point is None:
        return None
    return shifts.cost(point)


def _common_laws(source: Region, target: Region) -> dict[int, Law] | None:
    """The law of every draw; None where the two programs draw the same value from different laws."""
    laws = dict(source.law)
    for v, law in target.laws:
        if laws.setdefault(v, law) != law:
            return None
    return laws


class Shifts:
    """The shift of every draw as columns of a program: a part upwards and a part downwards, each with its price."""

    def __init__(self, program: Program, laws: dict[int, Law]) -> None:
        self.parts: dict[int, list[tuple[int, Rational, Rational]]] = {}  # draw -> (column, sign, price)
        for v, law in laws.items():
            up, down = law.shift_cost()
            for sign, price in ((ONE, up), (-ONE, down)):
                if price is not None:
                    column = program.column(("shift", v, int(sign)), cost=price, low=ZERO, whole=law.discrete)
                    self.parts.setdefault(v, []).append((column, sign, price))

    def along(self, terms: Terms) -> dict[int, Rational]:
        """By how much the shift changes an expression, as a combination of columns."""
        out: dict[int, Rational] = {}
        for v, c in terms:
            for column, sign, _ in self.parts.get(v, ()):
                out[column] = out.get(column, ZERO) + sign * c
        return out

    def cost(self, point: Sequence[Rational]) -> Rational:
        """The price of all shifts."""
        return sum((point[column] * price for parts in self.parts.values() for column, _, price in parts), ZERO)


def _same_value(program: Program, shifts: Shifts, a: Released, b: Released) -> bool:
    """The released value must stay as it is: target value at the shifted draws = source value."""
    if a.terms != b.terms:
        return False
    bound = a.constant - b.constant
    if a.offset is not None and b.offset is not None:
        whole = a.offset - b.offset
        if whole.denominator != 1:
            return False
        bound += whole
    program.equal(shifts.along(b.terms), bound)
    return True


def _follows(program: Program, shifts: Shifts, source: Region, target: Region) -> bool:
    """The conditions of the target must follow, at the shifted draws, from those of the source."""
    known = [*source.rows, *support_rows(source.laws)]
    tightest: dict[Terms, Row] = {}
    for row in known:
        direction = _direction(row)
        old = tightest.get(direction.terms)
        if old is None or (direction.constant, not direction.strict) < (old.constant, not old.strict):
            tightest[direction.terms] = direction
    loose = [row for row in target.rows if _direction(row).terms not in tightest]
    if len(loose) * len(known) > _MOST_MULTIPLIERS:
        return False
    for row in target.rows:
        own = _direction(row)
        match = tightest.get(own.terms)
        if match is None:
            _by_multipliers(program, shifts, row, known)
        else:
            needed = match.constant - own.constant
            if own.strict and not match.strict:
                return False
            program.at_least(shifts.along(own.terms), needed)
    return True


def _direction(row: Row) -> Row:
    """The row with a leading coefficient of 1 or -1, so that rows that differ in their constant alone have equal terms."""
    lead = abs(row.terms[0][1]) if row.terms else ONE
    return Row(tuple((v, c / lead) for v, c in row.terms), row.constant / lead, row.strict)


def _by_multipliers(program: Program, shifts: Shifts, row: Row, known: Sequence[Row]) -> None:
    """terms = the sum of multiplier * known terms, and the constants likewise with room to spare: Farkas' lemma."""
    columns = [program.column(("multiplier", row, i), low=ZERO) for i in range(len(known))]
    sums: dict[int, dict[int, Rational]] = {v: {} for v, _ in row.terms}
    for column, other in zip(columns, known, strict=True):
        for v, c in other.terms:
            sums.setdefault(v, {})[column] = c
    wanted = dict(row.terms)
    for v, terms in sums.items():
        program.equal(terms, wanted.get(v, ZERO))
    room = shifts.along(row.terms)
    for column, other in zip(columns, known, strict=True):
        room[column] = -other.constant
    strict = {column: ONE for column, other in zip(columns, known, strict=True) if other.strict}
    program.at_least(room, -row.constant)
    if row.strict:
        program.at_least(strict, ONE)

"""An upper bound on the loss of one pair of inputs, by alignments.

An alignment of a region of the first program is a shift of its draws that carries every run in it to a run of one region
of the second program that releases the same output. Runs become less likely by at most the cost of the shift, so that

    P(output in S)  <=  e^cost  P'(output in S)

once no two runs are carried to the same one: different regions go to different regions, or their costs are added up as
probabilities. The cheapest shift is a linear program; its answer is checked in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dpest.errors import ExactRefused
from dpest.exact.proof.folding import Known, solve_folded
from dpest.exact.proof.likeness import Likenesses
from dpest.exact.proof.merge import contradictory, merged
from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region, Released, Row, Terms, Variables, common_laws, output_groups, regions, support_rows
from dpest.lang.nodes import is_node
from dpest.laws.law import Law
from dpest.numerics.memo import Memo
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.trace.columns import constant_key
from dpest.trace.explore import Trace

# More regions than this on one side are not aligned: the bound is an extra, and the engine's own bracket stands.
_MOST_REGIONS = 2_000
_MOST_ATTEMPTS = 4_000  # programs for regions without an obvious partner
_MOST_MULTIPLIERS = 2_500  # unknowns of the implication of one region's conditions by another's

Bounds: TypeAlias = tuple[float, float]  # on the loss from left to right and from right to left; infinite where none was found
Costs: TypeAlias = dict[Any, float]  # the bound on ln P(S) - ln P'(S) for outputs S of one shape, by the key of its regions


@dataclass
class _Solved:
    """What was worked out before: linear programs, and the costs of regions that are alike."""

    programs: Known = field(default_factory=dict)
    costs: dict[Hashable, Rational | None] = field(default_factory=dict)
    likenesses: Likenesses = field(default_factory=Likenesses)

    def cost(self, source: Region, target: Region) -> Rational | None:
        """The cost of the cheapest alignment of two regions."""
        key = self.likenesses.key(source, target)
        if key is None:
            return None
        if key not in self.costs:
            self.costs[key] = shift_cost(source, target, self.programs)
        return self.costs[key]


class Alignments:
    """The upper bounds that alignments prove for one pair of programs, each worked out once and only if it is asked for."""

    def __init__(self, left: Trace, right: Trace, kept: Memo | None = None) -> None:
        self._sides = left, right
        self._kept = Memo() if kept is None else kept  # of other pairs of the same programs
        self._known = self._kept.once("aligned", None, _Solved)
        self._found: dict[tuple[int, ...] | None, tuple[Costs, Costs] | None] = {}

    @property
    def adds_up(self) -> bool:
        """Whether outputs that share no draw are independent: each program has one path, which rests on no condition."""
        paths = [path for trace in self._sides for path in trace.paths]
        one_each = len(paths) == 2 and all(len(trace.paths) == 1 and not trace.error for trace in self._sides)
        return one_each and not any(path.conditions or path.loops for path in paths)

    def bound(self) -> Bounds | None:
        """The bound for all outputs; None where the programs are not of the form that alignments are made for."""
        groups = [self._costs(g) for g in self._independent_groups()]
        found = [costs for costs in groups if costs is not None]
        if len(found) < len(groups):
            return None
        forward, backward = (sum_rounded_up(max(c[way].values(), default=0.0) for c in found) for way in (0, 1))
        return forward, backward

    def bound_of(self, key: Any, positions: tuple[int, ...] | None) -> Bounds | None:
        """The bound for outputs of one shape (at some positions, whatever the others are)."""
        costs = self._costs(positions)
        if costs is None or not any(key in way for way in costs):
            return None
        return costs[0].get(key, 0.0), costs[1].get(key, 0.0)

    def _costs(self, positions: tuple[int, ...] | None) -> tuple[Costs, Costs] | None:
        if positions not in self._found:
            self._found[positions] = self._aligned(positions)
        return self._found[positions]

    def _independent_groups(self) -> list[tuple[int, ...] | None]:
        """Positions of outputs whose losses add, since they share no draw with the others; None for all outputs together."""
        left, right = self._sides
        if not self.adds_up or left.paths[0].output.structure != right.paths[0].output.structure:
            return [None]
        groups, others = (output_groups(trace.paths[0]) for trace in self._sides)
        plain = [[constant_key(x) for x in trace.paths[0].output.leaves if not is_node(x)] for trace in self._sides]
        return [*map(tuple, groups)] if groups and groups == others and plain[0] == plain[1] else [None]

    def _aligned(self, positions: tuple[int, ...] | None) -> tuple[Costs, Costs] | None:
        if any(trace.log_unexplored > -math.inf or trace.cycles for trace in self._sides):
            return None
        forms: dict[Any, int] = {}
        try:
            left, right = (self._regions(trace, positions, forms) for trace in self._sides)
        except ExactRefused:
            return None
        if left is None or right is None:
            return None
        return _one_way(left, right, self._known), _one_way(right, left, self._known)

    def _regions(self, trace: Trace, positions: tuple[int, ...] | None, forms: dict[Any, int]) -> list[Region] | None:
        """The regions of one program, worked out once for all pairs where they are about draws alone."""

        def alone() -> tuple[list[Region] | None, dict[Any, int]]:
            own: dict[Any, int] = {}
            return _merged_regions(trace, positions, own, self._kept), own

        found, own = self._kept.once(("regions", id(trace), positions), trace, alone)
        return _merged_regions(trace, positions, forms, self._kept) if own else found


def _merged_regions(
    trace: Trace, positions: tuple[int, ...] | None, forms: dict[Any, int], kept: Memo | None = None
) -> list[Region] | None:
    found: list[Region] = []
    variables = Variables(forms=forms)
    for path in trace.paths:
        found.extend(regions(path, variables, positions, most=_MOST_REGIONS, kept=kept))
        if len(found) > _MOST_REGIONS:
            return None
    return merged(found)


def sum_rounded_up(bounds: Iterable[float]) -> float:
    """A double that is at least the sum."""
    terms = [x for x in bounds if x]
    return math.nextafter(math.fsum(terms), math.inf) if len(terms) > 1 else sum(terms)


def _one_way(source: Sequence[Region], target: Sequence[Region], known: _Solved) -> Costs:
    """The bounds on ln P(S) - ln P'(S), from the regions of P to those of P'."""
    by_key: dict[Any, list[int]] = {}
    for j, region in enumerate(target):
        by_key.setdefault(region.key, []).append(j)
    partners = {known.likenesses.partner(region): j for j, region in enumerate(target)}
    attempts = 0
    arriving: dict[int, list[Rational]] = {}
    failed: set[Any] = set()
    for region in source:
        first = partners.get(known.likenesses.partner(region))
        options = [first] if first is not None else []
        found = _cheapest(region, target, options, known)
        if found is None:
            others = [j for j in by_key.get(region.key, []) if j != first]
            attempts += len(others)
            found = _cheapest(region, target, others, known) if attempts <= _MOST_ATTEMPTS else None
        if found is not None:
            arriving.setdefault(found[0], []).append(found[1])
        elif not _impossible(region):
            failed.add(region.key)
    bounds = dict.fromkeys((region.key for region in source), 0.0)
    for j, costs in arriving.items():
        bounds[target[j].key] = max(bounds[target[j].key], _together(costs))
    return bounds | dict.fromkeys(failed, math.inf)


def _cheapest(region: Region, target: Sequence[Region], options: Iterable[int], known: _Solved) -> tuple[int, Rational] | None:
    costs = [(cost, j) for j in options if (cost := known.cost(region, target[j])) is not None]
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
    laws = common_laws(source, target)
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

    def moved(self, point: Sequence[Rational]) -> dict[int, Rational]:
        """By how much each draw is shifted."""
        return {v: sum((sign * point[column] for column, sign, _ in parts), ZERO) for v, parts in self.parts.items()}

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
    wanted = [(row, own := _direction(row), tightest.get(own.terms)) for row in target.rows]
    loose = sum(match is None for _, _, match in wanted)
    if loose * len(known) > _MOST_MULTIPLIERS:
        return False
    for row, own, match in wanted:
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
    if lead == ONE:
        return row
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

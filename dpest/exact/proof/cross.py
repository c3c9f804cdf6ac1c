"""The alignment of one region with another: across cells of the inputs, or between data of different lengths.

What holds for both inputs is known: the conditions of the first region at (v, q), the conditions on inputs alone of the
second at q + d, the ranges of q and d. Each condition of the second region at the shifted draws must follow from it, and so
must the price of each shift: all by multipliers (Farkas' lemma), which are part of the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.policy import is_whole
from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region, Row, Terms, common_laws, range_rows, support_rows
from dpest.laws.law import Law
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

_CHANGE = -(1 << 40)  # input variable v changes by variable v + _CHANGE
_MOST_COLUMNS = 30_000

Multipliers: TypeAlias = tuple[tuple[int, Rational], ...]  # (number of a known row, factor)


def change(v: int) -> int:
    """The variable that stands for the change of input v."""
    return v + _CHANGE


@dataclass(frozen=True)
class Crossing:
    """Shifts as affine functions of inputs and their changes, prices, and why conditions and prices hold."""

    shifts: tuple[tuple[int, Terms, Rational], ...]  # draw, terms over inputs and changes, constant
    prices: tuple[tuple[int, Rational], ...]
    conditions: tuple[Multipliers, ...]  # for each condition of the target that has a draw in it
    pricing: tuple[tuple[Multipliers | None, Multipliers | None], ...]  # for each draw: upwards, downwards

    @property
    def cost(self) -> Rational:
        """The sum of the prices."""
        return sum((p for _, p in self.prices), ZERO)


def known_rows(source: Region, target: Region, box: Box, inputs: Mapping[int, Law]) -> list[Row]:
    """Everything that is known of draws v, inputs q and changes d."""
    moved = dict(box.moves)
    out = [*source.rows, *support_rows(source.laws), *(_moved(r, moved) for r in target.rows if r.bare)]
    for v, within in box.moves:
        out.extend(range_rows(change(v), within))
    for v, within in box.within:
        out.extend(range_rows(v, within))
    for row in support_rows(sorted(inputs.items())):
        out.extend([row, _moved(row, moved)] if row.terms[0][0] in moved else [row])
    return out


def _moved(row: Row, moved: Mapping[int, object]) -> Row:
    """A row about the second input, q + d."""
    extra = tuple((change(v), c) for v, c in row.terms if v in moved)
    return Row(tuple(sorted((*row.terms, *extra))), row.constant, row.strict)


def cross(source: Region, target: Region, box: Box, inputs: Mapping[int, Law]) -> Crossing | None:
    """A cheap alignment of source runs with target runs; None where none was found."""
    laws = common_laws(source, target)
    if laws is None or len(source.released) != len(target.released):
        return None
    if any(r.strict for r in target.conditions):
        return None  # multipliers prove >=; between whole numbers the strict form does not occur
    known = known_rows(source, target, box, inputs)
    unknown = _Unknowns(Program(), laws, box, inputs, known)
    moved = dict(box.moves)
    for a, b in zip(source.released, target.released, strict=True):
        whole = ZERO if a.offset is None or b.offset is None else a.offset - b.offset
        if whole.denominator != 1:
            return None
        goal = _difference(b.terms, a.terms, moved)
        if any(v >= 0 for v in goal):
            return None
        unknown.vanish(b.terms, goal, b.constant - a.constant - whole)
    for number, row in enumerate(target.conditions):
        unknown.follow(("row", number), *_at_second(row, moved), shifted=row.terms)
    unknown.price()
    if len(unknown.program.costs) > _MOST_COLUMNS:
        return None
    point = unknown.program.solve()
    return None if point is None else unknown.crossing(point, len(target.conditions))


def _difference(second: Terms, first: Terms, moved: Mapping[int, object]) -> dict[int, Rational]:
    """second at (v, q + d) minus first at (v, q), without the constants."""
    out = dict(second)
    for v, c in second:
        if v in moved:
            out[change(v)] = c
    for v, c in first:
        out[v] = out.get(v, ZERO) - c
    return {v: c for v, c in out.items() if c}


def _at_second(row: Row, moved: Mapping[int, object]) -> tuple[dict[int, Rational], Rational]:
    return _difference(row.terms, (), moved), row.constant


class _Unknowns:
    """The program of a crossing: shifts, prices and multipliers as columns."""

    def __init__(
        self, program: Program, laws: Mapping[int, Law], box: Box, inputs: Mapping[int, Law], known: Sequence[Row]
    ) -> None:
        self.program, self.laws, self.known = program, laws, known
        free = sorted({*inputs, *(change(v) for v, _ in box.moves)})
        self.follows: dict[int, list[int]] = {}
        for v, law in laws.items():
            able = law.shift_cost() != (None, None)
            self.follows[v] = [i for i in free if not law.discrete or whole_variable(i, inputs)] if able else []
            if able:
                program.column(("s", v), whole=law.discrete)
                for i in self.follows[v]:
                    program.column(("S", v, i), whole=law.discrete)

    def change_in(self, terms: Iterable[tuple[int, Rational]], i: int | None) -> dict[int, Rational]:
        """The change of an expression by the shifts: its constant part (i is None), or its slope along variable i."""
        out: dict[int, Rational] = {}
        for v, c in terms:
            name = ("s", v) if i is None else ("S", v, i)
            if v >= 0 and name in self.program.index:
                column = self.program.index[name]
                out[column] = out.get(column, ZERO) + c
        return out

    def _free(self) -> set[int]:
        return {i for inputs in self.follows.values() for i in inputs}

    def vanish(self, shifted: Terms, rest: Mapping[int, Rational], constant: Rational) -> None:
        """(the change of `shifted`) + rest + constant is 0 for all inputs and changes."""
        self.program.equal(self.change_in(shifted, None), -constant)
        for i in {*rest, *self._free()}:
            self.program.equal(self.change_in(shifted, i), -rest.get(i, ZERO))

    def follow(
        self,
        name: tuple[str, int],
        rest: Mapping[int, Rational],
        constant: Rational,
        shifted: Terms = (),
        extra: Mapping[int, Rational] | None = None,
        inputs_only: bool = False,
    ) -> None:
        """(the change of `shifted`) + rest + constant + extra columns >= 0 wherever the known rows hold."""
        program = self.program
        sums: dict[int, dict[int, Rational]] = {v: {} for v in {*rest, *self._free()}}
        room: dict[int, Rational] = dict(extra or {})
        for column, c in self.change_in(shifted, None).items():
            room[column] = room.get(column, ZERO) + c
        for number, row in enumerate(self.known):
            if inputs_only and not row.bare:
                continue
            factor = program.column((*name, number), low=ZERO)
            for v, c in row.terms:
                sums.setdefault(v, {})[factor] = c
            room[factor] = -row.constant
        for v, terms in sums.items():
            for column, c in self.change_in(shifted, v).items():
                terms[column] = terms.get(column, ZERO) - c
            program.equal(terms, rest.get(v, ZERO))
        program.at_least(room, -constant)

    def price(self) -> None:
        """Each price is at least what the shift costs, either way, whatever the inputs."""
        for v, law in self.laws.items():
            if ("s", v) not in self.program.index:
                continue
            column = self.program.column(("price", v), cost=ONE, low=ZERO)
            for sign, each in zip((1, -1), law.shift_cost(), strict=True):
                scale = -exact(sign) if each is None else -exact(sign) * each
                extra = {} if each is None else {column: ONE}
                self.follow(("up" if sign > 0 else "down", v), {}, ZERO, ((v, scale),), extra, inputs_only=True)

    def crossing(self, point: Sequence[Rational], count: int) -> Crossing:
        index = self.program.index
        shifted = [v for v in self.laws if ("s", v) in index]

        def multipliers(name: tuple[str, int]) -> Multipliers:
            numbered = [(n, point[index[(*name, n)]]) for n in range(len(self.known)) if (*name, n) in index]
            return tuple((n, x) for n, x in numbered if x)

        shifts = []
        for v in shifted:
            slopes = [(i, point[index["S", v, i]]) for i in self.follows[v]]
            shifts.append((v, tuple((i, c) for i, c in slopes if c), point[index["s", v]]))
        return Crossing(
            tuple(shifts),
            tuple((v, point[index["price", v]]) for v in shifted),
            tuple(multipliers(("row", n)) for n in range(count)),
            tuple((multipliers(("up", v)), multipliers(("down", v))) for v in shifted),
        )


def whole_variable(i: int, inputs: Mapping[int, Law]) -> bool:
    """Whether an input, or the change of one, is a whole number."""
    law = inputs.get(i, inputs.get(i - _CHANGE))
    return law is not None and is_whole(law)


def apart(source: Iterable[Row], target: Iterable[Row], box: Box, inputs: Mapping[int, Law]) -> list[Row]:
    """The rows on inputs alone that two cells and a box put on (q, d): contradictory where no pair joins the cells."""
    empty = Region(None, tuple(source), (), ()), Region(None, tuple(target), (), ())
    return known_rows(*empty, box, inputs)

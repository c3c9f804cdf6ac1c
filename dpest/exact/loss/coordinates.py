"""The random outputs of one case as coordinates: affine rows, and the frame in which each depends on few draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dpest.exact.inference.cases import Affine, Constant, Expansion, Floor, Numbering, floor_conditions
from dpest.exact.inference.component import Case, Placed, components
from dpest.exact.inference.expressions import Expr, coordinate, number, plus, single, times
from dpest.exact.inference.factors import Bound
from dpest.exact.inference.lattice import Lattice, floor_points, of_floor, of_sum, spanned, sum_points
from dpest.exact.inference.stars import loop_component
from dpest.exact.loss.blocks import CoordinateKind
from dpest.numerics.linear import Matrix, identities, identity, inverse, reduced
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.trace.literal import Bounds, narrowed
from dpest.trace.rounds import Loop


@dataclass(frozen=True)
class Frame:
    """Coordinates t in which laws are computed: transform @ output = origin + step * t, one origin and step for each.

    Lattice coordinates are whole numbers there, and real ones are measured from where the first case puts them: floats
    then hold both without loss, however far from zero the outputs lie.
    """

    transform: Matrix
    lattices: tuple[Lattice, ...]

    @cached_property
    def restore(self) -> Matrix:
        """output = restore @ (origin + step * t)."""
        return inverse(self.transform)

    def place(self, j: int, t: float) -> Rational:
        """A coordinate's value in terms of the output."""
        return self.lattices[j].origin + self.lattices[j].step * exact(t)


@dataclass(eq=False)
class CoordinateRows:
    """One case with its coordinates as rows: affine in draws, or None where it is a rounded value."""

    numbering: Numbering
    bounds: list[Bound]
    spans: Bounds
    rows: list[Expr | None]
    floors: dict[int, Floor]
    kinds: list[CoordinateKind]
    loops: tuple[Loop, ...] = ()
    known: dict[Frame, list[Placed]] = field(default_factory=dict)

    @cached_property
    def subspace(self) -> Matrix:
        """The linear identities that the real coordinates satisfy: equal for cases on one subspace."""
        if len(self.kinds) == 1:
            return ()  # a single real coordinate has continuous noise, and no identity with itself
        return identities(_matrix(self, [j for j, k in enumerate(self.kinds) if k is CoordinateKind.REAL]))

    def placed(self, frame: Frame) -> list[Placed]:
        """The case's components in other coordinates; a case that takes part in several pairs is split once."""
        if frame not in self.known:
            self.known[frame] = [*components(self._case(frame)), *map(loop_component, self.loops)]
        return self.known[frame]

    def _case(self, frame: Frame) -> Case:
        equations, bounds, wholes = [], list(self.bounds), []
        for i, (row, lattice) in enumerate(zip(frame.transform, frame.lattices, strict=True)):
            value = self.value(row)
            if value is not None:
                there = times(plus(value, number(lattice.origin), -1), 1 / lattice.step)
                equations.append(plus(there, single(coordinate(i)), -1))
            else:
                here = Expr(((coordinate(i), lattice.step),), lattice.origin)
                more, whole = floor_conditions(self.floors[i], self.numbering, here)
                bounds += more
                wholes += whole
        return Case(tuple(self.numbering.laws), tuple(bounds), tuple(equations), tuple(wholes))

    def value(self, row: Sequence[Rational]) -> Expr | None:
        """A combination of coordinates; None where it is a rounded value."""
        total = number(0)
        for j, c in enumerate(row):
            if c:
                part = self.rows[j]
                if part is None:
                    return None
                total = plus(total, part, c)
        return total

    def lattice(self, transform: Matrix, j: int, kind: CoordinateKind) -> Lattice:
        """Where a combination of coordinates lies; a real one lies around the constant of this case."""
        value = self.value(transform[j])
        if kind is CoordinateKind.REAL:
            return Lattice(ZERO if value is None else value.constant, ONE)
        return of_floor(self.floors[j]) if value is None else of_sum(value, self.numbering.laws)

    def points(self, frame: Frame, j: int, *, some: bool = False) -> Floats:
        """The points that a lattice coordinate can take, all but a negligible tail; `some` of a rounding that has too many."""
        value = self.value(frame.transform[j])
        if value is None:
            return floor_points(self.floors[j], frame.lattices[j], self.spans, some=some)
        return sum_points(value, self.numbering.laws, frame.lattices[j])


def rows_of(case: Expansion, shape: tuple[Any, ...], kinds: list[CoordinateKind]) -> CoordinateRows:
    """The coordinates of a case whose shape says which outputs are constants (`"="`)."""
    numbering = Numbering()
    bounds = numbering.bounds(case.literals)
    rows: list[Expr | None] = []
    floors: dict[int, Floor] = {}
    for key, x in zip(shape, case.values, strict=True):
        if key[0] == "=":
            continue
        match x:
            case Affine(value=value):
                rows.append(numbering.expression(value.terms, value.constant))
            case Constant(value=value):
                rows.append(number(value))
            case Floor():
                floors[len(rows)] = x
                rows.append(None)
    spans = narrowed({}, case.literals) if floors else {}
    return CoordinateRows(numbering, bounds, spans, rows, floors, kinds, case.loops)


def _matrix(case: CoordinateRows, coordinates: list[int], continuous: bool = True) -> list[list[Rational]]:
    """Coefficients of the continuous (or of all) draws in some coordinates."""
    draws = [v for v, law in enumerate(case.numbering.laws) if not (continuous and law.discrete)]
    rows = [case.rows[j] for j in coordinates]
    return [[row.coefficient(v) if row else ZERO for v in draws] for row in rows]


def simplifying(case: CoordinateRows, kinds: list[CoordinateKind], floors: bool) -> Matrix:
    """An invertible map of the coordinates under which each depends on as few draws as possible."""
    if len(kinds) == 1:
        return identity(1)
    out = [list(row) for row in identity(len(kinds))]
    for kind in CoordinateKind:
        where = [j for j, k in enumerate(kinds) if k is kind]
        if where and not (kind is CoordinateKind.LATTICE and floors):
            t, _ = reduced(_matrix(case, where, continuous=kind is CoordinateKind.REAL))
            for i, row in zip(where, t, strict=True):
                for j, x in zip(where, row, strict=True):
                    out[i][j] = x
    return tuple(map(tuple, out))


def kind_of(row: Sequence[Rational], kinds: list[CoordinateKind], case: CoordinateRows) -> CoordinateKind:
    """A combination of real coordinates in which all continuous noise cancels is a lattice coordinate."""
    if any(kinds[j] is CoordinateKind.LATTICE for j in range(len(row)) if row[j]):
        return CoordinateKind.LATTICE
    value = case.value(row)
    smooth = value is None or any(not case.numbering.laws[v].discrete for v, _ in value.terms)
    return CoordinateKind.REAL if smooth else CoordinateKind.LATTICE


def frame_of(transform: Matrix, lattices: Sequence[Sequence[Lattice]], kinds: Sequence[CoordinateKind]) -> Frame:
    """The frame for cases whose coordinates lie on these lattices (a row for each coordinate)."""
    return Frame(transform, tuple(x[0] if k is CoordinateKind.REAL else spanned(x) for x, k in zip(lattices, kinds, strict=True)))

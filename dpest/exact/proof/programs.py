"""Linear programs with rational data: solved in floating point, answered in rationals that are checked exactly.

The solver only proposes. Its point is taken to the rational vertex next to it, every constraint is checked there in
rational arithmetic, and a point that fails is not an answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.exact.proof.presolve import Contradicted, Presolved, completed
from dpest.numerics.effort import spend_steps
from dpest.numerics.rationals import ZERO, Rational, exact
from dpest.numerics.simplex import Undecided, cheapest

Combination = Mapping[int, Rational]  # column -> coefficient

# A constraint whose slack is below this (relative to its terms) is taken to hold with equality at the vertex. HiGHS
# leaves slacks of 1e-15 at vertices and 1e-7 at worst; a wrong guess costs a second attempt, never a wrong answer.
_TIGHT = 1e-9
_MARGIN = 1e-6  # by which the second attempt keeps away from the constraints, so that rounding stays inside
# Entries of programs that are solved in rationals from the start: there the pivots cost less than a call of the solver.
_SMALL = 400
# Of a rational that stands for a solver's float: its rounding errors fall away, and the check decides.
_SMALL_DENOMINATOR = 1 << 20


@dataclass
class Program:
    """Smallest cost over columns with lower bounds (whole ones where asked), under rows `>=` and `==`."""

    index: dict[Hashable, int] = field(default_factory=dict)
    costs: list[Rational] = field(default_factory=list)
    lows: list[Rational | None] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[dict[int, Rational], Rational, bool]] = field(default_factory=list)  # (terms, bound, equality)

    def column(self, name: Hashable, *, cost: Rational = ZERO, low: Rational | None = None, whole: bool = False) -> int:
        """The column of that name, made when it is first asked for."""
        if name not in self.index:
            self.index[name] = len(self.costs)
            self.costs.append(cost)
            self.lows.append(low)
            self.whole.append(whole)
        return self.index[name]

    def at_least(self, terms: Combination, bound: Rational) -> None:
        """terms >= bound."""
        self.rows.append(({j: c for j, c in terms.items() if c}, bound, False))

    def equal(self, terms: Combination, bound: Rational) -> None:
        """terms == bound."""
        self.rows.append(({j: c for j, c in terms.items() if c}, bound, True))

    def solve(self) -> list[Rational] | None:
        """A cheapest point, exact and checked; None where there is none, or none that could be made exact."""
        spend_steps(1 + sum(len(terms) for terms, _, _ in self.rows))  # an entry takes 3 to 25 microseconds
        if any(not terms and (bound != 0 if equality else bound > 0) for terms, bound, equality in self.rows):
            return None
        if not self.costs:
            return []
        try:
            small = self._exactly()
        except Undecided:
            small = None
        else:
            if small is None or self.holds(small):  # whole columns may be fractions there
                return small
        for margin in (0.0, _MARGIN):
            proposed = _proposal(self, margin)
            if proposed is None:
                return None
            point = _vertex(self, proposed, tight=not margin)
            if point is not None and self.holds(point):
                return point
        return None

    def _exactly(self) -> list[Rational] | None:
        """A cheapest point by rational arithmetic alone, where what the program does not settle by itself is small."""
        try:
            left = Presolved(self.costs, self.lows, self.rows)
        except Contradicted:
            return None
        names = [j for j in range(len(self.costs)) if j not in left.fixed]
        place = {j: k for k, j in enumerate(names)}
        rows = [({place[j]: c for j, c in terms.items()}, bound, equality) for terms, bound, equality in left.rows]
        if len(rows) * len(names) > _SMALL:
            raise Undecided
        found = cheapest([self.costs[j] for j in names], [left.lows[j] for j in names], rows)
        return None if found is None else completed(len(self.costs), left.fixed, names, found)

    def holds(self, point: Sequence[Rational]) -> bool:
        """Whether every constraint holds at the point, in rational arithmetic."""
        for terms, bound, equality in self.rows:
            value = sum((c * point[j] for j, c in terms.items()), ZERO)
            if value != bound if equality else value < bound:
                return False
        bounded = all(low is None or x >= low for x, low in zip(point, self.lows, strict=True))
        return bounded and all(x.denominator == 1 for x, whole in zip(point, self.whole, strict=True) if whole)


def _proposal(program: Program, margin: float) -> npt.NDArray[np.float64] | None:
    """The solver's point; None where it says that there is none."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    entries = [(i, j, float(c)) for i, (terms, _, _) in enumerate(program.rows) for j, c in terms.items()]
    rows, columns, data = zip(*entries, strict=True) if entries else ((), (), ())
    matrix = csr_matrix((data, (rows, columns)), shape=(len(program.rows), len(program.costs)))
    bounds = np.array([float(b) for _, b, _ in program.rows])
    equal = np.array([e for _, _, e in program.rows], dtype=bool)
    room = np.where(equal, 0.0, margin * (1.0 + np.abs(bounds)))
    least = np.array([-np.inf if x is None else float(x) for x in program.lows])
    found = milp(
        np.array([float(c) for c in program.costs]),
        constraints=LinearConstraint(matrix, bounds + room, np.where(equal, bounds, np.inf)) if program.rows else None,
        integrality=np.array(program.whole, dtype=int),
        bounds=Bounds(least, np.full(least.shape, np.inf)),
    )
    return np.asarray(found.x, float) if found.status == 0 else None


def _vertex(program: Program, x: npt.NDArray[np.float64], tight: bool) -> list[Rational] | None:
    """The rational point at which the constraints that are tight at x hold with equality; the rest is rounded."""
    system = Elimination()
    for terms, bound, equality in program.rows:
        if equality and not system.add(terms, bound):
            return None
    for j, whole in enumerate(program.whole):
        if whole:
            system.add({j: exact(1)}, exact(round(float(x[j]))))
    for j, low in enumerate(program.lows):
        if low is not None and x[j] - float(low) <= _TIGHT * (1 + abs(float(low))):
            system.add({j: exact(1)}, low)
    for terms, bound, equality in program.rows if tight else ():
        size = 1.0 + abs(float(bound)) + sum(abs(float(c) * x[j]) for j, c in terms.items())
        slack = sum(float(c) * x[j] for j, c in terms.items()) - float(bound)
        if not equality and abs(slack) <= _TIGHT * size:
            system.add(terms, bound)
    return system.solution([_simple(float(v)) for v in x])


def _simple(x: float) -> Rational:
    """A rational with a small denominator next to x."""
    near = Fraction(x).limit_denominator(_SMALL_DENOMINATOR)
    return exact(near.numerator) / exact(near.denominator)


class Elimination:
    """A system of linear equations in rationals, kept in echelon form."""

    def __init__(self) -> None:
        self._solved: dict[int, tuple[dict[int, Rational], Rational]] = {}  # column -> (terms of others, constant)
        self._order: list[int] = []

    def add(self, terms: Combination, bound: Rational) -> bool:
        """One more equation; False where it contradicts the others (it is then left out)."""
        rest, constant = self._reduced(dict(terms), -bound)
        if not rest:
            return bool(constant == 0)
        pivot = min(rest, key=lambda j: (abs(rest[j]) != 1, j))
        lead = rest.pop(pivot)
        self._solved[pivot] = ({j: -c / lead for j, c in rest.items()}, -constant / lead)
        self._order.append(pivot)
        return True

    def _reduced(self, terms: dict[int, Rational], constant: Rational) -> tuple[dict[int, Rational], Rational]:
        """terms + constant with the solved columns replaced."""
        while (known := next((j for j in terms if j in self._solved), None)) is not None:
            factor = terms.pop(known)
            others, value = self._solved[known]
            constant += factor * value
            for j, c in others.items():
                total = terms.get(j, ZERO) + factor * c
                if total:
                    terms[j] = total
                else:
                    terms.pop(j, None)
        return terms, constant

    def solution(self, free: list[Any]) -> list[Rational]:
        """The point that has the given values in the columns that the equations leave free."""
        out = list(free)
        # A column may refer to columns that were solved after it, never the other way round.
        for j in reversed(self._order):
            others, value = self._solved[j]
            out[j] = value + sum((c * out[i] for i, c in others.items()), ZERO)
        return out

"""Small linear programs in rational arithmetic: the simplex method with Bland's rule, which always ends.

A solver in floating point is ten times faster on large programs; on those of a few rows its call alone costs more than
all pivots here, and so does its import.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from dpest.numerics.rationals import ONE, ZERO, Rational

SparseRow = dict[int, Rational]
Inequality = tuple[Mapping[int, Rational], Rational, bool]  # terms + constant >= 0, or > 0 where strict

_MOST_PIVOTS = 2_000  # in rationals, whose digits grow with each: beyond, the question stays undecided


class Undecided(Exception):
    """The program is unbounded, or too many pivots were made."""


def cheapest(
    costs: Sequence[Rational], lows: Sequence[Rational | None], rows: Sequence[tuple[Mapping[int, Rational], Rational, bool]]
) -> list[Rational] | None:
    """A point of least cost with x >= lows and rows (terms, bound, equality) >= or ==; None where there is none."""
    places, width = _places(lows)
    table = []
    for terms, bound, equality in rows:
        row: SparseRow = {}
        for j, c in terms.items():
            for place, sign in places[j]:
                row[place] = sign * c
        right = bound - sum((c * low for j, c in terms.items() if (low := lows[j]) is not None), ZERO)
        table.append((row, right, equality))
    spread = {place: sign * cost for j, cost in enumerate(costs) for place, sign in places[j] if cost}
    solved = _Tableau(table, width).solve(spread)
    if solved is None:
        return None
    out = []
    for j, low in enumerate(lows):
        value = sum((sign * solved.get(place, ZERO) for place, sign in places[j]), ZERO)
        out.append(value if low is None else value + low)
    return out


def hold_together(rows: Iterable[Inequality]) -> bool:
    """Whether some numbers satisfy all inequalities; raises `Undecided` where that takes too long to tell."""
    listed = list(rows)
    if any(not terms and (constant < 0 or (strict and not constant)) for terms, constant, strict in listed):
        return False
    names = sorted({v for terms, _, _ in listed for v in terms})
    at, margin = {v: i for i, v in enumerate(names)}, len(names)
    table = [({margin: -ONE}, -ONE, False)]  # by how much strict ones hold, up to 1
    for terms, constant, strict in listed:
        table.append(({at[v]: c for v, c in terms.items()} | ({margin: -ONE} if strict else {}), -constant, False))
    found = cheapest([ZERO] * margin + [-ONE], [None] * margin + [ZERO], table)
    return found is not None and found[margin] > 0


def _places(lows: Sequence[Rational | None]) -> tuple[list[list[tuple[int, Rational]]], int]:
    """Columns that are never negative: one for each bounded column, two for a free one."""
    out, width = [], 0
    for low in lows:
        out.append([(width, ONE)] if low is not None else [(width, ONE), (width + 1, -ONE)])
        width += len(out[-1])
    return out, width


class _Tableau:
    """Rows of equations with a basis; columns: unknowns, surpluses, artificial ones. What is not in a row is zero."""

    def __init__(self, given: Sequence[tuple[SparseRow, Rational, bool]], width: int) -> None:
        self.real = width + sum(not equality for _, _, equality in given)
        self.rows: list[SparseRow] = []
        self.right: list[Rational] = []
        self.basis: list[int] = []
        k = width
        for i, (terms, right, equality) in enumerate(given):
            row = {j: c for j, c in terms.items() if c}
            if not equality:
                row[k] = -ONE
                k += 1
            if right < 0:
                row = {j: -c for j, c in row.items()}
            # A surplus that has become positive starts in the basis: no artificial column is needed there.
            start = k - 1 if not equality and row[k - 1] == 1 else self.real + i
            row[start] = ONE
            self.rows.append(row)
            self.right.append(abs(right))
            self.basis.append(start)
        self.pivots = 0

    def solve(self, costs: SparseRow) -> SparseRow | None:
        """The values of the unknowns that are not zero; None where the rows contradict each other."""
        artificial = [b for b in self.basis if b >= self.real]
        if artificial:
            self._improve(dict.fromkeys(artificial, ONE), math.inf)
            if any(b >= self.real and value for b, value in zip(self.basis, self.right, strict=True)):
                return None
            self._drop_artificial()
        self._improve(costs, self.real)
        return dict(zip(self.basis, self.right, strict=True))

    def _improve(self, costs: SparseRow, width: float) -> None:
        reduced = dict(costs)
        for b, row in zip(self.basis, self.rows, strict=True):
            if b in costs:
                _subtract(reduced, costs[b], row)
        while True:
            enter = min((j for j, x in reduced.items() if x < 0 and j < width), default=None)
            if enter is None:
                return
            column = [(i, x) for i, row in enumerate(self.rows) if (x := row.get(enter, ZERO)) > 0]
            self.pivots += 1
            if not column or self.pivots > _MOST_PIVOTS:
                raise Undecided
            i = min((self.right[i] / x, self.basis[i], i) for i, x in column)[2]
            self._pivot(i, enter)
            _subtract(reduced, reduced[enter], self.rows[i])

    def _drop_artificial(self) -> None:
        """Takes artificial columns out of the basis, or their rows away where they say nothing new."""
        for i in reversed(range(len(self.rows))):
            if self.basis[i] >= self.real:
                enter = min((j for j in self.rows[i] if j < self.real), default=None)
                if enter is None:
                    del self.rows[i], self.right[i], self.basis[i]
                else:
                    self._pivot(i, enter)

    def _pivot(self, i: int, enter: int) -> None:
        lead = self.rows[i][enter]
        if lead != 1:
            self.rows[i] = {j: x / lead for j, x in self.rows[i].items()}
            self.right[i] /= lead
        own, value = self.rows[i], self.right[i]
        for k, row in enumerate(self.rows):
            if k != i and enter in row:
                factor = row[enter]
                _subtract(row, factor, own)
                self.right[k] -= factor * value
        self.basis[i] = enter


def _subtract(row: SparseRow, factor: Rational, other: SparseRow) -> None:
    """Takes a multiple of one row from another; what becomes zero is left out."""
    for j, x in other.items():
        rest = row.get(j, ZERO) - factor * x
        if rest:
            row[j] = rest
        else:
            row.pop(j, None)

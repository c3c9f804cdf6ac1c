"""Small linear programs in rational arithmetic: the simplex method with Bland's rule, which always ends.

A solver in floating point is ten times faster on large programs; on those of a few rows its call alone costs more than
all pivots here, and so does its import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpest.numerics.rationals import ONE, ZERO, Rational

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
        row = [ZERO] * width
        for j, c in terms.items():
            for place, sign in places[j]:
                row[place] += sign * c
        right = bound - sum((c * low for j, c in terms.items() if (low := lows[j]) is not None), ZERO)
        table.append((row, right, equality))
    solved = _Tableau(table, width).solve(_spread(costs, places, width))
    if solved is None:
        return None
    out = []
    for j, low in enumerate(lows):
        value = sum((sign * solved[place] for place, sign in places[j]), ZERO)
        out.append(value if low is None else value + low)
    return out


def _places(lows: Sequence[Rational | None]) -> tuple[list[list[tuple[int, Rational]]], int]:
    """Columns that are never negative: one for each bounded column, two for a free one."""
    out, width = [], 0
    for low in lows:
        out.append([(width, ONE)] if low is not None else [(width, ONE), (width + 1, -ONE)])
        width += len(out[-1])
    return out, width


def _spread(costs: Sequence[Rational], places: Sequence[Sequence[tuple[int, Rational]]], width: int) -> list[Rational]:
    out = [ZERO] * width
    for j, cost in enumerate(costs):
        for place, sign in places[j]:
            out[place] = sign * cost
    return out


class _Tableau:
    """Rows of equations with a basis; columns: unknowns, surpluses, artificial ones, the right side."""

    def __init__(self, given: Sequence[tuple[list[Rational], Rational, bool]], width: int) -> None:
        surplus = sum(not equality for _, _, equality in given)
        self.real = width + surplus
        total = self.real + len(given)
        self.rows: list[list[Rational]] = []
        self.basis: list[int] = []
        k = width
        for i, (row, right, equality) in enumerate(given):
            full = [*row, *[ZERO] * (total - width), right]
            if not equality:
                full[k] = -ONE
                k += 1
            if right < 0:
                full = [-x for x in full]
            # A surplus that has become positive starts in the basis: no artificial column is needed there.
            start = k - 1 if not equality and full[k - 1] == 1 else self.real + i
            full[start] = ONE
            self.rows.append(full)
            self.basis.append(start)
        self.pivots = 0

    def solve(self, costs: list[Rational]) -> list[Rational] | None:
        """The values of the unknowns; None where the rows contradict each other."""
        size = len(self.rows[0]) - 1 if self.rows else len(costs)
        first = [ZERO] * self.real + [ONE] * (size - self.real)
        if any(b >= self.real for b in self.basis):
            self._improve(first, size)
            if any(b >= self.real and row[-1] for b, row in zip(self.basis, self.rows, strict=True)):
                return None
            self._drop_artificial()
        self._improve([*costs, *[ZERO] * (size - len(costs))], self.real)
        out = [ZERO] * len(costs)
        for b, row in zip(self.basis, self.rows, strict=True):
            if b < len(costs):
                out[b] = row[-1]
        return out

    def _improve(self, costs: list[Rational], width: int) -> None:
        while True:
            priced = [(costs[b], row) for b, row in zip(self.basis, self.rows, strict=True) if costs[b]]
            enter = next((j for j in range(width) if costs[j] < sum((c * row[j] for c, row in priced), ZERO)), None)
            if enter is None:
                return
            ratios = [(row[-1] / row[enter], self.basis[i], i) for i, row in enumerate(self.rows) if row[enter] > 0]
            self.pivots += 1
            if not ratios or self.pivots > _MOST_PIVOTS:
                raise Undecided
            self._pivot(min(ratios)[2], enter)

    def _drop_artificial(self) -> None:
        """Takes artificial columns out of the basis, or their rows away where they say nothing new."""
        for i in reversed(range(len(self.rows))):
            if self.basis[i] >= self.real:
                enter = next((j for j in range(self.real) if self.rows[i][j]), None)
                if enter is None:
                    del self.rows[i], self.basis[i]
                else:
                    self._pivot(i, enter)

    def _pivot(self, i: int, enter: int) -> None:
        lead = self.rows[i][enter]
        own = self.rows[i] = [x / lead if x else x for x in self.rows[i]]
        for k, row in enumerate(self.rows):
            factor = row[enter]
            if k != i and factor:
                self.rows[k] = [x - factor * y if y else x for x, y in zip(row, own, strict=True)]
        self.basis[i] = enter

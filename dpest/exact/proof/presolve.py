"""What a linear program settles by itself, before any pivot: columns whose value is forced, or as low as it may be.

A released value says what the shifts of its noise are, and these what they cost at least: programs of hundreds of rows come
down to a few, or to none. Each step leaves a cheapest point of the program a point of what is left:

    c x == b                     x is b / c
    c x >= b with c > 0          x has the lower bound b / c
    x costs something or nothing, and every row gets harder with it: x stays at its lower bound
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpest.numerics.rationals import ZERO, Rational

Constraints = Sequence[tuple[Mapping[int, Rational], Rational, bool]]  # (terms, bound, equality)


class Contradicted(Exception):
    """No point meets all rows."""


class Presolved:
    """A program with what it settles taken out: `fixed` columns, tighter `lows`, and the `rows` that are left."""

    def __init__(self, costs: Sequence[Rational], lows: Sequence[Rational | None], rows: Constraints) -> None:
        self.fixed: dict[int, Rational] = {}
        self.lows = list(lows)
        self._costs = costs
        self._left = {i: (dict(terms), equality) for i, (terms, _, equality) in enumerate(rows)}
        self._bounds = [bound for _, bound, _ in rows]
        self._rows_of: list[set[int]] = [set() for _ in costs]
        for i, (terms, _, _) in enumerate(rows):
            for j in terms:
                self._rows_of[j].add(i)
        self._open_rows, self._open_columns = list(self._left), list(range(len(costs)))
        self._settle()

    @property
    def rows(self) -> list[tuple[dict[int, Rational], Rational, bool]]:
        """The rows that are left, over columns that are not fixed."""
        return [(terms, self._bounds[i], equality) for i, (terms, equality) in self._left.items()]

    def _settle(self) -> None:
        while self._open_rows or self._open_columns:
            if self._open_rows:
                self._look_at_row(self._open_rows.pop())
            else:
                self._look_at_column(self._open_columns.pop())

    def _look_at_row(self, i: int) -> None:
        if i not in self._left:
            return
        terms, equality = self._left[i]
        bound = self._bounds[i]
        if not terms:
            if bound != 0 if equality else bound > 0:
                raise Contradicted
            del self._left[i]
        elif len(terms) == 1:
            ((j, c),) = terms.items()
            if equality:
                self._drop(i)
                self._fix(j, bound / c)
            elif c > 0:
                low = self.lows[j]
                self.lows[j] = bound / c if low is None else max(low, bound / c)
                self._drop(i)

    def _drop(self, i: int) -> None:
        terms, _ = self._left.pop(i)
        for j in terms:
            self._rows_of[j].discard(i)
            self._open_columns.append(j)

    def _look_at_column(self, j: int) -> None:
        low = self.lows[j]
        if j in self.fixed or low is None or self._costs[j] < 0:
            return
        if all(not self._left[i][1] and self._left[i][0][j] < 0 for i in self._rows_of[j]):
            self._fix(j, low)

    def _fix(self, j: int, value: Rational) -> None:
        low = self.lows[j]
        if low is not None and value < low:
            raise Contradicted
        self.fixed[j] = value
        for i in self._rows_of[j]:
            self._bounds[i] -= self._left[i][0].pop(j) * value
            self._open_rows.append(i)
        self._rows_of[j] = set()


def completed(count: int, fixed: Mapping[int, Rational], names: Sequence[int], found: Sequence[Rational]) -> list[Rational]:
    """A point of the whole program, from the columns that are fixed and those that were found."""
    out = [ZERO] * count
    for j, value in (*fixed.items(), *zip(names, found, strict=True)):
        out[j] = value
    return out

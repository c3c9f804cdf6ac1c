"""Affine expressions over numbered variables: draws are 0, 1, 2, ..., output coordinates are -1, -2, -3, ..."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.numerics.logspace import Floats

Values = Mapping[int, Floats]


def coordinate(j: int) -> int:
    """The variable that stands for output coordinate j."""
    return -1 - j


@dataclass(frozen=True, slots=True)
class Expr:
    """constant + the sum of coefficient * variable; terms are sorted by variable and never zero."""

    terms: tuple[tuple[int, float], ...]
    constant: float

    def coefficient(self, variable: int) -> float:
        """The factor of one variable; 0 where it does not occur."""
        for v, c in self.terms:
            if v == variable:
                return c
        return 0.0

    def variables(self) -> set[int]:
        """The variables that occur."""
        return {v for v, _ in self.terms}

    def at(self, values: Values) -> Any:
        """The expression's value."""
        out: Any = self.constant
        for v, c in self.terms:
            out = out + (values[v] if c == 1.0 else c * values[v])
        return out


def expr(terms: Iterable[tuple[int, float]], constant: float) -> Expr:
    """An expression from terms in any order, equal variables added up."""
    total: dict[int, float] = {}
    for v, c in terms:
        total[v] = total.get(v, 0.0) + c
    return Expr(tuple(sorted((v, c) for v, c in total.items() if c != 0.0)), constant)


def plus(a: Expr, b: Expr, factor: float = 1.0) -> Expr:
    """a + factor * b; coefficients that cancel up to rounding vanish."""
    total = dict(a.terms)
    for v, c in b.terms:
        old = total.get(v, 0.0)
        new = old + factor * c
        total[v] = 0.0 if abs(new) <= 1e-14 * (abs(old) + abs(factor * c)) else new
    return Expr(tuple(sorted((v, c) for v, c in total.items() if c != 0.0)), a.constant + factor * b.constant)


def times(a: Expr, factor: float) -> Expr:
    """factor * a."""
    return Expr(tuple((v, c * factor) for v, c in a.terms), a.constant * factor)


def solved(a: Expr, variable: int) -> Expr:
    """The value of a variable at which the expression is zero."""
    c = a.coefficient(variable)
    rest = Expr(tuple((v, x) for v, x in a.terms if v != variable), a.constant)
    return Expr(tuple((v, -x / c) for v, x in rest.terms), -rest.constant / c)


def substituted(a: Expr, variable: int, value: Expr) -> Expr:
    """The expression with a variable replaced."""
    c = a.coefficient(variable)
    if c == 0.0:
        return a
    rest = Expr(tuple((v, x) for v, x in a.terms if v != variable), a.constant)
    return plus(rest, value, c)


def renamed(a: Expr, names: Mapping[int, int]) -> Expr:
    """The expression in other variables."""
    return Expr(tuple(sorted((names[v], c) for v, c in a.terms)), a.constant)


def meetings(kinks: Iterable[Expr], variable: int) -> tuple[Expr, ...]:
    """Where the kinks of an integral over `variable` lie: those free of it, and where two that are not meet."""
    free: list[Expr] = []
    places: list[Expr] = []
    for k in kinks:
        (places.append(solved(k, variable)) if k.coefficient(variable) else free.append(k))
    places = distinct(places, normalise=False)
    for i, a in enumerate(places):
        free.extend(plus(a, b, -1.0) for b in places[i + 1 :])
    return tuple(distinct(free))


def distinct(kinks: Iterable[Expr], normalise: bool = True) -> list[Expr]:
    """The kinks without repetitions; constants are no kinks."""
    seen: dict[Any, Expr] = {}
    for k in kinks:
        if normalise and not k.terms:
            continue
        lead = k.terms[0][1] if normalise else 1.0
        key = (tuple((v, round(c / lead, 12)) for v, c in k.terms), float(np.format_float_positional(k.constant / lead, 13)))
        seen.setdefault(key, k)
    return list(seen.values())

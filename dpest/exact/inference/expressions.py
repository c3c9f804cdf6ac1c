"""Affine expressions over numbered variables: draws are 0, 1, 2, ..., output coordinates are -1, -2, -3, ...

Coefficients are rationals: whether terms cancel, two bounds coincide or a lattice point lies on a bound is exact. Values
are floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import ONE, ZERO, Rational, common_denominator, exact

Values = Mapping[int, Floats]
_MOST_EXACT = 1 << 53  # whole numbers up to here are exact as floats


def coordinate(j: int) -> int:
    """The variable that stands for output coordinate j."""
    return -1 - j


@dataclass(frozen=True)
class Expr:
    """constant + the sum of coefficient * variable; terms are sorted by variable and never zero."""

    terms: tuple[tuple[int, Rational], ...]
    constant: Rational

    def coefficient(self, variable: int) -> Rational:
        """The factor of one variable; 0 where it does not occur."""
        for v, c in self.terms:
            if v == variable:
                return c
        return ZERO

    def variables(self) -> set[int]:
        """The variables that occur."""
        return {v for v, _ in self.terms}

    @cached_property
    def _hash(self) -> int:
        return hash((self.terms, self.constant))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _floats(self) -> tuple[tuple[tuple[int, float], ...], float, float]:
        """(terms, constant, divisor): whole numbers over a common denominator where that is exact: whole values stay whole."""
        bottom = common_denominator([self.constant, *(c for _, c in self.terms)])
        tops = [c * bottom for _, c in self.terms]
        if bottom > 1 and bottom <= _MOST_EXACT and all(abs(t) <= _MOST_EXACT for t in [*tops, self.constant * bottom]):
            whole = tuple((v, float(t)) for (v, _), t in zip(self.terms, tops, strict=True))
            return whole, float(self.constant * bottom), float(bottom)
        return tuple((v, float(c)) for v, c in self.terms), float(self.constant), 1.0

    def at(self, values: Values) -> Any:
        """The expression's value."""
        terms, constant, divisor = self._floats
        out: Any = constant
        for v, c in terms:
            out = out + (values[v] if c == 1.0 else c * values[v])
        return out if divisor == 1.0 else out / divisor

    def exactly(self, values: Mapping[int, Rational]) -> Rational:
        """The expression's value in rational arithmetic; variables that are not given are 0."""
        return self.constant + sum((c * values.get(v, ZERO) for v, c in self.terms), ZERO)


def expr(terms: Iterable[tuple[int, Rational]], constant: Rational) -> Expr:
    """An expression from terms in any order, equal variables added up."""
    total: dict[int, Rational] = {}
    for v, c in terms:
        total[v] = total[v] + c if v in total else c
    return Expr(tuple(sorted((v, c) for v, c in total.items() if c)), constant)


def single(variable: int, constant: Rational = ZERO) -> Expr:
    """variable + constant."""
    return Expr(((variable, ONE),), constant)


def number(x: Rational | float) -> Expr:
    """A constant."""
    return Expr((), exact(x))


def plus(a: Expr, b: Expr, factor: Rational | int = 1) -> Expr:
    """a + factor * b."""
    total = dict(a.terms)
    for v, c in b.terms:
        total[v] = total[v] + factor * c if v in total else factor * c
    return Expr(tuple(sorted((v, c) for v, c in total.items() if c)), a.constant + factor * b.constant)


def times(a: Expr, factor: Rational) -> Expr:
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
    if not c:
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
    places = list(dict.fromkeys(places))
    for i, a in enumerate(places):
        free.extend(plus(a, b, -1) for b in places[i + 1 :])
    return tuple(distinct(free))


def distinct(kinks: Iterable[Expr]) -> list[Expr]:
    """The hyperplanes on which the expressions vanish, each once; constants are none."""
    return list(dict.fromkeys(times(k, 1 / k.terms[0][1]) for k in kinks if k.terms))

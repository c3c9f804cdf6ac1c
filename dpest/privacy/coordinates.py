"""The random outputs of one case as coordinates: affine rows, and the map under which each depends on few draws."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpest.engine.cases import Affine, Constant, Expansion, Floor, Numbering, floor_bounds
from dpest.engine.component import Case, Placed, components
from dpest.engine.expressions import Expr, coordinate, plus
from dpest.engine.lattice import floor_points, sum_points
from dpest.numerics.linear import identities, reduced
from dpest.numerics.logspace import Floats
from dpest.privacy.blocks import Kind


@dataclass(eq=False)
class Rows:
    """One case with its coordinates as rows: affine in draws, or None where bounds define it."""

    numbering: Numbering
    bounds: list[Any]
    rows: list[Expr | None]
    floors: dict[int, Floor]
    kinds: list[Kind]
    known: dict[bytes, list[Placed]] = field(default_factory=dict)

    @cached_property
    def subspace(self) -> tuple[tuple[float, ...], ...]:
        """The linear identities that the real coordinates satisfy: equal for cases on one subspace."""
        if len(self.kinds) == 1:
            return ()  # a single real coordinate has continuous noise, and no identity with itself
        null = identities(_matrix(self, [j for j, k in enumerate(self.kinds) if k is Kind.REAL]))
        return tuple(map(tuple, np.round(null, 9).tolist()))

    def placed(self, transform: Floats) -> list[Placed]:
        """The case's components in other coordinates; a case that takes part in several pairs is split once."""
        key = transform.tobytes()
        if key not in self.known:
            self.known[key] = components(_transformed(self, transform))
        return self.known[key]


def rows_of(case: Expansion, shape: tuple[Any, ...], kinds: list[Kind]) -> Rows:
    """The coordinates of a case whose shape says which outputs are constants (`"="`)."""
    numbering = Numbering()
    bounds = numbering.bounds(case.literals)
    rows: list[Expr | None] = []
    floors: dict[int, Floor] = {}
    for key, x in zip(shape, case.values, strict=True):
        if key[0] == "=":
            continue
        j = len(rows)
        match x:
            case Affine(value=value):
                rows.append(numbering.expression(value.terms, value.constant))
            case Constant(value=value):
                rows.append(Expr((), float(value)))
            case Floor():
                rows.append(None)
                floors[j] = x
                bounds.extend(floor_bounds(x, numbering, j))
    return Rows(numbering, bounds, rows, floors, kinds)


def _matrix(case: Rows, coordinates: list[int], continuous: bool = True) -> Floats:
    """Coefficients of the continuous (or of all) draws in some coordinates."""
    draws = [v for v, law in enumerate(case.numbering.laws) if not (continuous and law.discrete)]
    out = np.zeros((len(coordinates), len(draws)))
    for i, j in enumerate(coordinates):
        row = case.rows[j]
        for v, c in row.terms if row else ():
            if v in draws:
                out[i, draws.index(v)] = c
    return out


def simplifying(case: Rows, kinds: list[Kind], floors: bool) -> Floats:
    """An invertible map of the coordinates under which each depends on as few draws as possible."""
    if len(kinds) == 1:
        return np.ones((1, 1))
    out = np.eye(len(kinds))
    for kind in Kind:
        where = [j for j, k in enumerate(kinds) if k is kind]
        if where and not (kind is Kind.LATTICE and floors):
            t, _ = reduced(_matrix(case, where, continuous=kind is Kind.REAL))
            out[np.ix_(where, where)] = t
    return out


def kind_of(row: Floats, kinds: list[Kind], case: Rows) -> Kind:
    """A combination of real coordinates in which all continuous noise cancels is a lattice coordinate."""
    used = [j for j in range(len(row)) if row[j]]
    if any(kinds[j] is Kind.LATTICE for j in used):
        return Kind.LATTICE
    value = _combined(case, row)
    smooth = value is None or any(not case.numbering.laws[v].discrete for v, _ in value.terms)
    return Kind.REAL if smooth else Kind.LATTICE


def _combined(case: Rows, row: Floats) -> Expr | None:
    total = Expr((), 0.0)
    for j, c in enumerate(row):
        if c:
            part = case.rows[j]
            if part is None:
                return None
            total = plus(total, part, float(c))
    return Expr(total.terms, _unrounded(total.constant, case, row))


def _unrounded(constant: float, case: Rows, row: Floats) -> float:
    """A constant that is rounding error beside the numbers it was computed from is zero."""
    parts = [case.rows[j] for j, c in enumerate(row) if c]
    size = max((abs(p.constant) for p in parts if p is not None), default=0.0)
    return float(np.round(constant, max(0, 14 - math.ceil(math.log10(size)) - 1))) if size > 0 and len(parts) > 1 else constant


def _transformed(case: Rows, transform: Floats) -> Case:
    equations = []
    for i, row in enumerate(transform):
        value = _combined(case, row)
        if value is not None:
            equations.append(plus(value, Expr(((coordinate(i), 1.0),), 0.0), -1.0))
    return Case(tuple(case.numbering.laws), tuple(case.bounds), tuple(equations))


def candidates(case: Rows, transform: Floats, j: int) -> Floats:
    """The points that a lattice coordinate can take on one case, all but a negligible tail."""
    value = _combined(case, transform[j])
    if value is None:
        return floor_points(case.floors[j])
    return sum_points([(case.numbering.laws[v], c) for v, c in value.terms], value.constant)

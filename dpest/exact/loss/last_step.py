"""Outputs of which the last are Gaussian noise around a place that the others set, in every case: steps that build on steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpest.curves.fibres import Fibre
from dpest.exact.inference.expressions import Expr, expr
from dpest.exact.inference.factors import Density, Factor, Indicator
from dpest.exact.loss.blocks import Block, BlockLaw
from dpest.exact.loss.cells_of_space import has_inside
from dpest.laws.continuous import Gaussian
from dpest.numerics.linear import reduced
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import Rational, exact
from dpest.numerics.simplex import Undecided

_MOST_OTHERS = 2  # outputs that are integrated over
_MOST_CASES = 200

RowOfLast = tuple[Rational, ...]  # the coefficients of the last outputs in a draw, in deviations


@dataclass(frozen=True, eq=False)
class _Step:
    """One case: factors of the other outputs, and the place of each draw of the last ones, in deviations."""

    log_constant: float
    factors: tuple[Factor, ...]
    names: tuple[dict[int, int], ...]  # for each factor: the block's coordinate that each of its own stands for
    places: tuple[tuple[RowOfLast, Expr], ...]
    bounds: tuple[Expr, ...]

    @property
    def rows(self) -> tuple[RowOfLast, ...]:
        """The coefficients of the last outputs in the draws that they fix."""
        return tuple(row for row, _ in self.places)

    @cached_property
    def log_density(self) -> float:
        """ln of what does not depend on the other outputs, with the last ones integrated out."""
        return self.log_constant - math.log(abs(float(np.linalg.det(np.array(self.rows, float)))))


@dataclass(frozen=True, eq=False)
class LastStep:
    """The coordinates of the others, and both laws there with the way that the last outputs move."""

    others: tuple[int, ...]
    fibre: Fibre


def last_step(block: Block) -> LastStep | None:
    """The block as such; None where it is of another kind, or cases of one law overlap."""
    if len(block.left.cases) > _MOST_CASES or len(block.right.cases) > _MOST_CASES:
        return None
    others = _others(block)
    if not 1 <= len(others) <= _MOST_OTHERS or len(others) == block.dimension:
        return None
    last = tuple(j for j in range(block.dimension) if j not in others)
    left, right = _steps(block.left, last), _steps(block.right, last)
    if left is None or right is None or _overlap(left) or _overlap(right) or not _same_rows(left, right):
        return None
    p, q = _Side(tuple(left), others), _Side(tuple(right), others)

    def fibre(u: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        (log_p, at_p, e), (log_q, at_q, f) = p.at(u), q.at(u)
        shift = np.sqrt(((at_p - at_q) ** 2).sum(axis=1))
        return log_p, log_q, shift, np.maximum(e, f)

    return LastStep(others, fibre)


def _others(block: Block) -> tuple[int, ...]:
    """The coordinates that conditions or draws of their own fix: all but those that occur in the last draws alone."""
    found: set[int] = set()
    for side in (block.left, block.right):
        for parts, _ in side.cases:
            for placed, _ in parts:
                for factor in side.measures.of(placed.component).factors:
                    if not isinstance(factor, Density) or not isinstance(factor.law, Gaussian):
                        found.update(placed.outputs[-1 - v] for v in factor.scope)
    return tuple(sorted(found))


def _steps(side: BlockLaw, last: tuple[int, ...]) -> list[_Step] | None:
    out = []
    for parts, count in side.cases:
        log_constant = math.log(count)
        factors: list[Factor] = []
        names: list[dict[int, int]] = []
        places: list[tuple[RowOfLast, Expr]] = []
        bounds: list[Expr] = []
        for placed, times in parts:
            measure = side.measures.of(placed.component)
            if measure.impossible:
                break
            own = {-1 - i: -1 - j for i, j in enumerate(placed.outputs)}
            log_constant += times * measure.log_constant
            for factor in measure.factors:
                if isinstance(factor, Indicator) and factor.scope:
                    bounds.append(_named(factor.bound.expression, own))
                elif not any(-1 - own[v] in last for v in factor.scope):
                    factors += [factor] * times
                    names += [own] * times
                elif isinstance(factor, Density) and isinstance(factor.law, Gaussian) and times == 1:
                    place = _named(factor.place, own)
                    places.append(_upright(place, last, exact(factor.law.sigma)))
                    log_constant -= math.log(factor.law.sigma)
                else:
                    return None
        else:
            step = _Step(log_constant, tuple(factors), tuple(names), tuple(sorted(places, key=lambda x: x[0])), tuple(bounds))
            if len(places) != len(last) or reduced(step.rows)[1] < len(last):
                return None
            out.append(step)
    return out or None


def _named(e: Expr, names: dict[int, int]) -> Expr:
    return expr(((names[v], c) for v, c in e.terms), e.constant)


def _upright(place: Expr, last: tuple[int, ...], sigma: Rational) -> tuple[RowOfLast, Expr]:
    """The place in deviations, with the first coefficient of a last output positive, and what the others add to it."""
    row = tuple(place.coefficient(-1 - j) / sigma for j in last)
    sign = 1 if next(x for x in row if x) > 0 else -1
    rest = expr(((v, sign * c / sigma) for v, c in place.terms if -1 - v not in last), sign * place.constant / sigma)
    return tuple(sign * x for x in row), rest


def _overlap(steps: Sequence[_Step]) -> bool:
    """Whether two cases of one law happen with the same other outputs: their densities would be added."""
    try:
        return any(has_inside((*a.bounds, *b.bounds)) for a, b in itertools.combinations(steps, 2))
    except Undecided:
        return True


def _same_rows(left: Sequence[_Step], right: Sequence[_Step]) -> bool:
    """Whether both laws of the last outputs are one, moved, wherever the other outputs are."""
    if len({s.rows for s in (*left, *right)}) == 1:
        return True
    try:
        return not any(a.rows != b.rows and has_inside((*a.bounds, *b.bounds)) for a in left for b in right)
    except Undecided:
        return False


@dataclass(frozen=True, eq=False)
class _Side:
    """One law of the other outputs, and the place of the last ones there."""

    steps: tuple[_Step, ...]
    others: tuple[int, ...]

    def at(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """ln of the density, the places in deviations, and the relative error, at each row."""
        outputs = {-1 - j: u[:, i] for i, j in enumerate(self.others)}
        log, error = np.full(len(u), -np.inf), np.zeros(len(u))
        places = np.zeros((len(u), len(self.steps[0].places)))
        for step in self.steps:
            on = np.ones(len(u), bool)
            for bound in step.bounds:
                on &= bound.at(outputs) >= 0
            if not on.any():
                continue
            here = {v: x[on] for v, x in outputs.items()}
            total, off = np.full(int(on.sum()), step.log_density), np.zeros(int(on.sum()))
            for factor, names in zip(step.factors, step.names, strict=True):
                logs, more = factor.log({v: here[names[v]] for v in factor.scope})
                total, off = total + logs, off + more
            log[on], error[on] = total, off  # cases exclude each other but for boundaries
            for k, (_, rest) in enumerate(step.places):
                places[on, k] = rest.at(here)
        return log, places, error

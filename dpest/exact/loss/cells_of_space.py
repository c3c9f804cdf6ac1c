"""An upper end on several real coordinates, where both laws are products of exponentials on cells of the space.

A release that depends on an earlier one (a gradient at the last weights, a sum clipped at a released bound) has cases by what
was released, and in each of them the outputs fix all of the noise. With Laplace, exponential and uniform noise the log ratio is
then piecewise linear: on each cell it is a sum of absolute values less another one, whose largest value is that of finitely
many linear programs, one for each choice of signs in the first sum. They are solved in rational arithmetic, and say where it is.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from dpest.exact.inference.expressions import Expr, expr, number, plus, times
from dpest.exact.inference.factors import Density, Factor, Indicator
from dpest.exact.loss.blocks import Block, BlockLaw
from dpest.exact.loss.cover import as_good_as
from dpest.exact.loss.logs import Ends
from dpest.laws.continuous import Exponential, Laplace, Uniform
from dpest.numerics.effort import spend_steps
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.numerics.simplex import Undecided, cheapest, hold_together

_MOST_COORDINATES = 4  # with more, the programs are many, and each is large
_MOST_CELLS = 64  # of one law: pairs of them are looked at
_MOST_SIGNS = 6  # absolute values that are added: each doubles the number of programs
_PROGRAM_STEPS = 200  # of ten microseconds, for one program of a few rows
_ROUNDING = 1e-12  # of logarithms of constants, which are floats


@dataclass(frozen=True)
class _CellLaw:
    """e^(constant + slope - sum of weight * |place|) where all bounds are >= 0, and nothing elsewhere."""

    constant: float
    slope: Expr
    sizes: tuple[tuple[Expr, Rational], ...]
    bounds: tuple[Expr, ...]


@dataclass(frozen=True)
class Highest:
    """The most that a log ratio is, and the outputs at which it is so; none where that is reached already, or not known."""

    value: float
    at: dict[int, Rational] = field(default_factory=dict)

    def place(self, dimension: int) -> tuple[float, ...]:
        """The outputs as numbers in order; nothing where they are not known."""
        return tuple(float(self.at.get(-1 - i, ZERO)) for i in range(dimension)) if self.at else ()


def highest_on_cells(block: Block, reached: Ends) -> tuple[Highest, Highest] | None:
    """At most the loss in both directions; None where the laws are of another kind, or there is too much to look at.

    Losses that are `reached` already are no news: a cell that has no larger one is not looked at closely.
    """
    if block.dimension > _MOST_COORDINATES:
        return None
    try:
        left, right = _cells(block.left), _cells(block.right)
    except Undecided:
        return None
    if left is None or right is None:
        return None
    return _largest(left, right, reached[0]), _largest(right, left, reached[1])


def _cells(side: BlockLaw) -> list[_CellLaw] | None:
    if len(side.cases) > _MOST_CELLS:
        return None
    out = []
    for parts, count in side.cases:
        cell = _CellLaw(math.log(count), number(ZERO), (), ())
        for placed, often in parts:
            measure = side.measures.of(placed.component)
            if measure.impossible:
                break
            names = {-1 - i: -1 - j for i, j in enumerate(placed.outputs)}
            cell = _CellLaw(cell.constant + often * measure.log_constant, cell.slope, cell.sizes, cell.bounds)
            for factor in measure.factors:
                found = _with(cell, factor, names, often)
                if found is None:
                    return None
                cell = found
        else:
            out.append(cell)
    return [cell for cell in out if has_inside(cell.bounds)]


def _with(cell: _CellLaw, factor: Factor, names: dict[int, int], often: int) -> _CellLaw | None:
    """The cell with one more factor; None where that is of another kind."""
    if not factor.scope:
        logs, error = factor.log({})
        if not float(error) <= _ROUNDING:
            return None
        return _CellLaw(cell.constant + often * float(logs), cell.slope, cell.sizes, cell.bounds)
    if isinstance(factor, Indicator):
        return _CellLaw(cell.constant, cell.slope, cell.sizes, (*cell.bounds, _named(factor.bound.expression, names)))
    if not isinstance(factor, Density):
        return None
    place, law = _named(factor.place, names), factor.law
    match law:
        case Laplace(b=b):
            size = (place, often / exact(b))
            return _CellLaw(cell.constant - often * math.log(2 * b), cell.slope, (*cell.sizes, size), cell.bounds)
        case Exponential(b=b):
            slope = plus(cell.slope, place, -often / exact(b))
            return _CellLaw(cell.constant - often * math.log(b), slope, cell.sizes, (*cell.bounds, place))
        case Uniform(low=low, high=high):
            ends = plus(place, number(exact(low)), -1), plus(number(exact(high)), place, -1)
            return _CellLaw(cell.constant - often * math.log(high - low), cell.slope, cell.sizes, (*cell.bounds, *ends))
    return None


def _named(e: Expr, names: dict[int, int]) -> Expr:
    return expr(((names[v], c) for v, c in e.terms), e.constant)


def _largest(own: Sequence[_CellLaw], other: Sequence[_CellLaw], reached: float) -> Highest:
    """At most ln of own over other, everywhere; infinite where it has no bound, or none is found."""
    try:
        return _largest_of_all(own, other, reached)
    except Undecided:
        return Highest(math.inf)


def _largest_of_all(own: Sequence[_CellLaw], other: Sequence[_CellLaw], reached: float) -> Highest:
    for a, b in itertools.combinations(own, 2):
        if has_inside((*a.bounds, *b.bounds)):
            raise Undecided  # two densities are added
    tops = [Highest(-math.inf)]
    for a in own:
        if not _is_covered(a.bounds, [b.bounds for b in other]):
            return Highest(math.inf)
        for b in other:
            bounds = (*a.bounds, *b.bounds)
            if has_inside(bounds):
                at_most = _step_by_step(a, b, bounds)
                tops.append(Highest(at_most) if as_good_as(reached, at_most) else _on_cell(a, b, bounds))
    return max(tops, key=lambda top: top.value)


def _step_by_step(a: _CellLaw, b: _CellLaw, bounds: Sequence[Expr]) -> float:
    """At most the log ratio on one cell: |v| - |u| is at most |v - u|, for one draw after another."""
    less, more = _without_common(a.sizes, b.sizes)
    slope = plus(a.slope, b.slope, -1)
    if slope.terms or len(less) != len(more):
        return math.inf
    total = slope.constant
    for place, weight in less:
        gaps = [(k, plus(v, place, -sign)) for k, (v, w) in enumerate(more) if w == weight for sign in (1, -1)]
        if not gaps:
            return math.inf
        k, gap = min(gaps, key=lambda g: len(g[1].terms))
        more.pop(k)
        try:
            ends = [_greatest(times(gap, sign), (), bounds) for sign in (ONE, -ONE)] if gap.terms else [(abs(gap.constant), {})]
        except Undecided:
            return math.inf
        total += weight * max(end[0] for end in ends if end is not None)
    found = float(total) + a.constant - b.constant
    return found + _ROUNDING * (1 + abs(a.constant) + abs(b.constant) + abs(found))


def _on_cell(a: _CellLaw, b: _CellLaw, bounds: Sequence[Expr]) -> Highest:
    """The largest log ratio on one cell, rounded up, and where it is."""
    less, more = _without_common(a.sizes, b.sizes)
    if len(more) > _MOST_SIGNS:
        raise Undecided
    slope = plus(a.slope, b.slope, -1)
    constant = a.constant - b.constant
    found = []
    for signs in itertools.product((ONE, -ONE), repeat=len(more)):
        goal = slope
        for (place, weight), sign in zip(more, signs, strict=True):
            goal = plus(goal, place, sign * weight)
        found.append(_greatest(goal, less, bounds))
    value, at = max((x for x in found if x is not None), key=lambda x: x[0])
    top = float(value)
    return Highest(top + constant + _ROUNDING * (1 + abs(a.constant) + abs(b.constant) + abs(top)), at)


def _without_common(
    a: tuple[tuple[Expr, Rational], ...], b: tuple[tuple[Expr, Rational], ...]
) -> tuple[list[tuple[Expr, Rational]], list[tuple[Expr, Rational]]]:
    """The absolute values of either law that the other one has not."""
    left, right = Counter(map(_upright, a)), Counter(map(_upright, b))
    return list((left - right).elements()), list((right - left).elements())


def _upright(size: tuple[Expr, Rational]) -> tuple[Expr, Rational]:
    """|place| in one form: with its first coefficient 1."""
    place, weight = size
    lead = place.terms[0][1]
    return times(place, 1 / lead), weight * abs(lead)


def _greatest(
    goal: Expr, less: Sequence[tuple[Expr, Rational]], bounds: Sequence[Expr]
) -> tuple[Rational, dict[int, Rational]] | None:
    """The largest value of goal - sum of weight * |place| on a cell, and where it is; None where the cell is empty."""
    spend_steps(_PROGRAM_STEPS)
    names = sorted({v for e in (goal, *bounds, *(p for p, _ in less)) for v, _ in e.terms})
    at = {v: i for i, v in enumerate(names)}
    d = len(names)
    costs = [-goal.coefficient(v) for v in names] + [weight for _, weight in less]
    rows = [({at[v]: c for v, c in e.terms}, -e.constant, False) for e in bounds]
    for k, (place, _) in enumerate(less):
        for sign in (ONE, -ONE):  # size >= sign * place
            terms = {d + k: ONE} | {at[v]: -sign * c for v, c in place.terms}
            rows.append((terms, sign * place.constant, False))
    found = cheapest(costs, [None] * (d + len(less)), rows)
    if found is None:
        return None
    return goal.constant - sum((c * x for c, x in zip(costs, found, strict=True)), ZERO), dict(zip(names, found, strict=False))


def has_inside(bounds: Sequence[Expr]) -> bool:
    """Whether a cell holds more than a boundary."""
    spend_steps(_PROGRAM_STEPS)
    return hold_together((dict(e.terms), e.constant, bool(e.terms)) for e in bounds)


def _is_covered(cell: Sequence[Expr], others: Sequence[Sequence[Expr]]) -> bool:
    """Whether a cell lies in the union of others, but for boundaries."""
    if not has_inside(cell):
        return True
    if not others:
        return False
    inside = tuple(cell)
    for e in others[0]:
        if not _is_covered((*inside, times(e, -ONE)), others[1:]):
            return False
        inside = (*inside, e)
    return True

"""Several released values that are linear functions of log-concave noise, moved: the loss in closed form.

The released vector u = A x (x independent with log-concave densities f_i) has a log-concave density g. For a convex
function h = -ln g the supremum of h(u + d) - h(u) is its recession function at d, and that of a marginal is the smallest sum
of the recession functions of the -ln f_i over all shifts s of the draws with A s = d: a linear program. Its optimum is both
an alignment (an upper bound) and, by duality, a direction in which the log ratio tends to it (a lower bound).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.errors import DpestError
from dpest.exact.loss.blocks import Block, BlockLaw
from dpest.exact.loss.logs import BothWays, Sup, logs_at
from dpest.exact.loss.shift import alone
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.law import Law
from dpest.numerics.linear import inverse, product, reduced
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

# Families with a log-concave density whose `shift_cost` is the slope of its tails: None where they fall faster, or end.
_CONCAVE = (Laplace, Exponential, Gumbel, Logistic, Gaussian, Uniform)
_FAR = 64.0  # scales out at which the densities of a limit are shown
# Coefficients that were rounded (a pseudo-inverse in floats) make many vertices nearly best: both sides are proved, and what
# lies between them is in the bracket.
_OPEN = exact(1e-6)
_MOST_INTEGRALS = 2  # nested ones that are worth it for showing a density

RowTerms = tuple[tuple[tuple[int, Rational], ...], ...]


@dataclass(frozen=True)
class ReleasedRows:
    """rows of draws and outputs + constants == 0."""

    laws: tuple[Law, ...]
    rows: RowTerms
    constants: tuple[Rational, ...]


def moved_vector(block: Block) -> BothWays | None:
    """The loss where both laws are the same linear functions of log-concave draws, moved; None where they are not."""
    p, q = _released(block.left), _released(block.right)
    if p is None or q is None or p.rows != q.rows or p.laws != q.laws:
        return None
    move = [a - b for a, b in zip(p.constants, q.constants, strict=True)]
    forward = _sup(block, p, move, swap=False)
    backward = _sup(block, p, [-d for d in move], swap=True)
    return BothWays(forward, backward) if forward and backward else None


def _released(side: BlockLaw) -> ReleasedRows | None:
    placed = alone(side)
    if placed is None or placed.component.wholes or placed.component.rounds:
        return None
    component = placed.component
    if not all(isinstance(law, _CONCAVE) for law in component.laws) or placed.outputs != tuple(range(len(placed.outputs))):
        return None
    equations = sorted(component.equations, key=lambda e: repr(e.terms))
    rows = tuple(tuple((v, exact(c)) for v, c in e.terms) for e in equations)
    return ReleasedRows(component.laws, rows, tuple(exact(e.constant) for e in equations))


def _sup(block: Block, released: ReleasedRows, move: Sequence[Rational], *, swap: bool) -> Sup | None:
    """The loss of a law whose draws would have to be shifted by s with rows @ s == move to give the other's output."""
    system = _System.of(released, move)
    if system is None or not any(move):
        return None
    found = _solved(system)
    if found is None:
        return _infinite(block, released, system, swap=swap)
    shift, multipliers = found
    cost, lower = _cost(released.laws, shift), _reached(system, multipliers)
    if cost is None or cost - lower > _OPEN * cost:
        return None
    at, shown = _far_out(block, released, shift, swap=swap)
    return Sup(float(cost), float(lower) * (1 - 4e-16), float(cost) * (1 + 4e-16), at, *shown, limit=True)


def _infinite(block: Block, released: ReleasedRows, system: _System, *, swap: bool) -> Sup | None:
    """No draw whose shifts have a cost at all takes part: the tails fall faster than any exponential, or end."""
    if any(each is not None for law in released.laws for each in law.shift_cost()):
        return None
    found = np.linalg.lstsq(np.array(system.rows, float), np.array(system.move, float), rcond=None)[0]
    at, shown = _far_out(block, released, [exact(float(x)) for x in found], swap=swap)
    return Sup(math.inf, math.inf, math.inf, at, *shown, limit=True)


def _cost(laws: Sequence[Law], shift: Sequence[Rational]) -> Rational | None:
    """What a shift of the draws costs; None where it is infinite."""
    costs = [law.shift_loss(s) for law, s in zip(laws, shift, strict=True)]
    return None if any(c is None for c in costs) else sum((c for c in costs if c is not None), ZERO)


@dataclass(frozen=True)
class _System:
    """What a shift of the draws must satisfy, rows @ s == move, in a form with ones at the pivots."""

    laws: tuple[Law, ...]
    rows: tuple[tuple[Rational, ...], ...]
    move: tuple[Rational, ...]

    @classmethod
    def of(cls, released: ReleasedRows, move: Sequence[Rational]) -> _System | None:
        """Reduced with the largest entries as pivots; None where the rows depend on each other."""
        n = len(released.laws)
        work = [[*(dict(row).get(i, ZERO) for i in range(n)), d] for row, d in zip(released.rows, move, strict=True)]
        # What was rounded to 1e-17 instead of 0 is no pivot, or the numbers below would have no digits left.
        for k in range(len(work)):
            i, j = max(((i, j) for i in range(k, len(work)) for j in range(n)), key=lambda at: abs(work[at[0]][at[1]]))
            lead = work[i][j]
            if not lead:
                return None
            work[k], work[i] = [x / lead for x in work[i]], work[k]
            for other in range(len(work)):
                factor = work[other][j]
                if other != k and factor:
                    work[other] = [x - factor * y for x, y in zip(work[other], work[k], strict=True)]
        return cls(released.laws, tuple(tuple(row[:-1]) for row in work), tuple(row[-1] for row in work))


def _solved(system: _System) -> tuple[list[Rational], list[Rational]] | None:
    """A cheapest shift, solved for exactly, and multipliers of the rows that show it is one; None where there is none."""
    from scipy.optimize import linprog

    a = np.array(system.rows, float)
    columns = [(i, way, each) for i, law in enumerate(system.laws) for way, each in zip((1, -1), law.shift_cost(), strict=True)]
    kept = [(i, way, float(each)) for i, way, each in columns if each is not None]
    if not kept:
        return None
    wide = np.array([way * a[:, i] for i, way, _ in kept]).T
    answer = linprog([c for _, _, c in kept], A_eq=wide, b_eq=np.array(system.move, float), method="highs")
    if answer.status != 0 or answer.x is None:
        return None
    size = np.zeros(len(system.laws))
    for (i, way, _), x in zip(kept, answer.x, strict=True):
        size[i] += way * x
    shift = _exactly(system, size)
    return None if shift is None else (shift, [exact(float(x)) for x in answer.eqlin.marginals])


def _exactly(system: _System, size: Floats) -> list[Rational] | None:
    """The rational shift that uses the draws with the largest moves in the solver's answer."""
    columns = list(zip(*system.rows, strict=True))
    chosen: list[int] = []
    for i in sorted(range(len(columns)), key=lambda i: -abs(size[i])):
        if len(chosen) < len(system.move) and reduced([columns[j] for j in (*chosen, i)])[1] == len(chosen) + 1:
            chosen.append(i)
    if len(chosen) < len(system.move):
        return None
    square = tuple(tuple(columns[i][k] for i in chosen) for k in range(len(system.move)))
    values = product(inverse(square), tuple((d,) for d in system.move))
    out = [ZERO] * len(columns)
    for i, (value,) in zip(chosen, values, strict=True):
        out[i] = value
    return out


def _reached(system: _System, multipliers: Sequence[Rational]) -> Rational:
    """What the multipliers prove from below, once they are made small enough for every draw's tails."""
    over = ONE
    for law, column in zip(system.laws, zip(*system.rows, strict=True), strict=True):
        slope = sum((c * m for c, m in zip(column, multipliers, strict=True)), ZERO)
        each = law.shift_cost()[0 if slope > 0 else 1]
        if each is not None:
            over = max(over, abs(slope) / each)
    return sum((m * d for m, d in zip(multipliers, system.move, strict=True)), ZERO) / over


def _far_out(
    block: Block, released: ReleasedRows, shift: Sequence[Rational], *, swap: bool
) -> tuple[tuple[float, ...], tuple[float, float]]:
    """A place on the way to the limit, with both log densities there where they are quickly worked out."""
    d = block.dimension
    outputs = np.zeros((len(released.rows), d))
    moved = np.zeros(len(released.rows))
    for k, row in enumerate(released.rows):
        for v, c in row:
            if v < 0:
                outputs[k, -1 - v] = float(c)
            else:
                moved[k] -= float(c) * float(shift[v])
    direction = np.linalg.lstsq(outputs, moved, rcond=None)[0]
    size = float(np.abs(direction).max()) or 1.0
    at = tuple(0.0 if abs(x) < 1e-12 * size else math.copysign(math.inf, x) for x in direction.tolist())
    if len(released.laws) - len(released.rows) > _MOST_INTEGRALS:
        return at, (math.nan, math.nan)
    try:
        logs = logs_at(block, np.asarray(_FAR * block.widest / size * direction, np.float64)[None, :])
    except DpestError:
        return at, (math.nan, math.nan)
    shown = float(logs.p[0]), float(logs.q[0])
    return at, (shown[1], shown[0]) if swap else shown

"""A whole-number draw plus noise with end points: beyond a window the ratio of two such laws repeats itself.

With P(k) proportional to e^(-|k| / b) and g zero outside an interval, p(y) = sum of P(k) g(y - c k) satisfies
p(y + c) = e^(-1 / b) p(y) wherever only k > 0 contribute, and so does every law with the same b and c, and every sum of
such. Where k counts trials up to a success (k >= 1), p is zero on the other side, and -c makes it the mirror image.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpest.exact.inference.changed import fixed
from dpest.exact.inference.expressions import Expr
from dpest.exact.inference.factors import Density, Factor, Integral
from dpest.exact.loss.blocks import Block, BlockLaw
from dpest.exact.loss.pieces import MOST, Piece, Y
from dpest.laws.discrete import Geometric
from dpest.laws.law import Continuous
from dpest.laws.scipy_law import ScipyDiscrete
from dpest.numerics.rationals import Rational, ceil, exact


@dataclass(frozen=True)
class Periodic:
    """Both laws as pieces that hold between -window and window, which holds a whole period on either side."""

    p: list[Piece]
    q: list[Piece]
    window: Rational


@dataclass(frozen=True)
class _Comb:
    """weight * the sum over k of P(k) * (factors at k)."""

    log_weight: float
    error: float
    law: Geometric | ScipyDiscrete
    draw: int
    factors: tuple[Density, ...]
    step: Rational  # how far y moves with k
    reach: Rational  # the largest |y| at k = 0


def periodic(block: Block) -> Periodic | None:
    """The block's laws where all of their cases are such sums with one b and one c; None where they are not."""
    p, q = _combs(block.left), _combs(block.right)
    if not p or not q or len({(x.law, abs(x.step)) for x in (*p, *q)}) != 1:
        return None
    step, reach = abs(p[0].step), max(x.reach for x in (*p, *q))
    window = reach + 2 * step
    last = ceil((window + reach) / step) + 1
    if (2 * last + 1) * max(len(p), len(q)) > MOST:
        return None
    return Periodic(_teeth(p, last), _teeth(q, last), window)


def _teeth(combs: list[_Comb], last: int) -> list[Piece]:
    points = np.arange(-last, last + 1.0)
    return [
        Piece(c.log_weight + float(log_p), c.error, tuple(fixed(f, c.draw, Expr((), exact(float(k)))) for f in c.factors))
        for c in combs
        for k, log_p in zip(points, c.law.log_density(points), strict=True)
        if log_p > -math.inf
    ]


def _combs(side: BlockLaw) -> list[_Comb] | None:
    out = []
    for parts, count in side.cases:
        weight, error = math.log(count), 0.0
        combs: list[Integral] = []
        for placed, times in parts:
            measure = side.measures.of(placed.component)
            weight += measure.log_constant * times
            for f in measure.factors:
                if f.scope:
                    if not isinstance(f, Integral) or times > 1:
                        return None
                    combs.append(f)
                else:
                    value, off = f.log({})
                    weight, error = weight + times * float(value), error + times * float(np.max(off))
        comb = _comb(combs[0], weight, error) if len(combs) == 1 else None
        if comb is None:
            return None
        out.append(comb)
    return out


def _comb(f: Integral, weight: float, error: float) -> _Comb | None:
    steady = isinstance(f.law, Geometric) or (isinstance(f.law, ScipyDiscrete) and f.law.geometric)
    if not steady or f.lowers or f.uppers:
        return None
    assert isinstance(f.law, Geometric | ScipyDiscrete)
    factors = [g for g in f.factors if isinstance(g, Density) and _bounded(g, f.draw)]
    if not factors or len(factors) != len(f.factors):
        return None
    steps = {-g.place.coefficient(f.draw) / g.place.coefficient(Y) for g in factors}
    reach = min(_reach(g) for g in factors)
    return _Comb(weight, error, f.law, f.draw, tuple(factors), steps.pop(), reach) if len(steps) == 1 else None


def _bounded(g: Factor, draw: int) -> bool:
    """A density with both end points, of the coordinate and the draw."""
    assert isinstance(g, Density)
    both = g.place.variables() == {Y, draw}
    return both and isinstance(g.law, Continuous) and g.law.log_concave and all(map(math.isfinite, g.law.support))


def _reach(g: Density) -> Rational:
    at_zero = Expr(tuple((v, c) for v, c in g.place.terms if v == Y), g.place.constant)
    slope, offset = at_zero.coefficient(Y), at_zero.constant
    return max(abs((exact(x) - offset) / slope) for x in g.law.support)

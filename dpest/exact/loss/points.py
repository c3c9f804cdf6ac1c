"""The largest log ratio on points of a lattice: finitely many are all looked at, beyond the last of others laws declare it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpest.errors import BudgetExceeded
from dpest.exact.inference.lattice import MOST_POINTS
from dpest.exact.inference.rays import Ray
from dpest.exact.loss.blocks import Block
from dpest.exact.loss.far import Far, far
from dpest.exact.loss.logs import BothWays, Sup, covering, logs_at
from dpest.exact.loss.pieces import Piece, cell_edges, pieces
from dpest.exact.loss.shift import outgrown
from dpest.laws.law import Discrete
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import exact


def on_points(block: Block) -> BothWays:
    """The block's loss in both directions."""
    assert block.points is not None
    y = block.points()
    finite = _finite(block)
    p, q = (pieces(side) for side in (block.left, block.right)) if block.dimension == 1 and not finite else (None, None)
    if p and q:
        y = _with_kinks(y, [*p, *q])
    logs = logs_at(block, y)
    ways = covering(logs), covering(logs.swapped())
    if finite:
        return BothWays(*ways)
    apart = outgrown(block) if block.dimension == 1 else 0
    if apart:
        return BothWays(_without_bound(ways[0], -apart), _without_bound(ways[1], apart))
    if not p or not q:
        return BothWays(*(_unbounded(w) for w in ways))
    for side in (-1, 1):
        beyond = _beyond(p, q, y[:, 0], side)
        shown = logs.p[-1 if side > 0 else 0], logs.q[-1 if side > 0 else 0]
        ways = _with(ways[0], beyond[0], side, shown), _with(ways[1], beyond[1], side, shown[::-1])
    return BothWays(*ways)


_MARGIN = 64  # points beyond the last kink that are looked at: from there on laws declare how they decay


def _with_kinks(y: Floats, own: Sequence[Piece]) -> Floats:
    """The points with those around every place where a piece begins or ends: a condition may hold far out alone."""
    edges = [float(e) for e in cell_edges([own])]
    if not edges:
        return y
    first, last = math.floor(min(edges)), math.ceil(max(edges))
    low, high = (float(y[0, 0]), float(y[-1, 0])) if len(y) else (last + _MARGIN + 1.0, math.inf)
    below = np.arange(first - _MARGIN, low) if first < low else np.empty(0)
    above = np.arange(high + 1, last + _MARGIN + 1) if last > high else np.empty(0)
    if below.size + above.size > MOST_POINTS:
        raise BudgetExceeded(f"an output with {last - first:.3g} points; at most {MOST_POINTS} are listed")
    return np.unique(np.concatenate([below, y[:, 0], above]))[:, None] if below.size or above.size else y


def _finite(block: Block) -> bool:
    """Whether the points looked at are all that there are."""
    components = [p.component for s in (block.left, block.right) for parts, _ in s.cases for p, _ in parts if p.outputs]
    laws = [law for c in components for law in (*c.laws, *(f.law for f, _ in c.folded))]
    return all(law.finite if isinstance(law, Discrete) else all(map(math.isfinite, law.support)) for law in laws)


def _without_bound(sup: Sup, side: int) -> Sup:
    """A ratio that grows beyond every bound on one side."""
    if sup.value == math.inf or not sup.possible:
        return sup
    return replace(sup, value=math.inf, lower=math.inf, upper=math.inf, at=(side * math.inf,), limit=True)


def _unbounded(sup: Sup) -> Sup:
    return replace(sup, upper=math.inf) if sup.possible else sup


def _with(sup: Sup, f: Far, side: int, shown: tuple[float, float]) -> Sup:
    """A supremum over points with what lies beyond them."""
    if f.limit == math.inf:
        return Sup(math.inf, math.inf, math.inf, (side * math.inf,), float(shown[0]), float(shown[1]), limit=True)
    if not sup.possible or sup.value == math.inf:
        return sup
    sup = replace(sup, upper=max(sup.upper, f.upper))
    if f.limit is None or f.limit - f.error <= sup.lower:
        return sup
    return replace(sup, value=max(sup.value, f.limit), lower=f.limit - f.error)


def _beyond(p: Sequence[Piece], q: Sequence[Piece], y: Floats, side: int) -> tuple[Far, Far]:
    """What is declared of the ratio, and of its inverse, beyond the last point that was looked at."""
    end = exact(float(y[-1] if side > 0 else y[0]))
    span = float(y[-1] - y[0]) / 2
    ray = Ray(-1, side, end - side * exact(span), span)
    # Lattice coordinates are whole numbers, and the points looked at hold every one at which a piece begins or ends.
    one, two = ([x.tail(ray) for x in own if x.active(end + side)] for own in (p, q))
    return far(one, two, span), far(two, one, span)

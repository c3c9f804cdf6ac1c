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
from dpest.exact.loss.logs import BothWays, Logs, Sup, covering, logs_at
from dpest.exact.loss.pieces import Piece, cell_edges, pieces
from dpest.exact.loss.shift import outgrown
from dpest.laws.law import Discrete
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import exact


def on_points(block: Block) -> BothWays:
    """The block's loss in both directions."""
    assert block.points is not None
    try:
        y = block.points()
    except BudgetExceeded:
        if block.dimension > 1:
            raise
        return _on_some_points(block)
    finite = _finite(block)
    p, q = (pieces(side) for side in (block.left, block.right)) if block.dimension == 1 and not finite else (None, None)
    gaps: list[tuple[float, int]] = []
    if p and q:
        y, gaps = _with_kinks(y, [*p, *q])
    logs = logs_at(block, y)
    ways = covering(logs), covering(logs.swapped())
    if finite:
        return BothWays(*ways)
    apart = outgrown(block) if block.dimension == 1 else 0
    if apart:
        return BothWays(_without_bound(ways[0], -apart), _without_bound(ways[1], apart))
    if not p or not q:
        return BothWays(*(_at_most(w, math.inf) for w in ways))
    for end, side in gaps:
        between = _beyond(p, q, y[side * (y[:, 0] - end) <= 0, 0], side)
        ways = _at_most(ways[0], between[0].upper), _at_most(ways[1], between[1].upper)
    return BothWays(*_with_ends(ways, logs, p, q))


def _with_ends(ways: tuple[Sup, Sup], logs: Logs, p: Sequence[Piece], q: Sequence[Piece]) -> tuple[Sup, Sup]:
    """The suprema over points with what the laws declare beyond the first and the last of them."""
    for side in (-1, 1):
        beyond = _beyond(p, q, logs.y[:, 0], side)
        shown = logs.p[-1 if side > 0 else 0], logs.q[-1 if side > 0 else 0]
        ways = _with(ways[0], beyond[0], side, shown), _with(ways[1], beyond[1], side, shown[::-1])
    return ways


def _on_some_points(block: Block) -> BothWays:
    """What some of very many values show: a lower end, and an infinite loss where one law outgrows the other."""
    assert block.points is not None
    y = block.points(some=True)
    p, q = (pieces(side) for side in (block.left, block.right))
    if p and q:
        around = [_around(float(e)) for e in cell_edges([[*p, *q]])]
        y = np.unique(np.concatenate([y[:, 0], *around]))[:, None]
    logs = logs_at(block, y)
    ways = covering(logs), covering(logs.swapped())
    if not all(w.possible for w in ways):
        raise BudgetExceeded("outputs that lie between some of very many points")
    apart = outgrown(block)
    if apart:
        ways = _without_bound(ways[0], -apart), _without_bound(ways[1], apart)
    elif p and q and not _finite(block):
        ways = _with_ends(ways, logs, p, q)
    return BothWays(*(_at_most(w, math.inf) for w in ways))


_MARGIN = 64  # points beyond the last kink that are looked at: from there on laws declare how they decay
_EXACT = 2.0**52  # doubles tell neighbours apart up to there


def _with_kinks(y: Floats, own: Sequence[Piece]) -> tuple[Floats, list[tuple[float, int]]]:
    """The points with those around every place where a piece begins or ends: a condition may hold far out alone.

    What lies between is filled up as far as points go; of each gap that is left, where it begins and to which side it goes.
    """
    edges = [float(e) for e in cell_edges([own])]
    if not edges:
        return y, []
    if max(map(abs, edges)) > _EXACT or len(edges) * 2 * _MARGIN > MOST_POINTS:
        raise BudgetExceeded(f"an output with {max(edges) - min(edges):.3g} points; at most {MOST_POINTS} are listed")
    around = np.concatenate([_around(e) for e in edges])
    low, high = (float(y[0, 0]), float(y[-1, 0])) if len(y) else (around[0], around[0])
    points = np.unique(np.concatenate([y[:, 0], around[(around < low) | (around > high)], [low, high]]))
    left = MOST_POINTS - len(points)
    filled, gaps = [points], []
    starts, ends = points[:-1], points[1:]
    for i in np.flatnonzero((ends - starts > 1) & ((starts >= high) | (ends <= low))):
        start, end = float(starts[i]), float(ends[i])
        if end - start <= left:
            filled.append(np.arange(start + 1, end))
            left -= filled[-1].size
        else:
            gaps.append((start, 1) if start >= high else (end, -1))
    return np.sort(np.concatenate(filled))[:, None], gaps


def _around(edge: float) -> Floats:
    """Whole numbers around a place."""
    return np.arange(math.floor(edge) - _MARGIN, math.ceil(edge) + _MARGIN + 1.0)


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


def _at_most(sup: Sup, bound: float) -> Sup:
    """A supremum over points with more points, at which the ratio has a bound."""
    return replace(sup, upper=max(sup.upper, bound)) if sup.possible else sup


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

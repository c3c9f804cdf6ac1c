"""The largest log ratio on several real coordinates at once: a grid over the cells between kinks, then lines through its best.

Coordinate-wise ascent alone would stop on a ridge such as x = y; lines also go along sums and differences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np

from dpest.engine.expressions import Expr
from dpest.numerics.logspace import Floats
from dpest.privacy.blocks import Block, product_points
from dpest.privacy.line import Line, one_way
from dpest.privacy.logs import BothWays, Logs, Sup, best, logs_at

_MOST_POINTS = 20_000
_STARTS = 2
_SWEEPS = 6


def on_space(block: Block) -> BothWays:
    """The block's loss in both directions."""
    kinks = [k for k in (*block.left.kinks(), *block.right.kinks()) if k.terms]
    logs = logs_at(block, _grid(kinks, block)).above(block.log_floor)
    return BothWays(_climb(block, kinks, logs, swap=False), _climb(block, kinks, logs.swapped(), swap=True))


def _grid(kinks: list[Expr], block: Block) -> Floats:
    """Points in and between the cells that the kinks cut, as many as are affordable."""
    d = block.dimension
    columns = [_column(values, block.scale) for values in _vertices(kinks, d)]
    most = max(4, int(_MOST_POINTS ** (1 / d)))
    rng = np.random.Generator(np.random.SFC64(0))
    thin = [c if len(c) <= most else np.sort(rng.choice(c, most, replace=False)) for c in columns]
    return product_points(thin)


def _vertices(kinks: list[Expr], d: int) -> list[list[float]]:
    """For each coordinate, the values at which the kinks pin it, directly or through another coordinate."""
    values: list[set[float]] = [set() for _ in range(d)]
    for _ in range(3):
        for k in kinks:
            for v, c in k.terms:
                others = [(w, x) for w, x in k.terms if w != v]
                if len(others) > 1:
                    continue
                bases = [0.0] if not others else [others[0][1] * t for t in sorted(values[-1 - others[0][0]])[:8]]
                values[-1 - v].update(round(-(k.constant + b) / c, 12) for b in bases)
    return [sorted(v)[:12] or [0.0] for v in values]


def _column(values: list[float], scale: float) -> Floats:
    places = np.array(values)
    middles = 0.5 * (places[1:] + places[:-1])
    far = scale * np.array([0.5, 2.0, 8.0, 60.0])
    return np.unique(np.concatenate([places - 1e-9 * scale, places + 1e-9 * scale, middles, places[0] - far, places[-1] + far]))


def _climb(block: Block, kinks: list[Expr], logs: Logs, *, swap: bool) -> Sup:
    top = best(logs)
    if not math.isfinite(top.value):
        return top
    ratio = logs.ratio
    starts = [np.array(top.at), *(logs.y[i] for i in np.argsort(ratio)[::-1][: _STARTS - 1])]
    for start in starts:
        top = _ascend(block, kinks, start, top, swap)
        if top.value == math.inf:
            return top
    return top


def _ascend(block: Block, kinks: list[Expr], start: Floats, top: Sup, swap: bool) -> Sup:
    place = start
    here = -math.inf
    for _ in range(_SWEEPS):
        before = here
        for direction in _directions(block.dimension):
            sup = one_way(_line(block, kinks, place, direction, swap))
            found = _lifted(sup, place, direction)
            if found.value > top.value and (found.lower > top.upper or not found.limit):
                top = found
            if sup.value == math.inf:
                return top
            if sup.value > here and math.isfinite(sup.at[0] if sup.at else math.nan):
                here, place = sup.value, place + sup.at[0] * direction
        if here <= before + 1e-13 * max(1.0, abs(here)):
            break
    return top


def _directions(d: int) -> Iterable[Floats]:
    unit = np.eye(d)
    yield from unit
    for i, j in itertools.combinations(range(d), 2):
        yield unit[i] + unit[j]
        yield unit[i] - unit[j]
    if d > 2:
        yield np.ones(d)


def _line(block: Block, kinks: list[Expr], place: Floats, direction: Floats, swap: bool) -> Line:
    """The block along a line through a place."""
    crossings = [0.0]
    for k in kinks:
        slope = sum(c * direction[-1 - v] for v, c in k.terms)
        if abs(slope) > 1e-12:
            crossings.append(-(k.constant + sum(c * place[-1 - v] for v, c in k.terms)) / slope)

    def evaluate(t: Floats) -> Logs:
        logs = logs_at(block, place[None, :] + t[:, None] * direction[None, :])
        logs = Logs(t[:, None], logs.p, logs.q, logs.error)
        return logs.swapped() if swap else logs

    return Line(evaluate, np.unique(np.round(crossings, 12)), block.scale, block.log_floor)


def _lifted(sup: Sup, place: Floats, direction: Floats) -> Sup:
    """A supremum on a line, with its place in space."""
    if not sup.at:
        return sup
    if math.isinf(sup.at[0]):
        at = tuple(float(p) if d == 0 else math.copysign(math.inf, d * sup.at[0]) for p, d in zip(place, direction, strict=True))
    else:
        at = tuple(float(v) for v in place + sup.at[0] * direction)
    return Sup(sup.value, sup.lower, sup.upper, at, sup.log_p, sup.log_q, sup.limit)

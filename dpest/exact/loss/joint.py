"""The largest log ratio on several real coordinates at once: a grid over the cells between kinks, then a climb from its best.

The climb looks along coordinates, sums and differences of them (coordinates alone would stop on a ridge such as
x = y), at distances of every order of magnitude and at the kinks, all in one evaluation; the tails likewise.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from dpest.exact.inference.expressions import Expr
from dpest.exact.loss.blocks import Block, product_points
from dpest.exact.loss.cover import as_good_as
from dpest.exact.loss.logs import ANY, OPEN_ENDED, BothWays, Ends, Logs, Sup, best, logs_at
from dpest.exact.loss.proved import limit_along
from dpest.exact.loss.tails import ray_limit
from dpest.numerics.logspace import Floats

_MOST_POINTS = 1_600  # starting points in all coordinates together: 40 for each of two, 11 for each of three
_STEPS = 200  # of a climb: an end for one that improves by ever less
# Steps of this many scales lead away, to a limit that is looked at afterwards: after a few of them the climb ends.
_STRIDE = 16.0
_MOST_STRIDES = 4  # such steps in one climb: after so many it is on its way to infinity
_AROUND = 256  # places around a corner of a cell: few of them lie in it, and one is enough
_SIZES = np.power(4.0, np.arange(-20, 4))
_DISTANCES: Floats = np.power(2.0, np.arange(3, 11))


def on_space(block: Block, worth: Ends = ANY, most: Ends = OPEN_ENDED) -> BothWays:
    """The block's loss in both directions; where one has no worth, or the grid shows `most`, only what the grid shows of it."""
    kinks = list(dict.fromkeys(k for k in (*block.left.kinks(), *block.right.kinks()) if k.terms))
    logs = _evaluated(block, _grid(kinks, block), False).above(block.log_floor)
    ways = []
    for swap in (False, True):
        top = best(logs.swapped() if swap else logs)
        if worth[swap] == math.inf or as_good_as(top.lower, most[swap]):
            ways.append(replace(top, upper=math.inf) if top.possible else top)
            continue
        if math.isfinite(top.value) and np.any((top.at == logs.y.min(axis=0)) | (top.at == logs.y.max(axis=0))):
            top = _with_tails(block, top, swap)  # first: a ratio without bound would be climbed for ever
        if math.isfinite(top.value) and all(map(math.isfinite, top.at)):
            top = _climbed(block, kinks, top, swap)
            top = _with_tails(block, top, swap) if math.isfinite(top.value) else top
        # A search proves what it reached and nothing more.
        ways.append(replace(top, upper=math.inf) if top.possible else top)
    return BothWays(ways[0], ways[1])


def with_place(block: Block, found: BothWays, places: tuple[tuple[float, ...], tuple[float, ...]]) -> BothWays:
    """The suprema with what is found around a place for each direction, where one is given; it may be a corner of a cell."""
    ways = []
    for sup, place, swap in ((found.forward, places[0], False), (found.backward, places[1], True)):
        if place and sup.possible and sup.value < math.inf:
            around = np.tile(np.array(place), (_AROUND, 1))  # each is moved by another tiny amount
            top = best(_evaluated(block, around, swap).above(block.log_floor))
            # As on the way of a climb, a density of zero beside a kink proves nothing.
            sup = replace(top, upper=math.inf) if sup.lower < top.lower < math.inf else sup
        ways.append(sup)
    return BothWays(ways[0], ways[1])


def _evaluated(block: Block, y: Floats, swap: bool) -> Logs:
    """Both densities at places moved by tiny odd amounts: on a boundary of a law both of its sides would count."""
    odd = np.sin(np.arange(1, y.size + 1) * np.e).reshape(y.shape)
    logs = logs_at(block, y + (1e-11 * block.scale + 1e-14 * np.abs(y)) * odd)
    return logs.swapped() if swap else logs


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
            for v, c in ((v, float(c)) for v, c in k.terms):
                others = [(w, float(x)) for w, x in k.terms if w != v]
                if len(others) > 1:
                    continue
                bases = [0.0] if not others else [others[0][1] * t for t in sorted(values[-1 - others[0][0]])[:8]]
                values[-1 - v].update(round(-(float(k.constant) + b) / c, 12) for b in bases)
    return [sorted(v)[:12] or [0.0] for v in values]


def _column(values: list[float], scale: float) -> Floats:
    places = np.array(values)
    middles = 0.5 * (places[1:] + places[:-1])
    far = scale * np.array([0.5, 2.0, 8.0, 60.0])
    side = 1e-12 * np.maximum(scale, np.abs(places))
    return np.unique(np.concatenate([places - side, places + side, middles, places[0] - far, places[-1] + far]))


def _directions(d: int) -> Floats:
    unit = np.eye(d)
    pairs = [unit[i] + s * unit[j] for i, j in itertools.combinations(range(d), 2) for s in (1, -1)]
    return np.array([*unit, *pairs, *([np.ones(d)] if d > 2 else [])])


def _climbed(block: Block, kinks: list[Expr], top: Sup, swap: bool) -> Sup:
    """Moves to the best of many places around, until none is better by more than rounding."""
    planes = np.array([[float(k.coefficient(-1 - i)) for i in range(block.dimension)] for k in kinks])
    planes, constants = planes.reshape(len(kinks), block.dimension), np.array([float(k.constant) for k in kinks])
    directions = _directions(block.dimension)
    strides = 0
    for _ in range(_STEPS):
        place = np.array(top.at)
        offsets = _offsets(planes, constants, place, directions, block.scale)
        found = best(_evaluated(block, place + offsets, swap).above(block.log_floor))
        # Beside a kink a density of zero may be rounding: a place that is met on the way proves no infinite loss.
        if found.value == math.inf or not found.value > top.value + (found.upper - found.value):
            return top
        strides += bool(np.abs(np.array(found.at) - place).max() >= _STRIDE * block.scale)
        top = found
        if strides == _MOST_STRIDES:
            break
    return top


def _offsets(planes: Floats, constants: Floats, place: Floats, directions: Floats, scale: float) -> Floats:
    """Steps of every size in every direction, and to either side of every kink on the way."""
    out = []
    values = constants + planes @ place
    for direction in directions:
        slopes = planes @ direction
        crossed = np.abs(slopes) > 1e-12
        t = -values[crossed] / slopes[crossed]
        side = 1e-12 * np.maximum(scale, np.abs(t))
        out.append(np.concatenate([scale * _SIZES, -scale * _SIZES, t - side, t + side])[:, None] * direction)
    return np.concatenate(out)


def _with_tails(block: Block, top: Sup, swap: bool) -> Sup:
    """The supremum, with what happens along every direction from its place taken in."""
    place = np.array(top.at)
    rays = np.array([sign * v for v in _directions(block.dimension) for sign in (1, -1)])
    steps = _DISTANCES if block.log_floor == -math.inf else _DISTANCES / 64
    y = place + block.widest * steps[None, :, None] * rays[:, None, :]
    logs = _evaluated(block, y.reshape(-1, block.dimension), swap)
    flat = _flat(logs, len(steps), top)
    for i, ray in enumerate(rays):
        if flat[i]:
            continue
        part = slice(i * len(steps), (i + 1) * len(steps))
        tail = Logs(logs.y[part], logs.p[part], logs.q[part], logs.error[part])
        towards = tuple(float(p) if r == 0 else math.copysign(math.inf, r) for p, r in zip(place, ray, strict=True))
        if _promising(tail, top):
            top = _larger(top, _declared(block, place, ray, towards, swap))
        if top.value == math.inf:
            return top
        if len(tail.above(block.log_floor).y) == len(steps) and np.isfinite(tail.ratio).all():
            top = _extrapolated(top, tail, steps, towards)
    return top


def _flat(logs: Logs, steps: int, top: Sup) -> list[bool]:
    """For each ray, whether the ratio is constant along it, up to rounding, and no more than what is known: it adds nothing."""
    ratio, slack = logs.ratio.reshape(-1, steps), logs.slack().reshape(-1, steps)
    with np.errstate(invalid="ignore"):
        spread = ratio.max(axis=1) - ratio.min(axis=1)
    low_enough = ratio.max(axis=1) <= top.value
    return [bool(x) for x in (spread <= slack[:, -1]) & low_enough]


def _promising(tail: Logs, top: Sup) -> bool:
    """Whether values further and further out still grow, or move near what is known; flat ones add nothing to it."""
    last, before = tail.ratio[-1], tail.ratio[-2]
    slack = 2 * float(tail.slack()[-1])
    flat = bool(before - slack <= last <= min(before, top.value) + slack)
    return not (flat or last < top.value - 1e-3 * abs(top.value)) or bool(last > before + slack)


def _declared(block: Block, place: Floats, direction: Floats, towards: tuple[float, ...], swap: bool) -> Sup | None:
    """The limit along a direction that the laws' tails prove; None where they do not tell."""
    ways = limit_along(block, place, direction)
    found = None if ways is None else ways[1] if swap else ways[0]
    if found is None or found.limit is None or found.limit == -math.inf:
        return None
    shown = _evaluated(block, (place + 64 * block.widest * direction)[None, :], swap)
    ends = (math.inf,) * 2 if found.limit == math.inf else (found.limit - found.error, found.limit + found.error)
    return Sup(found.limit, *ends, towards, float(shown.p[0]), float(shown.q[0]), limit=True)


def _larger(a: Sup, b: Sup | None) -> Sup:
    """The larger supremum; one that exceeds what is attained by no more than its error changes nothing."""
    return a if b is None or b.lower <= a.upper else b


def _extrapolated(top: Sup, tail: Logs, distance: Floats, towards: tuple[float, ...]) -> Sup:
    """What values further and further out seem to tend to is the estimate; the largest of them is what was reached."""
    reached = best(tail)
    top = top if top.value >= reached.value else replace(reached, at=towards, limit=True)
    seems = ray_limit(tail.ratio, distance, float(tail.slack()[-1]))
    if not math.isfinite(seems.value) or seems.lower <= top.upper:
        return top
    shown = float(tail.p[-1]), float(tail.q[-1])
    return Sup(seems.value, max(top.lower, reached.lower), math.inf, towards, *shown, limit=True)

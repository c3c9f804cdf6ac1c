"""The largest log ratio of two laws on one block of output coordinates, in both directions, and where it is.

Between the kinks of both densities the log ratio is smooth: it is scanned there, its local maxima are refined, and its
limits in every tail direction are extrapolated. A point that one law can produce and the other cannot is a proof of an
infinite loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpest.numerics.logspace import Floats
from dpest.privacy.blocks import Block, Kind
from dpest.privacy.tails import ray_limit

_SCAN = 24  # points between two kinks
_SIDE = 1e-12  # how far beside a kink its one-sided values are taken, relative to the scale
_ROUND = 2.3e-16


@dataclass(frozen=True)
class Sup:
    """A supremum of ln p - ln q: its value with a bracket, and a place that attains or approaches it."""

    value: float
    lower: float
    upper: float
    at: tuple[float, ...] = ()
    log_p: float = 0.0  # at that place
    log_q: float = 0.0
    limit: bool = False
    ray: int = 0  # +1 or -1: every place beyond `at` on that side of a single coordinate attains it too

    @property
    def possible(self) -> bool:
        """Whether the first law gives the block any mass at all."""
        return self.value > -math.inf


NOTHING = Sup(-math.inf, -math.inf, -math.inf, log_p=-math.inf)


@dataclass(frozen=True)
class BothWays:
    """The suprema of ln p - ln q and of ln q - ln p."""

    forward: Sup
    backward: Sup


def supremum(block: Block) -> BothWays:
    """The block's loss in both directions."""
    if block.equal:
        return _equal(block)
    if block.dimension == 0:
        return _number(block)
    if block.kinds[0] is Kind.LATTICE:
        return _on_lattice(block)
    if block.dimension == 1:
        return _on_line(block)
    from dpest.privacy.joint import on_space

    return on_space(block)


@dataclass(frozen=True)
class Logs:
    """Both log densities at some places, and the relative error of each."""

    y: Floats
    p: Floats
    q: Floats
    error: Floats

    def swapped(self) -> Logs:
        """The other direction."""
        return Logs(self.y, self.q, self.p, self.error)

    @property
    def ratio(self) -> Floats:
        """ln p - ln q; minus infinity where p is impossible."""
        with np.errstate(invalid="ignore"):
            return np.where(self.p == -np.inf, -np.inf, self.p - self.q)

    def rounding(self) -> Floats:
        """How far the ratio at each place may be off by rounding alone."""
        size = sum(np.where(np.isfinite(v), np.abs(v), 0.0) for v in (self.p, self.q))
        return _ROUND * (2 + np.asarray(size))

    def slack(self) -> Floats:
        """How far the ratio at each place may be off."""
        return self.error + self.rounding()

    def above(self, floor: float) -> Logs:
        """The places at which both densities are large enough to be known."""
        if floor == -math.inf:
            return self
        keep = (np.maximum(self.p, self.q) > floor) & (np.minimum(self.p, self.q) > 2 * floor)
        return Logs(self.y[keep], self.p[keep], self.q[keep], self.error[keep])

    def join(self, other: Logs) -> Logs:
        """Both sets of places."""
        return Logs(
            np.concatenate([self.y, other.y]),
            np.concatenate([self.p, other.p]),
            np.concatenate([self.q, other.q]),
            np.concatenate([self.error, other.error]),
        )


def logs_at(block: Block, y: Floats) -> Logs:
    """Both log densities at the rows of y."""
    p, e = block.left.log(y)
    q, f = block.right.log(y)
    return Logs(y, p, q, e + f)


def best(logs: Logs) -> Sup:
    """The largest ratio among the places looked at; of those that attain it up to their error, the likeliest one."""
    ratio = logs.ratio
    if not ratio.size or ratio.max() == -np.inf:
        return NOTHING
    slack, rounding = logs.slack(), logs.rounding()
    top = int(np.argmax(ratio))
    value = float(ratio[top])
    near = ratio == value if value == math.inf else ratio + rounding >= value - rounding[top]
    i = int(np.argmax(np.where(near, logs.p, -np.inf)))
    low, high = float(ratio[i] - slack[i]), float(max(ratio[i], value) + slack[i])
    if value == math.inf:
        low = high = value
    return Sup(float(ratio[i]), low, high, tuple(float(v) for v in logs.y[i]), float(logs.p[i]), float(logs.q[i]))


def _equal(block: Block) -> BothWays:
    if block.left.impossible:
        return BothWays(NOTHING, NOTHING)
    zero = Sup(0.0, 0.0, 0.0)
    if block.dimension == 0:
        logs = logs_at(block, np.empty((1, 0)))
        if logs.p[0] == -np.inf:
            return BothWays(NOTHING, NOTHING)
        zero = Sup(0.0, 0.0, 0.0, (), float(logs.p[0]), float(logs.p[0]))
    return BothWays(zero, zero)


def _number(block: Block) -> BothWays:
    logs = logs_at(block, np.empty((1, 0)))
    return BothWays(best(logs), best(logs.swapped()))


# -- lattices ----------------------------------------------------------------------------------------------------------


def _on_lattice(block: Block) -> BothWays:
    assert block.points is not None
    y = block.points()
    logs = logs_at(block, y)
    ways = [best(logs), best(logs.swapped())]
    if block.dimension == 1 and len(y) > 64:
        steps = np.diff(y[:, 0])
        step = float(steps.min())
        for sign, end in ((1, y[-1, 0]), (-1, y[0, 0])):
            ways = _with_tail(block, ways, float(end), sign, step, whole=True)
    return BothWays(ways[0], ways[1])


def _with_tail(block: Block, ways: list[Sup], end: float, sign: int, step: float, *, whole: bool) -> list[Sup]:
    """The suprema, with the limit in one tail taken in; a lattice's tail goes in whole steps."""
    distance = 2.0 ** np.arange(3, 11)
    if block.log_floor > -math.inf:
        far = logs_at(block, (end + sign * step * 2.0 ** np.arange(-6, 11))[:, None])
        known = np.flatnonzero((far.p > block.log_floor) & (far.q > block.log_floor))
        if known.size < 8:
            return ways
        distance = 2.0 ** (known[-1] - 6 - np.arange(7, -1, -1, dtype=float))
    y = end + sign * step * distance
    logs = logs_at(block, y[:, None])
    if whole and not (logs.p > -np.inf).any() and not (logs.q > -np.inf).any():
        return ways
    out = []
    for sup, side in ((ways[0], logs), (ways[1], logs.swapped())):
        out.append(_larger(sup, _tail(side, distance, sign * math.inf)))
    return out


def _tail(logs: Logs, distance: Floats, place: float) -> Sup:
    """The limit along places at doubling distances, reported as at `place`."""
    ratio = logs.ratio
    if not np.isfinite(logs.p[-1]) or not np.isfinite(ratio).all():
        return best(logs)
    ray = ray_limit(ratio, distance, float(logs.slack()[-1]))
    shown = 0 if ray.value == math.inf else -1
    at = float(logs.p[shown]), float(logs.q[shown])
    return Sup(ray.value, ray.lower, ray.upper, (place,), *at, limit=not ray.attained)


def _larger(a: Sup, b: Sup) -> Sup:
    """The larger supremum; a tail counts only where it exceeds what is attained by more than its error."""
    return b if b.value > a.value and (b.lower > a.upper or not a.possible) else a


# -- one real coordinate -----------------------------------------------------------------------------------------------


def line_kinks(block: Block) -> Floats:
    """The places on a line at which either density has a kink."""
    places = []
    for k in (*block.left.kinks(), *block.right.kinks()):
        if k.terms:
            places.append(-k.constant / k.terms[0][1])
    return np.unique(np.round(np.array(places, float), 12)) if places else np.zeros(1)


def _on_line(block: Block) -> BothWays:
    kinks = line_kinks(block)
    logs = logs_at(block, _scan(kinks, block.scale)[:, None]).above(block.log_floor)
    ways = []
    for swap in (False, True):
        side = logs.swapped() if swap else logs
        refined = _refined(side, lambda y, s=swap: _line_logs(block, y, s))
        ways.append(best(refined))
    ways = [_at_kink(block, ways[0], kinks, swap=False), _at_kink(block, ways[1], kinks, swap=True)]
    inside = logs.y[:, 0] if block.log_floor > -math.inf else kinks
    known = kinks[(kinks >= inside.min()) & (kinks <= inside.max())]
    for sign, end in ((1, known[-1]), (-1, known[0])):
        ways = _with_tail(block, ways, float(end), sign, block.scale, whole=False)
    return BothWays(_with_ray(ways[0], logs, kinks), _with_ray(ways[1], logs.swapped(), kinks))


def _at_kink(block: Block, sup: Sup, kinks: Floats, *, swap: bool) -> Sup:
    """A supremum that is found beside a kink may be a limit there, finite or not: it is approached to find out."""
    if not math.isfinite(sup.value) or not sup.at:
        return sup
    kink = float(kinks[np.argmin(np.abs(kinks - sup.at[0]))])
    if abs(sup.at[0] - kink) > 1e-9 * max(block.scale, abs(kink)):
        return sup
    sign = 1 if sup.at[0] > kink else -1
    distance = 8.0 ** np.arange(2, 10)
    logs = _line_logs(block, kink + sign * block.scale / distance, swap)
    limit = _tail(logs, distance, kink)
    return limit if limit.value == math.inf else sup


def _line_logs(block: Block, y: Floats, swap: bool) -> Logs:
    logs = logs_at(block, y[:, None])
    return logs.swapped() if swap else logs


def _scan(kinks: Floats, scale: float) -> Floats:
    """Places between, beside and beyond the kinks."""
    unit = 0.5 - 0.5 * np.cos(math.pi * (np.arange(_SCAN) + 0.5) / _SCAN)
    low, high = kinks[:-1, None], kinks[1:, None]
    inner = (low + (high - low) * unit).ravel()
    side = _SIDE * np.maximum(np.abs(kinks), scale)
    far = scale * np.concatenate([np.linspace(0.05, 8.0, 48), np.geomspace(8.5, 60.0, 16)])
    return np.unique(np.concatenate([inner, kinks - side, kinks + side, kinks[0] - far, kinks[-1] + far]))


def _refined(logs: Logs, evaluate: Callable[[Floats], Logs]) -> Logs:
    """The scan, with points crowded around its best local maxima."""
    for _ in range(9):
        order = np.argsort(logs.y[:, 0])
        y, ratio = logs.y[order, 0], logs.ratio[order]
        if not np.isfinite(ratio.max()):
            return logs
        inner = np.flatnonzero((ratio[1:-1] >= ratio[:-2]) & (ratio[1:-1] >= ratio[2:])) + 1
        with np.errstate(invalid="ignore"):
            flat = 2 * ratio[inner] - ratio[inner + 1] - ratio[inner - 1]
        inner = inner[flat > 1e-14 * np.maximum(1.0, np.abs(ratio[inner]))]
        top = inner[np.argsort(ratio[inner])[-3:]]
        top = top[ratio[top] > ratio.max() - 0.05 * max(1.0, abs(float(ratio.max())))]
        if not top.size:
            return logs
        logs = logs.join(evaluate(np.concatenate([np.linspace(y[i - 1], y[i + 1], 19)[1:-1] for i in top])))
    return logs


def _with_ray(sup: Sup, logs: Logs, kinks: Floats) -> Sup:
    """Marks a supremum that a whole half-line attains: an event with a probability, not only a density."""
    if not math.isfinite(sup.value) or sup.limit or not sup.at or not math.isfinite(sup.at[0]):
        return sup
    ratio, y = logs.ratio, logs.y[:, 0]
    holds = (ratio >= sup.value - 2 * logs.slack()) | (logs.p == -np.inf)
    for sign in (1, -1):
        beyond = sign * y >= sign * sup.at[0]
        if beyond.sum() > 30 and holds[beyond].all():
            return replace(sup, at=(_snapped(_ray_start(y, holds, sign), kinks),), ray=sign)
    return replace(sup, at=(_snapped(sup.at[0], kinks),))


def _snapped(y: float, kinks: Floats) -> float:
    """A place beside a kink, as the kink itself."""
    kink = float(kinks[np.argmin(np.abs(kinks - y))])
    return kink if abs(y - kink) <= 1e-9 * max(1.0, abs(kink)) else y


def _ray_start(y: Floats, holds: Floats, sign: int) -> float:
    order = np.argsort(-sign * y)
    run = np.cumprod(holds[order].astype(int)).astype(bool)
    return float(y[order][run][-1])

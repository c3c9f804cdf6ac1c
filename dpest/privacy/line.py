"""The largest log ratio along a line: between its kinks, at them, and in both tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpest.numerics.logspace import Floats
from dpest.privacy.blocks import Block
from dpest.privacy.logs import BothWays, Logs, Sup, best, logs_at
from dpest.privacy.tails import ray_limit

_SCAN = 24  # points between two kinks
_SIDE = 1e-12  # how far beside a kink its one-sided values are taken, relative to the scale
_FAR = np.concatenate([np.linspace(0.05, 8.0, 48), np.geomspace(8.5, 60.0, 16)])


@dataclass(frozen=True, eq=False)
class Line:
    """Both densities as functions of one number: places -> logs, where the kinks are, and how fast things change."""

    evaluate: Callable[[Floats], Logs]
    kinks: Floats
    scale: float
    widest: float  # the largest scale of any law in it
    log_floor: float  # the log density below which nothing is claimed

    def swapped(self) -> Line:
        """The other direction."""
        return replace(self, evaluate=lambda t: self.evaluate(t).swapped())


def block_line(block: Block) -> Line:
    """A block with one real coordinate."""
    return Line(lambda t: logs_at(block, t[:, None]), line_kinks(block), block.scale, block.widest, block.log_floor)


def line_kinks(block: Block) -> Floats:
    """The places at which either density of a block with one coordinate has a kink."""
    places = [float(-k.constant / k.terms[0][1]) for k in (*block.left.kinks(), *block.right.kinks()) if k.terms]
    return np.unique(np.round(np.array(places, float), 12)) if places else np.zeros(1)


def both_ways(line: Line) -> BothWays:
    """The suprema along a line in both directions; scan and tails are shared."""
    logs = line.evaluate(_scan(line)).above(line.log_floor)
    inside = logs.y[:, 0] if line.log_floor > -math.inf and len(logs.y) else line.kinks
    known = line.kinks[(line.kinks >= inside.min()) & (line.kinks <= inside.max())]
    # The ratio settles at distances that are large beside the spread of the kinks, too.
    spread = float(np.ptp(known)) / 8 if known.size else 0.0
    ends = (float(known.min()), float(known.max())) if known.size else (float(np.median(inside)),) * 2
    tails = [t for sign, end in zip((-1, 1), ends, strict=True) if (t := tail_logs(line, end, sign, max(line.widest, spread)))]
    ways = []
    for way in (line, line.swapped()):
        sup = _at_kink(way, best(_refined(logs, way.evaluate)))
        for tail in tails:
            sup = larger(sup, tail.limit())
        ways.append(_still_growing(line, _with_ray(sup, logs, line.kinks), logs))
        logs, tails = logs.swapped(), [t.swapped() for t in tails]
    return BothWays(ways[0], ways[1])


def _still_growing(line: Line, sup: Sup, logs: Logs) -> Sup:
    """A supremum at the last place where the densities are known, if the ratio still grows there, has no upper end."""
    if line.log_floor == -math.inf or not math.isfinite(sup.value) or len(logs.y) < 8:
        return sup
    order = np.argsort(logs.y[:, 0])
    for outer in (order[-6:], order[:6][::-1]):
        ratio, slack = logs.ratio[outer], logs.slack()[outer]
        if ratio[-1] + slack[-1] >= sup.lower and ratio[-1] - ratio[0] > 4 * (slack[0] + slack[-1]):
            return replace(sup, upper=math.inf)
    return sup


def _scan(line: Line) -> Floats:
    """Places between, beside and beyond the kinks."""
    kinks, scale = line.kinks, line.scale
    unit = 0.5 - 0.5 * np.cos(math.pi * (np.arange(_SCAN) + 0.5) / _SCAN)
    low, high = kinks[:-1, None], kinks[1:, None]
    inner = (low + (high - low) * unit).ravel()
    side = _SIDE * np.maximum(np.abs(kinks), scale)
    far = scale * _FAR if line.widest <= 2 * scale else np.concatenate([scale * _FAR, line.widest * _FAR])
    return np.unique(np.concatenate([inner, kinks - side, kinks + side, kinks[0] - far, kinks[-1] + far]))


def _refined(logs: Logs, evaluate: Callable[[Floats], Logs]) -> Logs:
    """The scan, with points crowded around its best local maxima."""
    for _ in range(9):
        order = np.argsort(logs.y[:, 0])
        y, ratio, slack = logs.y[order, 0], logs.ratio[order], logs.slack()[order]
        if not ratio.size or not np.isfinite(ratio.max()):
            return logs
        inner = np.flatnonzero((ratio[1:-1] >= ratio[:-2]) & (ratio[1:-1] >= ratio[2:])) + 1
        with np.errstate(invalid="ignore"):
            flat = 2 * ratio[inner] - ratio[inner + 1] - ratio[inner - 1]
        # A smooth maximum exceeds the largest of three points by an eighth of their second difference at the most.
        inner = inner[(flat > 2 * slack[inner]) & (ratio[inner] + 2 * flat >= ratio.max())]
        top = inner[np.argsort(ratio[inner])[-3:]]
        if not top.size:
            return logs
        logs = logs.join(evaluate(np.concatenate([np.linspace(y[i - 1], y[i + 1], 19)[1:-1] for i in top])))
    return logs


def _at_kink(line: Line, sup: Sup) -> Sup:
    """A supremum that is found beside a kink may be a limit there without bound: it is approached to find out."""
    if not math.isfinite(sup.value) or not sup.at:
        return sup
    kink = float(line.kinks[np.argmin(np.abs(line.kinks - sup.at[0]))])
    if abs(sup.at[0] - kink) > 1e-9 * max(line.scale, abs(kink)):
        return sup
    sign = 1 if sup.at[0] > kink else -1
    distance = np.power(8.0, np.arange(2, 10))
    limit = Tail(line.evaluate(kink + sign * line.scale / distance), distance, (kink,)).limit()
    return limit if limit.value == math.inf else _exactly_there(line, sup, kink)


def _exactly_there(line: Line, sup: Sup, kink: float) -> Sup:
    """The value at the kink itself where the ratio is continuous there: what lies beside it is a little smaller."""
    there = best(line.evaluate(np.array([kink])))
    continuous = math.isfinite(there.value) and abs(there.value - sup.value) <= 1e-9 * max(1.0, abs(sup.value))
    return there if continuous and there.value > sup.value else sup


@dataclass(frozen=True, eq=False)
class Tail:
    """Both densities at places further and further out."""

    logs: Logs
    distance: Floats
    place: tuple[float, ...]  # what they tend to
    far: bool = True  # whether they go far enough to tell growth from slow convergence

    def swapped(self) -> Tail:
        """The other direction."""
        return replace(self, logs=self.logs.swapped())

    def limit(self) -> Sup:
        """What the log ratio tends to."""
        ratio = self.logs.ratio
        if not np.isfinite(self.logs.p[-1]) or not np.isfinite(ratio).all():
            return best(self.logs)
        ray = ray_limit(ratio, self.distance, float(self.logs.slack()[-1]), far=self.far)
        shown = 0 if ray.value == math.inf else -1
        at = float(self.logs.p[shown]), float(self.logs.q[shown])
        return Sup(ray.value, ray.lower, ray.upper, self.place, *at, limit=not ray.attained, flat=ray.flat)


def tail_logs(line: Line, end: float, sign: int, step: float) -> Tail | None:
    """A line's tail on one side, as far out as the densities are known; None where that is nowhere."""
    distance = np.power(2.0, np.arange(3, 11))
    if line.log_floor > -math.inf:
        far = line.evaluate(end + sign * step * np.power(2.0, np.arange(-6, 11)))
        known = np.flatnonzero((far.p > line.log_floor) & (far.q > line.log_floor))
        if known.size < 8:
            return None
        distance = np.power(2.0, known[-1] - 6 - np.arange(7, -1, -1, dtype=float))
    known_far = line.log_floor == -math.inf
    return Tail(line.evaluate(end + sign * step * distance), distance, (sign * math.inf,), known_far)


def larger(a: Sup, b: Sup) -> Sup:
    """The larger supremum; a tail that exceeds what is attained by no more than its error only widens the bracket."""
    if not a.possible or (b.value > a.value and b.lower > a.upper):
        return b
    return replace(a, upper=max(a.upper, b.upper)) if b.value > a.upper and not b.flat else a


def _with_ray(sup: Sup, logs: Logs, kinks: Floats) -> Sup:
    """Marks a supremum that a whole half-line attains: an event with a probability, not only a density."""
    if not math.isfinite(sup.value) or sup.limit or not sup.at or not math.isfinite(sup.at[0]):
        return sup
    possible = logs.p > -np.inf
    ratio, y = logs.ratio[possible], logs.y[possible, 0]
    holds = ratio >= sup.value - 2 * logs.slack()[possible]
    for sign in (1, -1):
        beyond = sign * y >= sign * sup.at[0]
        if beyond.sum() > 30 and holds[beyond].all():
            return replace(sup, at=(_snapped(_ray_start(y, holds, sign), kinks),), ray=sign)
    return replace(sup, at=(_snapped(sup.at[0], kinks),))


def _snapped(y: float, kinks: Floats) -> float:
    """A place beside a kink, as the kink itself."""
    kink = float(kinks[np.argmin(np.abs(kinks - y))])
    return kink if abs(y - kink) <= 1e-9 * max(1.0, abs(kink)) else y


def _ray_start(y: Floats, holds: npt.NDArray[np.bool_], sign: int) -> float:
    order = np.argsort(-sign * y)
    run = np.cumprod(holds[order].astype(int)).astype(bool)
    return float(y[order][run][-1])

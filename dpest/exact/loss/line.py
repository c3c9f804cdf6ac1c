"""Both densities along a line, and a search for their largest log ratio: between kinks, beside them, and far out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpest.exact.loss.blocks import Block
from dpest.exact.loss.logs import BothWays, Logs, Sup, best, logs_at
from dpest.numerics.logspace import Floats

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
    return np.unique(np.array(places, float)) if places else np.zeros(1)


def searched(line: Line) -> BothWays:
    """The largest ratios that a search along a line finds, in both directions: losses that are reached, and no upper end."""
    logs = line.evaluate(scan(line)).above(line.log_floor)
    middles = 0.5 * (line.kinks[1:] + line.kinks[:-1])
    logs = logs.join(line.evaluate(middles)) if middles.size else logs
    for sign, end in ((-1, float(line.kinks[0])), (1, float(line.kinks[-1]))):
        tail = line.evaluate(_off(end + sign * line.widest * np.power(2.0, np.arange(3, 11)), line.scale))
        logs = logs.join(tail.above(line.log_floor))
    ways = []
    for way in (line, line.swapped()):
        ways.append(_reached(_refined(_certain(logs, middles), way.evaluate)))
        logs = logs.swapped()
    return BothWays(ways[0], ways[1])


def _certain(logs: Logs, middles: Floats) -> Logs:
    """The places at which both densities are positive, and those between kinks: beside a kink a zero may be rounding."""
    keep = (np.isfinite(logs.p) & np.isfinite(logs.q)) | np.isin(logs.y[:, 0], middles)
    return logs.pick(keep)


def _reached(logs: Logs) -> Sup:
    """The largest ratio among places, as a lower end."""
    found = best(logs)
    return replace(found, upper=math.inf) if found.possible else found


def scan(line: Line) -> Floats:
    """Places between, beside and beyond the kinks."""
    kinks, scale = line.kinks, line.scale
    unit = 0.5 - 0.5 * np.cos(math.pi * (np.arange(_SCAN) + 0.5) / _SCAN)
    low, high = kinks[:-1, None], kinks[1:, None]
    inner = (low + (high - low) * unit).ravel()
    side = _SIDE * np.maximum(np.abs(kinks), scale)
    far = scale * _FAR if line.widest <= 2 * scale else np.concatenate([scale * _FAR, line.widest * _FAR])
    places = np.unique(np.concatenate([inner, kinks - side, kinks + side, kinks[0] - far, kinks[-1] + far]))
    return _off(places, scale)


def _off(places: Floats, scale: float) -> Floats:
    """Places moved by tiny odd amounts: at a step of a density that is not known as a kink both of its sides would count."""
    odd = np.sqrt(2.0) * np.sin(np.arange(1, places.size + 1) * np.e)
    return np.asarray(places + 1e-9 * np.maximum(scale, 1e-6 * np.abs(places)) * odd)


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

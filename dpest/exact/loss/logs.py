"""Log densities of two laws at places, and the largest ratio among them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from dpest.exact.loss.blocks import Block
from dpest.numerics.arrays import Arrays
from dpest.numerics.logspace import Floats

_ROUND = 2.3e-16  # relative: just above 2^-52, the distance from 1 to the next double


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
    flat: bool = False  # a tail that is constant up to its errors: it agrees with any value within them
    ray: int = 0  # +1 or -1: every place beyond `at` on that side of a single coordinate attains it too

    @property
    def possible(self) -> bool:
        """Whether the first law gives the block any mass at all."""
        return self.value > -math.inf

    def below(self, bound: float) -> Sup:
        """The same with a bound that holds for it; what was evaluated is never above it by more than its own error."""
        if not self.possible or bound >= self.upper:
            return self
        upper = max(bound, self.lower)
        return replace(self, value=min(self.value, upper), upper=upper)


Ends: TypeAlias = tuple[float, float]  # of losses in both directions
ANY: Ends = (-math.inf, -math.inf)  # every loss is above these
OPEN_ENDED: Ends = (math.inf, math.inf)  # no loss is known to be below these

NOTHING = Sup(-math.inf, -math.inf, -math.inf, log_p=-math.inf)


@dataclass(frozen=True)
class BothWays:
    """The suprema of ln p - ln q and of ln q - ln p."""

    forward: Sup
    backward: Sup


@dataclass(frozen=True, eq=False)
class Logs(Arrays):
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
        size = sum(np.where(np.isfinite(v), np.minimum(np.abs(v), 1e300), 0.0) for v in (self.p, self.q))
        return _ROUND * (2 + np.asarray(size))

    def slack(self) -> Floats:
        """How far the ratio at each place may be off."""
        return self.error + self.rounding()

    def above(self, floor: float) -> Logs:
        """The places at which both densities are large enough to be known."""
        if floor == -math.inf:
            return self
        less = np.minimum(self.p, self.q)
        keep = (np.maximum(self.p, self.q) > floor) & ((less > 2 * floor) | (less == -np.inf))
        return self.pick(keep)

    def join(self, other: Logs) -> Logs:
        """Both sets of places."""
        return Logs.joined([self, other])


def logs_at(block: Block, y: Floats) -> Logs:
    """Both log densities at the rows of y."""
    p, e = block.left.log(y)
    q, f = block.right.log(y)
    return Logs(y, p, q, e + f)


def of_one_output(logs: Logs) -> BothWays:
    """The loss of a single output, whose two probabilities are given: what `best` says of one place, in both directions."""
    p, q = float(logs.p[0]), float(logs.q[0])
    slack = float(logs.slack()[0])
    return BothWays(_of_probabilities(p, q, slack), _of_probabilities(q, p, slack))


def _of_probabilities(p: float, q: float, slack: float) -> Sup:
    if p == -math.inf:
        return NOTHING
    if q == -math.inf:
        return Sup(math.inf, math.inf, math.inf, (), p, q)
    return Sup(p - q, p - q - slack, p - q + slack, (), p, q)


def best(logs: Logs) -> Sup:
    """The largest ratio among the places looked at.

    Every place bounds the supremum from below. Of those that may attain it, the ones with the smallest errors are believed
    (the others agree with them), and of those the likeliest is shown: the easiest to check by hand. That is the upper end of a
    search; where the places are all there are, `covering` is the one that is proved.
    """
    ratio = logs.ratio
    if not ratio.size or ratio.max() == -np.inf:
        return NOTHING
    if ratio.max() == np.inf:
        i = int(np.argmax(np.where(ratio == np.inf, logs.p, -np.inf)))
        return Sup(math.inf, math.inf, math.inf, _place(logs, i), float(logs.p[i]), float(logs.q[i]))
    slack, rounding = logs.slack(), logs.rounding()
    lower = float((ratio - slack).max())
    may = ratio + slack >= lower
    sharp = may & (slack <= 4 * slack[may].min())
    top = int(np.argmax(np.where(sharp, ratio, -np.inf)))
    near = sharp & (ratio + rounding >= ratio[top] - rounding[top])
    i = int(np.argmax(np.where(near, logs.p, -np.inf)))
    upper = float((ratio + slack)[sharp].max())
    value = min(max(float(ratio[i]), lower), upper)
    return Sup(value, lower, upper, _place(logs, i), float(logs.p[i]), float(logs.q[i]))


def covering(logs: Logs) -> Sup:
    """The largest ratio where the places are all that there are: one that is badly known may hold more than the others."""
    found = best(logs)
    if not found.possible or found.value == math.inf:
        return found
    return replace(found, upper=max(found.upper, float((logs.ratio + logs.slack()).max())))


def _place(logs: Logs, i: int) -> tuple[float, ...]:
    return tuple(float(v) for v in logs.y[i])


def capped(ways: BothWays, bounds: tuple[float, float] | None) -> BothWays:
    """The suprema with further upper bounds that are proved (by a closed form, by an alignment of the pair) taken in."""
    if bounds is None:
        return ways
    return BothWays(ways.forward.below(bounds[0]), ways.backward.below(bounds[1]))

"""What lies beyond the cells of two densities on a line, where both are mixtures of normal laws.

Let p be a mixture of normal laws with means in [low, high] and deviations in [least, most], and q another one. Above all
means, (ln p)'(y) <= -(y - p.high) / p.most^2 and (ln q)'(y) >= -(y - q.low) / q.least^2. So beyond a place R the logarithm of
p (p / q)^t changes at most by -g u - a u^2 / 2 on the way to R + u, with

    g = (1 + t) (R - p.high) / p.most^2 - t (R - q.low) / q.least^2,    a = (1 + t) / p.most^2 - t / q.least^2,

and its integral is at most its value at R times the integral of e^(-g u - a u^2 / 2) over u > 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_ROOM = 1e-12  # relative, for rounding
_FAR = 12.0  # deviations


@dataclass(frozen=True)
class NormalTails:
    """The means and deviations of the normal laws that a density is a mixture of: their ranges."""

    low: float
    high: float
    least: float
    most: float

    def mirrored(self) -> NormalTails:
        """The same seen from the other side of the line."""
        return NormalTails(-self.high, -self.low, self.least, self.most)


def log_moment_beyond(p: NormalTails, q: NormalTails, place: float, log_p: float, log_ratio: float, order: float) -> float:
    """ln of a bound of the integral of p (p / q)^order above a place, at which ln p and ln p / q are given."""
    if place < max(p.high, q.low) or not math.isfinite(log_p + log_ratio):
        return -math.inf if log_p == -math.inf else math.inf
    near, far = (1 + order) / p.most**2, order / q.least**2
    spare = _ROOM * (near * (abs(place) + abs(p.high)) + far * (abs(place) + abs(q.low)))
    fall = near * (place - p.high) - far * (place - q.low) - spare
    bend = near * (1 - _ROOM) - far * (1 + _ROOM)
    value = log_p + order * log_ratio
    value += _ROOM * (1 + abs(log_p) + order * abs(log_ratio))
    if fall > 0 and bend >= 0:
        return value - math.log(fall)
    if bend <= 0:
        return math.inf
    return value + 0.5 * math.log(2 * math.pi / bend) + 0.5 * fall * fall / bend * (1 + 4 * _ROOM)


def reach_of_moment(p: NormalTails, q: NormalTails, order: float) -> float:
    """A place above which next to nothing of the moment lies; infinite where the moment is."""
    near, far = (1 + order) / p.most**2, order / q.least**2
    bend = near - far
    return (near * p.high - far * q.low) / bend + _FAR / math.sqrt(bend) if bend > 0 else math.inf

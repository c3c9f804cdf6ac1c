"""Limits along a ray, from values at distances that double."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpest.numerics.logspace import Floats

_GROWS = 0.8  # increments that shrink by less than this at each doubling do not converge


@dataclass(frozen=True)
class TailLimit:
    """A limit with its bracket."""

    value: float
    lower: float
    upper: float
    flat: bool = False  # constant up to the errors of the values, at the far end at least


def ray_limit(values: Floats, distance: Floats, slack: float, *, far: bool = True) -> TailLimit:
    """The limit of a function of the distance, with values at distances d, 2d, 4d, ...

    A ratio of densities tends to its limit like 1/d or faster where it has one; steps that do not shrink mean that it
    has none. Where the values do not reach `far` enough out to tell, they are a lower bound and nothing more.
    """
    steps = np.diff(values)
    size = max(1.0, float(np.abs(values).max()))
    if np.all(np.abs(steps[-3:]) <= 1e-14 * size + slack):
        last = float(values[-1])
        return TailLimit(last, last - slack, last + slack, flat=True)
    if abs(steps[-1]) > _GROWS * abs(steps[-2]) and abs(steps[-2]) > _GROWS * abs(steps[-3]):
        if not far:
            last = float(values[-1])
            return TailLimit(last, last - slack, math.inf) if steps[-1] > 0 else TailLimit(-math.inf, -math.inf, -math.inf)
        infinite = math.inf if steps[-1] > 0 else -math.inf
        return TailLimit(infinite, infinite, infinite)
    # The nearest values may lie where 1/d does not yet describe them: leave them out as long as that changes much.
    tries = [_extrapolated(values[i:], distance[i:]) for i in range(4)]
    changes = [abs(a - b) for a, b in zip(tries, tries[1:], strict=False)]
    pick = int(np.argmin(changes))
    off = 2 * changes[pick] + (changes[pick + 1] if pick < 2 else changes[pick]) + 8 * slack + 1e-13 * size
    return TailLimit(tries[pick + 1], tries[pick + 1] - off, tries[pick + 1] + off)


def _extrapolated(values: Floats, distance: Floats) -> float:
    """The polynomial in 1/distance through the values, at zero (Neville)."""
    x = 1.0 / distance
    table = np.array(values, float)
    for k in range(1, len(x)):
        table = (x[:-k] * table[1:] - x[k:] * table[:-1]) / (x[:-k] - x[k:])
    return float(table[0])

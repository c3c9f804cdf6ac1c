"""The older path to `Dist` and `Interval`."""

from __future__ import annotations

from dpest.lang.dist import Dist
from dpest.numerics.interval import Interval

__all__ = ["Dist", "Interval"]

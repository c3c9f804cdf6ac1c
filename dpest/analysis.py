"""The older path to `estimate` and `estimate_algorithm`."""

from __future__ import annotations

from dpest.compat.estimate_algorithm import estimate_algorithm
from dpest.doors.estimate import estimate

__all__ = ["estimate", "estimate_algorithm"]

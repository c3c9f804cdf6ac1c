"""The law of one random value: outputs with a probability of their own, and a density for the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.laws.law import Continuous
from dpest.numerics.logspace import Floats

GRID_POINTS = 4097
_REACH = -30.0  # the grid leaves out at most this much mass on each side, in logarithms


@dataclass(frozen=True)
class ValueLaw:
    """Atoms with their probabilities (NaN, None and strings may be among them), and a density whose mass is the rest."""

    atoms: tuple[tuple[Any, float], ...]
    density: Continuous | None
    error: float

    @cached_property
    def _points(self) -> tuple[Floats, Floats]:
        """The atoms that are numbers, in order."""
        numbers = sorted((float(x), p) for x, p in self.atoms if _is_number(x))
        return np.array([x for x, _ in numbers]), np.array([p for _, p in numbers])

    @property
    def mass(self) -> float:
        """The total probability: 1 up to the error."""
        rest = math.exp(self.density.log_mass) if self.density is not None else 0.0
        return math.fsum([*(p for _, p in self.atoms), rest])

    @property
    def support(self) -> tuple[float, float]:
        """The smallest closed interval that holds every number among the values."""
        points = self._points[0]
        ends = [(points[0], points[-1])] if points.size else []
        ends += [self.density.support] if self.density is not None else []
        return float(min((a for a, _ in ends), default=math.nan)), float(max((b for _, b in ends), default=math.nan))

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """P(value <= x)."""
        x = np.asarray(x, float)
        points, masses = self._points
        below = np.concatenate([[0.0], np.cumsum(masses)])[np.searchsorted(points, x, side="right")]
        return np.asarray(below + (np.exp(self.density.log_cdf(x)) if self.density is not None else 0.0))

    def log_density(self, x: npt.ArrayLike) -> Floats:
        """ln of the density at x, without the atoms."""
        x = np.asarray(x, float)
        return self.density.log_density(x) if self.density is not None else np.full(x.shape, -np.inf)

    def grid(self, points: int = GRID_POINTS) -> dict[str, Any]:
        """The density as averages over even cells: `x` (their middles), `f`, `dx`, and `error`, the most that `f` is off at `x`.

        The sum of f * dx is the mass of the density up to e^-30.
        """
        if self.density is None:
            return {}
        low, high = self.density.reach(_REACH)
        edges = np.linspace(low, high, points + 1)
        middles, dx = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
        f = np.exp(self.density.log_interval(edges[:-1], edges[1:])) / dx
        off = np.abs(f - np.exp(self.density.log_density(middles)))
        return {"x": middles, "f": f, "dx": dx, "error": float(off.max())}


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and math.isfinite(x)

"""Laws from numbers: a density that is linear between given points, and the empirical law of a sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpest.errors import InvalidLaw
from dpest.laws.discrete import MASS_TOLERANCE
from dpest.laws.law import Rng
from dpest.laws.panels import Panels
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import ORDER


def grid_law(x: npt.ArrayLike, density: npt.ArrayLike) -> Panels:
    """The law whose density is linear between the points; refused unless its mass is 1."""
    points, f = np.asarray(x, float), np.asarray(density, float)
    _check(points, f)
    series = np.zeros((len(points) - 1, ORDER))
    series[:, 0], series[:, 1] = 0.5 * (f[1:] + f[:-1]), 0.5 * (f[1:] - f[:-1])
    kinks = tuple(float(v) for v in points)
    step = float(np.diff(points).min())
    return Panels(points, np.zeros(len(points) - 1), series, kinks, max(step, float(np.ptp(points)) / 50), 0.0, "from_density")


def known_grid(x: Floats, density: Floats) -> Panels:
    """The law of these points; the same object each time, as a replay of a run must meet the same law again."""
    return _grid(x.tobytes(), x.shape, density.tobytes(), density.shape)


@lru_cache(maxsize=64)
def _grid(x: bytes, x_shape: tuple[int, ...], density: bytes, density_shape: tuple[int, ...]) -> Panels:
    return grid_law(np.frombuffer(x).reshape(x_shape), np.frombuffer(density).reshape(density_shape))


def _check(points: Floats, f: Floats) -> None:
    if points.ndim != 1 or points.shape != f.shape or len(points) < 2:
        raise InvalidLaw(f"from_density(x, density) needs two lists of one length >= 2, got shapes {points.shape} and {f.shape}")
    if not np.all(np.isfinite(points)) or np.any(np.diff(points) <= 0):
        raise InvalidLaw("from_density(x, density) needs finite points x in increasing order")
    bad = ~(f >= 0) | ~np.isfinite(f)
    if bad.any():
        i = int(np.argmax(bad))
        raise InvalidLaw(f"from_density: the density must be a number >= 0, got {f[i]!r} at x = {points[i]!r}")
    mass = float(np.sum(0.5 * (f[1:] + f[:-1]) * np.diff(points)))
    if abs(mass - 1) > MASS_TOLERANCE:
        raise InvalidLaw(f"from_density: the density must integrate to 1, it integrates to {mass!r} (off by {mass - 1:+.3g})")


@dataclass(frozen=True, eq=False)
class Sample:
    """The empirical law of a sample: each value as likely as it was frequent."""

    values: Floats

    @property
    def atoms(self) -> list[tuple[float, float]]:
        """Values that occur, with their frequencies."""
        points, counts = np.unique(self.values, return_counts=True)
        return [(float(x), float(k) / self.values.size) for x, k in zip(points, counts, strict=True)]

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return float(np.nanmin(self.values)), float(np.nanmax(self.values))

    @property
    def error(self) -> float:
        """The standard error of a frequency of one half."""
        return float(0.5 / np.sqrt(self.values.size))

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """The share of values <= x."""
        return np.asarray(np.searchsorted(np.sort(self.values), x, side="right") / self.values.size)

    def grid(self, points: int = 0) -> dict[str, object]:
        """An empirical law has no density."""
        return {}

    def sample(self, rng: Rng, size: int) -> Floats:
        """Values drawn from the sample again."""
        return rng.choice(self.values, size)

"""Sums of independent losses by Fourier transform, tilted so that what is asked for is not small beside the rest.

Every probability p(l) is replaced by p(l) e^(tilt * l) / M. Rounding errors of a transform are about as large as the
unit roundoff times the largest value that it returns: with the tilt, the losses around the epsilon that is asked for
are the large ones. Errors are bounded, not estimated:

* A transform of Cooley-Tukey type of length N computes each value as a sum over the inputs, each multiplied along a
  path of at most log2 N twiddle factors and additions. With unit roundoff u, an addition has a relative error of u, a
  complex product of at most sqrt(5) u, a twiddle factor of u: less than 8 u log2 N times the sum of |inputs|, with
  room to spare. (Lengths are powers of two, so that scipy's pocketfft never leaves that scheme.)
* Powers and products of transforms carry these errors along, frequency by frequency.
* What wraps around the ends of the window is bounded by Chernoff's inequality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import fft

from dpest.curves.cells import ROUND
from dpest.curves.grid import Grid, Moments, gridded, moments, rough_log_mgf, rough_moments
from dpest.curves.tree import Leaf, Mixture, ProductPart, Tree, factors
from dpest.numerics.effort import spend
from dpest.numerics.logspace import Floats

_STAGE = 8.0  # roundoffs for each stage of a transform
_POINTS_AT_ONCE = 16  # of a transform, in about the time that a density is evaluated once
OUTSIDE = 45.0  # nats of tilted mass that may lie outside the window: below all rounding errors


@dataclass(frozen=True)
class Window:
    """The tilt, and where the sum of the losses lies under it."""

    tilt: float
    low: float
    high: float
    mean: float
    deviation: float
    rates: tuple[float, float]  # further tilts that bound what lies below and above


@dataclass(frozen=True, eq=False)
class _Waves:
    """A transform, the error of each of its values, and the scale that was divided out."""

    z: npt.NDArray[np.complex128]
    error: Floats
    log_scale: float
    offset: float  # the loss that index 0 stands for


def window(tree: Tree, up: bool, tilt: float, outside: float = OUTSIDE) -> Window:
    """Where all but a share e^-outside of the tilted sum lies, by Chernoff's inequality on merged losses."""
    centre = rough_moments(tree, up, tilt)
    deviation = max(math.sqrt(max(centre.variance, 0.0)), 1e-12)
    steps = np.power(2.0, np.arange(-3, 6)) / deviation
    logs = rough_log_mgf(tree, up, tilt + np.concatenate([-steps, steps])).reshape(2, -1)
    reaches = (logs - centre.log_mgf + outside) / steps
    (below, above), (first, second) = reaches.min(axis=1).tolist(), steps[reaches.argmin(axis=1)].tolist()
    return Window(tilt, -below, above, centre.mean, deviation, (first, second))


@dataclass(frozen=True, eq=False)
class Sums:
    """The tilted law of the sum of all finite losses on a grid, up to stated errors, for one side of the curve."""

    up: bool
    tilt: float
    step: float
    first: int  # index of the first value
    offset: float
    values: Floats
    error: float  # of each value
    outside: tuple[float, float]  # tilted mass below and above the window, at most
    log_scale: float
    relative: float  # relative error of everything together
    shift: float  # how far the losses may lie below the grid points
    mean: float
    deviation: float

    def delta(self, epsilon: float) -> float:
        """The sum over losses above epsilon of p (1 - e^(epsilon - loss)): an upper or a lower bound of it."""
        epsilon = epsilon if self.up else epsilon + self.shift
        start = max(0, math.floor((epsilon - self.offset) / self.step) - self.first - 1)
        values = self.values[start:]
        index = self.first + start + np.arange(values.size)
        loss = self.offset + self.step * index
        noise = 4 * ROUND * (np.abs(loss) + abs(self.offset) + abs(epsilon))
        with np.errstate(under="ignore"):
            over = np.maximum(loss - epsilon + (noise if self.up else -noise), 0.0)
            weight = -np.expm1(-over) * np.exp(-self.tilt * over)
        return self._up(values, weight, noise, epsilon) if self.up else self._down(values, weight, noise, epsilon)

    def _scale(self, epsilon: float, noise: Floats) -> tuple[float, float]:
        """ln of what a weighted sum is to be multiplied by, and its relative error."""
        log = self.log_scale - self.tilt * epsilon
        spare = 8 * ROUND * (abs(self.log_scale) + abs(self.tilt * epsilon) + 32.0)
        return log, self.relative + spare + 2 * abs(self.tilt) * float(noise.max(initial=0.0))

    def _up(self, values: Floats, weight: Floats, noise: Floats, epsilon: float) -> float:
        total = float(np.maximum(values, 0.0) @ weight + self.error * weight.sum())
        total += self.outside[0] if values.size == self.values.size else 0.0
        end = self.offset + self.step * (self.first + self.values.size)
        total += self.outside[1] * math.exp(-self.tilt * max(0.0, end - epsilon)) if self.tilt >= 0 else self.outside[1]
        log, spare = self._scale(epsilon, noise)
        return total * _exp(log + spare)

    def _down(self, values: Floats, weight: Floats, noise: Floats, epsilon: float) -> float:
        total = float(np.maximum(values - self.error, 0.0) @ weight)
        total -= math.fsum(self.outside) * float(weight.max(initial=0.0))
        log, spare = self._scale(epsilon, noise)
        return max(0.0, total) * _exp(log - spare)


def _exp(x: float) -> float:
    return math.exp(x) if x < 700.0 else math.inf


def added(tree: Tree, up: bool, where: Window, step: float, offsets: dict[int, float], size: int) -> Sums:
    """The law of the sum of the tree's losses, on a grid of `size` points around the window."""
    grids = gridded(tree, up, step, offsets, {}, max(where.tilt, 1 / where.deviation))
    waves = _transformed(tree, up, grids, where.tilt, size)
    values = fft.irfft(waves.z, size)
    double = np.full(waves.z.size, 2.0)
    double[[0, -1]] = 1.0
    plain = float(np.abs(waves.z) @ double) / size
    error = float(waves.error @ double) / size + _STAGE * ROUND * math.log2(size) * plain
    first = round((0.5 * (where.low + where.high) - waves.offset) / step) - size // 2
    low, high = waves.offset + step * first, waves.offset + step * (first + size - 1)
    count = factors(tree)
    guard = max((g.guard for g in grids.values()), default=0.0)
    return Sums(
        up,
        where.tilt,
        step,
        first,
        waves.offset,
        np.roll(values, -(first % size)),
        error * (1 + 1e-9),
        _outside(tree, up, grids, where, (low, high), waves.log_scale),
        waves.log_scale,
        1e-14 + 4 * ROUND * (count + size),  # weights of the parts; sums over the window
        guard * count,
        where.mean,
        where.deviation,
    )


def _outside(
    tree: Tree, up: bool, grids: dict[int, Grid], where: Window, ends: tuple[float, float], log_scale: float
) -> tuple[float, float]:
    """The tilted mass below and above the window, by Chernoff's inequality on the grid itself."""
    out = []
    for sign, end, rate in ((-1, ends[0], where.rates[0]), (1, ends[1], where.rates[1])):
        found: Moments = moments(tree, up, where.tilt + sign * rate, grids)
        noise = 1e-12 * (1.0 + abs(found.log_mgf) + abs(log_scale) + abs(rate * end))
        out.append(math.exp(min(0.0, found.log_mgf - log_scale - sign * rate * end + noise)))
    return out[0], out[1]


def _transformed(tree: Tree, up: bool, grids: dict[int, Grid], tilt: float, size: int) -> _Waves:
    match tree:
        case Leaf():
            return _leaf(grids[id(tree)], up, tilt, size)
        case ProductPart(parts):
            out: _Waves | None = None
            for part, k in parts:
                one = _power(_transformed(part, up, grids, tilt, size), k)
                out = one if out is None else _times(out, one)
            assert out is not None
            return out
        case Mixture(parts):
            return _mixed([_transformed(p, up, grids, tilt, size) for p in parts])


def _leaf(grid: Grid, up: bool, tilt: float, size: int) -> _Waves:
    """The transform of one part's tilted probabilities, each rounded outwards (up) or inwards."""
    spend(size // _POINTS_AT_ONCE)
    logs = grid.log_mass + tilt * grid.loss
    scale = float(logs.max(initial=-math.inf))
    if scale == -math.inf:
        return _Waves(np.zeros(size // 2 + 1, complex), np.zeros(size // 2 + 1), 0.0, 0.0)
    scale += math.log(float(np.exp(logs - scale).sum()))
    noise = ROUND * (8.0 + 2 * np.abs(tilt * grid.loss) + np.abs(grid.log_mass) + abs(scale))
    noise = noise + ROUND * math.ceil(grid.n.size / size) * 2  # as many may be added up in one place
    weights = np.exp(logs - scale) * (1 + noise if up else np.maximum(1 - noise, 0.0))
    values = np.bincount(grid.n % size, weights, size)
    z = fft.rfft(values)
    error = _STAGE * ROUND * math.log2(size) * float(values.sum())
    return _Waves(z, np.full(z.size, error), scale, grid.offset)


def _power(w: _Waves, k: int) -> _Waves:
    """w^k by repeated squaring; |(z + e)^k - z^k| <= k e (|z| + e)^(k - 1), and each product adds a rounding error."""
    if k == 1:
        return w
    z: Any = None
    square, left = w.z, k
    with np.errstate(under="ignore"):
        while left:
            if left & 1:
                z = square if z is None else z * square
            left >>= 1
            if left:
                square = square * square
        size = np.abs(w.z) * (1 + 2 * ROUND) + w.error
        error = np.power(size, k - 1) * (k * w.error + 4 * k * ROUND * size) * (1 + 1e-9) + 1e-300
    return _Waves(z, error, k * w.log_scale, k * w.offset)


def _times(a: _Waves, b: _Waves) -> _Waves:
    with np.errstate(under="ignore"):
        z = a.z * b.z
        error = a.error * (np.abs(b.z) + b.error) + b.error * np.abs(a.z) + 4 * ROUND * np.abs(z)
    return _Waves(z, error * (1 + 1e-9) + 1e-300, a.log_scale + b.log_scale, a.offset + b.offset)


def _mixed(parts: list[_Waves]) -> _Waves:
    """The sum of transforms; offsets of mixed parts are all zero."""
    assert all(w.offset == 0.0 for w in parts)
    scale = max(w.log_scale for w in parts)
    z = np.zeros_like(parts[0].z)
    error = np.zeros_like(parts[0].error)
    for w in parts:
        weight = math.exp(w.log_scale - scale)
        z = z + weight * w.z
        error = error + weight * (w.error + ROUND * (8.0 + abs(w.log_scale) + abs(scale) + len(parts)) * np.abs(w.z))
    return _Waves(z, error * (1 + 1e-9), scale, 0.0)

"""Curves that are made from densities, without any program."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dpest.curves.curve import Curve
from dpest.curves.pieces import DensityPiece
from dpest.curves.tree import Leaf, swapped
from dpest.curves.way import Way

Floats = npt.NDArray[np.float64]


def curve_of(piece: DensityPiece) -> Curve:
    """Both directions of two densities on a line."""
    leaf = Leaf(piece)
    return Curve((Way(None, "D over D'", ((leaf, 1),)), Way(None, "D' over D", ((swapped(leaf), 1),))))


def laplace_curve(b: float) -> Curve:
    """Laplace noise of scale b on a count that changes by 1."""

    def densities(x: Floats) -> tuple[Floats, Floats, Floats]:
        p, q = -np.abs(x - 1) / b - math.log(2 * b), -np.abs(x) / b - math.log(2 * b)
        return p, q, 8e-16 * (1 + np.abs(p) + np.abs(q))

    far = b * np.array([1.0, 2, 4, 8, 16, 32, 64, 100])
    most = 1 / b * (1 + 1e-15)
    tail = math.exp(-100 + 1 / b)
    return curve_of(DensityPiece(densities, np.concatenate([-far[::-1], [0.0, 0.5, 1.0], 1 + far]), (tail, tail), (-most, most)))


def subsampled_gaussian_curve(q: float, sigma: float) -> Curve:
    """A row that takes part with probability q, Gaussian noise of deviation sigma."""

    def densities(x: Floats) -> tuple[Floats, Floats, Floats]:
        off, on, norm = -0.5 * (x / sigma) ** 2, -0.5 * ((x - 1) / sigma) ** 2, math.log(sigma * math.sqrt(2 * math.pi))
        p = np.logaddexp(math.log1p(-q) + off, math.log(q) + on) - norm
        return p, off - norm, 1e-15 * (1 + np.abs(p) + np.abs(off) + norm)

    return curve_of(DensityPiece(densities, np.linspace(-40 * sigma, 1 + 40 * sigma, 161), (1e-300, 1e-300)))


def width(x: object) -> float:
    """The relative width of a bracket."""
    upper = float(getattr(x, "upper"))  # noqa: B009
    return (upper - float(getattr(x, "lower"))) / upper if upper else 0.0  # noqa: B009

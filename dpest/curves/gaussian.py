"""Gaussian noise in closed form: a shift by mu deviations."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from dpest.curves.cells import ROUND
from dpest.curves.pieces import DensityPiece
from dpest.curves.tails import NormalTails
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import legendre_rule

_ERFCX = 1e-14  # relative error that is granted to scipy's erfcx and ndtr; tests measure 2e-15
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_REACH = 40.0  # deviations beyond which less than e^-800 lies
_NODES, _WEIGHTS, _ = legendre_rule(20)


def gaussian_delta(mu: float, epsilon: float, error: float = 0.0) -> tuple[float, float]:
    """delta(epsilon) of a shift by mu, from below and from above; `error` is the relative error of mu."""
    if mu == 0.0:
        return 0.0, 0.0
    # z as it is computed is off by 1.5 roundings of its two terms at most, to which a shift that is moved by 8 of them adds more.
    low, high = (_delta(mu * (1 + s * (error + 4 * ROUND)), epsilon) for s in (-1, 1))
    return max(0.0, low[0]), min(1.0, high[1])


def _delta(mu: float, epsilon: float) -> tuple[float, float]:
    """Phi(-z) - e^epsilon Phi(-z - mu) with z = epsilon / mu - mu / 2, as density(z) times a difference of Mills ratios."""
    z = epsilon / mu - 0.5 * mu
    if z < -1.0:
        first, second = float(special.ndtr(-z)), math.exp(epsilon + float(special.log_ndtr(-z - mu)))
        spare = _ERFCX * (first + second * (4 + epsilon))
        return first - second - spare, first - second + spare
    gap, spare = _mills_fall(z, mu)
    density = math.exp(-0.5 * z * z - _LOG_SQRT_2PI)
    relative = spare + 4 * ROUND * (4 + z * z)
    return density * gap * (1 - relative), density * gap * (1 + relative)


def _mills_fall(z: float, mu: float) -> tuple[float, float]:
    """m(z) - m(z + mu) for the Mills ratio m, and its relative error."""
    if mu > 0.5:
        near, far = (math.sqrt(math.pi / 2) * float(special.erfcx(t / math.sqrt(2))) for t in (z, z + mu))
        return near - far, 2 * _ERFCX * (near + far) / (near - far)
    # Subtraction would lose digits: the integral of -m'(t) = 1 - t m(t), which is smooth.
    t = z + 0.5 * mu * (1 + _NODES)
    m = math.sqrt(math.pi / 2) * special.erfcx(t / math.sqrt(2))
    slope = 1 - t * m
    value = 0.5 * mu * float(_WEIGHTS @ slope)
    return value, 2 * _ERFCX * float(np.max((1 + np.abs(t * m)) / slope))


def gaussian_piece(mu: float, error: float = 0.0) -> DensityPiece:
    """The two laws N(mu, 1) and N(0, 1): for a composition with other losses; `error` is the relative error of mu."""

    def densities(x: Floats) -> tuple[Floats, Floats, Floats]:
        p, q = -0.5 * (x - mu) ** 2 - _LOG_SQRT_2PI, -0.5 * x**2 - _LOG_SQRT_2PI
        off = 4 * ROUND * (1 + np.abs(p) + np.abs(q)) + error * (1 + error) * mu * (np.abs(x) + mu)
        return p, q, off

    edges = np.linspace(-_REACH, mu + _REACH, 161)
    off = error * mu
    tails = NormalTails(mu - off, mu + off, 1.0, 1.0), NormalTails(0.0, 0.0, 1.0, 1.0)
    return DensityPiece(densities, edges, (1e-300, 1e-300), tails=tails)

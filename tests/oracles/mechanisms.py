"""Mechanisms that are not in the gallery: closed forms, and quadrature where there is none."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from tests.oracles.exponentials import CONTEXT, Pieces, laplace_cdf, laplace_pdf, largest_between, product

Both = tuple[float, float]
Numbers = Sequence[float]


def finite_loss(p: dict[Any, Any], q: dict[Any, Any]) -> Both:
    """The largest log ratios of two laws on finitely many outputs."""

    def one_way(a: dict[Any, Any], b: dict[Any, Any]) -> float:
        possible = [k for k, mass in a.items() if mass]
        return max(math.inf if not b.get(k) else float(CONTEXT.log(a[k] / CONTEXT.mpf(b[k]))) for k in possible)

    return one_way(p, q), one_way(q, p)


def softmax_loss(left: Numbers, right: Numbers, scale: float) -> Both:
    """argmax of x_i + Gumbel(scale): P(i) is proportional to exp(x_i / scale)."""
    logs = [np.array(x) / scale - np.log(np.sum(np.exp(np.array(x) / scale))) for x in (left, right)]
    return float(np.max(logs[0] - logs[1])), float(np.max(logs[1] - logs[0]))


def laplace_below(z: float, scale: float) -> float:
    """P(Laplace(scale) < z)."""
    return math.exp(z / scale) / 2 if z < 0 else -math.expm1(-z / scale) / 2 + 0.5


def clip_loss(x: float, y: float, scale: float, low: float, high: float) -> Both:
    """clip(x + Laplace, low, high): an atom at each end and the density between, which is largest at an end or at a location."""

    def one_way(a: float, b: float) -> float:
        ends = [
            math.log(laplace_below(low - a, scale) / laplace_below(low - b, scale)),
            math.log(laplace_below(a - high, scale) / laplace_below(b - high, scale)),
        ]
        inside = [(abs(v - b) - abs(v - a)) / scale for v in (low, high, *(c for c in (a, b) if low < c < high))]
        return max(ends + inside)

    return one_way(x, y), one_way(y, x)


def rounded_laplace(x: float, scale: float, k: int) -> float:
    """P(round(x + Laplace(scale)) == k)."""
    a, b = k - 0.5 - x, k + 0.5 - x
    if a >= 0:
        a, b = -b, -a
    return laplace_below(b, scale) - laplace_below(a, scale)


def clamped_geometric(x: int, scale: float, low: int, high: int) -> dict[int, float]:
    """The law of the two-sided geometric around x, clamped: P(k) proportional to exp(-|k| / scale)."""
    a = math.exp(-1 / scale)
    law = {k: (1 - a) / (1 + a) * a ** abs(k - x) for k in range(low + 1, high)}
    return {low: a ** (x - low) / (1 + a), **law, high: a ** (high - x) / (1 + a)}


def gaussian_delta(shift: float, sigma: float, eps: float) -> float:
    """The analytic Gaussian formula (Balle and Wang 2018)."""
    r = shift / sigma
    return float(ndtr(r / 2 - eps / r) - math.exp(eps) * ndtr(-r / 2 - eps / r))


def laplace_delta(shift: float, scale: float, eps: float) -> float:
    """delta(eps) of the Laplace mechanism: 1 - exp((eps - shift / scale) / 2)."""
    return max(0.0, -math.expm1((eps - shift / scale) / 2))


def gaussian_above_threshold(queries: Numbers, t: float, threshold_sigma: float, query_sigma: float) -> dict[int | None, float]:
    """P(the first query to pass is i); the trapezoidal rule converges faster than any power on these integrands."""
    h = min(threshold_sigma, query_sigma) / 16
    z = np.arange(-40 * threshold_sigma, 40 * threshold_sigma, h) + t
    running = -(((z - t) / threshold_sigma) ** 2) / 2 - math.log(threshold_sigma * math.sqrt(2 * math.pi))
    law: dict[int | None, float] = {}
    for i, q in enumerate(queries):
        law[i] = float(np.sum(np.exp(running + log_ndtr((q - z) / query_sigma))) * h)
        running = running + log_ndtr((z - q) / query_sigma)
    law[None] = float(np.sum(np.exp(running)) * h)
    return law


def argmax_gap_loss(left: Sequence[int], right: Sequence[int], scale: Fraction) -> Both:
    """The index of the largest of three or more Laplace values, and its gap to the runner-up."""
    return _gap_one_way(left, right, scale), _gap_one_way(right, left, scale)


def _gap_one_way(left: Sequence[int], right: Sequence[int], scale: Fraction) -> float:
    return max(_gap_supremum(tuple(left), tuple(right), i, scale) for i in range(len(left)))


def _gap_supremum(left: tuple[int, ...], right: tuple[int, ...], i: int, scale: Fraction) -> float:
    def loss(g: Any) -> Any:
        return log_gap_density(left, i, scale, g) - log_gap_density(right, i, scale, g)

    kinks = sorted({0.0, *(float(x[i] - v) for x in (left, right) for v in x if x[i] > v)})
    edges = [*kinks, kinks[-1] + 50 * float(scale)]
    far = loss(np.array([1e4 * float(scale)], dtype=np.longdouble))
    return max(float(far[0]), *(largest_between(loss, a, b) for a, b in itertools.pairwise(edges)))


def log_gap_density(values: tuple[int, ...], i: int, scale: Fraction, gap: Any) -> Any:
    """ln of the integral of f(z + g - x_i) h(z), h the density of the largest of the others, up to -ln(2 scale) - g / scale."""
    rising, falling = _gap_sides(values, i, scale)
    b, w = float(scale), values[i] - gap
    right_of = np.longdouble(CONTEXT.nstr(falling.terms[-1][Fraction(0), 0], 25)) - falling.sample(w)
    left_of = np.where(gap < 2000 * b, np.exp(np.minimum(-2 * w / b, 1e4)) * rising.sample(w), 0)
    return np.log(right_of + left_of) + values[i] / b


@cache
def _gap_sides(values: tuple[int, ...], i: int, scale: Fraction) -> tuple[Pieces, Pieces]:
    others = [Fraction(x) for j, x in enumerate(values) if j != i]
    terms = [
        product([laplace_pdf(x, scale), *(laplace_cdf(y, scale) for k, y in enumerate(others) if k != j)])
        for j, x in enumerate(others)
    ]
    largest = sum(terms[1:], terms[0])
    up, down = (Pieces((), ({(sign / scale, 0): CONTEXT.mpf(1)},)) for sign in (1, -1))
    return (largest * up).cumulative(), (largest * down).cumulative()


def order_probabilities(values: Sequence[int], scale: Fraction) -> dict[tuple[bool, ...], Any]:
    """Three Laplace values compared pairwise: the law of (a > b, b > c, a > c)."""
    law: dict[tuple[bool, ...], Any] = {}
    for i, j, k in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]:
        x = [Fraction(values[m]) for m in (i, j, k)]
        mass = product([laplace_cdf(x[0], scale).complement(), laplace_pdf(x[1], scale), laplace_cdf(x[2], scale)]).integral()
        rank = {i: 2, j: 1, k: 0}
        law[rank[0] > rank[1], rank[1] > rank[2], rank[0] > rank[2]] = mass
    return law


def chain_probabilities(values: Sequence[int], scale: Fraction) -> dict[tuple[bool, ...], Any]:
    """Neighbours in a row of Laplace values compared: the law of (v_1 > v_2, v_2 > v_3, ...)."""
    messages: dict[tuple[bool, ...], Pieces] = {(): laplace_pdf(Fraction(values[0]), scale)}
    for x in values[1:]:
        density = laplace_pdf(Fraction(x), scale)
        grown: dict[tuple[bool, ...], Pieces] = {}
        for bits, message in messages.items():
            below = message.cumulative()
            total = Pieces((), ({(Fraction(0), 0): message.integral()},))
            grown[*bits, False] = density * below
            grown[*bits, True] = density * (total + below.scaled(-1))
        messages = grown
    return {bits: message.integral() for bits, message in messages.items()}

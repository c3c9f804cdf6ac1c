"""Averages over noisy counts, clusters side by side: closed forms, and densities that scipy integrates (oracle: integral)."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import dpest
from dpest.exact.inference.ratio import BoundedDraw
from dpest.exact.loss import mixed
from dpest.exact.loss.logs import Logs
from dpest.exact.loss.mixed import MixedCase, MixedSide, mixed_supremum
from dpest.laws.continuous import Gaussian, Laplace
from dpest.numerics.rationals import exact


def centres_in_the_plane(points, rng: np.random.Generator, b=2.0):
    points = np.array(points)
    corners = np.array([[0.0, 0.0], [1.0, 1.0]])
    label = np.argmin(((points[:, None] - corners) ** 2).sum(-1), axis=1)
    out = []
    for k in range(2):
        own = points[label == k]
        count = len(own) + rng.laplace(0, b)
        total = own.sum(axis=0) + rng.laplace(0, b, size=2)
        out.append(total / max(count, 1))
    return np.array(out)


def test_a_point_less_costs_what_sums_and_count_cost():
    """Far out, with a count below 1, both sums and the count tell all that they can: (0.7 + 0.6 + 1) / 2."""
    points = [[0.2, 0.1], [0.9, 0.8], [0.7, 0.6]]
    result = dpest.estimate(centres_in_the_plane, (points, points[:2]), method="exact")
    assert result.lower <= 1.15 <= result.upper
    assert result.upper - result.lower < 1e-6


@pytest.mark.parametrize("law", [Laplace(1.5), Gaussian(1.5)])
@pytest.mark.parametrize("y", [(-3.0, 2.0), (0.4, 0.5), (30.0, -40.0)])
def test_the_density_is_the_one_of_scipy(law, y):
    tops = tuple(BoundedDraw(law, exact(1), exact(c)) for c in (2.0, 3.0))
    bottom = BoundedDraw(Laplace(2.0), exact(1), exact(4.0), 1.0)
    logs, error = MixedCase(tops, bottom, math.log(0.25), 0.0).log(np.array([y]))

    def f(n: float) -> float:
        inner = sum(float(law.log_density(n * v - c)) for v, c in zip(y, (2.0, 3.0), strict=True))
        return n**2 * math.exp(inner - abs(n - 4) / 2 - math.log(4) - float(logs[0]) + math.log(0.25))

    ends = [1.0, 1.02, 1.05, 1.2, 2.0, 3.0, 4.0, 8.0, 40.0, 90.0]
    total = sum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in zip(ends, ends[1:], strict=False))
    assert total == pytest.approx(1.0, abs=1e-8)
    assert float(error[0]) < 1e-9


def _ratio_suprema(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """The largest log ratios, both ways, of (a + V) / (c + W) for positive c + W and Laplace noise of scale 1: on a grid."""

    def density(a: float, c: float, y: float) -> float:
        turns = sorted({0.0, c, *([a / y] if y and 0 < a / y < 60 else []), 60.0})
        inner = lambda n: n * math.exp(-abs(n * y - a) - abs(n - c))  # noqa: E731
        return sum(integrate.quad(inner, s, t, epsabs=0, epsrel=1e-10)[0] for s, t in zip(turns, turns[1:], strict=False))

    angles = np.linspace(-math.pi / 2 + 1e-4, math.pi / 2 - 1e-4, 1501)
    ratios = [math.log(density(*first, math.tan(t)) / density(*second, math.tan(t))) for t in angles]
    return max(ratios), -min(ratios)


def test_two_clusters_add_in_each_direction():
    """A point moves from one cluster to the other. The grid is below the truth by the square of its step."""

    def mechanism(points, rng: np.random.Generator):
        out = []
        for low, high in ((0, 0.45), (0.45, 1)):
            own = [v for v in points if low <= v < high]
            total, count = sum(own) + rng.laplace(0, 1), len(own) + rng.laplace(0, 1)
            out.append(total / count if count > 0 else 0.5)
        return out

    a, b = _ratio_suprema((0.2, 1), (0.3, 2)), _ratio_suprema((2.2, 3), (1.3, 2))
    # An empty cluster has the output 0.5: P(count <= 0) = e^-n / 2.
    truth = max(max(a[way], 1.0 - 2.0 * way) + max(b[way], 2.0 * way - 1.0) for way in (0, 1))
    result = dpest.estimate(mechanism, ([0.2, 0.5, 0.9, 0.8], [0.2, 0.5, 0.1, 0.8]), method="exact")
    assert result.lower - 1e-4 <= truth <= result.upper + 1e-9
    assert result.upper - result.lower < 1e-5


def test_places_where_a_density_is_no_number_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far out an integral may leave zero of both densities or of one, and no error: no loss is read off there."""
    b = 2.0
    one, other = ([_clipped_count(total, b)] for total in (0.0, 1.0))
    block: Any = SimpleNamespace(left=MixedSide((), None, tuple(one)), right=MixedSide((), None, tuple(other)))  # type: ignore[arg-type]

    def logs(_: Any, places: np.ndarray) -> Logs:
        y = places[:, 0]
        p, q = stats.laplace.logpdf(y, 0.0, b), stats.laplace.logpdf(y, 1.0, b)
        p, q = np.where(y > 100, -np.inf, p), np.where(np.abs(y) > 100, -np.inf, q)
        error = np.where(np.abs(y) < 50, 1e-12, np.where(np.abs(y) > 100, 1e-12, 0.5))
        return Logs(places, p, q, error)

    monkeypatch.setattr(mixed, "logs_at", logs)
    found = mixed_supremum(block)
    for way in (found.forward, found.backward):
        assert way.lower <= 1 / b + 1e-12
        assert way.lower > 0.4
        assert way.upper >= 1 / b


def _clipped_count(total: float, b: float) -> MixedCase:
    return MixedCase((BoundedDraw(Laplace(b), exact(1), exact(total)),), None, 0.0, 0.0)

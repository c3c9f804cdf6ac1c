"""Clipped quotients far out, against integrals by SciPy that know nothing of the engine's charts."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy import integrate

import dpest
from dpest.exact.inference.ratio import BoundedDraw, Share
from dpest.exact.loss.far_quotients import far_side
from dpest.laws.continuous import Gaussian, Laplace
from dpest.numerics.rationals import exact

L = dpest.laplace


def log_density(y: float, top: float, bottom: float, b: float, cut: float, clipped: bool) -> float:
    """ln of the density at y of (top + V) / max(bottom + W, cut); not clipped, of its part where bottom + W is above cut."""
    tilt = abs(y) * cut / b  # taken out, so that nothing vanishes far out

    def f(s: float) -> float:
        return s * math.exp(tilt - abs(y * s - top) / b - abs(s - bottom) / b) / (4 * b * b)

    reach = min(60.0 * b, 60.0 * b / abs(y) if y else math.inf)
    turns = sorted(t for t in {bottom, top / y if y else 0.0} if cut < t < cut + reach)
    edges = [cut, *turns, *(max(turns, default=cut) + reach * k / 8 for k in (0.25, 0.5, 1, 2, 4, 8))]
    total = math.fsum(integrate.quad(f, u, v, epsabs=0, epsrel=1e-11)[0] for u, v in zip(edges, edges[1:], strict=False))
    if clipped:
        below = 0.5 * math.exp(-(bottom - cut) / b) if bottom > cut else 1 - 0.5 * math.exp((bottom - cut) / b)
        total += below * cut * math.exp(tilt - abs(y * cut - top) / b) / (2 * b)
    return math.log(total) - tilt


def largest(one: tuple[float, float], other: tuple[float, float], b: float, cut: float, clipped: bool) -> tuple[float, float]:
    """The largest log ratios, in both directions, among many places."""
    far = np.geomspace(1.5, 3e4, 60)
    places = [*np.linspace(-1.5, 1.5, 241), *far, *-far]
    ratios = [log_density(y, *one, b, cut, clipped) - log_density(y, *other, b, cut, clipped) for y in places]
    return max(ratios), -min(ratios)


@pytest.mark.parametrize("clipped", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_beyond_the_modes_the_log_ratio_is_monotone_up_to_its_limit(seed: int, clipped: bool) -> None:
    rng = random.Random(seed)
    b, cut = rng.choice([0.5, 1.0, 4.0]), rng.choice([0.25, 1.0, 2.0])
    one, other = ((rng.uniform(-3, 3), rng.uniform(-1, 4)) for _ in range(2))

    def shares(top: float, bottom: float) -> tuple[Share, ...]:
        above = BoundedDraw(Laplace(b), exact(1), exact(top))
        cases: tuple[Share, ...] = (Share(above, BoundedDraw(Laplace(b), exact(1), exact(bottom), cut)),)
        below = 0.5 * math.exp(-(bottom - cut) / b) if bottom > cut else 1 - 0.5 * math.exp((bottom - cut) / b)
        return (*cases, Share(above, exact(cut), math.log(below))) if clipped else cases

    for sign in (1, -1):
        side = far_side(shares(*one), shares(*other), sign)
        assert side is not None
        start = max(abs(1 / side.nearest), 1e-3) if math.isfinite(side.nearest) else 1e-3
        ys = sign * start * np.geomspace(1.0, 1e5 / start, 25)
        ratio = [log_density(y, *one, b, cut, clipped) - log_density(y, *other, b, cut, clipped) for y in ys]
        steps = np.diff([*ratio, side.limit])
        assert (steps >= -1e-8).all() or (steps <= 1e-8).all()
        assert ratio[-1] == pytest.approx(side.limit, abs=1e-3)


def test_other_noise_and_bottoms_near_zero_are_left_alone() -> None:
    laplace, gaussian = (BoundedDraw(law, exact(1), exact(1)) for law in (Laplace(1.0), Gaussian(1.0)))
    low = BoundedDraw(Laplace(1.0), exact(1), exact(2), 0.0)
    high = BoundedDraw(Laplace(1.0), exact(1), exact(2), 1.0)
    assert far_side([Share(laplace, high)], [Share(laplace, high)], 1) is not None
    assert far_side([Share(laplace, low)], [Share(laplace, low)], 1) is None
    assert far_side([Share(gaussian, high)], [Share(gaussian, high)], 1) is None
    assert far_side([Share(laplace, high, most=3.0)], [Share(laplace, high)], 1) is None
    # Weights under which the ratio of the two laws of the bottom falls and then rises.
    p = [Share(laplace, exact(1), 0.0), Share(laplace, exact(2), -1.0), Share(laplace, exact(3), 0.0)]
    q = [Share(laplace, exact(1), 0.0), Share(laplace, exact(2), 0.0), Share(laplace, exact(3), 0.0)]
    assert far_side(p, q, 1) is None


@pytest.mark.parametrize(("one", "other"), [((0.9, 1.0), (1.7, 2.0)), ((0.3, 2.0), (0.1, 1.0)), ((5.0, 10.0), (5.5, 11.0))])
def test_an_average_over_a_count_of_at_least_one_has_the_loss_of_its_integrals(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    def average(data: tuple[float, float], rng: Any) -> float:
        return (data[0] + rng.laplace(0, 4)) / max(1.0, data[1] + rng.laplace(0, 4))  # type: ignore[no-any-return]

    found = dpest.estimate(average, (one, other), method="exact")
    truth = max(largest(one, other, 4.0, 1.0, clipped=True))
    assert truth <= found.upper + 1e-9
    assert found.epsilon == pytest.approx(truth, abs=2e-4)
    assert found.upper - found.lower < 1e-5


@pytest.mark.parametrize("clipped", [True, False])
def test_two_centres_of_which_both_move(clipped: bool) -> None:
    """One person goes from the first cluster to the second: both directions count."""
    sides = [((0.3, 2.0), (0.1, 1.0)), ((0.9, 1.0), (1.7, 2.0))]

    def centres(data: Any, rng: Any) -> list[Any]:
        out = []
        for total, count in data:
            noisy = count + rng.laplace(0, 4)
            if noisy < 1 and not clipped:
                out.append(None)
            else:
                out.append((total + rng.laplace(0, 4)) / max(1.0, noisy))
        return out

    pair = [s[0] for s in sides], [s[1] for s in sides]
    found = dpest.estimate(centres, pair, method="exact")
    ways = [largest(one, other, 4.0, 1.0, clipped) for one, other in sides]
    if not clipped:  # or a centre is not released
        none = [math.log((0.5 * math.exp(-0.25)) / 0.5), math.log(0.5 / (0.5 * math.exp(-0.25)))]
        ways = [(max(a, n), max(b, -n)) for (a, b), n in zip(ways, none, strict=True)]
    truth = max(sum(w[0] for w in ways), sum(w[1] for w in ways))
    assert found.upper >= truth - 1e-9
    assert found.epsilon == pytest.approx(truth, abs=4e-4)
    assert found.upper - found.lower < 1e-5

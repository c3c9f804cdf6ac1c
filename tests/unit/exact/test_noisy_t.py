"""t statistics: a noisy mean over the root of a noisy variance with a floor (oracle: an integral over the variance)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import integrate

import dpest
from dpest.errors import DpestError


def t_statistic(moments: Sequence[float], rng: np.random.Generator, n: int = 3, floor: float = 0.1, b: float = 1.0):
    mean, variance = moments
    m = mean + rng.laplace(0, 1)
    v = max(variance + rng.laplace(0, b), floor)
    return m / math.sqrt(v / n)


def _lap(x: float, b: float = 1.0) -> float:
    return math.exp(-abs(x) / b) / (2 * b)


def density(y: float, moments: Sequence[float], n: int, floor: float, b: float) -> float:
    mean, variance = moments
    below = math.exp((floor - variance) / b) / 2 if floor < variance else 1 - math.exp((variance - floor) / b) / 2
    least = math.sqrt(floor / n)
    turn = n * (mean / y) ** 2 if y else 0.0
    centre = max(variance, floor)
    points = sorted({floor, centre, max(turn, floor), centre + 4 * b, floor + 4, max(variance, 1) + 90 * b})

    def over_variance(v: float) -> float:
        root = math.sqrt(v / n)
        return root * _lap(y * root - mean) * _lap(v - variance, b)

    inside = sum(integrate.quad(over_variance, p, q, epsabs=0, epsrel=1e-10)[0] for p, q in itertools.pairwise(points))
    return float(below * least * _lap(y * least - mean) + inside)


PAIRS = [
    (((3.5 / 3, 0.389), (1.5, 0.1667)), 0.1, 1.0),
    (((0.5, 1.0), (0.8, 1.4)), 0.1, 1.0),
    (((0.5, 1.0), (0.8, 0.7)), 0.5, 0.3),
    (((2.0, 5.0), (2.0, 5.4)), 1.0, 0.5),
    (((-1.0, 0.05), (-0.6, 0.3)), 0.01, 0.2),
    (((-0.9, 0.0), (-0.9, 0.1)), 1.0, 1.0),  # next to zero the means are many roots of the noise away
    (((2.8, 0.32), (2.8, 0.62)), 0.5, 0.5),
]


@pytest.mark.parametrize(("pair", "floor", "b"), PAIRS)
def test_both_ends(pair, floor: float, b: float) -> None:
    found = dpest.estimate(t_statistic, pair, method="exact", params={"floor": floor, "b": b})
    places = [*np.linspace(-8, 8, 161), *(s * y for s in (1, -1) for y in (12.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0))]
    shown = max(abs(math.log(density(y, pair[0], 3, floor, b) / density(y, pair[1], 3, floor, b))) for y in places)
    assert shown <= found.upper * (1 + 1e-7)
    assert found.lower <= found.upper <= found.lower + 1e-5
    assert found.lower - shown <= 0.02 * shown


def test_a_floor_of_zero_is_not_answered_wrongly() -> None:
    """Next to a variance of zero quotients grow beyond all bounds, and nothing is declared of them."""
    with pytest.raises(DpestError):
        dpest.estimate(t_statistic, ((0.5, 1.0), (0.8, 1.4)), method="exact", params={"floor": 0.0})


def test_the_root_of_a_sum_of_two_floored_values_is_no_error() -> None:
    """Both are at least 0.1, so that their sum is in the domain of the root; the bound is that of the values inside."""

    def welch(x: Sequence[float], rng: np.random.Generator):
        difference = x[0] + rng.laplace(0, 1)
        v1, v2 = (max(v + rng.laplace(0, 1), 0.1) for v in x[1:])
        return difference / math.sqrt(v1 + v2)

    found = dpest.estimate(welch, ((1.0, 0.5, 0.6), (1.2, 0.5, 0.7)), samples=2000, seed=1)
    assert found.method == "sampling"
    assert found.upper == pytest.approx(0.3, abs=1e-6)

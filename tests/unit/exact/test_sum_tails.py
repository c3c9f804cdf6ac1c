"""Sums of bounded noise and noise with a light tail, far out: a table of their density ends, and must not guess what follows.

Oracle: integrals over the triangle of two uniform draws, at 30 digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mpmath import mp

import dpest

FAMILIES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "gumbel": (lambda: dpest.gumbel(1.0), lambda t: mp.exp(-mp.exp(-t))),
    "narrow gaussian": (lambda: dpest.gaussian(0.25), lambda t: mp.ncdf(4 * t)),
    "gaussian": (lambda: dpest.gaussian(1.0), mp.ncdf),
    "logistic": (lambda: dpest.logistic(0.5), lambda t: 1 / (1 + mp.exp(-2 * t))),
}


def _chance(cdf: Callable[[Any], Any], below: float) -> Any:
    """P(U + V + Z < below) for U, V uniform on [-1, 2]."""
    with mp.workdps(30):
        nodes = [-2 + 3 * mp.mpf(2) ** -k for k in range(20, -1, -1)]  # far out nearly all of it lies next to -2
        most = cdf(below + 2)  # mpmath stops where what is left is small, and not where it is small beside the integral
        rising = mp.quad(lambda s: (s + 2) / 9 * cdf(below - s) / most / 1e-6, [-2, *nodes]) * 1e-6
        return most * (rising + mp.quad(lambda s: (4 - s) / 9 * cdf(below - s) / most, [1, 2, 3, 4]))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("below", [0, -1, -2, -3, -4, -5, -9])
def test_far_events_of_a_sum_are_right_or_open(family: str, below: float) -> None:
    draw, cdf = FAMILIES[family]

    def mechanism(x: int) -> str:
        return "a" if x + dpest.uniform(-1, 2) + dpest.uniform(-1, 2) + draw() < below else "b"

    found = dpest.estimate(mechanism, (0, 2), method="exact")
    chances = [_chance(cdf, below - x) for x in (0, 2)]
    truth = max(mp.log(chances[0] / chances[1]), mp.log((1 - chances[1]) / (1 - chances[0])))
    assert found.lower <= truth <= found.upper
    if below >= -3:
        assert found.upper - found.lower < 1e-3 * truth

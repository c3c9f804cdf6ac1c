"""Floors of logarithms of uniform noise around zero: one uniform number makes the sign and the size of geometric noise."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import dpest
from dpest.laws.continuous import Uniform
from dpest.laws.images import image
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import exact


def _law(x: int, half: float, eps: float) -> dict[int, float]:
    """x + sign * floor(-ln|u| / eps) for u uniform between -half and half."""
    out: dict[int, float] = {}
    for k in range(60):
        share = (min(half, math.exp(-eps * k)) - min(half, math.exp(-eps * (k + 1)))) / (2 * half)
        for sign in (1, -1):
            out[x + sign * k] = out.get(x + sign * k, 0.0) + share
    return out


@pytest.mark.parametrize(("eps", "library"), [(1.0, True), (0.5, True), (1.0, False)])
def test_geometric_noise_of_one_uniform(eps: float, library: bool) -> None:
    half = (1 + math.exp(-eps)) / 2 if library else 0.5

    def mechanism(x):
        u = (random.random() - 0.5) * (1 + np.exp(-eps)) if library else random.random() - 0.5
        sign = -1 if u < 0 else 1
        return int(np.round(x + sign * np.floor(np.log(sign * u) / -eps)))

    p, q = _law(5, half, eps), _law(6, half, eps)
    truth = max(abs(math.log(p[k] / q[k])) for k in range(-20, 30) if p.get(k) and q.get(k))
    r = dpest.estimate(mechanism, (5, 6), method="exact")
    assert r.lower <= truth + 1e-9
    assert truth - 1e-9 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_the_law_keeps_its_digits_next_to_zero() -> None:
    law = image(Uniform(0.0, 1.0), exact(1), exact(-0.5), Elementary(Kind.LOG)).law
    y = np.array([-200.0, -60.0, -40.0, -5.0])
    assert np.allclose(law.log_density(y), y, rtol=1e-12)
    assert np.allclose(law.log_interval(y - 1, y), y + math.log1p(-math.exp(-1)), rtol=1e-12)
    assert math.isclose(float(law.log_mass), math.log(0.5), rel_tol=1e-12)
    low, high = law.reach(-60.0)
    assert -62 < low < -59
    assert high <= math.log(0.5) + 1e-12
    end = law.asymptote(-1)
    assert end is not None
    assert end.rate == 1

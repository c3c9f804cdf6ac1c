"""The mass between two places far out is a small difference of large masses: its error must say so."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.exact.inference.gaps import log_gap
from dpest.laws.law import Continuous

SCALE = 0.05


def law_of(draw: Any) -> Continuous:
    law = draw.node.law
    assert isinstance(law, Continuous)
    return law


@pytest.mark.parametrize("far", [2.0, 2e3, 2000000.2, 2000000.3, 3e9])
@pytest.mark.parametrize("width", [0.01, 0.075, 3.0])
def test_the_tail_of_a_cauchy_law(far: float, width: float) -> None:
    """Rung: 50 digits."""
    law = law_of(dpest.from_scipy(stats.cauchy(scale=SCALE)))
    low, high = np.array([-far]), np.array([-far + width])
    found, error = log_gap(law, low, high, high - low)
    with mpmath.workdps(50):
        ends = [mpmath.atan2(1, -mpmath.mpf(float(x[0])) / mpmath.mpf(SCALE)) for x in (low, high)]
        truth = mpmath.log((ends[1] - ends[0]) / mpmath.pi)
        off = abs(float(found[0] - truth))
    assert off <= float(error[0]) + law.error


@pytest.mark.parametrize("z", [3.0, 12.0, 30.0])
def test_the_tail_of_a_gaussian_law(z: float) -> None:
    """Rung: 50 digits."""
    law = law_of(dpest.gaussian(1.0))
    low, high = np.array([-z]), np.array([-z + 1e-3])
    found, error = log_gap(law, low, high, high - low)
    with mpmath.workdps(50):
        truth = mpmath.log(mpmath.ncdf(mpmath.mpf(float(high[0]))) - mpmath.ncdf(mpmath.mpf(float(low[0]))))
        off = abs(float(found[0] - truth))
    assert off <= float(error[0]) + law.error


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("near", "far", "least", "most"),
    [
        (1e6, 1e6 + 1, 1e-6, 1e-5),
        (1e3, 3e3, 1e-12, 2e-11),
        (5.0, 5.001, 1e-9, 1e-7),
        (-0.25, 3.0, 1e-12, 2e-11),
        (-9.0, 7.0, 1e-12, 1e-11),
    ],
)
def test_intervals_on_either_side(sign: int, near: float, far: float, least: float, most: float) -> None:
    """Cauchy's masses are known to 1e-12: of their difference that is as much more as it is smaller."""
    law = law_of(dpest.from_scipy(stats.cauchy()))
    low, high = (near, far) if sign > 0 else (-far, -near)
    ends = np.array([low]), np.array([high])
    found = law.log_interval(*ends)
    error = np.broadcast_to(law.interval_error(*ends, found), (1,))
    with mpmath.workdps(50):
        truth = mpmath.log((mpmath.atan(high) - mpmath.atan(low)) / mpmath.pi)
        assert abs(found[0] - truth) <= error[0] + law.error
    assert least <= error[0] <= most
    assert law.log_interval(*ends[::-1])[0] == law.log_interval(ends[0], ends[0])[0] == -np.inf

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

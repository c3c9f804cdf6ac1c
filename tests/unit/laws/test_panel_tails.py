"""Tables whose ends are open: beyond them the density is an exponential, against its integral."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpest.laws.panels import _tail_mass


@pytest.mark.parametrize("slope", [-0.01, -1.0, -30.0])
@pytest.mark.parametrize(("near", "far"), [(0.0, 1.0), (0.5, 3.0), (2.0, 2.0001), (-4.0, 1.5), (1.0, math.inf)])
def test_the_mass_between_two_places_beyond_an_end(slope: float, near: float, far: float) -> None:
    found = float(_tail_mass((-3.0, slope), np.array(near), np.array(far)))
    with mpmath.workdps(40):
        ends = [max(mpmath.mpf(x), 0) * mpmath.mpf(slope) for x in (near, far)]
        truth = -3 + mpmath.log((mpmath.exp(ends[0]) - mpmath.exp(ends[1])) / -mpmath.mpf(slope))
    assert found == pytest.approx(float(truth), rel=1e-11)


@pytest.mark.parametrize(("near", "far"), [(1.0, 1.0), (2.0, 1.0), (-2.0, -1.0), (-1.0, 0.0)])
def test_no_mass(near: float, far: float) -> None:
    assert _tail_mass((-3.0, -2.0), np.array(near), np.array(far)) == -math.inf

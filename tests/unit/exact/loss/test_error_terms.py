"""Ends of brackets hold whatever the errors of the values are, up to those that are stated (oracle: exact sums, the true law)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Density
from dpest.exact.inference.sphere import Radius
from dpest.exact.loss.blocks import BlockLaw, Measures
from dpest.exact.loss.cover import _best
from dpest.exact.loss.edges import edge
from dpest.exact.loss.logs import Logs
from dpest.exact.loss.pieces import Piece
from dpest.exact.loss.sphere import SphereSide
from dpest.laws.continuous import Laplace
from dpest.numerics.rationals import exact

OFF = 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_what_was_reached_is_no_more_than_what_is_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q, error = rng.uniform(-9, 0, 30), rng.uniform(-9, 0, 30), rng.choice([0.0, 1e-3, 0.3], 30)
    share = rng.choice([0.0, 0.5, 1.0], 30)
    found = _best(Logs(np.arange(30.0)[:, None], p + share * error, q - (1 - share) * error, error))
    assert found <= float((p - q).max())
    assert found >= float((p - q - error).max()) - 1e-12


@dataclass(frozen=True)
class Unsure(Laplace):
    """Laplace noise whose density beside 1, at the reach and at twice the reach is off by as much as it says."""

    signs: tuple[int, int, int] = (0, 0, 0)
    step: float = 1.0

    @property
    def error(self) -> float:
        return OFF

    def log_density(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        steps = np.clip(np.rint(np.abs(np.asarray(x) - 1.0) / self.step), 0, 2).astype(int)
        return np.asarray(super().log_density(x) + OFF * np.array(self.signs)[steps])


@pytest.mark.parametrize("signs", list(itertools.product((-1, 1), repeat=3)))
@pytest.mark.parametrize("side", [1, -1])
def test_a_density_beside_a_place_lies_within_its_error(signs: tuple[int, int, int], side: int) -> None:
    reach = 0.125
    law = Unsure(2.0, signs, reach)
    found = edge(Piece(0.0, 0.0, (Density(law, expr(((-1, exact(1)),), exact(0))),)), exact(1), side, reach)
    assert found is not None
    for t in np.linspace(0.0, reach, 9):
        truth = -(1.0 + side * t) / 2.0 - math.log(4.0)
        assert found.low <= truth <= found.high
    assert found.high - found.low <= 2 * reach / 2.0 + 6 * OFF


@pytest.mark.parametrize("count", [2, 5, 40, 300])
def test_a_product_of_many_parts_is_off_by_no_more_than_it_says(count: int) -> None:
    """The logarithms of the parts are doubles: their sum in rationals is the truth."""
    rng = np.random.default_rng(count)
    logs, times = rng.uniform(-50, 0, count), rng.integers(1, 5, count)
    measures: Any = SimpleNamespace(
        of=lambda k: SimpleNamespace(log=lambda rows: (np.full(len(rows), logs[k]), np.zeros(len(rows))))
    )
    parts: Any = [(SimpleNamespace(component=k, outputs=()), int(n)) for k, n in enumerate(times)]
    (total,), (error,) = BlockLaw(((parts, 1),), measures).log(np.zeros((1, 1)))
    truth = sum(Fraction(float(x)) * int(n) for x, n in zip(logs, times, strict=True))
    assert abs(Fraction(float(total)) - truth) <= Fraction(float(error))
    assert error <= 1e-16 * count * float(-truth) * 2


@pytest.mark.parametrize("shape", [1, 3, 12])
@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_the_density_of_a_vector_is_off_by_no_more_than_it_says(shape: int, size: float, scale: float) -> None:
    """In twelve dimensions, with a centre of thirds; the density in 40 digits, and one rounding of its own logarithm."""
    rng = np.random.default_rng(7)
    centre = tuple(exact(int(k)) / 3 * exact(size) for k in rng.integers(-20, 20, 12))
    side = SphereSide((), Measures(), centre, Radius(exact(shape), exact(scale)))
    y = np.array([float(c) for c in centre]) + scale * rng.normal(size=(60, 12)) * rng.choice([1e-3, 1.0, 1e3], (60, 1))
    found, errors = side.log(y)
    assert errors.max() <= 1e-9 * size / scale
    with mpmath.workdps(40):
        for row, log, error in zip(y, found, errors, strict=True):
            away = [
                mpmath.mpf(float(v)) - mpmath.mpf(int(c.numerator)) / int(c.denominator) for v, c in zip(row, centre, strict=True)
            ]
            distance = mpmath.sqrt(sum(a * a for a in away))
            truth = (shape - 12) * mpmath.log(distance) - distance / mpmath.mpf(scale)
            assert abs(truth - mpmath.mpf(float(log))) <= error + 2.3e-16 * (1 + abs(log))

"""Student's and Cauchy noise that a program makes of Gaussian, chi-square and gamma draws, beside closed forms of the loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused


def _loss(degrees: float, shift: float) -> float:
    """ln((nu + (x + d)^2) / (nu + x^2)) is largest where x and x + d are as far from the centre as sqrt(nu + d^2 / 4) says."""
    return (degrees + 1) * math.asinh(shift / (2 * math.sqrt(degrees)))


def _of_gaussians(rng: np.random.Generator) -> object:
    z = rng.normal(size=4)
    return z[0] / np.sqrt(np.mean(z[1:] ** 2))


@pytest.mark.parametrize(
    ("noise", "degrees", "scale"),
    [
        (lambda rng: rng.normal() / math.sqrt(rng.chisquare(3) / 3), 3, 1.0),
        (lambda rng: rng.standard_normal() / rng.standard_normal(), 1, 1.0),
        (lambda rng: 2 * rng.normal(0, 2) / abs(rng.normal(0, 0.5)), 1, 8.0),
        (lambda rng: rng.normal() / np.sqrt(sum(rng.normal(0, 2) ** 2 for _ in range(3)) / 3), 3, 0.5),
        (lambda rng: rng.normal() / np.sqrt(rng.gamma(2.5, 2.0) / 5), 5, 1.0),
        (lambda rng: rng.normal() / np.sqrt(rng.exponential(1.0)), 2, 1.0),
        (_of_gaussians, 3, 1.0),
    ],
)
def test_gaussian_noise_over_a_root_of_chi_square_noise(
    noise: Callable[[np.random.Generator], object], degrees: float, scale: float
) -> None:
    def mechanism(x, rng: np.random.Generator):
        return x + noise(rng)

    r = dpest.estimate(mechanism, (3.0, 4.0), method="exact", progress=False)
    truth = _loss(degrees, 1.0 / scale)
    assert r.lower <= truth * (1 + 1e-14)
    assert truth * (1 - 1e-14) <= r.upper
    assert r.upper - r.lower < 1e-9


def test_noise_that_is_in_both_parts_is_no_student() -> None:
    def mechanism(x, rng: np.random.Generator):
        z = rng.normal()
        return x + z / np.sqrt(z**2 + rng.normal() ** 2)

    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, (3.0, 4.0), method="exact", progress=False)


def test_squares_of_other_sizes_are_no_chi_square_noise() -> None:
    def mechanism(x, rng: np.random.Generator):
        return x + rng.normal() / np.sqrt(rng.normal() ** 2 + rng.normal(0, 2) ** 2)

    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, (3.0, 4.0), method="exact", progress=False)

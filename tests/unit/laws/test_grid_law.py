"""A density that is linear between points, against its integral in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpest.errors import InvalidLaw
from dpest.laws.grid import Sample, grid_law, known_grid

X = [-2.0, -1.0, 0.5, 1.0, 3.0]
F = [0.0, 0.25, 0.5, 0.25, 0.0]
MASS = sum((b - a) * (f + g) / 2 for a, b, f, g in zip(X, X[1:], F, F[1:], strict=False))


def below(x: Fraction) -> Fraction:
    """The area of trapezoids up to x."""
    out = Fraction(0)
    for a, b, f, g in zip(*[map(Fraction, v) for v in (X, X[1:], F, F[1:])], strict=False):
        t = min(max(x, a), b) - a
        out += t * (f + (f + (g - f) / (b - a) * t)) / 2
    return out / Fraction(MASS)


@pytest.mark.parametrize("x", [-1.75, -1.0, -0.25, 0.5, 0.9375, 1.5, 2.75])
def test_density_and_mass(x: float) -> None:
    law = grid_law(X, np.array(F) / MASS)
    assert float(law.log_density(x)) == pytest.approx(math.log(np.interp(x, X, F) / MASS), abs=1e-13)
    assert float(law.log_cdf(x)) == pytest.approx(math.log(below(Fraction(x))), abs=1e-13)
    assert float(law.log_sf(x)) == pytest.approx(math.log(1 - below(Fraction(x))), abs=1e-13)
    assert law.support == (-2.0, 3.0)
    assert set(law.kinks) == set(X)
    assert law.error == 0.0
    assert np.isneginf(law.log_density(np.array([-2.5, 3.5]))).all()


def test_the_same_points_are_the_same_law() -> None:
    x, f = np.array(X), np.array(F) / MASS
    assert known_grid(x, f) is known_grid(x.copy(), f.copy())
    assert known_grid(x, f) is not known_grid(x + 1, f)


@pytest.mark.parametrize(
    ("x", "f", "words"),
    [
        ([0.0], [1.0], "two lists of one length >= 2"),
        ([0.0, 1.0], [1.0], "two lists of one length >= 2"),
        ([[0.0, 1.0]], [[1.0, 1.0]], "two lists of one length >= 2"),
        ([0.0, 0.0], [1.0, 1.0], "increasing order"),
        ([0.0, 2.0, 1.0], [0.5, 0.5, 0.5], "increasing order"),
        ([0.0, math.inf], [1.0, 1.0], "finite points"),
        ([0.0, 1.0, 2.0], [1.5, -0.5, 1.5], "must be a number >= 0, got .*-0.5.* at x = .*1.0"),
        ([0.0, 1.0], [1.0, math.nan], "must be a number >= 0"),
        ([0.0, 1.0], [1.0, 1.00001], r"integrates to .* \(off by \+5e-06\)"),
        ([0.0, 2.0], [0.5, 0.49999], r"off by -1e-05"),
    ],
)
def test_what_is_no_density(x: list[float], f: list[float], words: str) -> None:
    with pytest.raises(InvalidLaw, match=words):
        grid_law(x, f)


def test_a_sample_is_its_frequencies() -> None:
    sample = Sample(np.array([3.0, 1.0, 3.0, 2.0]))
    assert sample.atoms == [(1.0, 0.25), (2.0, 0.25), (3.0, 0.5)]
    assert sample.support == (1.0, 3.0)
    assert sample.cdf([0.5, 1.0, 2.5, 3.0]).tolist() == [0.0, 0.25, 0.5, 1.0]
    assert sample.error == 0.25
    assert set(sample.sample(np.random.default_rng(1), 50)) == {1.0, 2.0, 3.0}

"""Remainders of whole-number noise: geometric series, and budgets."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from dpest.errors import BudgetExceeded
from dpest.laws.discrete import Geometric, integers_law
from dpest.laws.wrapped import residues
from dpest.numerics.rationals import exact


@pytest.mark.parametrize("scale", [0.01, 0.3, 5.0, 40.0])
@pytest.mark.parametrize(("top", "bottom"), [(1, 2), (1, 7), (3, 7), (-2, 9), (1, 40)])
def test_remainders_of_two_sided_geometric_noise(scale: float, top: int, bottom: int) -> None:
    """With w = e^(-1 / b), k = r modulo q has the weight (w^r + w^(q - r)) / (1 - w^q), (1 + w^q) / (1 - w^q) for r = 0."""
    found = residues(Geometric(scale), exact(Fraction(top, bottom)))
    with mpmath.workdps(40):
        w = mpmath.exp(-1 / mpmath.mpf(scale))
        whole = (1 + w) / (1 - w)
        truth = {}
        for r in range(bottom):
            weight = (w**r + w ** (bottom - r)) if r else 1 + w**bottom
            truth[top * r % bottom] = mpmath.log(weight / (1 - w**bottom) / whole)
        assert set(found.points) == set(map(float, range(bottom)))
        for point in found.points:
            expected = float(truth[int(point)])
            assert float(found.log_density(point)) == pytest.approx(expected, abs=1e-13 * (1 + abs(expected)))


@pytest.mark.parametrize("first", [0, 10**6, -(10**6) - 10])
def test_remainders_of_bounded_noise(first: int) -> None:
    found = residues(integers_law(first, first + 10), exact(Fraction(1, 4)))
    counts = [sum(k % 4 == r for k in range(first, first + 11)) for r in range(4)]
    assert found.points == (0.0, 1.0, 2.0, 3.0)
    assert [math.exp(found.log_density(r)) for r in range(4)] == pytest.approx([n / 11 for n in counts], rel=1e-13)


def test_points_that_bounded_noise_does_not_reach_are_impossible() -> None:
    assert residues(integers_law(3, 5), exact(Fraction(1, 7))).points == (3.0, 4.0, 5.0)


def test_too_many_points() -> None:
    with pytest.raises(BudgetExceeded, match=r"more than 200000 points to be taken modulo 3"):
        residues(Geometric(600.0), exact(Fraction(1, 3)))
    residues(Geometric(400.0), exact(Fraction(1, 3)))

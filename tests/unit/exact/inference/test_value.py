"""The law of one value: its points and its density, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.exact.inference.value import infer_value
from dpest.lang.nodes import Node


def node(x: dpest.Dist) -> Node:
    return x.node


def test_points_that_cannot_be_are_no_atoms() -> None:
    """Of 0, 1 and 2 only 0 is left where 1 and 2 become something else."""
    k, m = dpest.integers(0, 2), dpest.integers(0, 2)
    total = infer_value(node(k + m))
    assert [x for x, _ in total.atoms] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [p for _, p in total.atoms] == pytest.approx([1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9])
    one_or_three = 1 + 2 * dpest.bernoulli(0.25)
    found = infer_value(node(dpest.where(k >= 1, one_or_three, k)))
    assert [x for x, _ in found.atoms] == [0.0, 1.0, 3.0]
    assert [p for _, p in found.atoms] == pytest.approx([1 / 3, 0.5, 1 / 6])
    two_or_not = infer_value(node(dpest.where(k >= 2, k, 7)))
    assert [x for x, _ in two_or_not.atoms] == [2.0, 7.0]
    assert two_or_not.support == (2.0, 7.0)


def test_numbers_come_first_and_texts_by_the_alphabet() -> None:
    k = dpest.integers(0, 9)
    value = dpest.where(k >= 6, "a", dpest.where(k >= 3, "b", dpest.where(k >= 1, 5, math.nan)))
    found = infer_value(node(value))
    assert [str(x) for x, _ in found.atoms] == ["5", "a", "b", "nan"]
    assert [p for _, p in found.atoms] == pytest.approx([0.2, 0.4, 0.3, 0.1])
    other = infer_value(node(dpest.where(k >= 6, "b", dpest.where(k >= 3, "a", -2))))
    assert [x for x, _ in other.atoms] == [-2, "a", "b"]
    assert found.support == (5.0, 5.0)
    assert other.cdf([-3.0, -2.0]).tolist() == pytest.approx([0.0, 0.3])


def test_a_density_with_atoms() -> None:
    """Clipped Laplace noise: masses at both ends, and the density between them."""
    z = dpest.laplace(2.0)
    found = infer_value(node(dpest.clip(z, -1, 3)))
    assert dict(found.atoms) == pytest.approx({-1.0: 0.5 * math.exp(-0.5), 3.0: 0.5 * math.exp(-1.5)}, rel=1e-12)
    x = np.array([-1.5, -0.5, 0.0, 2.0, 3.0])
    truth = [0.0, 0.5 * math.exp(-0.25), 0.5, 1 - 0.5 * math.exp(-1), 1.0]
    assert found.cdf(x) == pytest.approx(truth, rel=1e-11)
    assert found.error < 1e-10
    grid = found.grid(400)
    inside = (grid["x"] > -0.9) & (grid["x"] < 2.9)
    assert grid["f"][inside] == pytest.approx(0.25 * np.exp(-np.abs(grid["x"][inside]) / 2), rel=0.01)
    assert float(grid["f"].sum() * grid["dx"]) == pytest.approx(1 - sum(p for _, p in found.atoms), abs=1e-8)


def test_no_density_no_grid_and_no_number_no_support() -> None:
    found = infer_value(node(dpest.where(dpest.bernoulli(0.5) >= 1, "a", "b")))
    assert found.grid() == {}
    assert all(math.isnan(x) for x in found.support)


def test_a_mixture_of_densities_and_points() -> None:
    """Laplace noise of two scales around two places, or 7, with chances 1/2, 1/3, 1/6."""
    k = dpest.integers(0, 5)
    one, two = 1 + dpest.laplace(1.0), -1 - dpest.laplace(3.0)
    found = infer_value(node(dpest.where(k >= 3, one, dpest.where(k >= 1, two, 7))))
    assert found.atoms == ((7.0, pytest.approx(1 / 6, rel=1e-13)),)

    def cdf(z: float) -> float:
        return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)

    x = [-20.0, -3.0, -1.0, 0.0, 1.0, 2.5, 6.9, 7.0, 30.0]
    truth = [cdf(v - 1) / 2 + cdf((v + 1) / 3) / 3 + (v >= 7) / 6 for v in x]
    assert found.cdf(x) == pytest.approx(truth, rel=1e-11)
    assert found.error < 1e-10
    grid = found.grid()
    assert len(grid["x"]) == len(grid["f"]) == 8001
    assert grid["f"].sum() * grid["dx"] == pytest.approx((5 / 6) * (1 - 2e-10), abs=1e-9)
    f = np.exp(-np.abs(grid["x"] - 1)) / 4 + np.exp(-np.abs(grid["x"] + 1) / 3) / 18
    assert grid["f"] == pytest.approx(f, rel=1e-3)


def test_the_largest_error_of_all_points_is_told() -> None:
    """scipy's functions are right to 1e-12, those of the package's own laws to rounding."""
    t, z = dpest.from_scipy(stats.t(3)), dpest.laplace(1.0)
    own = infer_value(node(dpest.where(z >= 0.5, 1, 0)))
    assert own.error < 2e-13
    either = dpest.where(z >= 0.5, dpest.where(t >= 0.25, 2, 1), 0), dpest.where(z >= 0.5, 0, dpest.where(t >= 0.25, 2, 1))
    for value in either:
        found = infer_value(node(value))
        assert 1e-12 <= found.error < 1e-11
        assert math.fsum(p for _, p in found.atoms) == pytest.approx(1, abs=1e-11)
    assert infer_value(node(dpest.where(t >= 0.25, z, 2))).error >= 1e-12


def test_a_mixture_of_narrow_and_wide_noise_is_told_far_out_on_both_sides() -> None:
    """One of two scales by a fair coin: ten thousand times the narrow one out, the wide one has most of its mass left."""
    narrow, wide = 0.01, 100.0
    found = infer_value(node(dpest.where(dpest.bernoulli(0.5) >= 1, dpest.laplace(narrow), dpest.gaussian(wide))))
    x = np.array([-900.0, -250.0, -20.0, -1.0, 0.005, 2.0, 70.0, 300.0])
    truth = (stats.laplace(0, narrow).cdf(x) + stats.norm(0, wide).cdf(x)) / 2
    assert found.cdf(x) == pytest.approx(truth, rel=1e-10)
    assert 1 - found.cdf(x) == pytest.approx(1 - truth, abs=1e-12)

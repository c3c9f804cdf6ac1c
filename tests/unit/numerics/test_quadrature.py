"""Integrals in log space: values, errors, kinks, and laws of very different scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpest.laws.panels import tabulate
from dpest.numerics.logspace import log1mexp, log_diff, log_sum, log_sum_by_row
from dpest.numerics.quadrature import ORDER, integrate, legendre_rule, rounding, with_tails


def row(*edges: float) -> Any:
    return np.array([edges], float)


@pytest.mark.parametrize("rate", [1e-3, 1.0, 50.0, 4000.0])
def test_an_exponential(rate: float) -> None:
    found = integrate(lambda _, x: (-rate * x, 0.0), with_tails(row(0.0), np.array([0.0]), np.array([3.0]), 1.0))
    truth = math.log(-math.expm1(-3 * rate) / rate)
    assert float(found.log_value[0]) == pytest.approx(truth, abs=1e-13)
    assert abs(float(found.log_value[0]) - truth) <= float(found.error[0]) + 1e-14


def test_logarithms_far_below_what_a_float_holds() -> None:
    found = integrate(lambda _, x: (-5000.0 - x * x / 2, 0.0), with_tails(row(0.0), np.array([-60.0]), np.array([60.0]), 1.0))
    assert float(found.log_value[0]) == pytest.approx(-5000 + 0.5 * math.log(2 * math.pi), rel=1e-15)


def test_a_kink_on_an_edge_costs_nothing_and_one_inside_is_found() -> None:
    def log_f(_: Any, x: Any) -> Any:
        return -np.abs(x - 0.3), 0.0

    truth = math.log(2 - math.exp(-1.3) - math.exp(-0.7))
    for edges in (row(-1.0, 0.3, 1.0), row(-1.0, 1.0)):
        assert float(integrate(log_f, edges).log_value[0]) == pytest.approx(truth, abs=1e-13)


def test_the_error_of_the_function_is_integrated_along() -> None:
    found = integrate(lambda _, x: (0.0 * x, np.full(x.shape, 1e-6)), row(0.0, 1.0))
    assert float(found.error[0]) == pytest.approx(1e-6, rel=1e-3)


def test_rows_are_independent() -> None:
    rates = np.array([1.0, 2.0, 3.0])
    edges = np.tile([0.0, 1.0, 40.0], (3, 1))
    found = integrate(lambda rows, x: (-rates[rows][:, None] * x, 0.0), edges)
    np.testing.assert_allclose(found.log_value, -np.log(rates), atol=1e-13)


def test_nothing_is_minus_infinity() -> None:
    found = integrate(lambda _, x: (np.full(x.shape, -np.inf), 0.0), row(0.0, 1.0))
    assert float(found.log_value[0]) == -math.inf
    assert float(found.error[0]) == 0.0


@pytest.mark.parametrize("gap", [10.0, 1e3])
def test_a_narrow_peak_at_either_end_of_a_wide_gap_is_seen(gap: float) -> None:
    """e^(-|x - g|/s) between breaks at 0 and g: all of it lies within a few s of g."""
    s = 1e-3
    edges = with_tails(row(0.0, gap), np.array([-5.0]), np.array([gap + 5.0]), s)
    found = integrate(lambda _, x: (-np.abs(x - gap) / s, 0.0), edges)
    assert float(found.log_value[0]) == pytest.approx(math.log(2 * s), abs=1e-12)


def test_panels_reach_as_far_as_a_heavy_tail() -> None:
    edges = with_tails(row(0.0), np.array([-1e30]), np.array([1e30]), 1.0)
    found = integrate(lambda _, x: (-np.log1p(x * x), 0.0), edges)
    assert float(found.log_value[0]) == pytest.approx(math.log(math.pi), abs=1e-12)


def test_edges_are_sorted_and_stay_inside() -> None:
    edges = with_tails(np.array([[3.0, -2.0, 700.0]]), np.array([-1.0]), np.array([500.0]), 0.01)
    assert np.all(np.diff(edges) >= 0)
    assert (edges.min(), edges.max()) == (-1.0, 500.0)


@pytest.mark.parametrize("x", [-1e-18, -1e-9, -0.3, -0.7, -5.0, -800.0])
def test_one_minus_an_exponential(x: float) -> None:
    import mpmath

    with mpmath.workdps(400):
        truth = float(mpmath.log(-mpmath.expm1(x)))
    assert float(log1mexp(x)) == pytest.approx(truth, rel=1e-15, abs=0)


def test_sums_and_differences_of_logarithms() -> None:
    assert float(log_sum([-1000.0, -1000.0])) == pytest.approx(-1000 + math.log(2))
    assert float(log_sum([])) == -math.inf
    assert float(log_diff(-1000.0, -1001.0)) == pytest.approx(-1000 + math.log1p(-math.exp(-1)))
    assert float(log_diff(-2.0, -1.0)) == -math.inf
    sums = log_sum_by_row(np.array([0, 2, 0]), np.array([-1.0, -2.0, -1.0]), 3)
    np.testing.assert_allclose(sums, [-1 + math.log(2), -np.inf, -2.0])


def test_the_rounding_of_a_logarithm_grows_with_it() -> None:
    assert rounding(np.array([0.0, -1000.0, 46.0, -np.inf])).tolist() == pytest.approx([4e-15, 1.004e-12, 5e-14, 4e-15])


def test_an_integral_over_a_few_floats() -> None:
    high = 1.0 + 8 * 2.0**-52
    found = integrate(lambda _, x: (0.0 * x, 0.0), row(1.0, high))
    assert float(found.log_value[0]) == pytest.approx(math.log(high - 1.0), abs=1e-9)
    assert float(integrate(lambda _, x: (0.0 * x, 0.0), row(1.0, 1.0 + 2.0**-52)).log_value[0]) == -math.inf


def test_the_stated_error_covers_a_jump_that_halving_cannot_end() -> None:
    """A jump at an irrational place: after all halvings one panel still straddles it."""
    place = 1 / math.pi
    found = integrate(lambda _, x: (np.where(x < place, 0.0, -3.0), 0.0), row(0.0, 1.0))
    truth = math.log(place + (1 - place) * math.exp(-3.0))
    assert abs(float(found.log_value[0]) - truth) <= float(found.error[0]) + 1e-14
    assert float(found.error[0]) < 1e-12


@pytest.mark.parametrize("order", [12, 20, ORDER])
def test_polynomials_are_integrated_and_told_to_rounding(order: int) -> None:
    """The integral of t^k over [-1, 1] is 2 / (k + 1) for even k; sums of Legendre polynomials are told at both ends."""
    nodes, weights, to_coefficients = legendre_rule(order)
    for k in range(0, 2 * order, 2):
        assert math.fsum(weights * nodes**k) * (k + 1) / 2 == pytest.approx(1.0, abs=1e-14)
    for k in range(order):
        values = np.polynomial.legendre.legval(nodes, np.eye(order)[k]) + 1.0
        assert np.polynomial.legendre.legval([-1.0, 1.0], to_coefficients @ values) == pytest.approx(
            [1 + (-1) ** k, 2.0], abs=4e-14
        )


def test_a_table_is_right_at_the_ends_of_its_panels() -> None:
    """A constant density and e^x, at the places where panels meet: their errors are what the table says."""
    for slope in (0.0, 1.0):

        def log_f(x: np.ndarray, slope: float = slope) -> tuple[np.ndarray, float]:
            return np.where(np.abs(x) <= 1, slope * x, -np.inf), 0.0

        table = tabulate(log_f, np.array([-1.0, 0.25, 1.0]), (), 1.0, "a test")
        ends = np.array([-1.0, 0.25, 1.0])
        assert np.abs(table.log_density(ends) - slope * ends).max() <= table.error < 1e-13

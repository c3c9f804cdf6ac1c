"""Probabilities of narrow intervals, against mpmath at 60 digits: the answer lies within the error that is stated."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.stats

from dpest.exact.inference.expressions import expr, number
from dpest.exact.inference.gaps import differences, edge_error, log_gap
from dpest.laws.continuous import Exponential, Gaussian, Laplace
from dpest.laws.law import Continuous
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact


def log_mass(scale: float, low: float, width: float) -> mpmath.mpf:
    """ln P(low < X < low + width) of Laplace noise, for low >= 0."""
    with mpmath.workdps(60):
        b = mpmath.mpf(scale)
        return mpmath.log(mpmath.exp(-mpmath.mpf(low) / b) * -mpmath.expm1(-mpmath.mpf(width) / b) / 2)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("low", [0.0, 0.3, 7.0])
def test_within_the_stated_error(scale: float, low: float) -> None:
    """The width is known exactly; the upper end is the float next to it, which a narrow interval cannot be told by."""
    for share in (1e-30, 1e-17, 1e-12, 1e-9, 5e-7, 2e-6, 1e-3, 0.5, 3.0):
        width = share * scale
        logs, error = log_gap(Laplace(scale), low, low + width, width)
        off = abs(mpmath.mpf(float(logs)) - log_mass(scale, low, width))
        assert off <= float(error) + 4e-16 * (4 + abs(float(logs)))
        assert float(error) <= (3e-6 if width < 1e-6 * scale else 1e-6 * (1 + low / scale))


def test_a_narrow_interval_is_told_to_many_digits() -> None:
    logs, error = log_gap(Gaussian(1.0), 1.0, 1.0 + 1e-15, 1e-15)
    assert float(logs) == pytest.approx(-0.5 - 0.5 * math.log(2 * math.pi) + math.log(1e-15), abs=1e-13)
    assert float(error) < 1e-12


def test_nothing_lies_where_the_width_is_not_positive() -> None:
    logs, _ = log_gap(Laplace(1.0), np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0]), np.array([0.0, -1e-20, 1e-20]))
    assert logs[0] == logs[1] == -math.inf
    assert float(logs[2]) == pytest.approx(-1 - math.log(2) + math.log(1e-20), abs=1e-12)


def test_an_infinite_end_is_a_tail() -> None:
    logs, error = log_gap(Laplace(1.0), -math.inf, 0.0, math.inf)
    assert float(logs) == pytest.approx(-math.log(2))
    assert float(error) == 0.0


def test_where_the_density_jumps_the_interval_itself_is_used() -> None:
    """Exponential noise begins at 0: half of (-w, w) has no mass, and a density taken at its start would say nothing at all."""
    w = 1e-9
    logs, _ = log_gap(Exponential(1.0), -w, w, 2 * w)
    assert float(logs) == pytest.approx(math.log(w), abs=1e-6)


def test_rounding_of_the_ends_is_accounted_for() -> None:
    """At 1e6 scales from zero a wide interval has ends that are off by 1e-10 scales."""
    _, error = log_gap(Laplace(1.0), 1e6, 1e6 + 0.5, 0.5)
    assert 2e-10 <= float(error) <= 2e-9
    _, low_only = log_gap(Laplace(1.0), -1e6, 1.0, 1e6 + 1)
    assert 1e-10 <= float(low_only) <= 1e-9


def test_differences_are_uppers_less_lowers() -> None:
    low, high = expr(((0, exact(2)),), exact(1)), expr(((0, exact(2)), (1, exact(1))), exact(5))
    assert differences((low,), (high, number(7))) == (expr(((1, exact(1)),), exact(4)), expr(((0, exact(-2)),), exact(6)))


@pytest.mark.parametrize("low", [2e3, 2e5, 2e6])
def test_far_out_the_stated_error_knows_what_a_difference_of_cdfs_loses(low: float) -> None:
    """P(low < X < low + 1) of a Cauchy draw: two numbers next to 1 are subtracted."""
    law = from_frozen(scipy.stats.cauchy())[1]
    assert isinstance(law, Continuous)
    logs, error = log_gap(law, low, low + 1.0, 1.0)
    with mpmath.workdps(60):
        truth = mpmath.log((mpmath.atan(mpmath.mpf(low) + 1) - mpmath.atan(mpmath.mpf(low))) / mpmath.pi)
    assert abs(mpmath.mpf(float(logs)) - truth) <= float(error)


def test_the_error_of_edges_is_their_rounding_over_what_lies_between() -> None:
    """Rows of places, with an integrand that is positive between some of them; at most everything is wrong."""
    places = np.array([[0.0, 1.0, 3.0], [5.0, 4.0, 2.0], [1.0, 1.0, 1.0], [0.0, 1.0, 3.0]])
    positive = np.array([[True, False], [True, True], [True, True], [False, False]])

    def log_f(_rows: np.ndarray, _y: np.ndarray) -> tuple[np.ndarray, float]:
        return np.where(positive, 0.0, -np.inf), 0.0

    sizes = np.array([7.0, 0.0, 1e3, 0.0])
    found = edge_error(places, log_f, sizes, 2.5)  # type: ignore[arg-type]
    lengths = np.array([1.0, 2.5, 2.5, 2.5])  # no longer than the finest scale, which also stands for no length at all
    assert found == pytest.approx(4.6e-16 * (np.array([3.0, 5.0, 1.0, 3.0]) + sizes) / lengths, rel=1e-12, abs=0.0)
    assert edge_error(places, log_f, np.full(4, 1e18), 2.5).tolist() == [1.0] * 4  # type: ignore[arg-type]
    assert edge_error(np.array([[2.0]]), log_f, np.zeros(1), 0.5) == pytest.approx([4.6e-16 * 4], rel=1e-12, abs=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("low", [0.3, -0.3])
def test_the_better_of_two_formulas_is_taken(low: float) -> None:
    """Half a millionth wide: the density changes by 5e-7 there, the ends are known to 3e-10 of the width."""
    logs, error = log_gap(Laplace(1.0), low, low + 5e-7, 5e-7)
    truth = log_mass(1.0, 0.3 if low > 0 else 0.3 - 5e-7, 5e-7)
    assert abs(mpmath.mpf(float(logs)) - truth) <= float(error) <= 1e-8


def test_a_narrow_interval_with_exact_ends_keeps_all_its_digits() -> None:
    """From 0 to 1e-14: the distribution function itself is right to rounding, and a density at the ends would not be."""
    logs, error = log_gap(Laplace(1.0), 0.0, 1e-14, 1e-14)
    assert float(error) < 1e-15
    assert float(logs) == pytest.approx(float(log_mass(1.0, 0.0, 1e-14)), abs=4e-16 * abs(float(logs)))

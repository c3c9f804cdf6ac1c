"""Closed enclosures, and sums that are kept as logarithms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpest.errors import InvalidInput
from dpest.numerics.interval import Interval
from dpest.numerics.linear import identity, product, reduced
from dpest.numerics.logspace import log1mexp, log_diff, log_sum, log_sum_by_row, log_sum_error
from dpest.numerics.rationals import exact


def test_an_interval_holds_its_ends() -> None:
    x = Interval(1.0, 3.5)
    assert x.width == 2.5
    assert 1.0 in x
    assert 3.5 in x
    assert 0.999 not in x
    assert 3.501 not in x
    assert Interval(2.0, 2.0).width == 0.0


@pytest.mark.parametrize("ends", [(2.0, 1.0), (math.nan, 1.0)])
def test_an_interval_that_ends_before_it_starts_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="low <= high"):
        Interval(*ends)


def test_sums_of_nothing() -> None:
    assert float(log_sum([])) == -math.inf
    assert log_sum(np.empty((3, 0)), axis=1).tolist() == [-math.inf] * 3
    assert log_sum(np.full((2, 2), -math.inf), axis=0).tolist() == [-math.inf] * 2


def test_sums_far_from_zero() -> None:
    x = np.array([[-1000.0, -1001.0], [800.0, 798.0]])
    np.testing.assert_allclose(log_sum(x, axis=1), [-1000 + math.log1p(math.exp(-1)), 800 + math.log1p(math.exp(-2))], rtol=1e-15)
    assert float(log_sum(np.log([0.25, 0.5]))) == pytest.approx(math.log(0.75), rel=1e-15)


def test_sums_by_row() -> None:
    found = log_sum_by_row(np.array([2, 0, 2]), np.array([-1000.0, 3.0, -1000.0]), 4)
    assert found.tolist() == [pytest.approx(3.0), -math.inf, pytest.approx(-1000 + math.log(2)), -math.inf]


@pytest.mark.parametrize("x", [-1e-12, -0.5, -math.log(2), -0.8, -40.0])
def test_one_minus_a_power_of_e(x: float) -> None:
    assert float(log1mexp(x)) == pytest.approx(math.log(-math.expm1(x)), rel=1e-13)


def test_differences() -> None:
    found = log_diff([math.log(3), 0.0, -math.inf, 1.0], [math.log(2), 0.0, -math.inf, 2.0])
    assert found.tolist() == [pytest.approx(0.0, abs=1e-15), -math.inf, -math.inf, -math.inf]


def test_row_reduction_goes_on_after_a_column_of_zeros() -> None:
    a = tuple(tuple(exact(x) for x in row) for row in ((0, 2, 4), (0, 1, 3)))
    transform, rank = reduced(a)
    assert rank == 2
    assert product(transform, a) == ((0, 1, 0), (0, 0, 1))
    assert product(transform, identity(2)) == transform


@pytest.mark.parametrize("terms", [2, 3, 17, 1000, 50_000])
def test_the_rounding_of_a_sum_is_bounded(terms: int) -> None:
    """Against the same sum at 40 digits, for terms of very different sizes."""
    logs = -np.random.default_rng(terms).exponential(30, size=(4, terms))
    found = log_sum(logs, axis=1)
    with mpmath.workdps(40):
        truths = [mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(x)) for x in row.tolist())) for row in logs]
        off = [abs(float(t - mpmath.mpf(float(f)))) for t, f in zip(truths, found, strict=True)]
    sizes = np.abs(found) * 2.0**-53
    assert np.all(np.array(off) <= log_sum_error(terms) + sizes)
    assert log_sum_error(terms) < 1e-14

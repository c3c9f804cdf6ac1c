"""Enclosures of the parts of a quotient, against the same densities at many places in between."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpest.exact.inference.ratio import BoundedDraw, Chart, QuotientSpan, Share, Which
from dpest.laws.continuous import Gaussian, Gumbel, Laplace, Logistic
from dpest.laws.law import Continuous
from dpest.numerics.rationals import exact

LAWS: list[Continuous] = [Laplace(1.5), Gaussian(0.7), Logistic(0.8), Gumbel(1.2)]
SPANS = [(-2.0, -1.5), (-0.5, 0.25), (0.0, 1.0), (0.75, 0.8), (1.0, 6.0), (3.0, 3.0)]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("tilt", [-1.5, 0.0, 2.0])
def test_a_tilted_density_over_an_interval(law: Continuous, tilt: float) -> None:
    for factor, offset, x in itertools.product((1.0, -0.5), (0.0, 1.25), (-1.5, 0.5, 2.0)):
        draw = BoundedDraw(law, exact(factor), exact(offset))
        for low, high in SPANS:
            span = QuotientSpan(np.array(low), np.array(high), np.array(tilt))
            z = np.linspace(low, high, 501)
            values = draw.log_density(z * x) - tilt * (z - 0.5 * (low + high))
            most, least = (float(draw.log_within(np.array(x), span, which)) for which in (Which.MOST, Which.LEAST))
            assert least - 1e-12 <= values.min()
            assert values.max() <= most + 1e-12
            assert least >= values.min() - 1e-9  # the logarithm is concave: smallest at an end


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_a_density_exceeds_the_line_between_its_ends_by_what_its_bend_allows(law: Continuous, scale: float) -> None:
    """Tilted so that both ends are level, beside the mode and across it."""
    draw = BoundedDraw(law, exact(scale), exact(0))
    for low, high in ((0.01, 1.0), (0.2, 3.0), (-1.0, 2.0), (-4.0, -0.1)):
        ends = draw.log_density(np.array([low, high]))
        tilt = float(ends[1] - ends[0]) / (high - low)
        span = QuotientSpan(np.array(low), np.array(high), np.array(tilt))
        z = np.linspace(low, high, 501)
        values = draw.log_density(z) - tilt * (z - 0.5 * (low + high))
        assert values.max() <= float(draw.log_within(np.array(1.0), span, Which.MOST)) + 1e-12


@pytest.mark.parametrize("law", LAWS)
def test_bounds_of_a_draw_cut_its_density(law: Continuous) -> None:
    draw = BoundedDraw(law, exact(1), exact(0), low=-1.0, high=2.0)
    x = np.array([-1.5, -1.0, 0.0, 2.0, 2.5])
    assert np.isfinite(draw.log_at(x)).tolist() == [False, True, True, True, False]
    one = np.array(1.0)
    outside, across, inside = (False, False), (True, False), (True, True)  # whether the largest and the smallest are finite
    for low, high, (most, least) in ((-3.0, -1.5, outside), (-1.5, 0.0, across), (0.0, 1.0, inside), (2.5, 3.0, outside)):
        span = QuotientSpan(np.array(low), np.array(high), np.array(0.0))
        assert np.isfinite(draw.log_within(one, span, Which.MOST)) == most
        assert np.isfinite(draw.log_within(one, span, Which.LEAST)) == least


@pytest.mark.parametrize("k", [2.0, -0.5])
def test_a_noisy_value_over_a_number_has_the_density_of_scipy(k: float) -> None:
    """T / k with T Laplace around 1, in terms of y and of t = 1 / y, whose density has the factor 1 / t^2."""
    share = Share(BoundedDraw(Laplace(1.5), exact(1), exact(1)), exact(k), math.log(0.25), 1e-9, least=-3.0, most=4.0)
    y = np.array([-3.5, -2.0, -0.25, 0.5, 3.0, 4.5])
    truth = stats.laplace.logpdf(y, 1 / k, 1.5 / abs(k)) + math.log(0.25)
    truth[[0, -1]] = -np.inf
    found, error = share.at(Chart.Y, y)
    assert found == pytest.approx(truth, rel=1e-12)
    assert ((error >= 1e-9) & (error < 2e-9)).all()
    found, _ = share.at(Chart.INVERSE, 1 / y)
    assert found == pytest.approx(truth + 2 * np.log(np.abs(y)), rel=1e-12)


@pytest.mark.parametrize("k", [2.0, -0.5])
@pytest.mark.parametrize("chart", list(Chart))
@pytest.mark.parametrize("tilt", [-1.0, 0.0, 1.5])
def test_a_noisy_value_over_a_number_is_enclosed(k: float, chart: Chart, tilt: float) -> None:
    share = Share(BoundedDraw(Gaussian(0.7), exact(1), exact(0.5)), exact(k), -0.5, 0.0)
    for low, high in ((-2.0, -1.5), (0.2, 0.3), (0.5, 2.0), (1.0, 1.0)):
        span = QuotientSpan(np.array([low]), np.array([high]), np.array([tilt]))
        z = np.linspace(low, high, 501)
        values = share.at(chart, z)[0] - tilt * (z - 0.5 * (low + high))
        most, least = (float(share.within(chart, span, which)[0][0]) for which in (Which.MOST, Which.LEAST))
        assert least - 1e-12 <= values.min() <= values.max() <= most + 1e-12
        if low == high:
            assert most - least < 1e-9


def test_an_interval_around_zero_says_nothing_of_one_over_it() -> None:
    share = Share(BoundedDraw(Gaussian(0.7), exact(1), exact(0.5)), exact(2))
    span = QuotientSpan(np.array([-1.0, 0.0, -1.0]), np.array([1.0, 1.0, 0.0]), np.zeros(3))
    assert (share.within(Chart.INVERSE, span, Which.MOST)[0] == np.inf).all()
    assert (share.within(Chart.INVERSE, span, Which.LEAST)[0] == -np.inf).all()


def test_cases_weigh_where_the_middle_of_an_interval_may_lie() -> None:
    share = Share(BoundedDraw(Laplace(1.0), exact(1), exact(0)), exact(1), 0.0, 0.0, least=1.0, most=2.0)
    span = QuotientSpan(np.array([0.5, 1.0, 2.0]), np.array([1.0, 2.0, 2.5]), np.zeros(3))
    assert np.isfinite(share.within(Chart.Y, span, Which.MOST)[0]).tolist() == [False, True, False]


@pytest.mark.parametrize("factor", [3.0, -0.25])
def test_the_density_of_a_multiple(factor: float) -> None:
    draw = BoundedDraw(Laplace(1.5), exact(factor), exact(0.5))
    x = np.array([-7.0, -0.5, 0.5, 0.75, 4.0])
    assert draw.log_density(x) == pytest.approx(stats.laplace(0.5, 1.5 * abs(factor)).logpdf(x), rel=1e-14)

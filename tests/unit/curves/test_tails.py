"""What lies beyond the cells of mixtures of normal laws: the bound, and the room that it leaves for rounding."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from dpest.curves.tails import NormalTails, log_moment_beyond, reach_of_moment

ONE, OTHER = NormalTails(1.0, 1.0, 1.0, 1.0), NormalTails(0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize("order", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("far", [0.0, 2.0, 10.0])
def test_two_normal_laws(order: float, far: float) -> None:
    """p (p / q)^t is a normal density around t + 1, times e^(t (t + 1) / 2)."""
    place = order + 1 + far
    truth = float(stats.norm.logsf(far)) + order * (order + 1) / 2
    found = log_moment_beyond(ONE, OTHER, place, float(stats.norm.logpdf(place - 1)), place - 0.5, order)
    assert truth <= found
    loose = math.log(math.sqrt(2 * math.pi)) if far < 1 else 1 / far**2  # the whole instead of half; Mills' ratio
    assert found <= truth + loose + 0.7 * (far < 1)


def test_the_formula_beyond_the_peak() -> None:
    """Where the exponent falls from the start, the bound is the value there over its slope, and no more."""
    order, place = 2.0, 10.0
    log_p, log_ratio = -40.0, 9.5
    slope = 3.0 * (place - 1.0) - 2.0 * place
    plain = log_p + order * log_ratio - math.log(slope)
    found = log_moment_beyond(ONE, OTHER, place, log_p, log_ratio, order)
    assert plain + 1e-12 * (1 + 40 + 2 * 9.5) <= found <= plain + 2e-10


def test_the_formula_before_the_peak() -> None:
    order, place = 9.0, 2.0
    log_p, log_ratio = -1.5, 1.5
    fall = 10.0 * (place - 1.0) - 9.0 * place
    plain = log_p + order * log_ratio + 0.5 * math.log(2 * math.pi) + 0.5 * fall**2
    found = log_moment_beyond(ONE, OTHER, place, log_p, log_ratio, order)
    assert plain < found <= plain + 3e-9


def test_means_and_deviations_in_ranges_count_at_their_worst() -> None:
    p, q = NormalTails(0.0, 1.0, 0.9, 1.0), NormalTails(-1.0, 0.5, 1.0, 1.2)
    order, place = 2.0, 10.0
    slope = 3.0 * (place - 1.0) - 2.0 * (place + 1.0)
    assert log_moment_beyond(p, q, place, -40.0, 9.0, order) == pytest.approx(-22.0 - math.log(slope), abs=1e-9)
    assert p.mirrored() == NormalTails(-1.0, 0.0, 0.9, 1.0)


def test_where_nothing_is_known() -> None:
    assert log_moment_beyond(ONE, OTHER, 0.5, -1.0, 0.5, 1.0) == math.inf  # between the means
    assert log_moment_beyond(ONE, NormalTails(3.0, 3.0, 1.0, 1.0), 2.0, -1.0, 0.5, 1.0) == math.inf
    assert log_moment_beyond(ONE, OTHER, 9.0, -math.inf, 0.5, 1.0) == -math.inf
    assert log_moment_beyond(ONE, OTHER, 9.0, -1.0, math.inf, 1.0) == math.inf
    wider = NormalTails(0.0, 0.0, 2.0, 2.0)
    assert log_moment_beyond(wider, OTHER, 9.0, -1.0, 3.0, 1.0) == math.inf
    assert math.isfinite(log_moment_beyond(OTHER, wider, 9.0, -40.0, -30.0, 1.0))


def test_how_far_a_moment_reaches() -> None:
    assert reach_of_moment(ONE, OTHER, 3.0) == pytest.approx(4.0 + 12.0)
    assert reach_of_moment(NormalTails(0.0, 2.0, 1.0, 1.0), NormalTails(-1.0, 0.0, 1.0, 1.0), 1.0) == pytest.approx(5.0 + 12.0)
    assert reach_of_moment(NormalTails(0.0, 0.0, 2.0, 2.0), OTHER, 1.0) == math.inf
    narrow = NormalTails(1.0, 1.0, 0.5, 0.5)
    assert reach_of_moment(narrow, OTHER, 1.0) == pytest.approx(8.0 / 7.0 + 12.0 / math.sqrt(7.0))


def test_the_room_for_rounding_grows_with_the_numbers() -> None:
    """A place at 1e6: the slope is a difference of large numbers, which are known to their rounding."""
    p, q = NormalTails(1e6, 1e6, 1.0, 1.0), NormalTails(1e6 - 1, 1e6 - 1, 1.0, 1.0)
    place, order = 1e6 + 8.0, 2.0
    slope = 3.0 * 8.0 - 2.0 * 9.0
    room = 1e-12 * (3.0 * (place + 1e6) + 2.0 * (place + 1e6 - 1))
    found = log_moment_beyond(p, q, place, -32.0, 8.5, order)
    plain = -15.0 - math.log(slope)
    assert found >= plain - math.log1p(-0.99 * room / slope)
    assert found <= plain - math.log1p(-1.01 * room / slope) + 1e-10

"""The final bound of an audit: which side of which count is bounded, and how alpha is spent."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from dpest.numerics import binomial
from dpest.results import Direction
from dpest.sampling.bounds.common_noise import Blocks
from dpest.sampling.bounds.statement import (
    Counts,
    Statement,
    delta_lower,
    epsilon_lower,
    epsilon_lower_anytime,
    epsilon_lower_published,
    point_estimate,
)

LEFT, RIGHT = Direction.LEFT, Direction.RIGHT
COUNTS = Counts(left=900, right=90, trials_left=10_000, trials_right=9_000)


def clopper_pearson(k: int, n: int, alpha: float) -> tuple[float, float]:
    return float(stats.beta.ppf(alpha, k, n - k + 1)), float(stats.beta.isf(alpha, k + 1, n - k))


def test_counts_add_and_turn() -> None:
    more = COUNTS + Counts(1, 2, 30, 40)
    assert more == Counts(901, 92, 10_030, 9_040)
    assert more.ordered(LEFT) == (901, 10_030, 92, 9_040)
    assert more.ordered(RIGHT) == (92, 9_040, 901, 10_030)


@pytest.mark.parametrize("delta", [1e-3, 0.05])
def test_with_a_delta_each_side_gets_half_of_alpha(delta: float) -> None:
    low, high = clopper_pearson(900, 10_000, 0.025)[0], clopper_pearson(90, 9_000, 0.025)[1]
    assert epsilon_lower(COUNTS, LEFT, 0.05, delta) == pytest.approx(math.log((low - delta) / high), rel=1e-9)
    assert epsilon_lower(COUNTS, RIGHT, 0.05, delta) == 0.0
    assert epsilon_lower(COUNTS, LEFT, 0.05, 0.2) == 0.0


def test_delta_at_an_epsilon() -> None:
    low, high = clopper_pearson(900, 10_000, 0.025)[0], clopper_pearson(90, 9_000, 0.025)[1]
    for epsilon in (0.0, 0.5, 1.5):
        assert delta_lower(COUNTS, LEFT, 0.05, epsilon) == pytest.approx(low - math.exp(epsilon) * high, rel=1e-9)
    assert delta_lower(COUNTS, LEFT, 0.05, 5.0) == 0.0
    assert delta_lower(COUNTS, LEFT, 0.05, 1e6) == 0.0
    assert delta_lower(COUNTS, RIGHT, 0.05, 0.0) == 0.0


def test_without_samples_nothing_is_claimed() -> None:
    for counts in (Counts(), Counts(5, 0, 10, 0), Counts(0, 5, 0, 10)):
        for direction in (LEFT, RIGHT):
            assert epsilon_lower(counts, direction, 0.05) == 0.0
            assert epsilon_lower(counts, direction, 0.05, 1e-3) == 0.0
            assert epsilon_lower_anytime(counts, direction, 0.05) == 0.0
            assert delta_lower(counts, direction, 0.05, 0.0) == 0.0
            assert point_estimate(counts, direction) == 0.0


def test_published_bounds_count_rare_events_as_the_floor() -> None:
    low, high = clopper_pearson(900, 10_000, 0.025)[0], clopper_pearson(90, 9_000, 0.025)[1]
    assert epsilon_lower_published(COUNTS, LEFT, 0.05) == pytest.approx(math.log(low / high), rel=1e-9)
    assert epsilon_lower_published(COUNTS, LEFT, 0.05, 0.05) == pytest.approx(math.log(low / 0.05), rel=1e-9)
    assert epsilon_lower_published(COUNTS, LEFT, 0.05, 0.5) == 0.0


def test_looking_often_costs_something() -> None:
    fixed, anytime = epsilon_lower(COUNTS, LEFT, 0.05), epsilon_lower_anytime(COUNTS, LEFT, 0.05)
    low, high = binomial.confidence_sequence(900, 10_000, 0.025)[0], binomial.confidence_sequence(90, 9_000, 0.025)[1]
    assert anytime == pytest.approx(math.log(float(low) / float(high)), rel=1e-12)
    assert epsilon_lower_anytime(COUNTS, LEFT, 0.05, 0.01) == pytest.approx(
        math.log((float(low) - 0.01) / float(high)), rel=1e-12
    )
    assert 0 < anytime < fixed < point_estimate(COUNTS, LEFT)


def test_alpha_is_spent_once() -> None:
    """Whoever looks while the counts grow pays half of alpha for that, and half for the bound at the end."""
    plain, looking = Statement(LEFT, 0.05), Statement(LEFT, 0.05, looks=True)
    assert plain.lower(COUNTS) == epsilon_lower(COUNTS, LEFT, 0.05)
    assert plain.lower(COUNTS, ended=False) == epsilon_lower_anytime(COUNTS, LEFT, 0.05)
    assert looking.lower(COUNTS) == epsilon_lower(COUNTS, LEFT, 0.025)
    assert looking.lower(COUNTS, ended=False) == epsilon_lower_anytime(COUNTS, LEFT, 0.025)
    assert Statement(RIGHT, 0.05).lower(COUNTS) == 0.0
    assert Statement(LEFT, 0.05, 0.01).lower(COUNTS) == epsilon_lower(COUNTS, LEFT, 0.05, 0.01)


def test_a_statement_about_common_noise_needs_blocks() -> None:
    assert Statement(LEFT, 0.05, stake=0.1).lower(COUNTS) == 0.0


def test_what_the_counts_show() -> None:
    assert point_estimate(COUNTS, LEFT) == pytest.approx(math.log((900 / 10_000) / (90 / 9_000)), rel=1e-14)
    assert point_estimate(COUNTS, LEFT, 0.01) == pytest.approx(math.log((900 / 10_000 - 0.01) / (90 / 9_000)), rel=1e-14)
    assert point_estimate(COUNTS, RIGHT) == 0.0
    assert point_estimate(Counts(10, 0, 100, 200), LEFT) == pytest.approx(math.log(0.1 / (0.5 / 200)), rel=1e-14)
    assert point_estimate(Counts(0, 10, 100, 200), LEFT) == 0.0


def test_blocks_survive_an_addition() -> None:
    one = Counts(1, 1, 4, 4)
    assert (one + one).blocks is None
    assert Blocks is not None

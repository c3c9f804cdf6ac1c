"""Scores: what they recover, and what they leave alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.results import Direction
from dpest.sampling.race import rounds
from dpest.sampling.runs.outcomes import is_discrete
from dpest.sampling.runs.outputs import encode_array, encode_rows
from dpest.sampling.scores.additive import Additive
from dpest.sampling.scores.attacks import attack_from_dict, attack_to_dict, feature_names, fit_by_features
from dpest.sampling.scores.choose import Goal, calibration, choose_cut, score_laws
from dpest.sampling.scores.event import Event
from dpest.sampling.scores.prior import prior_covariance
from dpest.sampling.scores.row_table import fit_table


def laplace(seed: int, shift: float, shape: tuple[int, ...], scale: float = 1.0) -> np.ndarray:
    return shift + np.random.default_rng(seed).laplace(scale=scale, size=shape)


def test_a_table_holds_the_log_ratios_of_counts() -> None:
    left, right = encode_array(np.repeat([0, 1], [300, 100]), 400), encode_array(np.repeat([0, 1], [100, 300]), 400)
    table = fit_table(left, right)
    assert table.score(encode_array(np.array([0, 1, 7]), 3)) == pytest.approx([math.log(3), -math.log(3), 0.0], rel=0.01)


def test_what_is_discrete() -> None:
    rng = np.random.default_rng(0)
    assert is_discrete(*(encode_array(rng.integers(0, 2, (5000, 4)), 5000) for _ in range(2)))
    assert is_discrete(encode_rows([None, "a"] * 500), encode_rows(["a"] * 1000))
    assert not is_discrete(*(encode_array(rng.normal(size=5000), 5000) for _ in range(2)))
    assert not is_discrete(*(encode_array(rng.integers(0, 2, (5000, 20)), 5000) for _ in range(2)))


def test_independent_columns_give_the_sum_of_their_log_ratios() -> None:
    left, right = (encode_array(laplace(seed, shift, (100_000, 3)), 100_000) for seed, shift in ((1, 0.0), (2, 0.5)))
    fresh = encode_array(laplace(3, 0.0, (20_000, 3)), 20_000)
    truth = np.sum(np.abs(fresh.values - 0.5) - np.abs(fresh.values), axis=1)
    for features in ("values", "pooled"):
        assert np.corrcoef(fit_by_features(features, left, right).score(fresh), truth)[0, 1] > 0.99


def test_sums_are_seen_through_their_differences() -> None:
    left, right = (
        encode_array(np.cumsum(laplace(seed, shift, (60_000, 6)), axis=1), 60_000) for seed, shift in ((1, 0.0), (2, 0.3))
    )
    fresh = laplace(3, 0.0, (20_000, 6))
    truth = np.sum(np.abs(fresh - 0.3) - np.abs(fresh), axis=1)
    batch = encode_array(np.cumsum(fresh, axis=1), 20_000)
    assert np.corrcoef(fit_by_features("pooled differences", left, right).score(batch), truth)[0, 1] > 0.98
    assert np.corrcoef(fit_by_features("values", left, right).score(batch), truth)[0, 1] < 0.9


def test_equal_laws_are_shrunk_to_nothing() -> None:
    left, right = (encode_array(laplace(seed, 0.0, (50_000, 2)), 50_000) for seed in (1, 2))
    assert np.abs(fit_by_features("values", left, right).score(left)).max() < 0.1


def test_the_prior_is_a_covariance() -> None:
    rng = np.random.default_rng(4)
    one, zero = rng.poisson(50, 40).astype(float), rng.poisson(50, 40).astype(float)
    one[:3] = zero[:5] = 0
    covariance = prior_covariance(one, zero, 37)
    assert np.array_equal(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > 0


@pytest.mark.parametrize("features", ["table", "values", "half-lines", "pooled", "bits"])
def test_attacks_survive_json(features: str) -> None:
    left, right = (
        encode_rows([None if x > 2 else round(float(x), 1) for x in laplace(s, d, (2000,))]) for s, d in ((1, 0), (2, 1))
    )
    attack = fit_by_features(features, left, right)
    again = attack_from_dict(attack_to_dict(attack))
    assert np.array_equal(attack.score(left), again.score(left))


def test_features_by_kind_of_output() -> None:
    rng = np.random.default_rng(0)
    real = [encode_array(rng.normal(size=(3000, 3)), 3000) for _ in range(2)]
    assert feature_names(*real) == ("half-lines", "values", "differences", "pooled", "pooled differences")
    bits = encode_array(rng.integers(0, 2, (3000, 3)), 3000)
    assert feature_names(bits, bits) == ("table",)


def test_a_log_ratio_is_calibrated_already() -> None:
    rng = np.random.default_rng(8)
    left, right = rng.normal(0.5, 1, 100_000), rng.normal(-0.5, 1, 100_000)
    assert calibration(left, right) == pytest.approx((1.0, 0.0), abs=0.03)
    assert calibration(3 + left / 2, 3 + right / 2) == pytest.approx((2.0, -6.0), abs=0.2)


@pytest.mark.parametrize("above", [True, False])
def test_a_simplified_event_is_the_same_event(above: bool) -> None:
    left, right = (
        encode_rows([None if x > 2 else round(float(x), 1) if x < 0 else float(x) for x in laplace(s, d, (3000,))])
        for s, d in ((1, 0), (2, 1))
    )
    attack = fit_by_features("half-lines", left, right)
    scores = attack.score(left)
    for threshold in np.quantile(scores, [0.05, 0.3, 0.6, 0.95]):
        event = Event(attack, float(threshold), above, 1)
        simple = event.simplified()
        assert np.array_equal(event.contains(right, np.random.default_rng(0)), simple.contains(right, np.random.default_rng(0)))
        assert str(simple) == str(event)
        assert len(str(simple.to_dict())) < len(str(event.to_dict()))


def test_columns_that_do_not_depend_on_the_input_are_left_out_of_a_score() -> None:
    noise = laplace(1, 0.0, (20_000, 4))
    left, right = (encode_array(noise + np.array([0.0, shift, 0.0, 0.0]), 20_000) for shift in (0.0, 1.0))
    attack = fit_by_features("values", left, right)
    assert isinstance(attack, Additive)
    assert [cells.column.index for cells in attack.cells] == [1]


def test_the_cut_finds_the_direction_and_keeps_to_a_size() -> None:
    rng = np.random.default_rng(8)
    left, right = rng.normal(0.0, 1, 50_000), rng.normal(1.0, 1, 50_000)
    cut = choose_cut(-left, -right, Goal(50_000, 0.05))
    assert cut.promise > 1.5
    sized = choose_cut(-left, -right, Goal(50_000, 0.05, size=0.05))
    assert sized.hits[0 if sized.direction is Direction.RIGHT else 1] >= 0.05 * 50_000


def test_the_rounds_of_a_race_end_with_few_pairs_and_all_samples() -> None:
    assert rounds(1_000_000, 7) == [(65_536, 7), (327_680, 5), (1_000_000, 3)]
    assert rounds(200_000, 7) == [(65_536, 7), (200_000, 3)]
    assert rounds(20_000, 7) == [(20_000, 7)]
    assert rounds(1_000_000, 1) == [(65_536, 1), (1_000_000, 1)]
    assert rounds(100_000, 1) == [(100_000, 1)]


def test_both_laws_along_the_score_are_shares_and_agree_with_the_event() -> None:
    """Rung: counts by hand."""
    left, right = laplace(1, 0.0, (4000,)), laplace(2, 1.0, (4000,))
    laws = score_laws(left, right, 0.75, above=False, bins=30)
    assert sum(laws.left) == pytest.approx(1)
    assert sum(laws.right) == pytest.approx(1)
    assert len(laws.left) == len(laws.edges) + 1
    inside = [sum(shares[: k + 1]) for shares in (laws.left, laws.right) for k in range(31) if laws.edges[k] <= 0.75]
    assert max(inside) <= np.mean(left < 0.75)
    assert score_laws(np.zeros(5), np.zeros(5), 0.0, above=True).left[-1] + score_laws(
        np.zeros(5), np.zeros(5), 0.0, above=True
    ).left[1] == pytest.approx(1)

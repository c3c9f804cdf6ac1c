"""The published attack: its guideline, its gap, its randomised threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erfinv

from dpest.audit import optimality_gap, sample_size
from dpest.errors import InvalidInput, NotCovered, UnknownName
from dpest.sampling.runs.outputs import encode_array, encode_rows
from dpest.sampling.scores.classifiers import fit_classifier
from dpest.sampling.scores.event import Event
from dpest.sampling.scores.sniper import power, randomised_threshold


def test_the_guideline() -> None:
    assert sample_size(c=0.01, w=0.005, alpha=0.05) == 7_920_000
    assert sample_size(c=0.01, w=1.0, alpha=0.05) == math.ceil(8 * 99 * erfinv(0.9) ** 2)


def test_the_gap_shrinks_with_the_root_of_the_samples() -> None:
    rho = math.sqrt(math.log(2 / 0.05) / (2 * 10_700_000))
    assert optimality_gap(10_700_000) == pytest.approx(rho / 0.01 + 2 * (rho / 0.01) ** 2)


@pytest.mark.parametrize("c", [0.001, 0.01, 0.3, 0.999])
def test_the_threshold_covers_exactly_its_share_ties_included(c: float) -> None:
    scores = np.round(np.random.default_rng(1).normal(size=1000), 1)
    t, q = randomised_threshold(scores, c)
    assert 0 <= q <= 1
    assert np.sum(scores > t) + q * np.sum(scores == t) == pytest.approx(c * 1000)


def test_all_scores_equal_is_one_tie() -> None:
    assert randomised_threshold(np.zeros(100), 0.25) == (0.0, 0.25)


def test_power_has_a_floor() -> None:
    assert power(50, 1000, 0, 1000, 0.01) == pytest.approx(math.log(5))


def samples(shift: float, seed: int) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(20_000, 2))


@pytest.mark.parametrize("kind", ["logistic", "trees", "network"])
def test_classifiers_find_the_direction_of_a_shift_and_are_data(kind: str) -> None:
    left, right = encode_array(samples(0.0, 1), 20_000), encode_array(samples(1.0, 2), 20_000)
    model = fit_classifier(kind, left, right)
    assert np.mean(model.score(left) > model.score(right)) > 0.8
    event = Event(model, 0.0, True, 2, 0.5)
    again = Event.from_dict(event.to_dict())
    assert np.array_equal(again.attack.score(left), model.score(left))


def test_logistic_scores_are_log_odds() -> None:
    left, right = encode_array(samples(0.0, 1), 20_000), encode_array(samples(1.0, 2), 20_000)
    score = fit_classifier("logistic", left, right).score(encode_array(np.array([[0.0, 0.0], [1.0, 1.0]]), 2))
    assert score == pytest.approx([1.0, -1.0], abs=0.1)


def test_any_estimator_scores_but_has_no_json() -> None:
    from sklearn.naive_bayes import GaussianNB

    left, right = encode_array(samples(0.0, 1), 20_000), encode_array(samples(1.0, 2), 20_000)
    model = fit_classifier(GaussianNB(), left, right)
    assert np.mean(model.score(left)) > np.mean(model.score(right))
    with pytest.raises(NotCovered, match="GaussianNB is not data"):
        Event(model, 0.0, True, 2).to_dict()


def test_symbols_become_indicators() -> None:
    left, right = encode_rows([None] * 90 + [1.0] * 10), encode_rows([None] * 10 + [1.0] * 90)
    score = fit_classifier("logistic", left, right).score(encode_rows([None, 1.0]))
    assert score[0] > 1 > -1 > score[1]


def test_unknown_names_and_bad_numbers_are_refused() -> None:
    batch = encode_array(np.zeros(4), 4)
    with pytest.raises(UnknownName, match="logistic, trees, network"):
        fit_classifier("forest", batch, batch)
    with pytest.raises(InvalidInput, match="needs fit"):
        fit_classifier(3, batch, batch)
    with pytest.raises(InvalidInput, match="c must lie"):
        sample_size(c=0.0)

"""The loss between two samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.errors import InvalidInput
from dpest.sampling.by_hand import compare_samples

N = 40_000


def loss(p: object, q: object, bins: int = 100) -> float:
    return compare_samples(p, q, bins).epsilon


@pytest.mark.parametrize("bins", [1, 10, 1000, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_two_samples_of_one_law_are_never_infinitely_far_apart(bins: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert loss(rng.laplace(size=N), rng.laplace(size=N), bins) < 0.3


@pytest.mark.parametrize("seed", range(5))
def test_two_samples_of_one_law_with_many_coordinates_are_never_infinitely_far_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert loss(rng.laplace(size=(5000, 8)), rng.laplace(size=(5000, 8))) < 0.5


def test_a_handful_of_samples_proves_nothing() -> None:
    assert loss([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]) < math.inf
    with pytest.raises(InvalidInput, match="at least two samples"):
        loss([1.0], [2.0])


def test_an_output_that_one_law_never_shows_is_infinite() -> None:
    rng = np.random.default_rng(1)
    assert loss(rng.integers(0, 2, N), np.ones(N)) == math.inf
    assert loss(rng.exponential(size=N), 1 + rng.exponential(size=N)) == math.inf


def test_the_estimate_is_near_the_truth() -> None:
    rng = np.random.default_rng(2)
    assert loss(rng.laplace(0, 1, 10 * N), rng.laplace(1, 1, 10 * N)) == pytest.approx(1.0, abs=0.05)
    assert loss(rng.random(10 * N) < 0.75, rng.random(10 * N) < 0.25) == pytest.approx(math.log(3), abs=0.02)


def test_nan_none_and_strings_are_values_of_their_own() -> None:
    rng = np.random.default_rng(3)
    p = [None if u < 0.6 else "stop" if u < 0.7 else math.nan for u in rng.random(N)]
    q = [None if u < 0.3 else "stop" if u < 0.4 else math.nan for u in rng.random(N)]
    assert loss(p, q) == pytest.approx(math.log(2), abs=0.05)


def test_sorted_samples_are_not_taken_for_different_ones() -> None:
    rng = np.random.default_rng(4)
    assert loss(np.sort(rng.laplace(size=N)), np.sort(rng.laplace(size=N))[::-1]) < 0.1


def test_the_joint_sees_what_no_coordinate_shows() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, (2, N))
    agree = np.stack([a, a], axis=1)
    independent = np.stack([a, b], axis=1)
    assert loss(agree, independent) == pytest.approx(math.log(2), abs=0.1) or loss(agree, independent) == math.inf
    assert loss(agree[:, 0], independent[:, 0]) < 0.05


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([], [1.0], "not empty"),
        ([[1.0, 2.0], [1.0, 2.0]], [1.0, 2.0], "as many coordinates, got 2 and 1"),
        ([[1.0, 2.0], [1.0]], [[1.0, 2.0]], "rows of one length"),
    ],
)
def test_bad_samples_are_refused(p: object, q: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        loss(p, q)


def test_a_bad_number_of_bins_is_refused() -> None:
    with pytest.raises(InvalidInput, match="bins must be a whole number >= 1, got 0"):
        loss([1.0, 2.0], [1.0, 2.0], 0)

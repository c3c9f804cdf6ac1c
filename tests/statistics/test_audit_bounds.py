"""Do audits keep their confidence?  Seeded repetitions, failures counted against a binomial."""

from __future__ import annotations

import math
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpest
from dpest.results import Direction
from dpest.sampling.bounds.statement import Counts, epsilon_lower, epsilon_lower_anytime, epsilon_lower_published


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar in tests."""


def allowed(runs: int, rate: float) -> int:
    """More failures than this have a chance below 1 in 1000 if each has probability `rate`."""
    return int(binom.ppf(0.999, runs, rate))


def laplace(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(data[0] + rng.laplace(size=size))


def two_noisy(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(data) + rng.laplace(scale=2.0, size=(size, 2))


def randomised_response(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(size) < 0.75, data, 1 - np.asarray(data))


def threshold(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    noisy = data[0] + rng.laplace(size=size)
    return np.where(noisy > 1.0, noisy, np.nan)


CORRECT = [
    (laplace, ([0.0], [1.0]), 1.0),
    (two_noisy, ([0.0, 0.0], [1.0, 1.0]), 1.0),
    (randomised_response, (0, 1), math.log(3)),
    (threshold, ([0.0], [1.0]), 1.0),
]


@pytest.mark.parametrize(("mechanism", "pair", "loss"), CORRECT, ids=[m.__name__ for m, _, _ in CORRECT])
def test_correct_mechanisms_are_not_accused_at_their_true_loss(mechanism: Any, pair: Any, loss: float) -> None:
    runs = 30
    results = [
        dpest.audit(mechanism, pair, claim=loss, samples=3000, confidence=0.9, seed=seed, progress=quiet) for seed in range(runs)
    ]
    assert sum(bool(r.violated) for r in results) <= allowed(runs, 0.1)
    assert np.median([r.lower for r in results]) > 0.5 * loss


def identical(workers: int, seeds: range) -> int:
    pool: Any = nullcontext() if workers == 1 else ThreadPoolExecutor(workers)
    with pool as executor:
        assert executor is None or isinstance(executor, Executor)
        return sum(
            dpest.audit(
                two_noisy, ([1.0, 1.0], [1.0, 1.0]), samples=2000, confidence=0.9, seed=s, executor=executor, progress=quiet
            ).lower
            > 0
            for s in seeds
        )


def test_identical_inputs_are_told_apart_no_more_often_than_allowed() -> None:
    assert identical(1, range(40)) <= allowed(40, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 16])
def test_identical_inputs_with_workers(workers: int) -> None:
    assert identical(workers, range(200)) <= allowed(200, 0.1)


@pytest.mark.slow
def test_two_hundred_audits_of_correct_mechanisms() -> None:
    accused = sum(
        bool(dpest.audit(m, pair, claim=loss, samples=100_000, seed=seed, progress=quiet).violated)
        for seed in range(50)
        for m, pair, loss in CORRECT
    )
    assert accused <= allowed(200, 0.05)


@pytest.mark.parametrize("p2", [0.002, 0.05, 0.4])
@pytest.mark.parametrize("ratio", [1.0, 1.2, 2.0])
def test_final_bounds_keep_their_level_and_the_exact_one_is_tighter(p2: float, ratio: float) -> None:
    runs, n, alpha = 400, 3000, 0.1
    rng = np.random.default_rng(11)
    hits = zip(rng.binomial(n, ratio * p2, runs).tolist(), rng.binomial(n, p2, runs).tolist(), strict=True)
    counts = [Counts(a, b, n, n) for a, b in hits]
    exact = np.array([epsilon_lower(c, Direction.LEFT, alpha) for c in counts])
    published = np.array([epsilon_lower_published(c, Direction.LEFT, alpha) for c in counts])
    assert np.sum(exact > math.log(ratio)) <= allowed(runs, alpha)
    assert np.sum(published > math.log(ratio)) <= allowed(runs, alpha)
    assert np.all(exact >= published - 1e-9)


def test_the_published_floor_only_lowers_the_bound() -> None:
    counts = Counts(50, 1, 1000, 1000)
    assert epsilon_lower_published(counts, Direction.LEFT, 0.05, floor=0.01) <= epsilon_lower_published(
        counts, Direction.LEFT, 0.05
    )


def test_looking_often_is_paid_for() -> None:
    """Streams of an event with equal probabilities, looked at 30 times each."""
    rng = np.random.default_rng(12)
    runs, once_wrong, anytime_wrong = 60, 0, 0
    for _ in range(runs):
        a, b = (np.cumsum(rng.binomial(200, 0.1, 30)).tolist() for _ in range(2))
        looks = [Counts(x, y, 200 * (i + 1), 200 * (i + 1)) for i, (x, y) in enumerate(zip(a, b, strict=True))]
        once_wrong += any(epsilon_lower(c, Direction.LEFT, 0.05) > 0 for c in looks)
        anytime_wrong += any(epsilon_lower_anytime(c, Direction.LEFT, 0.05) > 0 for c in looks)
    assert anytime_wrong <= allowed(runs, 0.05)
    assert once_wrong > anytime_wrong


def test_delta_bounds_keep_their_level() -> None:
    """P(S) - exp(eps) P'(S) = delta exactly: the bound on eps at that delta exceeds the truth no more often than alpha."""
    rng = np.random.default_rng(13)
    n, delta, p2, epsilon = 5000, 0.05, 0.1, math.log(2)
    p1 = delta + math.exp(epsilon) * p2
    wrong = sum(
        epsilon_lower(Counts(int(a), int(b), n, n), Direction.LEFT, 0.1, delta) > epsilon
        for a, b in zip(rng.binomial(n, p1, 300), rng.binomial(n, p2, 300), strict=True)
    )
    assert wrong <= allowed(300, 0.1)

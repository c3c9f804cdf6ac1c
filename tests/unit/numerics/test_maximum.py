from __future__ import annotations

import numpy as np

from dpest.numerics.maximum import largest

RNG = np.random.default_rng(5)


def test_nothing_and_one() -> None:
    assert largest([], []) == 0.0
    assert largest([0.0, 0.0], [0.1, 0.1]) == 0.0
    assert largest([-0.7], [0.3]) == 0.7


def test_a_clear_leader_is_left_alone() -> None:
    assert abs(largest([2.0, 0.1, 0.0], [0.1, 0.1, 0.1]) - 2.0) < 1e-3


def test_never_above_the_largest_seen() -> None:
    for _ in range(50):
        sizes = RNG.standard_normal(30)
        assert 0 <= largest(sizes, np.full(30, 0.8)) <= np.abs(sizes).max() + 1e-12


def test_pure_noise_is_taken_down() -> None:
    noise = RNG.standard_normal((100, 200)) * 0.05
    assert np.mean([largest(row, np.full(200, 0.05)) for row in noise]) < 0.75 * np.abs(noise).max(axis=1).mean()


def test_equal_sizes_seen_through_noise() -> None:
    seen = 1.0 + 0.1 * RNG.standard_normal((200, 20))
    estimates = [largest(row, np.full(20, 0.1)) for row in seen]
    raw = np.abs(seen).max(axis=1)
    assert 1.0 < np.mean(estimates) < 1.0 + 0.85 * (raw.mean() - 1.0)


def test_precise_numbers_do_not_break_it() -> None:
    assert abs(largest([1.0, 1.0, 0.5], [1e-9, 1e-9, 1e-9]) - 1.0) < 1e-6

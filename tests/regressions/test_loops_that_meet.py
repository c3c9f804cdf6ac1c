"""Loops and choices whose ways come together again, as published code writes them, against sums that are not the engine's."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable
from typing import Any

import pytest

import dpest


def known(mechanism: Callable[..., Any], pair: tuple[Any, Any], truth: float) -> bool:
    """Whether a narrow bracket holds the truth, which is known to 1e-9."""
    r = dpest.estimate(mechanism, pair, method="exact")
    return r.lower <= truth + 1e-9 and truth - 1e-9 <= r.upper and r.upper - r.lower < 1e-5


# -- a few of very many random bits ------------------------------------------------------------------------------------


def picked_by_a_mask(votes: list[int]) -> int:
    return votes[secrets.randbits(32) & 3]


def picked_by_a_remainder(votes: list[int]) -> int:
    return votes[secrets.randbits(48) % 4]


def answered_by_three_of_four(bit: int) -> int:
    return bit if secrets.randbits(32) & 3 else 1 - bit


def picked_with_a_bias(votes: list[int]) -> int:
    return votes[random.getrandbits(20) % 3]


@pytest.mark.parametrize("mechanism", [picked_by_a_mask, picked_by_a_remainder])
def test_an_index_from_the_last_of_many_bits(mechanism: Any) -> None:
    assert known(mechanism, ([0, 1, 1, 0], [1, 1, 1, 0]), math.log(2))


def test_a_truth_value_of_the_last_of_many_bits() -> None:
    assert known(answered_by_three_of_four, (0, 1), math.log(3))


def test_a_remainder_that_is_not_quite_fair() -> None:
    """2^20 = 3 * 349525 + 1: residue 0 comes once more."""
    n = 2**20 // 3
    assert known(picked_with_a_bias, ([1, 1, 0], [0, 1, 0]), math.log((2 * n + 1) / n))

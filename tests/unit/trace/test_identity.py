"""`is True` of a random truth value is refused; of plain ones it is nobody's business."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import dpest
from dpest.errors import UnsupportedOperation


def matched(x: int) -> int:
    match random.random() < 0.6:
        case True:
            return x
        case _:
            return 1 - x


def asked(x: int) -> int:
    return x if (random.random() < 0.6) is True else 1 - x


def _answer(told: Any) -> int:
    return 1 if told is False else 0


def asked_in_a_helper(x: int) -> int:
    return _answer(random.random() < 0.6) ^ x


@pytest.mark.parametrize("mechanism", [matched, asked, asked_in_a_helper])
def test_identity_of_random_truth_values_is_refused(mechanism: Any) -> None:
    with pytest.raises(UnsupportedOperation, match="is True"):
        dpest.estimate(mechanism, (0, 1), method="exact")


def test_identity_of_plain_truth_values_is_not() -> None:
    def flagged(x: int, verbose: bool = False) -> int:
        if verbose is True:
            raise AssertionError
        return x if random.random() < 0.6 else 1 - x

    found = dpest.estimate(flagged, (0, 1), method="exact")
    assert found.lower - 1e-12 <= math.log(0.6 / 0.4) <= found.upper + 1e-12

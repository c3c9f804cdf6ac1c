"""`is True` of a random truth value is refused; of plain ones it is nobody's business."""

from __future__ import annotations

import math
import random
from functools import partial
from typing import Any

import numpy as np
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


def typed(x: float) -> float:
    z = x + dpest.laplace(1.0)
    return z if type(z) is float else 0.0


def classed(x: float) -> float:
    z = x + random.gauss(0, 1)
    return z if z.__class__.__name__ == "float" else 0.0


class Curious:
    def answer(self, x: int) -> int:
        return self._told(random.random() < 0.6) ^ x

    def _told(self, truth: Any) -> int:
        return 1 if truth is True else 0


def from_a_closure() -> Any:
    def told(z: Any) -> float:
        return z if type(z) is float else 0.0

    return lambda x: told(x + dpest.laplace(1.0))


LOOKS = [matched, asked, asked_in_a_helper, typed, classed, Curious().answer, from_a_closure(), partial(typed)]


@pytest.mark.parametrize("mechanism", LOOKS)
def test_identity_of_random_truth_values_is_refused(mechanism: Any) -> None:
    with pytest.raises(UnsupportedOperation, match="is True"):
        dpest.estimate(mechanism, (0, 1), method="exact")


def test_types_that_decide_nothing_are_nobodys_business() -> None:
    def noisy(x: Any) -> float:
        if type(x) not in (int, float):
            raise AssertionError
        z = np.sum(np.array([0.1, 0.2, x]) + dpest.laplace(1.0, size=3))
        return z if type(z) is not str else "none"

    found = dpest.estimate(noisy, (0, 1), method="exact")
    assert found.lower <= found.upper < 1 + 1e-9


def test_identity_of_plain_truth_values_is_not() -> None:
    def flagged(x: int, verbose: bool = False) -> int:
        if verbose is True:
            raise AssertionError
        return x if random.random() < 0.6 else 1 - x

    found = dpest.estimate(flagged, (0, 1), method="exact")
    assert found.lower - 1e-12 <= math.log(0.6 / 0.4) <= found.upper + 1e-12


def wraps_around(x: int, rng: np.random.Generator) -> bool:
    return int(rng.integers(0, 4) * 2**62) > x


def adds_truths(x: float) -> Any:
    # NumPy's truth values are added by `or`: True + True is True.
    return (np.float64(x) + dpest.laplace(1.0) > 0) + (np.float64(x) + dpest.laplace(1.0) > 0)


@pytest.mark.parametrize("mechanism", [wraps_around, adds_truths])
def test_arithmetic_of_numpys_own_numbers_is_noticed(mechanism: Any) -> None:
    with pytest.raises(UnsupportedOperation, match="NumPy's own numbers"):
        dpest.estimate(mechanism, (0, 1), method="exact")


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: ~(x + dpest.laplace(1.0) > 0),  # as NumPy has it
        lambda x: (x + dpest.laplace(1.0) > 0) + 0 * (dpest.laplace(1.0) > 0),  # as Python has it
        lambda x, rng: (x + rng.laplace(size=2) > 0).sum() // 2,
    ],
)
def test_one_reading_of_truth_values_is_enough(mechanism: Any) -> None:
    # P(x + Laplace(1) <= 0) is 1/2 at 0 and 1/(2e) at 1; both of two are above with the squares of the rest.
    two = 2 * math.log(2 - 1 / math.e)
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert any(found.lower - 1e-12 <= truth <= found.upper + 1e-12 for truth in (1.0, two))


def _stored_rarely(xs: Any) -> Any:
    y = np.array(xs) + np.random.default_rng().integers(0, 60, size=1)
    y[y > 59] = 0.5  # which an array of whole numbers holds as 0
    return y


def _stored_rarely_in_many(xs: Any) -> Any:
    y = np.array(xs) + np.random.default_rng().integers(0, 60, size=6)
    y[y > 59] = 0.5
    return y


@pytest.mark.parametrize(("mechanism", "n"), [(_stored_rarely, 1), (_stored_rarely_in_many, 6)])
def test_a_fraction_in_an_array_of_whole_numbers(mechanism: Any, n: int) -> None:
    """One run in sixty shows it: both inputs have the same law, and the output 0.5 does not exist."""
    with pytest.raises(dpest.errors.DpestError):
        dpest.estimate(mechanism, ([0] * n, [1] + [0] * (n - 1)), method="exact", progress=False)

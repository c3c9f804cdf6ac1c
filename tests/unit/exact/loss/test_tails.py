"""Limits along a ray."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.exact.loss.tails import ray_limit

DISTANCE = np.power(2.0, np.arange(3, 11))


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        (2.0 + 3.0 / DISTANCE, 2.0),
        (2.0 - 1.0 / DISTANCE + 5.0 / DISTANCE**2, 2.0),
        (np.log((DISTANCE + 1) / (DISTANCE + 2)) + 0.5, 0.5),
        (1.0 - np.exp(-DISTANCE), 1.0),
        (np.full(8, 0.25), 0.25),
    ],
)
def test_a_limit_lies_in_its_bracket(values: np.ndarray, limit: float) -> None:
    found = ray_limit(values, DISTANCE, 1e-15)
    assert found.lower <= limit <= found.upper
    assert found.upper - found.lower < 1e-9


@pytest.mark.parametrize("values", [DISTANCE / 100, np.log(DISTANCE), DISTANCE**2])
def test_growth_without_end_is_infinite(values: np.ndarray) -> None:
    assert ray_limit(values, DISTANCE, 1e-15).value == math.inf
    assert ray_limit(-values, DISTANCE, 1e-15).value == -math.inf


def test_a_constant_is_flat() -> None:
    assert ray_limit(np.full(8, 0.5), DISTANCE, 1e-15).flat
    assert not ray_limit(0.5 - 1 / DISTANCE, DISTANCE, 1e-15).flat


@pytest.mark.parametrize("off", [1.0, -1.0, 0.3])
def test_the_limit_of_a_constant_lies_in_its_bracket_whatever_the_errors_are(off: float) -> None:
    slack = 1e-9
    errors = slack * off * np.array([0.1, -0.2, 0.1, 0.0, 0.2, 0.3, 0.1, 1.0])
    found = ray_limit(0.5 + errors, DISTANCE, slack)
    assert found.flat
    assert found.lower <= 0.5 <= found.upper


@pytest.mark.parametrize(("step", "flat"), [(0.0, True), (9e-15, True), (1.6e-14, False), (1e-13, False)])
def test_steps_of_rounding_are_flat_and_larger_ones_are_not(step: float, flat: bool) -> None:
    """Steps that do not shrink: 1e-14 of the values is what their logarithms are rounded by, more is growth without end."""
    for size in (1.0, 50.0):
        found = ray_limit(size * (1.0 + step * np.arange(8)), DISTANCE, 0.0)
        assert (found.flat, found.value == math.inf) == (flat, not flat)


def test_what_is_not_known_far_out_has_no_upper_end() -> None:
    found = ray_limit(np.log(DISTANCE), DISTANCE, 1e-15, far=False)
    assert found.lower <= math.log(DISTANCE[-1]) < found.upper == math.inf

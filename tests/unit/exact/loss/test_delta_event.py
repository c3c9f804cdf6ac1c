"""The event behind delta(epsilon): its probabilities give that delta."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest


def laplace(x: float) -> Any:
    return x + dpest.laplace(1)


def bands(x: float) -> Any:
    """A count that is released only above a threshold."""
    noisy = x + dpest.laplace(1)
    return noisy if noisy > 2 else None


def votes(x: Any) -> Any:
    return dpest.argmax([v + dpest.laplace(2) for v in x])


def steps(x: int) -> Any:
    return x + dpest.geometric(2)


@pytest.mark.parametrize(
    ("mechanism", "pair", "epsilon", "words"),
    [
        (laplace, (0, 1), 0.5, "output < 0.25"),
        (bands, (0, 1), 0.3, "output > 2"),
        (votes, ([1, 1, 1], [2, 0, 0]), 0.1, "output == "),
        (steps, (0, 1), 0.2, "output == "),
    ],
)
def test_events_show_their_delta(mechanism: Any, pair: Any, epsilon: float, words: str) -> None:
    result = dpest.estimate(mechanism, pair)
    found = result.delta_witness(epsilon)
    likely, other = max(found.left, found.right), min(found.left, found.right)
    assert likely - math.exp(epsilon) * other == pytest.approx(float(result.delta(epsilon)), rel=1e-6)
    assert words in found.event or words in str(found)


def test_several_parts_are_described_by_their_ratio() -> None:
    result = dpest.estimate(lambda x: [x + dpest.laplace(1), x + dpest.laplace(1)], (0, 1))
    assert "times as likely" in result.delta_witness(0.5).event

"""Mechanisms as people write them: whole-number noise, rows of several columns, released gaps and sums.

The losses are those of hand proofs, named beside each.
"""

from __future__ import annotations

from typing import Any

import pytest

import dpest


def largest_count(counts: Any) -> Any:
    return dpest.argmax([c + dpest.geometric(2.0) for c in counts])


def first_above(counts: Any) -> Any:
    threshold = 2 + dpest.geometric(2.0)
    for i, c in enumerate(counts):
        if c + dpest.geometric(4.0) >= threshold:
            return i
    return None


def sick_adults(rows: Any) -> Any:
    return sum(1 for r in rows if r["age"] >= 18 and r["sick"] == 1) + dpest.geometric(2.0)


@pytest.mark.parametrize(
    ("mechanism", "options", "loss"),
    [
        (largest_count, {"n": 3, "domain": int}, 2 / 2),  # the winner moves by two, the others stay
        (largest_count, {"n": 3, "domain": int, "adjacency": "l1"}, 1 / 2),
        (largest_count, {"n": 3, "domain": int, "adjacency": "monotone"}, 1 / 2),
        (lambda counts: max(c + dpest.geometric(2.0) for c in counts), {"n": 3, "domain": int}, 3 / 2),  # all may move
        (first_above, {"n": 2, "domain": int}, 1 / 4 + 1 / 4),  # two queries: the threshold need not move
        (first_above, {"n": 6, "domain": int}, 1 / 2 + 2 / 4),  # the threshold by one, the query that passes by two
        (lambda x: x + dpest.geometric(2.0) > 0.1, {"domain": int}, 1 / 2),
        (sick_adults, {"n": 2, "adjacency": "replace", "domain": {"age": (0, 120), "sick": int}}, 1 / 2),
    ],
)
def test_whole_number_noise_on_whole_numbers(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    check(mechanism, options, loss)


def check(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    p = dpest.prove(mechanism, **options)
    assert p.lower <= loss * (1 + 1e-9)
    assert p.upper == pytest.approx(loss, rel=1e-12)
    assert p.tight
    assert p.proof is not None
    assert p.proof.check()
    assert p.proof.rerun(20) == []

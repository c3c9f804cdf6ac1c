from __future__ import annotations

from typing import Any

import dpest
from dpest.sampling.runs.support import possible_outcomes
from tests import mechanisms_for_sampling as known


def leaves(mechanism: Any, *inputs: Any) -> set[Any] | None:
    found = possible_outcomes(mechanism, inputs, {})
    return None if found is None else {outcome.leaves for outcome in found}


def test_every_path_that_ends_in_constants_is_listed() -> None:
    assert leaves(known.svt1, [1.0, 1.0]) == {(1.0, ("NaN",)), (0.0, 1.0), (0.0, 0.0)}


def test_comparisons_indices_and_finite_draws_are_listed() -> None:
    def mixed(x: float) -> Any:
        return dpest.argmax([x + dpest.laplace(1), dpest.laplace(1)]), dpest.laplace(1) > x, dpest.integers(1, 3)

    found = leaves(mixed, 0.0)
    assert found == {(i, b, k) for i in (0.0, 1.0) for b in (0.0, 1.0) for k in (1.0, 2.0, 3.0)}


def test_outcomes_of_all_inputs_count() -> None:
    assert leaves(lambda x: x if dpest.bernoulli(0.5) else "no", 1, 2) == {(1.0,), (2.0,), ("no",)}


def test_what_cannot_be_listed_is_not() -> None:
    def endless(_: Any) -> int:
        k = 0
        while dpest.bernoulli(0.5):
            k += 1
        return k

    assert leaves(known.prefix_sum, [1.0]) is None
    assert leaves(endless, 0) is None
    assert leaves(lambda x: dpest.geometric(2.0), 0) is None
    assert leaves(lambda x: [dpest.bernoulli(0.5) for _ in range(20)], 0) is None

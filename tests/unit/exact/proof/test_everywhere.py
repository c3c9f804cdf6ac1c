"""The line that `estimate` adds about all adjacent inputs: when it is there, and that it says what `prove` says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpest


def above(queries: Any) -> Any:
    t = dpest.laplace(2.0)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4.0) >= t:
            return i
    return None


def released(xs: Any) -> Any:
    return [x + dpest.laplace(2.0) for x in xs]


def line(*args: Any, **options: Any) -> str | None:
    notes = [n for n in dpest.estimate(*args, **options).notes if n.startswith("over all")]
    return notes[0] if notes else None


@pytest.mark.parametrize(
    ("mechanism", "arguments", "options", "words"),
    [
        (released, (), {"n": 3}, "over all linf-adjacent inputs of 3 rows: 1.5 (proved)"),
        (released, (), {"n": 3, "adjacency": "l1"}, "over all l1-adjacent inputs of 3 rows: 0.5 (proved)"),
        (released, (([0, 0], [1, 1]),), {}, "over all linf-adjacent inputs of 2 rows: 1 (proved)"),
        (lambda x: x + dpest.laplace(2.0), ((3, 4),), {}, "over all linf-adjacent inputs: 0.5 (proved)"),
    ],
)
def test_the_line_is_there(mechanism: Any, arguments: Any, options: dict[str, Any], words: str) -> None:
    assert line(mechanism, *arguments, **options) == words


def test_pairs_that_are_not_the_worst_say_at_most() -> None:
    found = line(above, n=5)
    assert found is not None
    assert found.startswith("over all linf-adjacent inputs of 5 rows: at most 1 (proved); these pairs show 0.")
    assert dpest.prove(above, n=5).upper == 1.0


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        (released, ([0, 0], [1, 0])),  # one coordinate of two: l1 or linf?
        (released, ([0, 0], [3, 3])),
        (released, (np.array([0.0, 0.0]), np.array([1.0, 1.0]))),
        (lambda x: x + dpest.laplace(2.0), (0, 3)),
        (lambda x: (1 if x > 0 else 0) + dpest.laplace(2.0), (0, 1)),  # it decides on its input
        (lambda x: x + dpest.gaussian(2.0), (0, 1)),
        (lambda x: dpest.bernoulli(0.75 if x else 0.25), (0, 1)),
        (lambda d: d["a"] + dpest.laplace(2.0), ({"a": 0}, {"a": 1})),
    ],
)
def test_the_line_is_left_out(mechanism: Any, pair: Any) -> None:
    assert line(mechanism, pair) is None


def test_sampling_says_nothing_of_all_inputs() -> None:
    assert line(released, n=2, method="sampling", samples=2_000, seed=1) is None

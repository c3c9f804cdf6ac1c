"""Outputs of positive probability that show all that the noisy values inside can tell; the truth is worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused
from dpest.exact.atoms import with_atoms_only
from dpest.exact.inference.paths import trace
from dpest.exact.inference.separate import SOME_NUMBER
from dpest.exact.inference.stars import condition_components
from dpest.exact.loss.blocks import Measures
from dpest.run.settings import Sides, sides_kept


def odds_ratio(table: list[int], rng: np.random.Generator) -> Any:
    a, b, c, d = (max(x + rng.laplace(0, 1), 0.5) for x in table)
    return a * d / (b * c)


def survival(rows: Any, rng: np.random.Generator) -> Any:
    s, out = 1.0, []
    for n, d in zip(*rows, strict=True):
        at_risk = max(n + rng.laplace(0, 2), 1.0)
        s *= 1 - min(max(d + rng.laplace(0, 2), 0.0), at_risk) / at_risk
        out.append(s)
    return out


def f1(counts: list[int], rng: np.random.Generator) -> Any:
    tp, fp, fn = [max(c + rng.laplace(0, 1), 0) for c in counts]
    return 2 * tp / (2 * tp + fp + fn) if tp > 0 else 0.0


def impurity(counts: list[int], rng: np.random.Generator) -> Any:
    c = np.maximum(np.asarray(counts) + rng.laplace(0, 1, size=2), 0.01)
    return 1 - ((c / c.sum()) ** 2).sum()


@pytest.mark.parametrize(
    ("mechanism", "pair", "loss"),
    [
        # One count moves by 1 under noise of scale 1 or 2, which bounds the loss; clipped at once, all counts show that much.
        (odds_ratio, ([8, 3, 2, 7], [9, 3, 2, 7]), 1.0),
        (survival, (([5, 3], [1, 1]), ([5, 3], [1, 2])), 0.5),
        (f1, ([4, 2, 1], [3, 2, 1]), 1.0),
        (impurity, ([4, 2], [3, 2]), 1.0),
    ],
)
def test_all_clipped_shows_the_whole_loss(mechanism: Callable[..., Any], pair: Any, loss: float) -> None:
    r = dpest.estimate(mechanism, pair, method="exact")
    assert r.lower <= loss <= r.upper
    assert r.upper - r.lower < 1e-9
    assert r.evidence is dpest.results.Evidence.EXACT


def test_where_single_outputs_show_less_the_answer_is_refused() -> None:
    def product(x: Any, rng: np.random.Generator) -> Any:
        return max(x[0] + rng.laplace(0, 1), 0.0) * (x[1] + rng.laplace(0, 1))

    with pytest.raises(ExactRefused, match="product of two random values"):
        dpest.estimate(product, ([1.0, 1.0], [1.0, 2.0]), method="exact")


PROGRAMS: dict[str, Callable[[list[Any]], Any]] = {
    "a product that is zero where either factor is": lambda v: max(v[0], 0.0) * min(v[1], 0.0),
    "a quotient of equal values": lambda v: max(v[0], 1.0) / max(v[0], 0.5),
    "the square root of a square": lambda v: math.sqrt(v[0] ** 2) - v[0],
    "a product of differences that are often zero": lambda v: (max(v[0], v[1]) - v[0]) * (v[1] + 1),
    "constants that are equal but for rounding": lambda v: (
        0.1 + 0.2 if v[0] > 0.5 else max(v[1], 0.1) * 3 if v[1] < 0.0 else v[1]
    ),
    "no number is likely": lambda v: v[0] * v[1],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_likely_numbers_are_those_that_plain_runs_show(name: str) -> None:
    program, runs = PROGRAMS[name], 20_000

    def mechanism(x: Any, rng: np.random.Generator) -> Any:
        return program([q + rng.laplace(0, 1) for q in x])

    with sides_kept(Sides.APART):
        try:
            found = with_atoms_only(trace(mechanism, [0.5, 1.0], {}))
        except ExactRefused:
            assert name == "the square root of a square"  # constant on one side of zero: what it is made of does not tell
            return
    measures, chances = Measures(), Counter[Any]()
    for path in found.paths:
        parts = condition_components(path.conditions, path.loops)
        log_p = sum(float(measures.of(p.component).log(np.empty((1, 0)))[0][0]) for p in parts)
        chances[path.output.leaves[0]] += math.exp(log_p)
    rng = np.random.default_rng(5)
    seen = Counter(round(float(mechanism([0.5, 1.0], rng)), 9) for _ in range(runs))
    for number, p in chances.items():
        hits = runs - sum(k for k in seen.values() if k > 20) if number == SOME_NUMBER else seen[round(number, 9)]
        assert abs(hits / runs - p) < 5 * math.sqrt(p * (1 - p) / runs) + 1e-3
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-9)

"""Outputs of positive probability that show all that the noisy values inside can tell; the truth is worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate

import dpest
from dpest.errors import ExactRefused
from dpest.exact.atoms import SOME_NUMBER, with_atoms_only
from dpest.exact.inference.paths import trace
from dpest.exact.inference.stars import condition_components
from dpest.exact.loss.blocks import Measures
from dpest.run.settings import Sides, sides_kept
from dpest.trace.explore import Trace


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


def mass_index(person: tuple[float, float], rng: np.random.Generator) -> Any:
    weight, height = person[0] + rng.laplace(0, 5), max(person[1] + rng.laplace(0, 0.1), 1.0)
    return weight / height**2


def scaled_children(counts: list[float], rng: np.random.Generator) -> Any:
    total = max(sum(counts) + rng.laplace(0, 1), 0.0)
    children = np.maximum(np.asarray(counts) + rng.laplace(0, 1, size=2), 0.0)
    return list(children * total / children.sum()) if children.sum() > 0 else [total / 2] * 2


@pytest.mark.parametrize(
    ("mechanism", "pair", "loss"),
    [
        # One count moves by 1 under noise of scale 1 or 2, which bounds the loss; clipped at once, all counts show that much.
        (odds_ratio, ([8, 3, 2, 7], [9, 3, 2, 7]), 1.0),
        (survival, (([5, 3], [1, 1]), ([5, 3], [1, 2])), 0.5),
        (f1, ([4, 2, 1], [3, 2, 1]), 1.0),
        (impurity, ([4, 2], [3, 2]), 1.0),
        (mass_index, ((70.0, 1.75), (72.0, 1.75)), 0.4),  # below zero the weight is below zero
        (scaled_children, ([1.0, 3.0], [2.0, 3.0]), 2.0),  # the first child is 0, and the second less than 4
    ],
)
def test_all_clipped_shows_the_whole_loss(mechanism: Callable[..., Any], pair: Any, loss: float) -> None:
    r = dpest.estimate(mechanism, pair, method="exact")
    assert r.lower <= loss <= r.upper
    assert r.upper - r.lower < 1e-9
    assert r.evidence is dpest.results.Evidence.EXACT


def product(x: Any, rng: np.random.Generator) -> Any:
    return (x[0] + rng.laplace(0, 1)) * (x[1] + rng.laplace(0, 1))


def positive_product(x: Any, rng: np.random.Generator) -> Any:
    return 3 * max(x[0] + rng.laplace(0, 1), 0.0) * max(x[1] + rng.normal(0, 1), 0.0) + 1


@pytest.mark.parametrize("pair", [((2.0, 3.0), (2.0, 4.0)), ((2.0, 3.0), (3.0, 4.5)), ((2.0, -3.0), (3.0, -4.0))])
def test_a_product_shows_the_loss_of_both_factors_next_to_zero(pair: Any) -> None:
    """Both factors are zero there, which is below both counts or above: each shows its whole loss."""
    loss = sum(abs(a - b) for a, b in zip(*pair, strict=True))
    r = dpest.estimate(product, pair, method="exact")
    assert r.lower <= loss <= r.upper
    assert r.upper - r.lower < 1e-9
    assert r.witness is not None
    assert r.witness.limit


def test_the_density_of_a_product_tends_to_that_ratio() -> None:
    """Slowly, like one over the logarithm of the output: an integral over the first factor, in terms of its logarithm."""

    def density(z: float, p: tuple[float, float]) -> float:
        def over(s: float) -> float:
            return float(sum(math.exp(-abs(t - p[0]) - abs(z / t - p[1])) for t in (math.exp(s), -math.exp(s))))

        return float(integrate.quad(over, math.log(z) - 7, 5, limit=4000, points=[math.log(z), 0.0, 1.0])[0])

    gaps = [1 - math.log(density(z, (2.0, 3.0)) / density(z, (2.0, 4.0))) for z in (1e-20, 1e-40, 1e-80, 1e-160)]
    assert all(0 < b < 0.6 * a for a, b in zip(gaps, gaps[1:], strict=False))


def test_a_product_of_clipped_values() -> None:
    r = dpest.estimate(positive_product, ((2.0, 1.0), (3.0, 1.0)), method="exact")
    assert r.lower <= 1.0 <= r.upper + 1e-12
    assert r.upper - r.lower < 1e-9


def test_where_neither_shows_the_whole_loss_the_answer_is_refused() -> None:
    with pytest.raises(ExactRefused, match="product of two random values"):
        dpest.estimate(product, ((2.0, 3.0), (1.0, 4.0)), method="exact")


def test_values_with_a_density_are_told_apart_by_the_output_alone() -> None:
    """Clipped, the output is a noisy value; else it is a product that may have the same values."""

    def mechanism(x: Any, rng: np.random.Generator) -> Any:
        return max(x[0] + rng.laplace(0, 1), 1.0) * (x[1] + rng.laplace(0, 1))

    with sides_kept(Sides.APART):
        traced = trace(mechanism, (1.0, 2.0), {})
        found = with_atoms_only(traced, traced)[0]
    chances = of_outputs(found)  # all that both have in common is the sign, which is that of the second factor
    assert chances[(f"{SOME_NUMBER}, 1",)] == pytest.approx(1 - math.exp(-2) / 2, rel=1e-9)
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-9)


def of_outputs(traced: Trace) -> Counter[Any]:
    """How likely each marked output is."""
    measures, chances = Measures(), Counter[Any]()
    for path in traced.paths:
        parts = condition_components(path.conditions, path.loops)
        log_p = sum(float(measures.of(p.component).log(np.empty((1, 0)))[0][0]) for p in parts)
        chances[path.output.leaves] += math.exp(log_p)
    return chances


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
            traced = trace(mechanism, [0.5, 1.0], {})
            found = with_atoms_only(traced, traced)[0]
        except ExactRefused:
            assert name == "the square root of a square"  # constant on one side of zero: what it is made of does not tell
            return
    chances = Counter[Any]()
    for (leaf,), p in of_outputs(found).items():
        chances[SOME_NUMBER if isinstance(leaf, str) else leaf] += p
    rng = np.random.default_rng(5)
    seen = Counter(round(float(mechanism([0.5, 1.0], rng)), 9) for _ in range(runs))
    for number, p in chances.items():
        hits = runs - sum(k for k in seen.values() if k > 20) if number == SOME_NUMBER else seen[round(number, 9)]
        assert abs(hits / runs - p) < 5 * math.sqrt(p * (1 - p) / runs) + 1e-3
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-9)

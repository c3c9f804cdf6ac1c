"""Mechanisms outside the gallery, exact against their oracles, both directions, to 1e-9 and within the bracket."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

import dpest
from tests.oracles import gallery, mechanisms, sparse_vector
from tests.oracles.exponentials import exponential_cdf, exponential_pdf
from tests.oracles.patterns import patterns

INF = math.inf


@dataclass(frozen=True)
class Case:
    mechanism: Callable[..., Any]
    left: Any
    right: Any
    truth: tuple[float, float]


def shared_noise(x: list[float]) -> tuple[Any, Any]:
    z = dpest.laplace(1.0)
    return x[0] + z, x[1] + z


def mixture(x: float) -> Any:
    return x + dpest.laplace(1.0) if dpest.bernoulli(0.3) else dpest.laplace(1.0)


def above_threshold(queries: list[float], noise: Callable[[float], Any] = dpest.laplace) -> int | None:
    threshold = 0.5 + noise(20.0)
    for i, q in enumerate(queries):
        if q + noise(40.0) >= threshold:
            return i
    return None


def gaussian_above_threshold(queries: list[float]) -> int | None:
    return above_threshold(queries, dpest.gaussian)


def released_value(queries: list[float]) -> Any:
    threshold = 1 + dpest.laplace(20.0)
    for i, q in enumerate(queries):
        noisy = q + dpest.laplace(30.0)
        if noisy >= threshold:
            return i, noisy
    return None


def argmax_with_gap(values: list[float]) -> Any:
    noisy = [x + dpest.laplace(20.0) for x in values]
    winner = dpest.argmax(noisy)
    for i, x in enumerate(noisy):
        if winner == i:
            return i, x - dpest.max([y for j, y in enumerate(noisy) if j != i])
    raise AssertionError("one of them is the largest")


def triangle(values: list[float]) -> Any:
    a, b, c = (x + dpest.laplace(10.0) for x in values)
    return a > b, b > c, a > c


def chain(values: list[float]) -> Any:
    noisy = [x + dpest.laplace(10.0) for x in values]
    return tuple(a > b for a, b in pairwise(noisy))


def noisy_argmax(family: Callable[[float], Any], scale: float) -> Callable[[list[float]], Any]:
    return lambda values: dpest.argmax([x + family(scale) for x in values])


def above_gaussian(name: str) -> Case:
    left, right = patterns(10)[name]
    laws = [mechanisms.gaussian_above_threshold(x, 0.5, 20.0, 40.0) for x in (left, right)]
    return Case(gaussian_above_threshold, list(left), list(right), mechanisms.finite_loss(*laws))


def ordered(mechanism: Any, oracle: Any, left: tuple[int, ...], right: tuple[int, ...]) -> Case:
    laws = [oracle(x, Fraction(10)) for x in (left, right)]
    return Case(mechanism, list(left), list(right), mechanisms.finite_loss(*laws))


THREE, OTHER, FOUR, SHIFTED = (1, 1, 1), (2, 0, 1), (1, 2, 0, 1), (2, 1, 1, 1)
RELEASED = sparse_vector.Noise(Fraction(1), Fraction(20), Fraction(30))
CLAMPED = [mechanisms.clamped_geometric(x, 2.0, 0, 10) for x in (3, 4)]
CASES = {
    "laplace": Case(lambda x: x + dpest.laplace(10), 0.0, 1.0, (0.1, 0.1)),
    "laplace, loss 50": Case(lambda x: x + dpest.laplace(1), 0.0, 50.0, (50.0, 50.0)),
    "laplace, loss 500": Case(lambda x: x + dpest.laplace(1), 0.0, 500.0, (500.0, 500.0)),
    "20 releases": Case(lambda x: [x + dpest.laplace(200) for _ in range(20)], 0.0, 1.0, (0.1, 0.1)),
    "sums": Case(lambda x: dpest.cumsum([v + dpest.laplace(3.0) for v in x]), [1, 2, 3], [2, 0, 4], (4 / 3, 4 / 3)),
    "shared noise": Case(shared_noise, [0, 0], [1, 0], (INF, INF)),
    "gumbel argmax": Case(noisy_argmax(dpest.gumbel, 20.0), FOUR, SHIFTED, mechanisms.softmax_loss(FOUR, SHIFTED, 20.0)),
    "exponential argmax": Case(
        noisy_argmax(dpest.exponential, 20.0),
        THREE,
        OTHER,
        gallery.argmax_loss(THREE, OTHER, Fraction(20), exponential_pdf, exponential_cdf),
    ),
    "exponential max": Case(
        lambda x: dpest.max([v + dpest.exponential(20.0) for v in x]),
        THREE,
        OTHER,
        gallery.exponential_max_loss(THREE, OTHER, Fraction(20)),
    ),
    "mixture": Case(mixture, 1.0, 0.0, (math.log(1 + 0.3 * (math.e - 1)), -math.log(0.7 + 0.3 / math.e))),
    "clip inside": Case(lambda x: dpest.clip(x + dpest.laplace(2.0), 0, 10), 3.0, 4.0, mechanisms.clip_loss(3, 4, 2, 0, 10)),
    "clip outside": Case(lambda x: dpest.clip(x + dpest.laplace(2.0), 0, 10), -1.0, 12.0, mechanisms.clip_loss(-1, 12, 2, 0, 10)),
    "round": Case(lambda x: round(x + dpest.laplace(2.0)), 0.3, 1.3, (0.5, 0.5)),
    "geometric": Case(lambda x: x + dpest.geometric(2.0), 3, 4, (0.5, 0.5)),
    "clamped geometric": Case(lambda x: dpest.clip(x + dpest.geometric(2.0), 0, 10), 3, 4, mechanisms.finite_loss(*CLAMPED)),
    "two laplace": Case(lambda x: x + dpest.laplace(2.0) + dpest.laplace(2.0), 0.0, 1.0, (0.5, 0.5)),
    "gaussian": Case(lambda x: x + dpest.gaussian(2.0), 0.0, 1.0, (INF, INF)),
    **{f"gaussian svt, {name}": above_gaussian(name) for name in ("half_half", "x_shape", "one_above")},
    "released value": Case(
        released_value, [1, 0, 1], [0, 1, 2], sparse_vector.released_value_loss((1, 0, 1), (0, 1, 2), RELEASED, 1)
    ),
    "gap of three": Case(argmax_with_gap, THREE, OTHER, mechanisms.argmax_gap_loss(THREE, OTHER, Fraction(20))),
    "gap of four": Case(argmax_with_gap, FOUR, SHIFTED, mechanisms.argmax_gap_loss(FOUR, SHIFTED, Fraction(20))),
    "triangle": ordered(triangle, mechanisms.order_probabilities, THREE, OTHER),
    "chain of four": ordered(chain, mechanisms.chain_probabilities, FOUR, SHIFTED),
}
EIGHT = ordered(chain, mechanisms.chain_probabilities, (1,) * 8, (2, 0, 2, 0, 2, 0, 2, 0))


@pytest.mark.parametrize("name", CASES)
def test_exact_is_the_oracle(name: str) -> None:
    check(CASES[name])


@pytest.mark.slow
def test_eight_in_a_chain() -> None:
    check(EIGHT)


def check(case: Case) -> None:
    (found,) = dpest.estimate(case.mechanism, (case.left, case.right), method="exact").pairs
    assert (found.forward, found.backward) == pytest.approx(case.truth, rel=1e-9)
    rounding = 4e-15 * max(1.0, min(found.epsilon, 1e3))  # of the oracle itself
    assert found.lower - rounding <= max(case.truth) <= found.upper + rounding


def test_above_threshold_on_the_seven_patterns() -> None:
    result = dpest.estimate(above_threshold, n=10)
    assert float(result) == pytest.approx(gallery.largest("SVT1"), abs=1e-12)
    assert result.pair.name == "x_shape"


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.5, 2.0])
def test_the_gaussian_profile_is_the_analytic_formula(eps: float) -> None:
    result = dpest.estimate(lambda x: x + dpest.gaussian(2.0), (0.0, 1.0))
    assert float(result.delta(eps)) == pytest.approx(mechanisms.gaussian_delta(1.0, 2.0, eps), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("eps", [0.0, 0.25, 0.6])
def test_the_laplace_profile_is_the_closed_form(eps: float) -> None:
    result = dpest.estimate(lambda x: x + dpest.laplace(2.0), (0.0, 1.0))
    assert float(result.delta(eps)) == pytest.approx(mechanisms.laplace_delta(1.0, 2.0, eps), rel=1e-9, abs=1e-15)

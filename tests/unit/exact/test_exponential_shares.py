"""Softmax of noisy values tells their differences, which are compared in its place (oracle: closed forms)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError

PAIR = ([1, 2, 0], [2, 1, 0])


def differences(x: Any, rng: np.random.Generator) -> Any:
    z = np.array(x) + rng.laplace(size=len(x))
    return [float(k) * (z[i] - z[0]) for i, k in ((1, 1), (2, 3))]


def softmax(x: Any, rng: np.random.Generator) -> Any:
    e = np.exp(np.array(x) + rng.laplace(size=len(x)))
    return e / e.sum()


def stable(x: Any, rng: np.random.Generator) -> Any:
    z = np.array(x) + rng.laplace(size=len(x))
    e = np.exp(z - z.max())
    return e / np.sum(e)


def in_lists(x: Any, rng: np.random.Generator) -> Any:
    e = [math.exp(v + rng.laplace()) for v in x]
    return [v / sum(e) for v in e]


def without_one(x: Any, rng: np.random.Generator) -> Any:
    e = np.exp(np.array(x) + rng.laplace(size=len(x)))
    return {"second": e[1] / e.sum(), "third": e[2] / e.sum()}


def in_base_two(x: Any, rng: np.random.Generator) -> Any:
    e = [2 ** (v + rng.laplace()) for v in x]
    return e[0] / sum(e), e[1] / sum(e), e[2] / sum(e)


@pytest.mark.parametrize("mechanism", [softmax, stable, in_lists, without_one, in_base_two])
def test_all_shares_tell_the_differences(mechanism: Callable[..., Any]) -> None:
    found, other = (dpest.estimate(m, PAIR, method="exact") for m in (mechanism, differences))
    assert other.epsilon == pytest.approx(2, abs=1e-9)
    assert found.lower <= 2 + 1e-12
    assert found.upper >= 2 - 1e-12
    assert found.upper - found.lower < 1e-9


def test_one_of_two_shares_is_a_sigmoid_of_their_difference() -> None:
    """The sum of two Laplace draws that moves by 1 has the loss 1 / b in its tails."""

    def mechanism(x: Any) -> Any:
        a, b = x[0] + dpest.laplace(2), x[1] + dpest.laplace(2)
        return math.exp(a) / (math.exp(a) + math.exp(b))

    assert dpest.estimate(mechanism, ((1, 2), (2, 2)), method="exact").epsilon == pytest.approx(0.5, abs=1e-9)


def test_the_difference_of_gaussian_values_has_its_delta() -> None:
    def mechanism(x: Any) -> Any:
        e = [math.exp(v + random.gauss(0, 1)) for v in x]
        return [v / (e[0] + e[1]) for v in e]

    def difference(x: Any) -> Any:
        return x[0] - x[1] + dpest.gaussian(math.sqrt(2))

    found, other = (dpest.estimate(m, ((1, 2), (2, 2)), method="exact").delta(0.3) for m in (mechanism, difference))
    assert found == pytest.approx(float(other), rel=1e-9)


def test_exponents_that_both_inputs_scale_in_different_ways_are_still_compared() -> None:
    """exp(x * z) of a temperature that is data: the differences themselves have another scale, and tails without bound."""

    def mechanism(x: float, rng: np.random.Generator) -> Any:
        e = np.exp(x * rng.laplace(size=2))
        return e / e.sum()

    assert dpest.estimate(mechanism, (1, 2), method="exact").lower == math.inf


def test_a_share_of_three_alone_is_refused() -> None:
    def mechanism(x: Any, rng: np.random.Generator) -> Any:
        return softmax(x, rng)[0]

    with pytest.raises(DpestError):
        dpest.estimate(mechanism, PAIR, method="exact")


@pytest.mark.parametrize("last", [False, True])
def test_one_of_the_exponents_may_be_zero(last: bool) -> None:
    """Logits against a class of reference tell each logit: two Laplace values of scale 2 that move by 1 and 3."""

    def mechanism(x: Any, rng: np.random.Generator) -> Any:
        e = np.exp(np.array(x) + rng.laplace(0, 2, size=2))
        total = 1 + e.sum()
        return [e[0] / total, e[1] / total, 1 / total] if last else [1 / total, e[0] / total, e[1] / total]

    found = dpest.estimate(mechanism, ([1, 2], [2, 5]), method="exact")
    assert found.lower <= 2 + 1e-12
    assert found.upper >= 2 - 1e-12
    assert found.upper - found.lower < 1e-9


def test_two_over_such_a_sum_is_no_share_of_it() -> None:
    """2 / (1 + exp(z)) tells z too, as a function of one value; beside exp(z) / (1 + exp(z)) it tells nothing new."""

    def mechanism(x: float, rng: np.random.Generator) -> Any:
        e = math.exp(x + rng.laplace(0, 2))
        return [2 / (1 + e), e / (1 + e)]

    try:
        found = dpest.estimate(mechanism, (1, 2), method="exact")
    except DpestError:
        return
    assert found.lower <= 0.5 + 1e-9
    assert found.upper >= 0.5 - 1e-9

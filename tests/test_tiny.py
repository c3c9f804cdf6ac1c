"""Start here: what dpest answers, in a few lines each."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest


def test_noise_of_scale_ten_hides_a_change_of_one_up_to_a_tenth() -> None:
    assert float(dpest.estimate(lambda x: x + dpest.laplace(10), (0, 1))) == pytest.approx(0.1, abs=1e-12)


def above_threshold(queries: list[float], eps: float = 0.1, threshold: float = 0.5) -> Any:
    t = threshold + dpest.laplace(2 / eps)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4 / eps) >= t:
            return i
    return None


def test_an_ordinary_function_with_if_for_and_return_gets_its_exact_loss() -> None:
    result = dpest.estimate(above_threshold, n=10, eps=0.1)
    assert result.epsilon == pytest.approx(0.0878011042170006, rel=1e-12)
    assert result.lower <= result.epsilon <= result.upper
    assert (result.method, result.confidence) == ("exact", None)


def test_every_answer_has_a_witness_that_one_checks_by_hand() -> None:
    witness = dpest.estimate(lambda x: dpest.bernoulli(0.75 if x else 0.25), (0, 1)).witness
    assert witness is not None
    assert witness.event == "output == 0"
    assert (witness.left, witness.right) == pytest.approx((0.75, 0.25))


def test_noise_that_is_used_twice_gives_the_secret_away() -> None:
    def leaky(pair: list[float]) -> Any:
        z = dpest.laplace(1.0)
        return pair[0] + z, pair[1] + z

    assert dpest.estimate(leaky, ([0, 0], [1, 0])).epsilon == math.inf


def test_a_gaussian_has_no_epsilon_but_a_delta() -> None:
    result = dpest.estimate(lambda x: x + dpest.gaussian(1.0), (0, 1))
    assert result.epsilon == math.inf
    delta = math.erfc(0.5 / math.sqrt(2)) / 2 - math.e * math.erfc(1.5 / math.sqrt(2)) / 2
    assert result.delta(1.0) == pytest.approx(delta, rel=1e-9)
    assert result.epsilon_at(delta) == pytest.approx(1.0, rel=1e-6)


def test_equal_inputs_lose_exactly_nothing() -> None:
    assert dpest.estimate(above_threshold, ([1, 2, 3], [1, 2, 3])).epsilon == 0.0


def test_what_is_too_tangled_is_sampled_and_says_so() -> None:
    result = dpest.estimate(lambda x: dpest.apply(abs, x + dpest.laplace(1.0)), (0, 1), samples=20_000, seed=1)
    assert result.method == "sampling"
    assert result.confidence == 0.95
    assert "abs" in result.reason


def test_a_result_reads_and_travels() -> None:
    result = dpest.estimate(above_threshold, ([1, 1], [2, 0]))
    assert "epsilon" in str(result)
    assert dpest.Result.from_json(result.to_json()).epsilon == result.epsilon

"""The data-processing bound: an output out of reach loses at most what the values lose that it is computed from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.exact import answer
from dpest.exact.processed import data_processing_bound
from dpest.inputs.pairs import Pair

L = dpest.laplace


def sampled(mechanism: Any, pair: Any = (0.0, 1.0)) -> dpest.Result:
    return dpest.estimate(mechanism, pair, samples=20_000, seed=1, progress=False)


def note(r: dpest.Result) -> str:
    return " ".join(r.notes)


def test_a_black_box_of_one_noisy_value() -> None:
    r = sampled(lambda x: dpest.apply(np.sin, x + L(1.0)))
    assert r.method == "sampling"
    assert 0 < r.lower <= r.epsilon <= r.upper == pytest.approx(1.0, rel=1e-12)
    assert "at most the loss of the noisy value that the output is computed from" in note(r)
    assert "no upper bound" not in note(r)


def test_the_same_value_used_twice_counts_once() -> None:
    r = sampled(lambda x: (lambda z: np.exp(z) * z)(x + L(1.0)))
    assert r.upper == pytest.approx(1.0, rel=1e-12)


def test_a_product_of_two_noisy_values() -> None:
    r = sampled(lambda x: (x + L(1.0)) * (1 - x + L(2.0)))  # the factors move in opposite directions
    assert r.upper == pytest.approx(1.5, rel=1e-12)
    assert "2 noisy values" in note(r)


def test_a_condition_out_of_reach_is_released() -> None:
    r = sampled(lambda x: (lambda z, w: w if np.exp(z) * z > 1 else -w)(x + L(1.0), x + L(2.0)))
    assert r.upper == pytest.approx(1.5, rel=1e-12)


def test_a_function_that_depends_on_the_data_has_no_bound() -> None:
    r = sampled(lambda x: dpest.apply(lambda a, b: np.sin(a) + b, L(1.0), x))
    assert r.upper == math.inf


def test_data_beside_the_noise_is_part_of_what_is_computed() -> None:
    r = sampled(lambda x: np.sin(L(1.0)) + x)
    assert r.upper == math.inf


def test_an_exact_search_without_an_upper_end_gets_one() -> None:
    r = dpest.estimate(lambda x: np.exp(x + L(1.0)) + L(1.0), (0.0, 1.0))
    assert r.method == "exact"
    assert r.lower <= r.epsilon <= r.upper == pytest.approx(1.0, rel=1e-12)


def test_what_is_rounded_after_an_exponential() -> None:
    r = sampled(lambda x: round(np.exp(x + L(1.0))))
    assert r.upper == pytest.approx(1.0, rel=1e-12)


def test_constants_of_the_function_may_not_depend_on_the_data() -> None:
    def weighted(z: Any, weights: Any) -> Any:
        return np.sin(z) * weights[0]

    fixed = sampled(lambda x: dpest.apply(weighted, x + L(1.0), np.array([2.0, 1.0])))
    assert fixed.upper == pytest.approx(1.0, rel=1e-12)
    moving = sampled(lambda x: dpest.apply(weighted, x + L(1.0), np.array([1.0 + x, 1.0])))
    assert moving.upper == math.inf


class Holder:
    """An object whose method sees the data."""

    data = 0.0

    def moved(self, z: Any) -> Any:
        return np.sin(z) + self.data


def test_a_method_may_see_the_data() -> None:
    holder = Holder()

    def mechanism(x: float) -> Any:
        holder.data = x
        return dpest.apply(holder.moved, L(1.0))

    assert sampled(mechanism).upper == math.inf


def test_an_alignment_bounds_sums_of_noise_that_are_beyond_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rung: closed form. The pseudo-inverse takes the row that changes out of the answers, up to rounding: there is no loss.
    monkeypatch.setattr(answer, "_MOST_EVALUATIONS", 1_000)
    strategy = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, -1, 0, 0], [0, 0, 1, -1]], float)

    def answers(x: list[float], rng: Any) -> Any:
        noisy = strategy @ np.array(x) + rng.laplace(0, 3.0, size=5)
        return np.cumsum(np.linalg.pinv(strategy) @ noisy)[:3]

    r = sampled(answers, ([3.0, 1.0, 2.0, 2.0], [3.0, 1.0, 2.0, 3.0]))
    assert r.method == "sampling"
    assert 0 <= r.lower <= r.epsilon <= r.upper < 1e-12
    assert "a shift of the noise" in note(r)


def descent(data: Any, rng: np.random.Generator, b: float = 4.0, rounds: int = 2) -> Any:
    w = 0.0
    for _ in range(rounds):
        w -= 0.5 * (sum(np.clip(w - x, -1, 1) for x in data) + rng.laplace(0, b))
    return w


def _log_density(x: float, b: float, y: np.ndarray) -> np.ndarray:
    """ln of the density of the second step on the data [0, x], integrated over the first on a fine grid."""
    first = np.linspace(0.5 - 20 * b, 0.5 + 20 * b, 400_001)

    def slope(w: Any) -> Any:
        return np.clip(w, -1, 1) + np.clip(w - x, -1, 1)

    start = -0.5 * float(slope(0.0))
    weights = np.exp(-np.abs(first - start) / (b / 2))
    shifted = first - 0.5 * slope(first)
    return np.log([float((weights * np.exp(-np.abs(v - shifted) / (b / 2))).sum()) for v in y])


def test_the_last_step_of_a_descent_loses_at_most_what_all_steps_lose() -> None:
    """Oracle: the first step is the same on both data, the second moves by at most 1; a grid of densities from below."""
    r = dpest.estimate(descent, ([0.0, 1.0], [0.0, 2.0]), method="exact", b=0.1)
    y = np.linspace(-0.5, 2.5, 61)
    reached = float(np.abs(_log_density(1.0, 0.1, y) - _log_density(2.0, 0.1, y)).max())
    assert reached - 1e-3 <= r.upper <= 10.0 + 1e-9
    assert r.lower <= 10.0


def test_three_steps_are_bounded_by_their_sum() -> None:
    """Closed form: the first step is the same, each other one moves by at most 0.5 over noise of scale 4."""
    r = sampled(lambda x: descent(x, np.random.default_rng(), rounds=3), ([0.0, 1.0], [0.0, 1.5]))
    assert r.upper == pytest.approx(0.25, rel=1e-6)


def test_a_bound_that_takes_too_long_is_given_up_in_counted_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def product(x: float) -> Any:
        y = x + dpest.laplace(1)
        return y * (x + dpest.laplace(2)) if y > 3 else 0

    found = data_processing_bound(product, [Pair("", 0, 1)], {})
    assert found is not None
    assert found.uppers == pytest.approx((1.5,))
    monkeypatch.setattr("dpest.exact.processed._MOST_STEPS", 1)
    assert data_processing_bound(product, [Pair("", 0, 1)], {}) is None


def test_samples_that_tell_roundings_apart_bound_nothing_where_a_bound_is_proved() -> None:
    """In real numbers both remainders are one function of y % 10, and the loss is ln(cosh 2.5 / cosh 2)."""

    def remainders(x: float) -> Any:
        y = x + L(2.0)
        return y % 10, y % 2

    r = sampled(remainders)
    truth = math.log(math.cosh(2.5) / math.cosh(2))
    assert r.lower <= truth <= r.epsilon <= r.upper == pytest.approx(0.5, rel=1e-12)
    assert r.witness is None
    assert "infinite" not in note(r)
    assert "doubles round" in note(r)
    assert dpest.Result.from_json(r.to_json()).lower == r.lower


def test_a_sampled_bound_that_is_above_a_proved_one_by_chance_is_cut_to_it() -> None:
    found = [dpest.estimate(lambda x: dpest.apply(np.sin, x + L(1.0)), (0.0, 1.0), samples=5_000, seed=s) for s in range(12)]
    assert all(r.lower <= r.upper for r in found)
    assert all(r.witness is not None for r in found)

"""Releases that depend on earlier ones: the loss against the log ratio written out and searched on a fine grid.

The grid holds every kink of the piecewise linear log ratio and points far out, where it is constant or goes on linearly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.exact.inference.expressions import expr, number
from dpest.exact.inference.factors import Bound, Density, Indicator
from dpest.exact.inference.paths import trace
from dpest.exact.loss.cells_of_space import _CellLaw, _with
from dpest.exact.loss.cells_of_space import _largest as largest_ratio
from dpest.exact.loss.compare import compare
from dpest.laws.continuous import Exponential, Gaussian, Laplace, Uniform
from dpest.numerics.rationals import ONE, ZERO, exact

_GRID = np.unique(np.concatenate([np.linspace(-12, 12, 481), [-4000.0, -400.0, 400.0, 4000.0]]))


def _largest(first: Callable[[Any], Any], second: Callable[[Any, Any], Any], pair: tuple[Any, Any], b: float) -> float:
    """The largest |ln p - ln q| of y1 = first(D) + Laplace(b), y2 = second(D, y1) + Laplace(b)."""
    y1, y2 = np.meshgrid(_GRID, _GRID, indexing="ij")
    logs = [-(np.abs(y1 - first(d)) + np.abs(y2 - second(d, y1))) / b for d in pair]
    return float(np.max(np.abs(logs[0] - logs[1])))


def _asked(mechanism: Any, pair: tuple[Any, Any], truth: float) -> None:
    r = dpest.estimate(mechanism, pair, method="exact")
    assert r.lower <= truth + 1e-9
    assert truth - 1e-9 <= r.upper
    assert r.upper - r.lower < 1e-6


def test_a_gradient_at_released_weights() -> None:
    def mechanism(data):
        w, out = 0.0, []
        for _ in range(2):
            w = w - 0.5 * (sum(np.clip(w - x, -1, 1) for x in data) + dpest.laplace(2.0))
            out.append(w)
        return out

    data = ([1.0, -2.0], [1.0, 0.5])

    # In the gradients y = -2 (w' - w), which tell what the weights tell.
    def gradient(d: Any, w: Any) -> Any:
        return sum(np.clip(w - x, -1, 1) for x in d)

    _asked(mechanism, data, _largest(lambda d: gradient(d, 0.0), lambda d, y: gradient(d, -0.5 * y), data, 2.0))


@pytest.mark.parametrize(
    ("steps", "pair"),
    [
        (3, ([(1.0, 2.0), (0.5, -1.0)], [(1.0, 2.0), (0.5, 1.5)])),
        (3, ([(1.0, 2.0)], [(1.0, 1.0)])),
        (4, ([(1.0, 2.0)], [(1.0, 0.5)])),
    ],
)
def test_several_gradients_at_released_weights(steps: int, pair: Any) -> None:
    """Against the largest sum of the steps' log ratios, step by step from the last one, on a grid that holds all kinks."""

    def mechanism(rows):
        w, out = 0.0, []
        for _ in range(steps):
            w = w - 0.5 * (sum(np.clip((w * x - y) * x, -1, 1) for x, y in rows) + dpest.laplace(2.0))
            out.append(w)
        return out

    weights = np.linspace(-12, 12, 24 * 16 + 1)
    gradients = [sum(np.clip((weights * x - y) * x, -1, 1) for x, y in rows)[:, None] for rows in pair]
    noisy = -2 * (weights[None, :] - weights[:, None])  # the gradient with its noise, by weights before and after
    ratio = (np.abs(noisy - gradients[1]) - np.abs(noisy - gradients[0])) / 2

    def largest(log_ratio: Any) -> float:
        ahead = np.zeros(len(weights))
        for _ in range(steps):
            ahead = (log_ratio + ahead).max(axis=1)
        return float(ahead[len(weights) // 2])

    _asked(mechanism, pair, max(largest(ratio), largest(-ratio)))


def test_a_sum_clipped_at_a_released_bound() -> None:
    def mechanism(data):
        bound = max(data) + dpest.laplace(2.0)
        if bound < 0:
            bound = 0.0
        elif bound > 5:
            bound = 5.0
        return bound, sum(min(x, bound) for x in data) + dpest.laplace(2.0)

    data = ([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    r = dpest.estimate(mechanism, data, method="exact")
    # Released bounds below 3 say nothing of the sums; between, the sums differ by at most 1, and so do the largest values.
    assert r.lower <= 1.0 + 1e-9
    assert r.upper >= 1.0 - 1e-9
    assert r.upper - r.lower < 1e-6


def test_a_count_above_a_released_mean() -> None:
    def mechanism(data):
        middle = sum(data) / len(data) + dpest.laplace(1.0)
        count = sum(1 if x > middle else 0 for x in data)
        return middle, count + dpest.laplace(1.0)

    data = ([0.0, 1.0, 5.0], [0.0, 1.0, 2.0])
    truth = _largest(lambda d: sum(d) / 3, lambda d, y: sum((x > y).astype(float) for x in d), data, 1.0)
    _asked(mechanism, data, truth)


def test_a_slope_that_differs_has_no_bound() -> None:
    def mechanism(x):
        y = x + dpest.laplace(1.0)
        return y, x * y + dpest.laplace(1.0)

    r = dpest.estimate(mechanism, (1.0, 2.0), method="exact")
    assert r.upper == math.inf


def test_noise_with_an_end_on_one_cell_only_proves_an_infinite_loss() -> None:
    def mechanism(x):
        y = x + dpest.laplace(1.0)
        if y > 0:
            return y, x + dpest.exponential(1.0)
        return y, dpest.exponential(1.0)

    r = dpest.estimate(mechanism, (0.0, 1.0), method="exact")
    assert r.upper == math.inf


@pytest.mark.parametrize(
    "noise", [lambda: dpest.uniform(0.0, 3.0), lambda: dpest.exponential(1.5), lambda: -dpest.exponential(0.5)]
)
def test_noise_with_ends_that_are_the_same_for_both_inputs(noise: Callable[[], Any]) -> None:
    def mechanism(x):
        y = x + dpest.laplace(1.0)
        if y > 0:
            return y, 2 * y + noise()
        return y, x + dpest.laplace(2.0)

    # Above 0 the first output alone tells, at most 1; below, it tells 1 and the second one up to 1/2.
    _asked(mechanism, (0.0, 1.0), 1.5)


@pytest.mark.parametrize(
    ("noise", "truth"),
    [
        (lambda x: dpest.laplace(1.0 + x), math.log(2)),  # at 0: e^-|z| / 2 over e^-(|z| / 2) / 4
        (lambda x: dpest.exponential(1.0 + x), math.log(2)),
        (lambda x: dpest.uniform(0.0, 1.0 + 2 * x), math.log(3)),
    ],
)
def test_noise_of_another_scale_has_a_bound_in_one_direction(noise: Callable[[float], Any], truth: float) -> None:
    def mechanism(x):
        y = x + dpest.laplace(1.0)
        if y > 0:
            return y, 2 * y + dpest.laplace(1.0)
        return y, noise(x)

    found = compare(trace(mechanism, 0.0, {}), trace(mechanism, 1.0, {}))
    # Below 0 the first output tells 1 more.
    assert found.forward.lower <= 1 + truth + 1e-9
    assert 1 + truth - 1e-9 <= found.forward.upper
    assert found.forward.upper - found.forward.lower < 1e-6
    assert found.backward.upper == math.inf


def test_factors_of_a_cell() -> None:
    """Each kind at places in and out of its cell, against the factor itself."""
    empty = _CellLaw(-0.5, number(ZERO), (), ())
    place = expr(((-1, exact(2)), (-2, -ONE)), exact(-1))
    factors = [Density(law, place) for law in (Laplace(1.5), Exponential(0.5), Uniform(-1.0, 2.0))]
    for factor in [*factors, Indicator(Bound(place))]:
        cell = _with(empty, factor, {-1: -1, -2: -2}, 3)
        assert cell is not None
        for y in ((0.5, -1.0), (1.0, 0.25), (-2.0, 3.0), (4.0, 1.0)):
            values = {-1: np.array(y[0]), -2: np.array(y[1])}
            inside = all(float(e.at(values)) >= 0 for e in cell.bounds)
            truth = -0.5 + 3 * float(factor.log(values)[0])
            sizes = sum(float(w) * abs(float(e.at(values))) for e, w in cell.sizes)
            told = cell.constant + float(cell.slope.at(values)) - sizes if inside else -math.inf
            assert told == pytest.approx(truth, abs=1e-12)


def _line(law: Any, weight: float, offset: float = 0.0) -> _CellLaw:
    """weight * the density of a draw at y - offset."""
    cell = _with(_CellLaw(math.log(weight), number(ZERO), (), ()), Density(law, expr(((-1, ONE),), -exact(offset))), {-1: -1}, 1)
    assert cell is not None
    return cell


@pytest.mark.parametrize(
    ("own", "other", "truth"),
    [
        ([_line(Laplace(1.0), 0.5)], [_line(Laplace(1.0), 0.25, 1.5)], 1.5 + math.log(2)),
        ([_line(Laplace(1.0), 1.0)], [_line(Laplace(2.0), 1.0, 1.0)], 0.5 + math.log(2)),
        ([_line(Laplace(2.0), 1.0)], [_line(Laplace(1.0), 1.0)], math.inf),
        ([_line(Uniform(0.0, 1.0), 1.0)], [_line(Uniform(-1.0, 3.0), 0.5)], math.log(8)),
        ([_line(Uniform(0.0, 1.0), 1.0)], [_line(Uniform(0.5, 3.0), 1.0)], math.inf),
        ([_line(Exponential(1.0), 1.0)], [_line(Exponential(4.0), 1.0)], math.log(4)),
        ([_line(Exponential(1.0), 0.3)], [_line(Uniform(0.0, 2.0), 1.0), _line(Exponential(1.0), 1.0, 2.0)], math.log(0.6)),
        ([_line(Laplace(1.0), 0.5), _line(Laplace(1.0), 0.5)], [_line(Laplace(1.0), 1.0)], math.inf),  # two are added
    ],
)
def test_the_largest_ratio_of_cells(own: list[_CellLaw], other: list[_CellLaw], truth: float) -> None:
    assert largest_ratio(own, other, -math.inf).value == pytest.approx(truth, abs=1e-10)
    assert largest_ratio(own, other, -math.inf).value >= truth


def test_factors_that_are_numbers_or_of_another_kind() -> None:
    empty = _CellLaw(-0.5, number(ZERO), (), ())
    cell = _with(empty, Density(Laplace(1.0), number(exact(2))), {}, 3)
    assert cell is not None
    assert cell.constant == pytest.approx(-0.5 - 3 * (2 + math.log(2)))
    assert _with(empty, Density(Gaussian(1.0), expr(((-1, ONE),), ZERO)), {-1: -1}, 1) is None


def test_laws_that_are_several_cells_at_one_place_are_left_open() -> None:
    def mechanism(x):
        y = x + dpest.laplace(1.0)
        return y, (y if dpest.laplace(1.0) > x else 2 * y) + dpest.laplace(1.0)

    r = dpest.estimate(mechanism, (0.0, 1.0), method="exact")
    assert r.lower <= r.epsilon <= r.upper
    # At most 1 by the first output, 1 by the coin: what a mixture of two densities adds is not more than its larger part.
    assert r.lower <= 2.0 + 1e-9
    assert r.upper >= 1.0


@pytest.mark.parametrize("seed", range(6))
def test_random_piecewise_linear_releases(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pair = tuple(float(v) for v in rng.integers(-3, 4, 2) / 2)
    cuts = sorted(float(v) for v in rng.integers(-4, 5, 2) / 2)
    slopes = [float(v) for v in rng.integers(-2, 3, 3) / 2]

    def mechanism(x):
        y = x + dpest.laplace(1.0)
        if y < cuts[0]:
            z = slopes[0] * y + x
        elif y < cuts[1]:
            z = slopes[1] * y - x
        else:
            z = slopes[2] * y
        return y, z + dpest.laplace(1.0)

    def second(x: float, y: Any) -> Any:
        return np.where(y < cuts[0], slopes[0] * y + x, np.where(y < cuts[1], slopes[1] * y - x, slopes[2] * y))

    truth = _largest(lambda x: x, second, (pair[0], pair[1]), 1.0)
    r = dpest.estimate(mechanism, (pair[0], pair[1]), method="exact")
    assert r.lower <= truth + 1e-9
    assert truth - 1e-9 <= r.upper
    assert r.upper - r.lower < 1e-6

"""Linear functions of log-concave noise: the closed form against a linear program, and against integrals in two dimensions."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog

import dpest
from dpest.results import Direction

TREE = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], *np.eye(4)])


def least_shift(rows: Any, difference: Any, up: list[float], down: list[float]) -> float:
    """The least cost of a shift of the noise that moves rows @ noise by this difference, by SciPy in floats."""
    a = np.asarray(rows, float)
    kept = [(i, s, c) for i in range(a.shape[1]) for s, c in ((1, up[i]), (-1, down[i])) if math.isfinite(c)]
    if not kept:
        return math.inf
    columns = np.array([s * a[:, i] for i, s, _ in kept]).T
    found = linprog([c for *_, c in kept], A_eq=columns, b_eq=difference)
    return float(found.fun) if found.status == 0 else math.inf


def released(rows: Any, noise: Callable[[], Any]) -> Callable[[Any], Any]:
    def mechanism(x: Any) -> Any:
        a = np.asarray(rows, dtype=object)
        return list(a @ np.array([noise() for _ in range(a.shape[1])], dtype=object) + np.asarray(x))

    return mechanism


def holds(found: dpest.Result, truth: float) -> None:
    assert found.lower <= truth * (1 + 1e-9)
    assert truth <= found.upper * (1 + 1e-9)
    assert found.upper - found.lower <= 1e-6 * found.upper


def test_seven_noises_and_four_outputs() -> None:
    """Hay et al. (2010): a tree of counts made consistent by least squares, which took more than a minute before."""
    inverse = np.linalg.pinv(TREE)

    def mechanism(counts: Any) -> Any:
        return inverse @ (TREE @ np.array(counts) + dpest.laplace(3.0, size=7))

    found = dpest.estimate(mechanism, ([1, 1, 1, 1], [2, 1, 1, 1]), method="exact")
    holds(found, least_shift(inverse, [1, 0, 0, 0], [1 / 3] * 7, [1 / 3] * 7))
    assert "not worked out" in str(found)
    assert "not worked out" in str(found.witness)
    assert dpest.Result.from_json(found.to_json()).epsilon == found.epsilon


@pytest.mark.parametrize("seed", range(12))
def test_random_matrices(seed: int) -> None:
    """Whole coefficients, two or three outputs of one noise more or two more, of Laplace or exponential draws."""
    rng = random.Random(seed)
    outputs, extra = rng.choice([(2, 1), (2, 2), (3, 1)])
    rows = [[rng.randint(-2, 2) for _ in range(outputs + extra)] for _ in range(outputs)]
    if np.linalg.matrix_rank(rows) < outputs:
        rows = np.hstack([np.eye(outputs, dtype=int), np.ones((outputs, extra), int)]).tolist()
    move = [rng.choice([-1.0, 0.0, 0.5, 1.0]) for _ in range(outputs)]
    one_sided = seed % 3 == 0
    noise = (lambda: dpest.exponential(2.0)) if one_sided else (lambda: dpest.laplace(2.0))
    n = outputs + extra
    up, down = [0.5] * n, [math.inf if one_sided else 0.5] * n
    forward = least_shift(rows, [-m for m in move], up, down)
    backward = least_shift(rows, move, up, down)
    found = dpest.estimate(released(rows, noise), ([0.0] * outputs, move), method="exact")
    truth = max(forward, backward)
    if truth == math.inf:
        assert found.upper == math.inf
    else:
        holds(found, truth)


def test_the_directions_are_told_apart() -> None:
    """One-sided noise: what D gives below the shift, D' cannot; the other way it can follow."""
    mechanism = released([[1, 0, 1], [0, 1, 1]], lambda: dpest.exponential(1.0))
    (pair,) = dpest.estimate(mechanism, ([0.0, 0.0], [1.0, 1.0]), method="exact").pairs
    assert pair.forward == math.inf
    assert pair.backward == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("pair", [((0.0, 0.0), (1.0, 1.0)), ((1.0, 1.0), (0.0, 0.0))])
def test_a_direction_shows_its_own_densities(pair: Any) -> None:
    """What both outputs share grows at 1/4, and only upwards: one way the noises of their own must follow. Far out it shows."""

    def mechanism(x: Any) -> Any:
        a, b, shared = dpest.laplace(1.0), dpest.laplace(1.0), dpest.exponential(4.0)
        return x[0] + a + shared, x[1] + b + shared

    found = dpest.estimate(mechanism, pair, method="exact")
    w = found.witness
    assert w is not None
    holds(found, 2.0)
    assert w.direction is (Direction.LEFT if pair[0] < pair[1] else Direction.RIGHT)
    assert abs(w.log_left - w.log_right) == pytest.approx(2.0, rel=0.05)
    assert (w.log_left > w.log_right) == (w.direction is Direction.LEFT)
    assert w.limit  # no output attains it: the test below comes near


def test_the_limit_is_approached_and_not_exceeded() -> None:
    """x + L1 + L3, y + L2 + L3: the log density by an integral, at places further and further out."""
    rows = [[1, 0, 1], [0, 1, 1]]

    def log_density(u: float, v: float) -> float:
        cuts = sorted({0.0, u, v})
        ends = [-60.0 + cuts[0], *cuts, 60.0 + cuts[-1]]
        total = sum(
            quad(lambda w: math.exp(-abs(u - w) - abs(v - w) - abs(w)), a, b, epsabs=0, epsrel=1e-12, limit=200)[0]
            for a, b in itertools.pairwise(ends)
            if b > a
        )
        return math.log(total / 8)

    found = dpest.estimate(released(rows, lambda: dpest.laplace(1.0)), ([0.0, 0.0], [1.0, 1.0]), method="exact")
    places = [(a, b) for a in (-9.0, -3.0, 0.5, 3.0, 9.0) for b in (-9.0, -3.0, 0.5, 3.0, 9.0)]
    ratios = [abs(log_density(a, b) - log_density(a - 1, b - 1)) for a, b in places]
    assert max(ratios) <= found.upper
    assert max(ratios) >= 0.99 * found.lower
    holds(found, 1.0)


@pytest.mark.parametrize(("noise", "truth"), [(lambda: dpest.gaussian(1.0), math.inf), (lambda: dpest.uniform(0, 1), math.inf)])
def test_tails_that_fall_faster(noise: Callable[[], Any], truth: float) -> None:
    found = dpest.estimate(released([[1, 0, 1], [0, 1, 1]], noise), ([0.0, 0.0], [1.0, 0.5]), method="exact")
    assert found.epsilon == found.lower == truth


def test_gaussian_noise_beside_laplace_noise_costs_nothing() -> None:
    """One output has Laplace noise of its own, both share a Gaussian one: only Laplace draws can follow."""

    def mechanism(x: Any) -> Any:
        shared, a, b = dpest.gaussian(1.0), dpest.laplace(1.0), dpest.laplace(2.0)
        return x[0] + a + shared, x[1] + b + shared

    holds(dpest.estimate(mechanism, ([0.0, 0.0], [1.0, 1.0]), method="exact"), 1.5)

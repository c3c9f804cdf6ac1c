"""Grids, moments and transforms of losses, against fractions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from dpest.curves.cells import Losses
from dpest.curves.contraction import contracted
from dpest.curves.grid import downwards, gridded, lattice, moments, upwards
from dpest.curves.sums import LossSum
from dpest.curves.transform import added, window
from dpest.curves.tree import Leaf, Mixture, ProductPart
from tests.unit.curves.finite import COIN, HALF, SKEW, THIRD, exact_delta, leaf, outcomes

Floats = npt.NDArray[np.float64]
# -- grids -------------------------------------------------------------------------------------------------------------


def test_losses_on_a_grid_stay_where_they_are() -> None:
    loss = 1e4 + 0.1 * np.arange(7.0)
    given = Losses(np.log(np.full(7, 1 / 7)), loss, 0.0)
    n, log_mass, guard = contracted(given, 0.1, 1e4)
    assert n.tolist() == list(range(7))
    np.testing.assert_allclose(log_mass, given.log_mass, atol=1e-11)
    assert 1e-12 < guard < 1e-8
    up = upwards(given, 0.1, 1e4)
    heavy = up.log_mass > -15
    assert up.n[heavy].tolist() == list(range(7))


def test_the_largest_loss_stays_where_it_is_heavier_than_what_lies_below() -> None:
    heavy = Losses(np.log([0.5, 0.1, 0.4]), np.array([0.0, 0.95, 1.0]), 0.0)
    n, log_mass, _ = contracted(heavy, 0.1, 0.0)
    assert n[-1] == 10
    assert math.exp(log_mass[-1]) == pytest.approx(0.4, rel=1e-9)
    light = Losses(np.log([0.5, 0.4, 0.1]), np.array([0.0, 0.95, 1.0]), 0.0)
    assert float(np.exp(contracted(light, 0.1, 0.0)[1]).sum()) <= 1.0


def delta_of(log_mass: Floats, loss: Floats, epsilon: float) -> float:
    return float(np.sum(np.exp(log_mass) * np.maximum(-np.expm1(epsilon - loss), 0.0)))


def test_a_dense_list_costs_the_square_of_the_step() -> None:
    loss = np.linspace(-2, 2, 4001)
    logs = -0.5 * (loss - 0.3) ** 2
    given = Losses(logs - np.log(np.exp(logs).sum()), loss, 0.0)
    for epsilon in (-0.5, 0.2, 1.1):
        truth = delta_of(given.log_mass, given.loss, epsilon)
        for step in (0.05, 0.2):
            down, up = downwards(given, step, 0.013), upwards(given, step, 0.013)
            low, high = delta_of(down.log_mass, down.loss, epsilon + down.guard), delta_of(up.log_mass, up.loss, epsilon)
            assert low <= truth <= high
            assert high - low <= 0.5 * step**2


def test_the_lattice_of_single_losses() -> None:
    three = math.log(3)
    assert lattice(COIN).measure == pytest.approx(2 * three)
    assert lattice(COIN).complete
    nine = leaf([0.9, 0.1], [0.1, 0.9])  # losses +- 2 ln 3
    both = lattice(ProductPart(((COIN, 2), (nine, 1))))
    assert both.measure == pytest.approx(2 * three)
    assert lattice(ProductPart(((COIN, 2), (THIRD, 1)))).measure == 0.0
    assert lattice(Mixture((COIN, nine))).measure == 0.0
    found = lattice(COIN)
    assert found.step(0.1) == found.measure
    open_ended = lattice(ProductPart(((COIN, 1), (Mixture((THIRD,)), 1))))
    assert open_ended.measure == pytest.approx(2 * three)
    assert not open_ended.complete
    assert open_ended.step(0.5) == pytest.approx(2 * three / 5)
    assert open_ended.offsets[id(COIN)] == pytest.approx(-three)


def test_moments_of_products_and_mixtures() -> None:
    def plain(tree: Leaf, tilt: float) -> tuple[float, float, float]:
        mass, loss = np.exp(tree.cells.log_p), tree.cells.losses
        weights = mass * np.exp(tilt * loss)
        mean = float(weights @ loss / weights.sum())
        return math.log(weights.sum()), mean, float(weights @ (loss - mean) ** 2 / weights.sum())

    for tilt in (0.0, 0.7, -0.4):
        a, b = plain(COIN, tilt), plain(THIRD, tilt)
        found = moments(ProductPart(((COIN, 2), (THIRD, 3))), True, tilt)
        expected = [2 * x + 3 * y for x, y in zip(a, b, strict=True)]
        assert (found.log_mgf, found.mean, found.variance) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        mixed = moments(Mixture((COIN, THIRD)), True, tilt)
        u, v = math.exp(a[0]), math.exp(b[0])
        mean = (u * a[1] + v * b[1]) / (u + v)
        variance = (u * (a[2] + (a[1] - mean) ** 2) + v * (b[2] + (b[1] - mean) ** 2)) / (u + v)
        assert (mixed.log_mgf, mixed.mean, mixed.variance) == pytest.approx((math.log(u + v), mean, variance), rel=1e-9, abs=1e-9)


# -- transforms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", [0.0, 0.8, 2.5])
@pytest.mark.parametrize("up", [False, True])
def test_a_transform_bounds_every_delta(tilt: float, up: bool) -> None:
    tree = ProductPart(((COIN, 6), (THIRD, 4)))
    where = window(tree, up, tilt)
    truth = outcomes([(*HALF, 6), (*SKEW, 4)])
    made = added(tree, up, where, 0.004, {}, 1 << 13)
    for epsilon in (-1.0, 0.0, 2.0, 5.0, 8.0, 10.5):
        found, right = made.delta(epsilon), exact_delta(truth, epsilon)
        assert (found >= right) if up else (found <= right)
        # The tilt decides where the answer is sharp; single losses on a grid cost a step each from below.
        if abs(epsilon - made.mean) < 2 * made.deviation:
            assert abs(found - right) <= (0.001 if up else 10 * 0.004) * right


@pytest.mark.parametrize("up", [False, True])
def test_what_lies_outside_is_at_most_all(up: bool) -> None:
    """Chernoff's inequality without a rate says no more than that a share is at most 1; nor does it inside the losses."""
    tree = ProductPart(((COIN, 6), (THIRD, 4)))
    where = window(tree, up, 0.3)
    assert added(tree, up, replace(where, rates=(0.0, 0.0)), 0.05, {}, 1 << 10).outside == (1.0, 1.0)
    assert max(added(tree, up, replace(where, rates=(0.5, 0.5)), 0.05, {}, 8).outside) == 1.0
    assert max(added(tree, up, where, 0.004, {}, 1 << 13).outside) < 1e-9


@pytest.mark.parametrize("up", [False, True])
def test_a_window_that_is_too_short_still_bounds(up: bool) -> None:
    """256 steps of 0.05 hold a part of the losses only: what lies outside is bounded, not forgotten."""
    tree = ProductPart(((COIN, 6), (THIRD, 4)))
    truth = outcomes([(*HALF, 6), (*SKEW, 4)])
    made = added(tree, up, window(tree, up, 0.3), 0.05, {}, 1 << 8)
    for epsilon in np.linspace(-6.0, 10.0, 33).tolist():
        found, right = made.delta(epsilon), exact_delta(truth, epsilon)
        assert (found >= right) if up else (found <= right)


def test_mixtures_are_transformed_together() -> None:
    one, two = leaf([0.45, 0.15], [0.15, 0.45]), leaf([0.1, 0.3], [0.2, 0.2])
    tree = ProductPart(((Mixture((one, two)), 5),))
    p = [Fraction(45, 100), Fraction(15, 100), Fraction(1, 10), Fraction(3, 10)]
    q = [Fraction(15, 100), Fraction(45, 100), Fraction(2, 10), Fraction(2, 10)]
    truth = outcomes([(p, q, 5)])
    for up in (False, True):
        made = added(tree, up, window(tree, up, 0.5), 0.002, {}, 1 << 13)
        for epsilon in (0.0, 1.0, 3.0):
            found, right = made.delta(epsilon), exact_delta(truth, epsilon)
            assert (found >= right) if up else (found <= right)
            assert abs(found - right) <= 0.02 * right


@pytest.mark.parametrize("epsilon", [0.0, 1.5, 4.0, 9.0, 10.9, 30.0])
def test_the_sum_finds_its_own_tilt_and_step(epsilon: float) -> None:
    tree = ProductPart(((COIN, 6), (THIRD, 4)))
    right = exact_delta(outcomes([(*HALF, 6), (*SKEW, 4)]), epsilon)
    low, high = LossSum(tree).delta(epsilon, 1e-4)
    assert low <= right <= high
    if epsilon < 10:  # next to the largest loss a grid is as wide as what is asked for
        assert high - low <= 2e-4 * right
    gap = leaf([0.5, 0.4, 0.1], [0.5, 0.5, 0.0])
    ends = LossSum(ProductPart(((COIN, 3), (gap, 2)))).delta(epsilon, 1e-4)
    pairs = outcomes(
        [(*HALF, 3), ([Fraction(1, 2), Fraction(2, 5), Fraction(1, 10)], [Fraction(1, 2), Fraction(1, 2), Fraction(0)], 2)]
    )
    assert ends[0] <= exact_delta(pairs, epsilon) <= ends[1]
    assert ends[1] - ends[0] <= 2e-4 * ends[1]


def test_grids_of_a_tree_are_made_once() -> None:
    tree = ProductPart(((COIN, 2), (COIN, 1)))
    known = gridded(tree, True, 0.1, {id(COIN): -math.log(3)}, {})
    assert list(known) == [id(COIN)]
    assert known[id(COIN)].offset == -math.log(3)

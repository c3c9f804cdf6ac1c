"""Error terms of cells, boxes, grids and merged losses: each is there, points outwards, and is no larger than it says."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpest.curves.boxes import _box
from dpest.curves.cells import ROUND, LossCells, Losses, joined, merged, product, rounding, upward_share
from dpest.curves.contraction import _rounded, _Sorted, _top_kept, contracted
from dpest.curves.curve import Curve
from dpest.curves.cuts import shortened
from dpest.curves.grid import LossLattice, _apart, _leaf_moments, _measure, all_single, lattice, upwards
from dpest.curves.tree import Fixed, Leaf
from dpest.curves.way import Way
from tests.unit.curves.finite import COIN


def cells(p: list[float], q: list[float], slack: float = 0.0, **more: object) -> LossCells:
    with np.errstate(divide="ignore"):
        a, b = np.log(p), np.log(q)
    with np.errstate(invalid="ignore"):
        ratio = np.where(a == -np.inf, -np.inf, a - b)
    return LossCells(a, b, np.full(len(p), slack), ratio, ratio, **more)  # type: ignore[arg-type]


# -- cells -------------------------------------------------------------------------------------------------------------


def test_infinite_mass_is_rounded_outwards() -> None:
    found = cells([0.5, 0.5], [0.0, 1.0])
    assert 0.5 * (1 + 9e-15) <= found.upper.infinite <= 0.5 * (1 + 3e-14)
    assert 0.5 * (1 - 3e-14) <= found.lower.infinite <= 0.5 * (1 - 9e-15)
    wide = LossCells(np.log([0.5]), np.log([0.25]), np.zeros(1), np.zeros(1), np.full(1, np.inf))
    # Spread to zero and to infinity: a share of e^0 stays, the rest of p has no q.
    assert wide.upper.infinite == pytest.approx(0.25, rel=1e-13)
    assert wide.upper.infinite >= 0.25
    assert wide.upper.mass + wide.upper.infinite >= 0.5


def test_what_no_cell_holds_grows_by_its_errors() -> None:
    base = cells([0.4, 0.5], [0.5, 0.4], beyond=(0.1, 0.1), bounds=(-1.0, 2.0))
    plain = base.weighted(math.log(0.5), math.log(0.25))
    assert 0.05 * (1 + 5e-13) < plain.beyond[0] < 0.05 * (1 + 2e-12)
    assert 0.025 * (1 + 5e-13) < plain.beyond[1] < 0.025 * (1 + 2e-12)
    rough = base.weighted(math.log(0.5), math.log(0.25), 0.1)
    assert rough.beyond[0] >= 0.05 * math.exp(0.1)
    assert rough.beyond[1] <= 0.025 * 1.21
    assert rough.bounds == (pytest.approx(-1.0 + math.log(2) - 0.1), pytest.approx(2.0 + math.log(2) + 0.1))
    assert (rough.slack >= 0.1).all()
    np.testing.assert_allclose(base.losses + math.log(2) - rough.low, 0.2, rtol=1e-9)
    np.testing.assert_allclose(rough.high - base.losses - math.log(2), 0.2, rtol=1e-9)
    never = base.weighted(math.log(0.5), -math.inf)
    assert never.bounds == (-math.inf, math.inf)
    assert never.low.tolist() == [math.inf, math.inf]


def test_joined_parts_keep_what_each_lacks() -> None:
    a = cells([0.4], [0.5], beyond=(0.1, 0.2), bounds=(-1.0, 2.0), loose=(0.01, 0.02))
    b = cells([0.3], [0.2], beyond=(0.0, 0.05), bounds=(-3.0, 1.0))
    c = cells([0.2], [0.1])
    found = joined([a, b, c])
    assert found.beyond == (pytest.approx(0.1), pytest.approx(0.25))
    assert found.beyond[1] >= 0.25
    assert found.bounds == (-3.0, 2.0)
    assert found.loose == (0.01, 0.02)
    assert joined([c]) is c
    assert joined([c, c]).bounds == (-math.inf, math.inf)


def test_products_add_errors_and_ends() -> None:
    a, b = cells([0.6, 0.4], [0.3, 0.7], 1e-3), cells([0.9, 0.1], [0.2, 0.8], 2e-3)
    found = product(a, b)
    assert found.size == 4
    assert (found.slack >= 3e-3).all()
    assert (found.slack <= 3e-3 + 1e-14).all()
    np.testing.assert_allclose(np.sort(np.exp(found.log_p)), np.sort([0.54, 0.06, 0.36, 0.04]), rtol=1e-14)
    assert (found.low <= found.losses - 2.9e-3).all()
    assert (found.high >= found.losses + 2.9e-3).all()
    assert (found.high - found.low < 6.1e-3).all()
    open_ended = product(cells([0.5], [0.4], beyond=(0.5, 0.6), bounds=(-2.0, 3.0)), cells([1.0], [0.5]))
    assert open_ended.beyond[0] >= 0.5
    assert open_ended.bounds[0] <= -2.0 + math.log(2)
    assert open_ended.bounds[1] >= 3.0 + math.log(2)


def test_merged_cells_cover_what_they_hold() -> None:
    p = LossCells(
        np.log([0.2, 0.3, 0.5]),
        np.log([0.2, 0.3, 0.5]),
        np.array([1e-3, 5e-3, 2e-3]),
        np.array([-0.1, -0.3, 0.0]),
        np.array([0.2, 0.1, 0.4]),
    )
    found = merged(p)
    assert found.size == 1
    assert 5e-3 > found.slack[0] >= math.log(math.fsum(np.exp(p.log_p + p.slack)))  # what is off by 5e-3 is a part of it
    assert found.slack[0] >= -math.log(math.fsum(np.exp(p.log_p - p.slack)))
    assert found.slack[0] <= 5e-3 + 1e-14
    assert (found.low[0], found.high[0]) == (-0.3, 0.4)
    far = merged(cells([0.5, 0.5], [0.25, 0.75]))
    assert far.size == 2


def test_rounding_of_logarithms() -> None:
    found = rounding(np.array([-1000.0, -np.inf, 0.0]), np.array([-10.0, -500.0, -np.inf]))
    np.testing.assert_allclose(found, [1002 * ROUND, 502 * ROUND, 2 * ROUND])


@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (0.0, 1e-6), (5.0, 5.5), (-40.0, 40.0), (1e4, 1e4 + 1)])
def test_the_share_that_sits_at_the_higher_loss(low: float, high: float) -> None:
    for part in (0.0, 0.1, 0.5, 0.99, 1.0):
        loss = min(low + part * (high - low), high)
        found = float(upward_share(np.array([loss]), np.array([low]), np.array([high]))[0])
        with mpmath.workdps(50):
            x, a, b = (mpmath.mpf(v) for v in (loss, low, high))
            truth = mpmath.expm1(a - x) / mpmath.expm1(a - b)
            raised = min(x + 5 * ROUND * (abs(x) + abs(a) + abs(b)), b)
            most = mpmath.expm1(a - raised) / mpmath.expm1(a - b) * (1 + 20 * mpmath.mpf(ROUND))
        assert truth <= found <= min(1, most)


def test_lumps_are_lowered_by_their_errors_and_say_so() -> None:
    found = cells([0.5, 0.5], [0.25, 0.75], 1e-3).lower
    assert found.loss[1] <= math.log(2) - 2e-3
    assert found.loss[1] >= math.log(2) - 2e-3 - 1e-14
    assert found.doubt == pytest.approx(2e-3, rel=1e-9)
    assert found.mass == pytest.approx(math.exp(-1e-3))
    tiny = cells([1 - 1e-9, 1e-9], [0.5, 0.5], 0.0).lower
    assert tiny.doubt < 1e-14


def test_cuts_count_the_mass_with_its_error() -> None:
    many = cells([0.01] * 100, [0.01] * 100, 0.5)
    assert shortened(many, 0.1).size == 100 - 2 * 3  # 0.01 e^0.5 each
    assert shortened(many, 0.1).beyond[0] == pytest.approx(0.06 * math.exp(0.5))


# -- boxes -------------------------------------------------------------------------------------------------------------


def test_logarithms_far_from_zero_are_known_to_their_rounding() -> None:
    found = _box(
        lambda x: (np.full(len(x), -1000.0), np.full(len(x), -10.0), np.zeros(len(x))), np.zeros((1, 2)), np.ones((1, 2))
    )
    assert 2000 * ROUND <= found.slack[0] <= 2100 * ROUND
    assert -990 + 2 * 1010 * ROUND <= found.high[0] <= -990 + 4e-11
    assert -990 - 4e-11 <= found.low[0] <= -990 - 2 * 1010 * ROUND


def test_equal_logarithms_far_from_zero_have_a_ratio_up_to_their_rounding() -> None:
    found = _box(
        lambda x: (np.full(len(x), -1000.0), np.full(len(x), -1000.0), np.zeros(len(x))), np.zeros((1, 2)), np.ones((1, 2))
    )
    assert 4000 * ROUND <= found.high[0] <= 4100 * ROUND
    assert -4100 * ROUND <= found.low[0] <= -4000 * ROUND


# -- merged losses ------------------------------------------------------------------------------------------------------


def test_the_guard_of_a_grid_point() -> None:
    assert contracted(Losses(np.zeros(1), np.zeros(1), 0.0), 1.0, 0.0)[2] == pytest.approx(2e-13, abs=0)
    assert contracted(Losses(np.zeros(1), np.array([3.0]), 0.0), 1.0, 4.0)[2] == pytest.approx(2e-13 * 8, abs=0)
    assert contracted(Losses(np.zeros(1), np.zeros(1), 0.0, 1e-9), 1.0, 0.0)[2] >= 2 * 3e-9
    n, mass, _ = contracted(Losses(np.log([0.5, 0.5]), np.array([1 - 5e-14, 2 + 5e-14]), 0.0), 1.0, 0.0)
    assert n.tolist() == [1, 2]
    np.testing.assert_allclose(np.exp(mass), 0.5, rtol=1e-12)


def test_losses_put_on_the_points_below_them() -> None:
    count = 1000
    points, logs = _rounded(_Sorted(np.repeat([3, 7], count // 2), np.full(count, 0.4), np.full(count, 1 / count)))
    assert points.tolist() == [3, 7]
    assert (logs <= math.log(0.5) - 0.9 * count * ROUND).all()
    assert (logs >= math.log(0.5) - 1.2 * count * ROUND).all()


def test_when_the_largest_loss_stays() -> None:
    def kept(rest: list[float], mass: list[float]) -> list[float]:
        return _top_kept(_Sorted(np.array([1, 4, 4, 5]), np.array(rest), np.array(mass))).rest.tolist()

    assert kept([0.3, 0.0, 0.3, 0.0], [0.2, 0.5, 0.1, 0.2]) == [0.3, 0.0, 0.0, 0.0]
    assert kept([0.3, 0.1, 0.3, 0.0], [0.2, 0.5, 0.1, 0.2]) == [0.3, 0.1, 0.3, 0.0]
    assert kept([0.3, 0.0, 0.3, 0.2], [0.2, 0.5, 0.1, 0.2]) == [0.3, 0.0, 0.3, 0.2]
    assert kept([0.3, 0.0, 0.3, 0.0], [0.2, 0.4, 0.2, 0.2]) == [0.3, 0.0, 0.3, 0.0]
    nothing = _Sorted(np.empty(0, np.int64), np.empty(0), np.empty(0))
    assert _top_kept(nothing) is nothing


# -- grids --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 0.37, 1e3])
def test_upwards_keeps_both_probabilities(offset: float) -> None:
    rng = np.random.default_rng(3)
    loss = np.sort(rng.normal(0, 2, 50)) + offset
    given = Losses(np.log(rng.dirichlet(np.ones(50))), loss, 0.0)
    found = upwards(given, 0.25, offset)
    p, q = np.exp(given.log_mass), np.exp(given.log_mass - (loss - offset))
    new_p = np.exp(found.log_mass)
    assert float(p.sum()) <= float(new_p.sum()) <= float(p.sum()) * (1 + 1e-13)
    assert float((new_p * np.exp(-(found.loss - offset))).sum()) == pytest.approx(float(q.sum()), rel=1e-11 + 1e-15 * offset)
    assert found.offset == offset
    np.testing.assert_allclose(found.loss, offset + 0.25 * found.n)
    assert found.guard == 0.0


def test_a_number_of_which_all_gaps_are_multiples() -> None:
    assert _measure([]) == 0.0
    assert _measure([0.6, 0.9, 1.5]) == pytest.approx(0.3)
    assert _measure([1.0, math.pi / 3]) is None
    assert _measure([0.6, 0.9 + 1e-11]) is None
    assert _measure([0.6, 0.9 + 1e-11], 1e-11) == pytest.approx(0.3)
    assert _measure([6e4, 9e4, 15e4]) == pytest.approx(3e4)
    assert _measure([6e-7, 9e-7, 15e-7]) == pytest.approx(3e-7)
    assert _measure([1.0, 1e-6]) is None  # a million points between


def test_losses_that_differ_by_their_errors_are_one() -> None:
    found = _apart(np.array([0.0, 1e-13, 2e-13, 1.0, 1.0 + 1e-12]), 1e-13)
    assert found.tolist() == [pytest.approx(1e-13, rel=1e-9, abs=0), 1.0, 1.0 + 1e-12]
    assert _apart(np.array([0.0, 2.5e-13]), 1e-13).size == 2
    assert _apart(np.array([0.0, 1.9e-13]), 1e-13).size == 1
    assert _apart(np.empty(0), 1.0).size == 0


def test_steps_of_a_lattice() -> None:
    assert LossLattice(0.0, {}).step(0.3) == 0.3
    assert LossLattice(1.0, {}).step(0.3) == 0.25
    assert LossLattice(1.0, {}).step(4.0) == 1.0
    assert LossLattice(1.0, {}, complete=True).step(0.3) == 1.0


def test_few_outcomes_each_with_one_loss() -> None:
    assert all_single(COIN)
    wide = LossCells(np.log([0.5]), np.log([0.5]), np.zeros(1), np.full(1, -1e-9), np.full(1, 1e-9))
    assert not all_single(Leaf(Fixed(wide)))
    for beyond in ((0.5, 0.5), (0.5, 0.0), (0.0, 0.5)):
        assert not all_single(Leaf(Fixed(cells([0.5], [0.5], beyond=beyond))))
    p = (np.arange(65) + 1.0) / 2145
    assert not all_single(Leaf(Fixed(cells(p.tolist(), p[::-1].tolist()))))
    assert all_single(Leaf(Fixed(cells(p[:64].tolist(), p[:64][::-1].tolist()))))
    assert lattice(Leaf(Fixed(wide))).measure == 0.0


@pytest.mark.parametrize("tilt", [-1.0, 0.0, 2.5])
def test_moments_of_a_list(tilt: float) -> None:
    mass, loss = np.array([0.2, 0.5, 0.3]), np.array([-1.0, 0.5, 2.0])
    found = _leaf_moments(np.log(mass), loss, tilt)
    weight = mass * np.exp(tilt * loss)
    assert found.log_mgf == pytest.approx(math.log(weight.sum()), rel=1e-14)
    weight = weight / weight.sum()
    assert found.mean == pytest.approx(weight @ loss, rel=1e-14)
    assert found.variance == pytest.approx(weight @ loss**2 - (weight @ loss) ** 2, rel=1e-12)
    assert _leaf_moments(np.empty(0), np.empty(0), tilt).log_mgf == -math.inf


# -- curves -------------------------------------------------------------------------------------------------------------


def test_the_coins_that_dominate_a_pure_loss() -> None:
    for e in (0.1, 1.0, 30.0):
        curve = Curve.pure(e)
        assert curve.epsilon.lower < e < curve.epsilon.upper
        assert curve.epsilon.upper - curve.epsilon.lower < 1e-14 * max(e, 1)
        truth = math.tanh(e / 2)  # (e^e - 1) / (e^e + 1)
        found = curve.delta(0.0)
        assert found.lower <= truth * (1 + 1e-15)
        assert truth * (1 - 1e-15) <= found.upper
        assert found.upper - found.lower < 1e-12
    assert Curve.pure(0.0).delta(0.0).upper < 1e-14
    assert Curve.pure(1.0).compose(10).epsilon.lower < 10 < Curve.pure(1.0).compose(10).epsilon.upper


def test_the_search_for_an_epsilon_ends_at_the_upper_end_of_the_largest_loss() -> None:
    known = (0.1, math.log(3) * (1 + 1e-12))
    curve = Curve(tuple(Way(None, d, ((COIN, 1),), pure=known) for d in ("D over D'", "D' over D")))
    found = curve.epsilon_at(1e-3)
    truth = math.log((0.75 - 1e-3) / 0.25)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-9


def test_epsilons_that_show_the_whole_curve() -> None:
    bounded = Curve.pure(2.0).grid(5)
    assert bounded[0] == 0.0
    assert bounded[-1] == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(np.diff(bounded), bounded[-1] / 4)
    assert Curve.gaussian(1.0).grid(3)[-1] == pytest.approx(float(Curve.gaussian(1.0).epsilon_at(1e-12)))
    leaking = Curve.discrete([0.9, 0.1], [1.0, 0.0])
    assert leaking.grid(3) == [0.0, 5.0, 10.0]
    assert len(Curve.pure(1.0).grid()) == 33

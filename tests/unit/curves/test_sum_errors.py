"""Error terms of transforms and of means: each is there, and is no larger than it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.curves.cells import ROUND, LossCells
from dpest.curves.grid import Grid
from dpest.curves.transform import Sums, _leaf, _power, _times, _Waves, added, window
from dpest.curves.tree import Fixed, Joined, Leaf, ProductPart
from dpest.curves.way import Way, _beyond, _mean, _mean_error
from tests.unit.curves.finite import COIN


def sums(up: bool, first: int, values: list[float], **more: float) -> Sums:
    given = {"tilt": 0.0, "step": 1.0, "offset": 0.0, "error": 0.0, "log_scale": 0.0, "relative": 0.0, "shift": 0.0} | more
    return Sums(
        up, given["tilt"], given["step"], first, given["offset"], np.array(values), given["error"],
        (more.get("below", 0.0), more.get("above", 0.0)), given["log_scale"], given["relative"], given["shift"], 0.0, 1.0,
    )  # fmt: skip


def test_losses_far_from_zero_are_known_to_their_rounding_only() -> None:
    gap, noise = 2.0**-20, 4 * ROUND * 2e6
    epsilon = 1e6 - gap
    high, low = (sums(up, 10**6, [1.0]).delta(epsilon) for up in (True, False))
    assert -math.expm1(-(gap + 0.95 * noise)) <= high <= -math.expm1(-(gap + 1.05 * noise)) * (1 + 1e-9)
    assert -math.expm1(-(gap - 1.05 * noise)) * (1 - 1e-9) <= low <= -math.expm1(-(gap - 0.95 * noise))


@pytest.mark.parametrize("tilt", [0.0, 0.5])
def test_every_error_moves_its_end_outwards(tilt: float) -> None:
    values = [0.125, 0.25, 0.5, 0.125]
    truth = sum(p * math.exp(-tilt * max(x - 0.5, 0)) * max(-math.expm1(0.5 - x), 0) for x, p in enumerate(values))
    truth *= math.exp(-tilt * 0.5)
    plain = [sums(up, 0, values, tilt=tilt).delta(0.5) for up in (False, True)]
    assert plain[0] == pytest.approx(truth, rel=1e-12)
    assert plain[0] <= truth <= plain[1]
    weight = sum(math.exp(-tilt * (x - 0.5)) * -math.expm1(0.5 - x) for x in (1, 2, 3)) * math.exp(-tilt * 0.5)
    wide = [sums(up, 0, values, tilt=tilt, error=1e-3).delta(0.5) for up in (False, True)]
    assert wide[0] == pytest.approx(truth - 1e-3 * weight, rel=1e-9)
    assert wide[1] == pytest.approx(truth + 1e-3 * weight, rel=1e-9)
    wide = [sums(up, 0, values, tilt=tilt, relative=1e-3).delta(0.5) for up in (False, True)]
    assert wide[0] == pytest.approx(truth * math.exp(-1e-3), rel=1e-9)
    assert wide[1] == pytest.approx(truth * math.exp(1e-3), rel=1e-9)
    above = sums(True, 0, values, tilt=tilt, above=1e-3).delta(0.5)
    assert above == pytest.approx(truth + 1e-3 * math.exp(-tilt * 4), rel=1e-9)
    lost = sums(False, 0, values, tilt=tilt, above=1e-3, below=2e-3).delta(0.5)
    most = max(math.exp(-tilt * (x - 0.5)) * -math.expm1(0.5 - x) for x in (1, 2, 3)) * math.exp(-tilt * 0.5)
    assert lost == pytest.approx(truth - 3e-3 * most, rel=1e-9)
    assert sums(False, 0, values, tilt=tilt, shift=0.25).delta(0.25) == pytest.approx(plain[0], rel=1e-9)


def test_the_relative_error_counts_parts_and_points() -> None:
    tree = ProductPart(((COIN, 5),))
    found = added(tree, True, window(tree, True, 0.0), 2 * math.log(3), {id(COIN): -math.log(3)}, 1024)
    assert found.relative == pytest.approx(1e-14 + 4 * ROUND * (5 + 1024), rel=1e-9, abs=0)


@pytest.mark.parametrize("up", [False, True])
def test_tilted_probabilities_are_rounded_outwards(up: bool) -> None:
    grid = Grid(np.array([3]), np.array([-700.0]), np.array([3.0]), 0.0, 0.0)
    found = _leaf(grid, up, 0.0, 16)
    off = float(found.z[0].real) - 1
    assert (1350 if up else -1450) * ROUND <= off <= (1450 if up else -1350) * ROUND
    assert found.log_scale == pytest.approx(-700)
    assert found.error[0] == pytest.approx(8 * ROUND * 4, rel=1e-6, abs=0)
    tilted = _leaf(grid, True, 100.0, 16)
    assert float(tilted.z[0].real) - 1 >= (8 + 600 + 700 + 400 - 60) * ROUND


def test_powers_and_products_carry_errors_along() -> None:
    def waves(z: float, error: float) -> _Waves:
        return _Waves(np.array([z + 0j]), np.array([error]), 0.5, 0.25)

    exact = _power(waves(1.0, 0.0), 10)
    assert 39 * ROUND <= exact.error[0] <= 43 * ROUND
    assert (exact.log_scale, exact.offset) == (5.0, 2.5)
    rough = _power(waves(0.5, 1e-3), 3)
    assert rough.z[0] == 0.125
    assert 0.501**3 - 0.125 <= rough.error[0] <= 3 * 1e-3 * 0.501**2 * 1.001
    both = _times(waves(0.5, 1e-3), waves(2.0, 1e-2))
    assert both.z[0] == 1.0
    assert 0.501 * 2.01 - 1 <= both.error[0] <= (0.501 * 2.01 - 1) * (1 + 1e-6)
    assert _times(waves(0.5, 0.0), waves(2.0, 0.0)).error[0] >= 4 * ROUND
    assert both.log_scale == 1.0


def test_the_mean_of_gaussian_noise_has_both_ends() -> None:
    low, high = Way(None, "D over D'", (), mu_squared=1.0, mu_error=0.0).mean()
    assert 0.5 * (1 - 10 * ROUND) <= low <= 0.5 * (1 - 6 * ROUND)
    assert 0.5 * (1 + 6 * ROUND) <= high <= 0.5 * (1 + 10 * ROUND)
    low, high = Way(None, "D over D'", (), mu_squared=1.0, mu_error=1e-3).mean()
    assert (low, high) == (pytest.approx(0.5 * (1 - 2e-3)), pytest.approx(0.5 * (1 + 2e-3)))


def test_the_moment_of_gaussian_noise_has_both_ends() -> None:
    low, high = Way(None, "D over D'", (), mu_squared=1.0, mu_error=0.0).log_moment(1.0)
    assert 1 - 30 * ROUND <= low <= 1 - 20 * ROUND
    assert 1 + 20 * ROUND <= high <= 1 + 30 * ROUND


def part(beyond: tuple[float, float] = (0.0, 0.0), bounds: tuple[float, float] = (-math.inf, math.inf)) -> Leaf:
    log_p, log_q = np.log([0.5, 0.25, 0.25]), np.array([math.log(0.25), math.log(0.75), -np.inf])
    ratio = np.array([math.log(2), -math.log(3), np.inf])
    keep = slice(0, 2)
    return Leaf(Fixed(LossCells(log_p[keep], log_q[keep], np.full(2, 1e-3), ratio[keep], ratio[keep], beyond, bounds)))


def test_how_far_errors_move_a_mean() -> None:
    plain = 4e-3 * (0.5 * (1 + math.log(2)) + 0.25 * (1 + math.log(3)))
    assert _mean_error(part()) == pytest.approx(plain, rel=1e-9)
    assert _mean_error(part((0.1, 0.0), (-3.0, 3.0))) == pytest.approx(plain + 2 * 0.1 * 4, rel=1e-9)
    assert _mean(part((0.1, 0.1)))[1] == math.inf
    assert math.isfinite(_mean(part())[1])
    low, high = _mean(part())
    assert low <= 0.5 * math.log(2) - 0.25 * math.log(3) <= high
    assert high - low < 4 * plain


def test_what_nothing_bounds() -> None:
    source = part().source
    assert Joined((source, source)).cells.loose == (0.0, 0.0)
    assert _beyond(source, 1.0, True, False) == math.inf
    assert _beyond(source, 1.0, False, False) == -math.inf

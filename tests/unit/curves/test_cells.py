"""Cells of pairs of laws, from boxes, lines and single outcomes, against closed forms."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

from dpest.curves.boxes import Boxes, _box, _halved
from dpest.curves.cells import LossCells, least, product, single
from dpest.curves.direct import delta_above, delta_below
from dpest.curves.pieces import DensityPiece

Floats = npt.NDArray[np.float64]
A, B = 0.7, -0.4  # p is proportional to e^(A x + B y) on the unit square, q is uniform


def planar(x: Floats) -> tuple[Floats, Floats, Floats]:
    norm = math.log(math.expm1(A) / A) + math.log(math.expm1(B) / B)
    p = A * x[:, 0] + B * x[:, 1] - norm
    return p, np.zeros(len(x)), 1e-15 * (1 + np.abs(p))


def box_mass(low: Floats, high: Floats) -> mpmath.mpf:
    def part(rate: float, a: float, b: float) -> mpmath.mpf:
        return (mpmath.exp(mpmath.mpf(rate) * b) - mpmath.exp(mpmath.mpf(rate) * a)) / mpmath.expm1(rate)

    with mpmath.workdps(30):
        return part(A, low[0], high[0]) * part(B, low[1], high[1])


def test_masses_and_ranges_of_boxes() -> None:
    low, high = np.array([[0.0, 0.0], [0.25, 0.5]]), np.array([[1.0, 1.0], [0.5, 0.625]])
    found = _box(planar, low, high)
    for i in range(2):
        mass, area = box_mass(low[i], high[i]), float(np.prod(high[i] - low[i]))
        assert abs(found.log_p[i] - mpmath.log(mass)) <= found.slack[i] <= 1e-9
        assert abs(found.log_q[i] - math.log(area)) <= found.slack[i]
        corners = planar(np.array(list(itertools.product(*zip(low[i], high[i], strict=True)))))[0]
        assert found.low[i] <= corners.min()
        assert found.high[i] >= corners.max()
        assert found.high[i] - found.low[i] <= 1.001 * (corners.max() - corners.min()) + 1e-10
    assert found.axis.tolist() == [0, 0]  # along which the ratio changes most
    pieces = _halved(found)
    assert pieces[0].tolist() == [[0.0, 0.0], [0.25, 0.5], [0.5, 0.0], [0.375, 0.5]]
    assert pieces[1].tolist() == [[0.5, 1.0], [0.375, 0.625], [1.0, 1.0], [0.5, 0.625]]


def test_boxes_that_one_law_cannot_reach() -> None:
    def steps(x: Floats) -> tuple[Floats, Floats, Floats]:
        p = np.where(x[:, 0] < 1, 0.0, -np.inf)
        q = np.where(x[:, 1] < 1, 0.0, -np.inf)
        return p, q, np.zeros(len(x))

    low = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.0], [0.0, 0.5]])
    found = _box(steps, low, low + 1)
    assert found.low.tolist()[1:4] == [math.inf, -math.inf, -math.inf]
    assert found.high.tolist()[1:4] == [math.inf, -math.inf, math.inf]
    assert (found.low[4], found.high[4]) == (-math.inf, math.inf)
    assert abs(found.low[0]) + abs(found.high[0]) < 1e-12


def plane_delta(epsilon: float) -> float:
    """The integral over y of the closed form over x of (p - e^eps)+."""
    norm = math.log(math.expm1(A) / A) + math.log(math.expm1(B) / B)

    def inner(y: mpmath.mpf) -> mpmath.mpf:
        start = min(max((epsilon + norm - B * y) / A, mpmath.mpf(0)), mpmath.mpf(1))
        return mpmath.exp(B * y - norm) * (mpmath.exp(A) - mpmath.exp(A * start)) / A - mpmath.exp(epsilon) * (1 - start)

    kinks = sorted({0.0, 1.0, *(y for y in ((epsilon + norm) / B, (epsilon + norm - A) / B) if 0 < y < 1)})
    return float(mpmath.quad(inner, kinks))


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_delta_of_a_plane(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpest.curves.boxes._MOST_BOXES", {2: 600, 3: 600})
    cells = Boxes(planar, (np.array([0.0, 0.3, 1.0]), np.array([0.0, 1.0]))).at(epsilon)
    low, high = delta_below(cells.lower, epsilon), delta_above(cells.upper, epsilon)
    truth = plane_delta(epsilon)
    assert low <= truth <= high
    assert high - low <= 0.01 * truth
    assert np.exp(cells.log_p).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.exp(cells.log_q).sum() == pytest.approx(1.0, abs=1e-9)


# -- cells -------------------------------------------------------------------------------------------------------------


def test_cells_with_a_further_event() -> None:
    zero = np.zeros(2)
    cells = LossCells(
        np.log([0.4, 0.5]), np.log([0.3, 0.6]), zero, np.array([0.1, -np.inf]), np.array([0.4, 0.2]), (0.1, 0.1), (-1.0, 2.0)
    )
    found = cells.weighted(math.log(0.5), math.log(0.25), 0.01)
    np.testing.assert_allclose(np.exp(found.log_p), [0.2, 0.25])
    np.testing.assert_allclose(np.exp(found.log_q), [0.075, 0.15])
    assert (found.slack >= 0.01).all()
    assert (found.slack <= 0.01 + 1e-14).all()
    assert found.beyond[0] >= 0.05 * math.exp(0.01)
    assert found.beyond[1] >= 0.025 * math.exp(0.01)
    assert found.beyond[0] <= 0.05 * 1.03
    assert found.beyond[1] <= 0.025 * 1.03
    shift = math.log(2)
    assert found.bounds == (pytest.approx(-1.0 + shift - 0.01), pytest.approx(2.0 + shift + 0.01))
    assert found.low[0] <= 0.1 + shift - 0.01
    assert found.low[0] >= 0.1 + shift - 0.03
    assert found.low[1] == -math.inf
    assert found.high[0] >= 0.4 + shift + 0.01
    only = cells.weighted(math.log(0.5), -math.inf)
    assert only.low.tolist() == [math.inf, math.inf]
    assert only.bounds == (-math.inf, math.inf)
    assert cells.weighted(0.0, 0.0) is cells


def test_losses_between_which_a_cell_lies() -> None:
    """Half of p at ratio 3 and half at 1/3 in one cell: spread to the ends is the truth, lumped says nothing."""
    cells = LossCells(np.array([0.0]), np.array([0.0]), np.zeros(1), np.array([-math.log(3)]), np.array([math.log(3)]))
    for epsilon in (0.0, 0.5, 1.0):
        truth = max(0.0, 0.75 - math.exp(epsilon) * 0.25)
        assert delta_above(cells.upper, epsilon) == pytest.approx(truth, rel=1e-12)
        assert delta_above(cells.upper, epsilon) >= truth
        assert delta_below(cells.lower, epsilon) == 0.0
    assert cells.most == pytest.approx(math.log(3))
    assert least(cells) == pytest.approx(-math.log(3))


def test_errors_of_masses_widen_both_lists() -> None:
    cells = LossCells(np.log([0.5]), np.log([0.25]), np.array([0.01]), np.log([2.0]) - 0.02, np.log([2.0]) + 0.02)
    assert float(cells.upper.loss.max()) >= math.log(2) + 0.02
    assert float(cells.lower.loss.max()) <= math.log(2) - 0.02
    assert cells.upper.mass >= 0.5 * math.exp(0.01)
    assert cells.lower.mass <= 0.5 * math.exp(-0.01)
    assert cells.lower.doubt == pytest.approx(0.02, rel=1e-6)


def test_what_no_cell_holds() -> None:
    one = np.zeros(1)
    outside = LossCells(np.log([0.9]), np.log([0.95]), one, one - 0.1, one, (0.1, 0.05), (-3.0, 2.0))
    assert delta_above(outside.upper, 0.0) >= 0.1 * -math.expm1(-2.0)
    assert delta_above(outside.upper, 0.0) <= 0.1 * -math.expm1(-2.0) + 1e-9
    assert delta_below(outside.lower, 0.0) == 0.0
    assert outside.most == 2.0
    assert least(outside) == -3.0
    anywhere = LossCells(np.log([0.9]), np.log([0.95]), one, one - 0.1, one, (0.1, 0.05))
    assert anywhere.upper.infinite >= 0.1
    loose = LossCells(
        np.log([0.5, 0.5]), np.log([0.25, 0.75]), np.zeros(2), np.log([2.0, 2 / 3]), np.log([2.0, 2 / 3]), loose=(1e-3, 1e-2)
    )
    assert loose.upper.infinite >= 1e-3
    assert loose.most == math.inf
    assert delta_below(loose.lower, 0.0) <= 0.5 - 0.26
    assert delta_below(loose.lower, 0.0) >= 0.5 - 0.26 - 1e-9


def test_merging_keeps_masses_and_leaves_out_impossible_outcomes() -> None:
    found = single(np.log([0.2, 0.3, 0.5, 1e-300]), np.array([math.log(0.1), math.log(0.15), -np.inf, math.log(0.75)]))
    assert found.size == 3
    with np.errstate(divide="ignore"):
        nothing = single(np.log([0.0, 1.0]), np.log([0.0, 1.0]))
    assert nothing.size == 1
    only_q = single(np.array([-np.inf, 0.0]), np.log([0.5, 0.5]))
    assert only_q.losses.tolist() == [-math.inf, pytest.approx(math.log(2))]
    assert float(only_q.upper.mass) == pytest.approx(1.0)
    both = product(only_q, found)
    assert np.exp(both.log_p).sum() == pytest.approx(1.0)
    assert np.exp(both.log_q).sum() == pytest.approx(1.0)


# -- densities on a line -----------------------------------------------------------------------------------------------


def slanted(x: Floats) -> tuple[Floats, Floats, Floats]:
    """p = A e^(A x) / (e^A - 1) and q = 1 on [0, 1]."""
    p = A * x - math.log(math.expm1(A) / A)
    return p, np.zeros_like(x), 1e-15 * (1 + np.abs(p))


@pytest.mark.parametrize("epsilon", [-0.2, 0.0, 0.1, 0.3])
def test_delta_of_a_slanted_density(epsilon: float) -> None:
    cells = DensityPiece(slanted, np.array([0.0, 0.4, 1.0])).at(epsilon)
    with mpmath.workdps(30):
        a = mpmath.mpf(A)
        norm = mpmath.expm1(a) / a
        start = (mpmath.mpf(epsilon) + mpmath.log(norm)) / a
        truth = (mpmath.exp(a) - mpmath.exp(a * start)) / (a * norm) - mpmath.exp(epsilon) * (1 - start)
        assert delta_below(cells.lower, epsilon) <= truth <= delta_above(cells.upper, epsilon)
    assert delta_above(cells.upper, epsilon) - delta_below(cells.lower, epsilon) <= 1e-11


def test_cells_of_a_slanted_density_are_narrow() -> None:
    cells = DensityPiece(slanted, np.array([0.0, 1.0])).cells
    assert np.exp(cells.log_p).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.exp(cells.log_q).sum() == pytest.approx(1.0, abs=1e-12)
    loss = np.sort(np.concatenate([cells.low, cells.high]))
    norm = math.log(math.expm1(A) / A)
    assert loss[0] <= -norm
    assert loss[-1] >= A - norm
    assert loss[0] >= -norm - 1e-9
    assert loss[-1] <= A - norm + 1e-9
    weight = np.exp(cells.log_p)
    mean = float(weight @ cells.losses)
    variance = float(weight @ (cells.losses - mean) ** 2)
    assert float(weight @ (cells.high - cells.low) ** 2) / 4 <= 1e-5 * variance


def test_a_density_that_ends_inside() -> None:
    """p is uniform on [0, 1], q on [0, 2]: a panel that straddles 1 has no finite range."""

    def steps(x: Floats) -> tuple[Floats, Floats, Floats]:
        return np.where(x < 1, 0.0, -np.inf), np.full_like(x, -math.log(2)), np.zeros_like(x)

    cells = DensityPiece(steps, np.array([0.0, 1.0, 2.0])).at(0.3)
    truth = 1 - math.exp(0.3) / 2
    assert delta_below(cells.lower, 0.3) <= truth <= delta_above(cells.upper, 0.3)
    assert delta_above(cells.upper, 0.3) - delta_below(cells.lower, 0.3) < 1e-9
    back = cells.swapped()
    assert back.upper.infinite >= 0.5
    assert back.lower.infinite <= 0.5
    assert back.upper.infinite - back.lower.infinite < 1e-9

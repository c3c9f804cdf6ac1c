"""Two densities on a line, panel by panel, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from dpest.curves.gaussian import gaussian_piece
from dpest.curves.pieces import (
    _NODES,
    DensityPiece,
    _both_sides,
    _cut_at_crossing,
    _divided,
    _importance,
    _measured,
    _Panels,
    _range,
    _root,
    _settled,
    _straddle,
)
from dpest.curves.tails import NormalTails

Floats = npt.NDArray[np.float64]
Densities = Callable[[Floats], tuple[Floats, Floats, Floats]]


def exponentials(p: float, q: float, error: float = 0.0) -> Densities:
    return lambda x: (-p * x, -q * x, np.full(x.shape, error))


def integral(rate: float, low: float, high: float) -> float:
    return math.log((math.exp(-rate * low) - math.exp(-rate * high)) / rate)


def test_masses_and_ranges_of_a_panel() -> None:
    found = _measured(exponentials(1.0, 3.0), np.array([0.0, 2.0]), np.array([0.5, 2.25]))
    for k, (low, high) in enumerate(((0.0, 0.5), (2.0, 2.25))):
        assert abs(found.log_p[k] - integral(1.0, low, high)) <= found.slack[k] < 1e-7
        assert abs(found.log_q[k] - integral(3.0, low, high)) <= found.slack[k]
        assert found.low[k] <= 2 * low
        assert found.high[k] >= 2 * high
        assert found.low[k] == pytest.approx(2 * low, abs=1e-12)
        assert found.high[k] == pytest.approx(2 * high, abs=1e-12)
    assert found.fuzzy.all()  # next to it, but not yet at its rounding
    assert not _measured(exponentials(1.0, 3.0), np.array([0.0]), np.array([0.05])).fuzzy.any()


@pytest.mark.parametrize("error", [1e-6, 1e-2])
def test_errors_of_the_densities(error: float) -> None:
    found = _measured(exponentials(1.0, 3.0, error), np.array([0.0]), np.array([0.5]))
    assert error <= found.slack[0] <= 1.01 * error
    assert found.low[0] <= -2 * error
    assert found.high[0] >= 1 + 2 * error
    assert found.high[0] - found.low[0] <= 1 + 200 * error


def test_a_ratio_that_turns_inside() -> None:
    found = _measured(lambda x: (x**2, 0 * x, 0 * x), np.array([-1.0, 0.5]), np.array([1.0, 1.0]))
    assert found.low[0] <= 0.0
    assert found.high[0] >= 1.0
    assert found.high[0] - found.low[0] < 1.5
    assert found.low[1] == pytest.approx(0.25, abs=1e-12)
    assert found.high[1] == pytest.approx(1.0, abs=1e-12)


def vanishing(left: float, right: float) -> Densities:
    return lambda x: (np.where(x < left, 0.0, -np.inf), np.where(x < right, 0.0, -np.inf), 0 * x)


@pytest.mark.parametrize(
    ("left", "right", "ends"),
    [(2.0, 2.0, (0.0, 0.0)), (2.0, -1.0, (np.inf, np.inf)), (-1.0, 2.0, (-np.inf, -np.inf)), (0.5, 2.0, (-np.inf, np.inf))],
)
def test_where_a_density_vanishes(left: float, right: float, ends: tuple[float, float]) -> None:
    found = _measured(vanishing(left, right), np.array([0.0]), np.array([1.0]))
    assert found.low[0] == pytest.approx(ends[0], abs=1e-12)
    assert found.high[0] == pytest.approx(ends[1], abs=1e-12)


def kinked(x: Floats) -> tuple[Floats, Floats, Floats]:
    return -np.abs(x - 0.3) * 4, -x, 0 * x


def test_panels_are_cut_until_the_rule_has_settled() -> None:
    found = _settled(kinked, np.array([0.0, 1.0]))
    truth = (1 - math.exp(-1.2)) / 4 + (1 - math.exp(-2.8)) / 4
    total = np.exp(found.log_p)
    assert abs(total.sum() - truth) <= total @ found.slack + 1e-15
    assert abs(total.sum() - truth) < 1e-12
    assert found.low.size > 20
    assert np.diff(np.sort(found.low_end)).min() < 1e-3
    assert math.isclose(float((found.high_end - found.low_end).sum()), 1.0, rel_tol=1e-12)
    smooth = _settled(exponentials(1.0, 1.25), np.array([0.0, 1.0]))
    assert smooth.low.size <= 4
    wide = _settled(exponentials(1.0, 4.0), np.array([0.0, 1.0]))
    assert (wide.high - wide.low).max() <= 0.5


def panels(**given: list[float]) -> _Panels:
    count = len(next(iter(given.values())))
    base = {name: np.zeros(count) for name in ("low_end", "high_end", "log_p", "log_q", "slack", "low", "high")}
    return _Panels(**{**base, **{k: np.array(v, float) for k, v in given.items()}}, fuzzy=np.zeros(count, bool))


def test_parts_of_panels() -> None:
    low, high = _divided(panels(low_end=[0.0, 4.0], high_end=[1.0, 8.0]), 4)
    assert low.tolist() == [0.0, 0.25, 0.5, 0.75, 4.0, 5.0, 6.0, 7.0]
    assert high.tolist() == [0.25, 0.5, 0.75, 1.0, 5.0, 6.0, 7.0, 8.0]


def test_what_lies_surely_on_either_side() -> None:
    p = panels(
        log_p=np.log([0.5, 0.2, 0.3]).tolist(),
        log_q=np.log([0.1, 0.3, 0.6]).tolist(),
        low=[1.0, -1.0, -1.0],
        high=[2.0, 0.9, -0.5],
    )
    above, below = (np.exp(x) for x in _both_sides(p, 0.5))
    e = math.exp(0.5)
    np.testing.assert_allclose(above, [0.5 - 0.1 * e, 0.0, 0.0])
    np.testing.assert_allclose(below, [0.0, 0.0, 0.6 * e - 0.3])
    np.testing.assert_allclose(np.exp(_both_sides(p, 1.0)[0])[0], 0.5 - 0.1 * math.e)
    np.testing.assert_allclose(np.exp(_both_sides(p, -0.5)[1])[2], 0.6 * math.exp(-0.5) - 0.3)


def test_what_depends_on_where_inside_a_panel_its_masses_lie() -> None:
    p = panels(
        log_p=np.log([0.5, 0.2, 0.3]).tolist(),
        log_q=np.log([0.1, 0.3, 0.6]).tolist(),
        low=[0.0, 0.5, -9.0],
        high=[2.0, 0.9, 9.0],
    )
    found = np.exp(_straddle(p, 0.5))
    np.testing.assert_allclose(found, [0.5 * 0.5, 0.0, 0.6 * math.exp(0.5)])
    np.testing.assert_allclose(np.exp(_straddle(p, 1.75))[0], 0.1 * math.exp(1.75) * 0.25)
    assert np.exp(_straddle(p, 0.9)).tolist()[1] == 0.0


@pytest.mark.parametrize("epsilon", [-0.4, 0.0, 0.3])
def test_where_the_ratio_crosses(epsilon: float) -> None:
    densities = gaussian_piece(1.0).densities
    a, b = np.array([-1.0, 5.0]), np.array([2.0, 6.0])
    found = _root(densities, a, b, epsilon)
    assert found[0] == pytest.approx(epsilon + 0.5, abs=1e-12)
    assert found[1] == 5.5  # no crossing: the middle
    rising = _root(lambda x: (x**3, 0 * x, 0 * x), np.array([-1.0]), np.array([3.0]), 8 + epsilon)
    assert rising[0] == pytest.approx((8 + epsilon) ** (1 / 3), abs=1e-9)


def test_a_panel_cut_at_its_crossing() -> None:
    piece = gaussian_piece(1.0)
    given = _measured(piece.densities, np.array([0.5]), np.array([1.5]))
    cut = _cut_at_crossing(piece.densities, given, 0.25)
    assert cut.low.size == 3
    order = np.argsort(cut.low_end)
    assert cut.low_end[order].tolist()[0] == 0.5
    assert cut.high_end[order].tolist()[2] == 1.5
    assert cut.low_end[order][1] < 0.75 < cut.high_end[order][1]
    assert (cut.high_end - cut.low_end)[order][1] < 3e-9
    assert np.exp(cut.log_p).sum() == pytest.approx(math.exp(given.log_p[0]), rel=1e-12)
    assert cut.high[order][0] < 0.25 < cut.low[order][2]


def test_importance_is_the_largest_share_under_any_tilt() -> None:
    p = panels(log_p=np.log([0.7, 0.3]).tolist(), log_q=np.log([0.4, 0.6]).tolist())
    share, deviation = _importance(p)
    loss = np.log([0.7 / 0.4, 0.3 / 0.6])
    each = [math.sqrt(np.array(w) @ (loss - np.array(w) @ loss) ** 2) for w in ([0.7, 0.3], [0.4, 0.6])]
    assert deviation == pytest.approx(min(each))
    assert share[0] == pytest.approx(0.7 * (7 / 4) ** 16 / (0.7 * (7 / 4) ** 16 + 0.3 * 0.5**16), rel=1e-9)
    assert share[1] == pytest.approx(0.6 * 2.0**16 / (0.6 * 2.0**16 + 0.4 * (4 / 7) ** 16), rel=1e-9)
    nothing = panels(log_p=[-np.inf], log_q=[0.0])
    assert _importance(nothing)[0].tolist() == [0.0]
    assert _importance(nothing)[1] == 1.0


def test_panels_that_have_not_settled_lie_beyond() -> None:
    piece = DensityPiece(kinked, np.array([0.0, 1.0]), (1e-3, 2e-3), (-4.0, 5.0))
    given = panels(log_p=[-1.0, -2.0], log_q=[-3.0, -4.0], slack=[0.05, 0.2], low=[0.0, -np.inf], high=[1.0, 2.0])
    cells = piece._as_cells(given)
    assert cells.size == 1
    assert cells.slack[0] == pytest.approx(0.056)
    assert cells.beyond == (pytest.approx(1e-3 + 1e4 * math.exp(-2)), pytest.approx(2e-3 + 1e4 * math.exp(-4)))
    assert cells.bounds == (-math.inf, 5.0)
    given = panels(log_p=[-1.0, -2.0], log_q=[-3.0, -4.0], slack=[0.05, 0.2], low=[0.0, 0.0], high=[1.0, np.inf])
    assert piece._as_cells(given).bounds == (-4.0, math.inf)


@pytest.mark.parametrize("mu", [0.3, 2.0])
@pytest.mark.parametrize("order", [0.5, 3.0, 40.0])
@pytest.mark.parametrize("swapped", [False, True])
def test_moments_on_the_whole_line(mu: float, order: float, swapped: bool) -> None:
    truth = 0.5 * order * (order + 1) * mu * mu
    found = gaussian_piece(mu).log_moment(order, swapped)
    assert found is not None
    assert found[0] <= truth <= found[1]
    assert found[1] - found[0] < 1e-10 + 1e-12 * truth


def moved(piece: DensityPiece, by: float) -> DensityPiece:
    """The same two densities at another place of the line."""
    assert piece.tails is not None
    tails = tuple(replace(t, low=t.low + by, high=t.high + by) for t in piece.tails)
    return replace(piece, densities=lambda x: piece.densities(x - by), edges=piece.edges + by, tails=tails)


@pytest.mark.parametrize("by", [-4096.0, -60.0, 60.0, 4096.0])
@pytest.mark.parametrize("swapped", [False, True])
def test_moments_beyond_the_cells_do_not_depend_on_where_the_laws_lie(by: float, swapped: bool) -> None:
    """ln of the whole moment is order (order + 1) mu^2 / 2, and at order 40 next to all of it lies beyond the cells."""
    found = moved(gaussian_piece(2.0), by).log_moment_beyond(40.0, swapped)
    assert found[0] <= 0.5 * 40 * 41 * 4 <= found[1]
    assert found[1] - found[0] < 0.5


def test_moments_that_are_not_declared_or_infinite() -> None:
    piece = gaussian_piece(1.0)
    assert DensityPiece(piece.densities, piece.edges).log_moment(2.0, False) is None
    wider = NormalTails(0.0, 0.0, 2.0, 2.0), NormalTails(0.0, 0.0, 1.0, 1.0)
    assert DensityPiece(piece.densities, piece.edges, tails=wider).log_moment(2.0, False) is None
    assert DensityPiece(piece.densities, piece.edges, tails=piece.tails).log_moment(1e7, False) is None


def test_moments_beyond_the_cells() -> None:
    """At a high order next to everything lies beyond the cells, at a low one next to nothing."""
    mu = 2.0
    piece = gaussian_piece(mu)
    for swapped in (False, True):
        order = 40.0
        truth = 0.5 * order * (order + 1) * mu * mu
        low, high = piece.log_moment_beyond(order, swapped)
        assert low <= truth <= high
        assert high - low < 0.5
        low, high = piece.log_moment_beyond(1.0, swapped)
        assert low <= high < -100
    undeclared = DensityPiece(piece.densities, piece.edges)
    undeclared.__dict__["_narrow"] = piece._narrow
    assert undeclared.log_moment_beyond(1.0, False) == (-math.inf, math.inf)
    hole = DensityPiece(piece.densities, piece.edges, tails=piece.tails)
    rough = piece._narrow.slack.copy()
    rough[rough.size // 2] = 1.0
    hole.__dict__["_narrow"] = replace(piece._narrow, slack=rough)
    assert hole.log_moment_beyond(1.0, False) == (-math.inf, math.inf)


@pytest.mark.parametrize("seed", range(5))
def test_the_range_of_a_panel_holds_all_losses_on_it(seed: int) -> None:
    """Smooth log densities, steep and flat, rising and turning (oracle: 2,000 places on each panel)."""
    rng = np.random.default_rng(seed)
    count = 40
    sizes = 10.0 ** -np.linspace(0, 5, 8) * rng.choice([0.0, 0.1, 1.0, 5.0], size=(2, count, 8))
    factors = rng.normal(size=sizes.shape) * sizes
    log_p, log_q = (np.polynomial.legendre.legval(_NODES, f.T) for f in factors)
    low, high, _ = _range(log_p, log_q, np.zeros(log_p.shape))
    places = np.linspace(-1, 1, 2001)
    p, q = (np.polynomial.legendre.legval(places, f.T) for f in factors)
    losses = p - q
    assert (low <= losses.min(axis=1) + 1e-14).all()
    assert (losses.max(axis=1) <= high + 1e-14).all()
    assert (high - low <= 2.5 * np.ptp(losses, axis=1) + np.abs(factors[0] - factors[1])[:, 1:].sum(axis=1) + 1e-10).all()

"""Boxes of two and three coordinates: masses and ranges against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import dpest.curves.boxes as boxes
from dpest.curves.boxes import Boxes, _box, _halved, _KnownBoxes, _restless, _shares, _straddling
from dpest.curves.direct import delta_above, delta_below
from tests.oracles.compositions import gaussian

Floats = npt.NDArray[np.float64]
Densities = Callable[[Floats], tuple[Floats, Floats, Floats]]


def exponentials(p: list[float], q: list[float], error: float = 0.0) -> Densities:
    """Densities e^(-p.x) and e^(-q.x)."""

    def densities(x: Floats) -> tuple[Floats, Floats, Floats]:
        return -x @ np.array(p), -x @ np.array(q), np.full(len(x), error)

    return densities


def integral(rates: list[float], low: list[float], high: list[float]) -> float:
    """ln of the integral of e^(-rates.x) over a box."""
    each = zip(rates, low, high, strict=True)
    return sum(math.log((math.exp(-r * a) - math.exp(-r * b)) / r) for r, a, b in each)


@pytest.mark.parametrize("d", [2, 3])
def test_masses_and_ranges_of_a_box(d: int) -> None:
    p, q = [1.0, 2.0, 0.5][:d], [2.0, -1.0, 3.0][:d]
    low, high = [0.0, 0.25, -1.0][:d], [1.0, 0.75, -0.5][:d]
    found = _box(exponentials(p, q), np.array([low]), np.array([high]))
    for logs, rates in ((found.log_p, p), (found.log_q, q)):
        assert abs(float(logs[0]) - integral(rates, low, high)) <= found.slack[0] < (1e-5 if d == 2 else 0.05)
    change = [b - a for a, b in zip(p, q, strict=True)]
    ends = [sorted((c * x, c * y)) for c, x, y in zip(change, low, high, strict=True)]
    least, most = sum(e[0] for e in ends), sum(e[1] for e in ends)
    assert found.low[0] <= least < least + 1e-12
    assert most <= found.high[0]
    assert found.low[0] == pytest.approx(least, abs=1e-11)
    assert found.high[0] == pytest.approx(most, abs=1e-11)


def test_errors_of_the_densities_are_in_masses_and_ranges() -> None:
    found = _box(exponentials([1.0, 2.0], [2.0, -1.0], 1e-3), np.zeros((1, 2)), np.array([[1.0, 0.5]]))
    assert 1e-3 <= found.slack[0] <= 1.01e-3
    assert -1.5 - 2.01e-3 <= found.low[0] <= -1.5 - 1.99e-3
    assert 1 + 1.99e-3 <= found.high[0] <= 1 + 2.01e-3


def test_the_axis_along_which_a_box_has_settled_least() -> None:
    for axis in (0, 1):
        rates = [0.0, 0.0]
        rates[axis] = 0.5
        found = _box(exponentials(rates, [0.0, 0.0]), np.zeros((1, 2)), np.ones((1, 2)))
        assert found.axis[0] == axis
        assert not found.fuzzy[0]


def kinked(x: Floats) -> tuple[Floats, Floats, Floats]:
    p = -20 * np.abs(x[:, 0] - 0.3) - x[:, 1]
    return p, -x[:, 0], np.zeros(len(x))


def test_a_kink_is_noticed_and_covered() -> None:
    found = _box(kinked, np.zeros((1, 2)), np.ones((1, 2)))
    truth = math.log(((1 - math.exp(-6)) + (1 - math.exp(-14))) / 20 * (1 - math.exp(-1)))
    assert found.fuzzy[0]
    assert abs(float(found.log_p[0]) - truth) <= found.slack[0]
    assert found.high[0] >= 0.3 - 0.0
    assert found.low[0] <= 1 - 14
    assert found.axis[0] == 0


def vanishing(left: float, right: float) -> Densities:
    """p lives on x < left, q on x < right."""

    def densities(x: Floats) -> tuple[Floats, Floats, Floats]:
        p, q = (np.where(x[:, 0] < end, 0.0, -np.inf) for end in (left, right))
        return p, q, np.zeros(len(x))

    return densities


@pytest.mark.parametrize(
    ("left", "right", "ends"),
    [
        (2.0, 2.0, (0.0, 0.0)),
        (2.0, -1.0, (np.inf, np.inf)),
        (-1.0, 2.0, (-np.inf, -np.inf)),
        (0.5, 2.0, (-np.inf, np.inf)),
        (2.0, 0.5, (-np.inf, np.inf)),
    ],
)
def test_where_a_density_vanishes(left: float, right: float, ends: tuple[float, float]) -> None:
    found = _box(vanishing(left, right), np.zeros((1, 2)), np.ones((1, 2)))
    assert float(found.low[0]) == pytest.approx(ends[0], abs=1e-14)
    assert float(found.high[0]) == pytest.approx(ends[1], abs=1e-14)
    assert (found.log_p[0] == -np.inf) == (left < 0)
    assert (found.log_q[0] == -np.inf) == (right < 0)


def test_many_boxes_are_measured_in_parts() -> None:
    whole = Boxes(exponentials([0.0, 0.0], [0.0, 0.0]), (np.linspace(0, 1, 41), np.linspace(0, 1, 33)))
    found = whole._start()
    assert found.log_p.size == 40 * 32
    assert float(np.exp(found.log_p).sum()) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(np.exp(found.log_q), 1 / (40 * 32), rtol=1e-12)


def known(**given: list[float]) -> _KnownBoxes:
    """Boxes with what matters here; the rest is zero."""
    count = len(next(iter(given.values())))
    base = {name: np.zeros(count) for name in ("log_p", "log_q", "slack", "low", "high")}
    base |= {k: np.array(v, float) for k, v in given.items() if k in base}
    axis = np.array(given.get("axis", [0] * count), dtype=np.intp)
    low_end = np.arange(2.0 * count).reshape(count, 2)
    return _KnownBoxes(low_end, low_end + 2, **base, axis=axis, fuzzy=np.array(given.get("fuzzy", [0] * count), bool))


def test_halves() -> None:
    low, high = _halved(known(axis=[0, 1]))
    assert low.tolist() == [[0, 1], [2, 3], [1, 1], [2, 4]]
    assert high.tolist() == [[1, 3], [4, 4], [2, 3], [4, 5]]


def test_shares_are_the_larger_of_both_laws() -> None:
    b = known(log_p=np.log([0.2, 0.6]).tolist(), log_q=np.log([0.9, 0.3]).tolist())
    np.testing.assert_allclose(_shares(b), [0.75, 0.75])


def test_what_asks_to_be_halved() -> None:
    logs = np.log([0.5, 0.4999, 1e-4, 1e-30]).tolist()
    wide = known(log_p=logs, log_q=np.log([0.25, 0.7499, 1e-4, 1e-30]).tolist(), low=[0.0] * 4, high=[1.0, 0.0, 1.0, 1.0])
    asks = _restless(wide)
    assert asks[0] > asks[2] > 0
    assert asks[1] == 0.0
    assert asks[3] == 0.0
    share = np.array([0.5, 0.7499])
    loss = np.log([2.0, 0.4999 / 0.7499])
    # The share of the variance of the loss, by hand, of the two boxes that matter.
    mean = share @ loss / share.sum()
    variance = share @ (loss - mean) ** 2 / share.sum()
    assert asks[0] == pytest.approx(0.5 / variance, rel=1e-2)
    fuzzy = known(log_p=logs, log_q=logs, slack=[0.3, 0.0, 2.0, 0.0], fuzzy=[1, 1, 1, 0])
    np.testing.assert_allclose(_restless(fuzzy), [0.15, 0.0, 1e-4, 0.0], rtol=1e-6)
    endless = known(log_p=logs, log_q=logs, low=[-np.inf] * 4, high=[np.inf, np.inf, -np.inf, 0.0])
    assert (_restless(endless)[:2] > 0).all()
    assert _restless(endless)[2] == 0.0


def test_what_straddles() -> None:
    b = known(log_p=np.log([0.5, 0.25, 0.25, 0.1]).tolist(), low=[0.0, 1.0, 0.0, -np.inf], high=[0.4, 2.0, 1.0, np.inf])
    np.testing.assert_allclose(_straddling(b, 0.2), [0.2, 0.0, 0.25, 0.1])
    np.testing.assert_allclose(_straddling(b, 1.0), [0.0, 0.0, 0.0, 0.1])
    np.testing.assert_allclose(_straddling(b, 0.0), [0.0, 0.0, 0.0, 0.1])


def normal_pair(x: Floats) -> tuple[Floats, Floats, Floats]:
    p, q = (-0.5 * ((x - m) ** 2).sum(axis=1) - math.log(2 * math.pi) for m in (np.array([0.6, 0.8]), np.zeros(2)))
    return p, q, np.full(len(x), 1e-15)


@pytest.fixture
def few_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "_MOST_BOXES", {2: 1500, 3: 800})


@pytest.mark.usefixtures("few_boxes")
def test_a_shift_in_the_plane_is_a_shift_on_the_line() -> None:
    edges = np.linspace(-9, 10, 20)
    piece = Boxes(normal_pair, (edges, edges), (1e-15, 1e-15))
    assert piece.dimension == 2
    for epsilon in (0.0, 1.0):
        cells = piece.at(epsilon)
        truth = gaussian(1, epsilon)
        low, high = delta_below(cells.lower, epsilon), delta_above(cells.upper, epsilon)
        assert low <= truth <= high
        assert high - low < 2e-2 * truth
        assert piece.cells.size <= 1500 < cells.size <= 3000
        rough = piece.cells
        wider = delta_above(rough.upper, epsilon) - delta_below(rough.lower, epsilon)
        assert high - low < wider
    assert float(np.exp(cells.log_p).sum()) == pytest.approx(1.0, abs=1e-6)
    assert cells.beyond[0] >= 1e-15
    assert cells.bounds == (-math.inf, math.inf)


def test_boxes_that_have_not_settled_lie_beyond() -> None:
    piece = Boxes(kinked, (np.array([0.0, 1.0]), np.array([0.0, 1.0])), (1e-3, 2e-3), (-4.0, 5.0))
    b = piece._start()
    assert b.slack[0] > 0.1
    cells = piece._as_cells(b)
    assert cells.size == 0
    assert cells.beyond[0] == pytest.approx(1e-3 + 1e4 * math.exp(b.log_p[0]))
    assert cells.beyond[1] == pytest.approx(2e-3 + 1e4 * math.exp(b.log_q[0]))
    assert cells.bounds == (-4.0, 5.0)
    smooth = Boxes(exponentials([1.0, 2.0], [2.0, -1.0]), piece.edges, (1e-3, 2e-3))
    kept = smooth._as_cells(smooth._start())
    assert kept.size == 1
    assert kept.beyond == (1e-3, 2e-3)
    assert kept.slack[0] == pytest.approx(1.12 * smooth._start().slack[0])

"""Searches for the largest ratio, on a line and on several coordinates, against maxima that are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpest.exact.inference.expressions import expr
from dpest.exact.loss.joint import _climbed, _extrapolated, _vertices, with_place
from dpest.exact.loss.line import Line, _refined, scan, searched
from dpest.exact.loss.logs import NOTHING, BothWays, Logs, Sup
from dpest.exact.loss.tails import ray_limit
from dpest.numerics.rationals import exact


def logs(y: np.ndarray, ratio: np.ndarray) -> Logs:
    y = y.reshape(len(ratio), -1) if y.size else np.empty((0, 1))
    return Logs(y, np.asarray(ratio, float), np.zeros(len(y)), np.zeros(len(y)))


def line(ratio: Callable[[np.ndarray], np.ndarray], kinks: list[float], scale: float = 1.0) -> Line:
    return Line(lambda y: logs(y, ratio(y)), np.array(kinks), scale, scale, -math.inf)


# -- on a line ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinks", [[0.0], [100.0, 101.0], [-3.0, 5.0, 7.0], [-50.0, -49.5]])
@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_places_lie_between_beside_and_beyond_the_kinks(kinks: list[float], scale: float) -> None:
    y = np.sort(scan(line(np.zeros_like, kinks, scale)))
    for low, high in zip(kinks, kinks[1:], strict=False):
        inside = y[(y > low) & (y < high)]
        assert np.diff(inside).max() <= 0.07 * (high - low)
    for k in kinks:
        side = 1e-8 * max(abs(k), scale)
        assert np.any((y < k) & (y > k - side))
        assert np.any((y > k) & (y < k + side))
    assert y[0] == pytest.approx(kinks[0] - 60 * scale, abs=1e-6)
    assert y[-1] == pytest.approx(kinks[-1] + 60 * scale, abs=1e-6)
    for far in (kinks[0] - y[y < kinks[0]], y[y > kinks[-1]] - kinks[-1]):
        assert np.diff(np.sort(far)[np.sort(far) < 8 * scale]).max() <= 0.2 * scale


def two_hills(y: np.ndarray) -> np.ndarray:
    """1.5 at 0.3337 and 1.2 at 4."""
    return np.maximum(1.5 - (y - 0.3337) ** 2, 1.2 - (y - 4.0) ** 2)


def test_a_maximum_between_places_is_refined() -> None:
    y = np.arange(-2.0, 7.0, 0.5)
    found = _refined(logs(y, two_hills(y)), lambda t: logs(t, two_hills(t)))
    assert found.ratio.max() == pytest.approx(1.5, abs=1e-12)
    assert set(y) <= set(found.y[:, 0])
    # Places where the first law is impossible, and such where nothing is known, end no search.
    for gone in (y < -0.5, y > 5):
        found = _refined(logs(y, np.where(gone, -np.inf, two_hills(y))), lambda t: logs(t, two_hills(t)))
        assert found.ratio.max() == pytest.approx(1.5, abs=1e-12)
    empty = logs(np.empty(0), np.empty(0))
    assert _refined(empty, lambda t: logs(t, t)).y.size == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_search_reaches_a_maximum_and_claims_no_upper_end(sign: int) -> None:
    found = searched(line(lambda y: sign * two_hills(y), [-1.0, 6.0]))
    up, down = (found.forward, found.backward) if sign > 0 else (found.backward, found.forward)
    assert up.lower <= 1.5 <= up.upper == math.inf
    assert up.value == pytest.approx(1.5, abs=1e-9)
    assert up.at[0] == pytest.approx(0.3337, abs=1e-3)
    assert down.value > 1e5
    assert down.upper == math.inf
    nothing = searched(Line(lambda y: Logs(y[:, None], y * 0 - np.inf, y * 0, y * 0), np.zeros(1), 1.0, 1.0, -math.inf))
    assert nothing.forward == NOTHING


# -- on several coordinates --------------------------------------------------------------------------------------------


def test_values_at_which_kinks_pin_coordinates() -> None:
    """a = 3, b - a = 1, 2 c + b = 0; and d with none."""
    one = exact(1)
    kinks = [
        expr(((-1, one),), exact(-3)),
        expr(((-2, one), (-1, -one)), exact(-1)),
        expr(((-3, exact(2)), (-2, one)), exact(0)),
    ]
    assert _vertices(kinks, 4) == [[3.0], [4.0], [-2.0], [0.0]]
    assert _vertices(kinks[::-1], 4) == [[3.0], [4.0], [-2.0], [0.0]]
    three = [expr(((-1, one), (-2, one), (-3, one)), exact(1)), expr(((-2, one),), exact(2))]
    assert _vertices(three, 3) == [[0.0], [-2.0], [0.0]]


def space(ratio: Callable[[np.ndarray], np.ndarray], dimension: int = 2) -> Any:
    def law(values: Callable[[np.ndarray], np.ndarray]) -> Any:
        return SimpleNamespace(log=lambda y: (values(y), np.zeros(len(y))))

    sides = law(ratio), law(lambda y: np.zeros(len(y)))
    return SimpleNamespace(left=sides[0], right=sides[1], dimension=dimension, scale=1.0, widest=1.0, log_floor=-math.inf)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("away", [0.0, 1000.0, -3e4])
def test_a_climb_goes_on_until_the_top(swap: bool, away: float) -> None:
    """A ridge along a - b that is narrow, and a top at (5.37, -2.21) from the start, wherever that is."""
    sign = -1 if swap else 1

    def ratio(y: np.ndarray) -> np.ndarray:
        u, v = y[:, 0] - 5.37 - away, y[:, 1] + 2.21 - away
        return sign * (2.0 - 0.01 * (u + v) ** 2 - 3.0 * (u - v) ** 2)

    start = Sup(-1e3, -1e3, -1e3, (away, away))
    found = _climbed(space(ratio), [], start, swap)
    assert found.value == pytest.approx(2.0, abs=1e-7)
    assert found.lower <= 2.0 + 1e-15
    assert found.at == pytest.approx((5.37 + away, -2.21 + away), abs=1e-2)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_climb_looks_beside_every_kink_on_its_way(axis: int) -> None:
    """A loss of 5 next to a plane alone, which no step of a fixed size meets; on the plane a density is zero."""
    kink = expr(((-1 - axis, exact(2)), (-2 + axis, exact(1))), exact(-7.321))

    def ratio(y: np.ndarray) -> np.ndarray:
        off = np.abs(2 * y[:, axis] + y[:, 1 - axis] - 7.321)
        return np.where(off < 1e-15, np.inf, np.where(off < 1e-9, 5.0, 1.0 - 1e-6 * off))

    start = Sup(1.0 - 1e-3, 0.9, 1.1, (11.7, -3.9))
    found = _climbed(space(ratio), [kink], start, False)
    assert (found.value, found.upper) == (5.0, pytest.approx(5.0))
    assert 2 * found.at[axis] + found.at[1 - axis] == pytest.approx(7.321, abs=1e-9)
    everywhere = _climbed(space(lambda y: np.where(y[:, 0] > 12.0, np.inf, 0.5)), [kink], start, False)
    assert everywhere == start  # a density of zero that is met on the way proves nothing


@pytest.mark.parametrize("swap", [False, True])
def test_a_place_that_is_given_raises_a_loss_and_never_lowers_it(swap: bool) -> None:
    """The ratio is 2 at (1, 3) and falls with the distance; what is not known to be zero beside a kink is no infinite loss."""
    sign = -1 if swap else 1

    def told(known: Sup, ratio: Callable[[np.ndarray], np.ndarray], place: tuple[float, ...]) -> Sup:
        both = BothWays(NOTHING, known) if swap else BothWays(known, NOTHING)
        found = with_place(space(lambda y: sign * ratio(y)), both, ((), place) if swap else (place, ()))
        assert (found.forward if swap else found.backward) == NOTHING
        return found.backward if swap else found.forward

    def hill(y: np.ndarray) -> np.ndarray:
        return 2.0 - np.abs(y[:, 0] - 1.0) - np.abs(y[:, 1] - 3.0)

    less, more = Sup(1.5, 1.5, 1.6, (0.0, 0.0)), Sup(2.5, 2.5, 2.6, (0.0, 0.0))
    found = told(less, hill, (1.0, 3.0))
    assert 2.0 - 1e-9 <= found.lower <= 2.0
    assert found.upper == math.inf
    assert found.at == pytest.approx((1.0, 3.0), abs=1e-9)
    assert told(more, hill, (1.0, 3.0)) == more
    assert told(less, lambda y: np.full(len(y), math.inf), (1.0, 3.0)) == less
    assert told(less, hill, ()) == less


def test_a_climb_ends_where_there_is_no_end() -> None:
    found = _climbed(space(lambda y: y[:, 0] + y[:, 1]), [], Sup(0.0, 0.0, 0.0, (0.0, 0.0)), False)
    assert 64 < found.value < 1e4


DISTANCE = np.power(2.0, np.arange(3, 11))


def test_a_limit_counts_where_it_lies_above_all_that_was_reached() -> None:
    tail = logs(DISTANCE, 2.0 - 1.0 / DISTANCE)
    seems = ray_limit(tail.ratio, DISTANCE, float(tail.slack()[-1]))
    assert seems.lower < 2.0 < seems.upper
    low = Sup(1.0, 0.9, 1.1, (0.0,), -1.0, -2.0)
    found = _extrapolated(low, tail, DISTANCE, (math.inf,))
    assert found.value == pytest.approx(2.0, abs=1e-9)
    assert (found.at, found.limit, found.upper) == ((math.inf,), True, math.inf)
    assert found.lower == pytest.approx(2.0 - 1 / 1024, abs=1e-12)  # what was reached, not what it seems to tend to
    assert (found.log_p, found.log_q) == (pytest.approx(2.0 - 1 / 1024), 0.0)
    # What is attained and may be as large stays.
    attained = Sup(2.0, 2.0, 2.0, (0.0,), -1.0, -3.0)
    assert _extrapolated(attained, tail, DISTANCE, (math.inf,)) == attained
    falling = logs(DISTANCE, 2.0 + 1.0 / DISTANCE)
    first = _extrapolated(low, falling, DISTANCE, (math.inf,))
    assert first.value == pytest.approx(2.125, abs=1e-12)
    assert first.limit

"""What bounds a ratio on a line: limits beside attained values, half-lines, straight lines around pieces, teeth of a comb."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpest.errors import ExactRefused
from dpest.exact.inference.expressions import Expr, expr, number
from dpest.exact.inference.factors import Bound, Density, Indicator, Integral
from dpest.exact.loss.cover import _Edges, _enclosed, _Table
from dpest.exact.loss.far import Far, _falls, heavier
from dpest.exact.loss.logs import NOTHING, BothWays, Logs, Sup
from dpest.exact.loss.periodic import _Comb, _teeth
from dpest.exact.loss.pieces import Piece, _at_point
from dpest.exact.loss.points import _beyond, _with
from dpest.exact.loss.proved import Alone, LimitPlace, _Line, _settled, _without_numbers
from dpest.exact.loss.shift import Release, outgrown
from dpest.exact.loss.supremum import _known_support
from dpest.laws.asymptote import Asymptote
from dpest.laws.continuous import Gaussian, Laplace, Logistic, Uniform
from dpest.laws.discrete import Geometric, integers_law
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact

Y = -1
NO_LIMIT = Far(-math.inf, 0.0, -math.inf)


def at(constant: float, c: float = 1.0) -> Expr:
    return expr(((Y, exact(c)),), exact(constant))


def line(places: tuple[LimitPlace, ...] = (), alone: tuple[Alone, ...] = ()) -> _Line:
    """A line of which only the limits and the cells with one law are known."""
    out = _Line.__new__(_Line)
    out.places, out.alone = list(places), list(alone)
    return out


def shown(ratio: np.ndarray, y: np.ndarray) -> Logs:
    return Logs(y[:, None], ratio - 2.0, np.full(y.shape, -2.0), np.zeros(y.shape))


# -- limits beside what is attained ------------------------------------------------------------------------------------

PEAK = shown(np.array([0.5, 1.0, 0.25]), np.array([-1.0, 0.0, 1.0]))


def test_a_limit_that_may_be_smaller_leaves_the_attained_place() -> None:
    place = LimitPlace(math.inf, Far(1.0005, 1e-3, 1.002), NO_LIMIT, (-30.0, -31.0))
    found = line((place,))._way(PEAK, 0, 1.001)
    assert (found.at, found.limit) == ((0.0,), False)
    assert found.lower == pytest.approx(1.0, abs=1e-14)
    assert found.lower <= found.value <= found.upper == 1.002
    # The part of a limit that is certain raises the lower end.
    sharper = LimitPlace(math.inf, Far(1.0005, 6e-4, 1.002), NO_LIMIT, (-30.0, -31.0))
    assert line((sharper,))._way(PEAK, 0, 1.001).lower == pytest.approx(1.0, abs=1e-14)
    certain = LimitPlace(math.inf, Far(1.0005, 3e-4, 1.002), NO_LIMIT, (-30.0, -31.0))
    assert line((certain,))._way(PEAK, 0, 1.001).lower == pytest.approx(1.0002, abs=1e-14)


def test_a_limit_that_is_larger_is_the_supremum() -> None:
    place = LimitPlace(-math.inf, NO_LIMIT, Far(1.01, 1e-3, 1.02), (-30.0, -31.0))
    found = line((place,))._way(PEAK, 1, 1.001)
    assert (found.value, found.lower, found.upper) == pytest.approx((1.01, 1.009, 1.02))
    assert (found.at, found.limit, found.log_p, found.log_q) == ((-math.inf,), True, -31.0, -30.0)
    assert line((place,))._way(PEAK, 0, 1.001).upper == 1.001
    endless = LimitPlace(2.0, Far(math.inf, 0.0, math.inf), NO_LIMIT, (-3.0, -9.0))
    assert line((endless,))._way(PEAK, 0, 1.001).lower == math.inf
    alone = line(alone=(Alone(7.0, 1, -4.0),))
    assert alone._way(PEAK, 0, 1.001).value == pytest.approx(1.0)
    only = alone._way(PEAK, 1, 1.001)
    assert (only.value, only.lower, only.at, only.log_p, only.log_q) == (math.inf, math.inf, (7.0,), -4.0, -math.inf)


@pytest.mark.parametrize("side", [1, -1])
def test_a_half_line_begins_where_the_supremum_is_reached(side: int) -> None:
    """The ratio grows up to 4 and is 1 from there on."""
    y = np.arange(-3.0, 12.0)
    logs = shown(np.clip(y, 0, 4) / 4, side * y)
    place = LimitPlace(side * math.inf, Far(1.0, 1e-15, 1.0), NO_LIMIT, (-30.0, -31.0))
    found = line((place,))._way(logs, 0, 1.0)
    assert (found.ray, found.at, found.limit) == (side, (4.0 * side,), False)
    # Not where the ratio falls off again beyond the last place, nor where another limit is approached.
    for other in (Far(1.0, 1e-15, 1.5), Far(0.5, 1e-15, 1.0), Far(None, 0.0, 1.0)):
        assert line((LimitPlace(side * math.inf, other, NO_LIMIT, (0.0, 0.0)),))._way(logs, 0, 1.0).ray == 0


def table(floor: float) -> Any:
    """A bell of which nothing is claimed below a floor, and whose tail declares nothing."""
    return SimpleNamespace(
        log_floor=floor,
        log=lambda y, _middle: (-(y**2) / 2, np.zeros(y.shape)),
        active=lambda _: True,
        tail=lambda _: None,
        log_weight=0.0,
        error=0.0,
        concave=True,
        factors=(Density(Gaussian(1.0), at(0.0)),),
    )


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(("floor", "reach"), [(-math.inf, 48.0), (-2000.0, 48.0), (-100.0, 12.0), (-10.0, 3.0)])
def test_a_half_line_is_looked_at_as_far_as_tables_hold(side: int, floor: float, reach: float) -> None:
    """48 scales, or the first half, quarter, ... of that at which both densities are above the floor."""
    here = line()
    here.p, here.q, here.edges, here.widest = [table(-math.inf)], [table(floor)], [exact(0)], 1.0
    found = here._outer(side)
    assert found is not None
    assert sorted((found.low, found.high)) == sorted((0.0, side * reach))
    assert [(x.at, x.forward.upper, x.backward.upper) for x in here.places] == [(side * math.inf, math.inf, math.inf)]


# -- beyond the last point ---------------------------------------------------------------------------------------------


def test_a_limit_below_what_was_reached_takes_nothing_away() -> None:
    sup = Sup(1.0, 0.99, 1.01, (3.0,), -2.0, -3.0)
    found = _with(sup, Far(0.9905, 1e-3, 1.0), 1, (-40.0, -41.0))
    assert (found.value, found.lower, found.upper) == (1.0, 0.99, 1.01)


def whole(weight: float, scale: float, place: float) -> Piece:
    return Piece(math.log(weight), 0.0, (Density(Geometric(scale), at(-place)),))


def mass(scale: float, k: float) -> float:
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(k)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("first", [-10, 5, -40])
def test_the_ratio_of_whole_numbers_beyond_the_points_looked_at(side: int, first: int) -> None:
    """ln (G(2) / 2 + G(1) / 2) / G(2): falls to ln 1/2 on either side; the bound is the value at the last point."""
    middle = first + 10
    p, q = [whole(0.5, 2.0, middle), whole(0.5, 1.0, middle)], [whole(1.0, 2.0, middle)]
    forward, backward = _beyond(p, q, np.arange(float(first), first + 21.0), side)

    def truth(t: float) -> float:
        return math.log((mass(2.0, t) + mass(1.0, t)) / 2 / mass(2.0, t))

    assert forward.limit == pytest.approx(-math.log(2), abs=1e-14)
    assert truth(11) <= forward.upper <= truth(10) + 1e-12
    assert backward.limit == pytest.approx(math.log(2), abs=1e-14)
    assert backward.upper == pytest.approx(math.log(2), abs=1e-12)


@pytest.mark.parametrize("side", [1, -1])
def test_what_begins_or_ends_at_the_last_point(side: int) -> None:
    """Half of the law only from the last point on, or up to it: beyond it is there, or gone."""
    y = np.arange(-10.0, 11.0)
    half, law = whole(0.5, 2.0, 0.0), whole(1.0, 2.0, 0.0)
    for outwards, limit in ((1, 0.0), (-1, -math.log(2))):
        bound = Indicator(Bound(at(-10.0 * outwards, float(outwards * side))))
        part = Piece(half.log_weight, 0.0, (*half.factors, bound))
        found, _ = _beyond([half, part], [law], y, side)
        assert found.limit == pytest.approx(limit, abs=1e-14)


@pytest.mark.parametrize("law", [from_frozen(stats.poisson(3.0))[1], from_frozen(stats.geom(0.3))[1]])
def test_which_of_two_points_further_up_outgrows(law: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpest.exact.loss import shift

    monkeypatch.setattr(shift, "release", lambda side: side)
    grows = law.outgrows_exponentials
    for p, q in itertools.product((0, 1, 2), repeat=2):
        sides = [Release(law, exact(1), exact(x)) for x in (p, q)]
        expected = (0 if p == q else 1 if q > p else -1) if grows else 0
        assert outgrown(SimpleNamespace(left=sides[0], right=sides[1])) == expected  # type: ignore[arg-type]
    other = Release(law, exact(2), exact(1))
    assert outgrown(SimpleNamespace(left=sides[0], right=other)) == 0  # type: ignore[arg-type]
    assert outgrown(SimpleNamespace(left=None, right=other)) == 0  # type: ignore[arg-type]


# -- tails -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.125, 0.25, 0.5, 1.0, 3.0, 8.0])
def test_a_difference_of_tails_that_is_said_to_fall_falls(start: float) -> None:
    """Its derivative at places from the start on, term by term; where it is negative by far, it is said to fall."""
    told = set()
    for square, rate, power, speed in itertools.product((-0.5, 0, 0.5), (-2, 0, 2), (-2, 0, 1, 4), (0, 0.5, 1.0)):
        bursts = ((exact(speed), exact(0)),) if speed else ()
        a, b = Asymptote(0.0, exact(rate), exact(power), exact(square), bursts), Asymptote(0.0)
        if heavier(a, b) != -1:
            continue

        def slope(t: float, own: tuple[float, ...] = (square, rate, power, speed)) -> float:
            square, rate, power, speed = own
            return -2 * square * t - rate + power / t - (speed * math.exp(speed * t) if speed else 0.0)

        falls = _falls(a, b, start)
        places = [start * 1.05**k for k in range(120) if start * 1.05**k < 300]
        if falls:
            assert max(map(slope, places)) <= 1e-12
            told.add(bool(speed))
        room = speed * math.exp(speed * start) - abs(2 * square * start + rate) - abs(power) / start
        if speed and room > 0 and speed * (room + 1e-9) >= 2 * abs(square):
            assert falls
    assert told == ({True, False} if start > 0.2 else {False} | told)


# -- pieces between straight lines -------------------------------------------------------------------------------------

LAWS = [Gaussian(1.0), Laplace(1.0), Logistic(1.0), Gaussian(1e-7), Laplace(1e-7), Gaussian(1e6)]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_piece_lies_between_its_lines(law: Any) -> None:
    """At few places, far apart and crowded, on either side of the mode: 40 places between any two of them."""
    rng = np.random.default_rng(3)
    piece = Piece(math.log(0.3), 1e-13, (Density(law, at(0.0)),))
    for _ in range(30):
        side = rng.choice([-1, 1])
        y = np.unique(side * law.scale * rng.uniform(0, 40) * np.cumsum(rng.exponential(1.0, 7) * 10.0 ** rng.uniform(-2, 0, 7)))
        if rng.random() < 0.4 and isinstance(law, Gaussian):
            y = np.unique(y - y.mean())
        table = _Table([piece], np.array([[True]]), np.empty((0, 0)), np.empty((0, 0)))
        cell = np.zeros(y.size, int)
        table.logs, table.errors = table.more(y, cell, y)
        found = _enclosed(table, _Edges(y, cell, np.arange(y.size - 1)))
        for i in range(y.size - 1):
            share = np.linspace(0, 1, 40)
            inside = y[i] + (y[i + 1] - y[i]) * share
            truth = math.log(0.3) + np.asarray(law.log_density(inside))
            upper, lower = (_along(x[0][0, i], x[1][0, i], share) for x in (found.upper, found.lower))
            room = 1e-12 * (1 + np.abs(truth))
            assert np.all(truth <= upper + room)
            assert np.all(truth >= lower - room)


@pytest.mark.parametrize("largest", [1e-6, 0.3, 5.0])
def test_lines_hold_whatever_the_errors_are(largest: float) -> None:
    """Concave functions, known at five places up to errors of every size."""
    rng = np.random.default_rng(8)
    own: Any = SimpleNamespace(concave=True, bounded=True)
    share = np.linspace(0, 1, 30)
    for _ in range(400):
        y = np.cumsum(rng.uniform(0.2, 2.0, 5)) - rng.uniform(0, 8)
        bend, kink, slope = 10.0 ** rng.uniform(-2, 1.5), rng.exponential(4.0), rng.normal(0, 5)

        def f(x: np.ndarray, of: tuple[float, ...] = (bend, kink, slope)) -> np.ndarray:
            return -of[0] * x * x - of[1] * np.abs(x) + of[2] * x

        errors = largest * rng.random(5)
        known = f(y) + errors * rng.choice([-1.0, 0.0, 1.0], 5)
        table = _Table([own], np.array([[True]]), known[None, :], errors[None, :])
        found = _enclosed(table, _Edges(y, np.zeros(5, int), np.arange(4)))
        for i in range(4):
            truth = f(y[i] + (y[i + 1] - y[i]) * share)
            upper, lower = (_along(x[0][0, i], x[1][0, i], share) for x in (found.upper, found.lower))
            assert np.all(truth <= upper + 1e-9)
            assert np.all(truth >= lower - 1e-9)


def _along(first: float, last: float, share: np.ndarray) -> np.ndarray:
    if not math.isfinite(first + last):
        return np.full(share.shape, first + last)
    return (1 - share) * first + share * last


def test_a_piece_that_falls_by_far_lies_below_its_larger_end() -> None:
    """A line from the left rises above the piece by far where places lie far apart: its larger end is the better bound."""
    for sign, law in itertools.product((1, -1), (Gaussian(1.0), Gaussian(1e-7), Gaussian(3.0))):
        y = np.sort(sign * law.scale * np.array([10.0, 60.0, 110.0, 160.0]))
        table = _Table([Piece(0.0, 0.0, (Density(law, at(0.0)),))], np.array([[True]]), np.empty((0, 0)), np.empty((0, 0)))
        cell = np.zeros(y.size, int)
        table.logs, table.errors = table.more(y, cell, y)
        found = _enclosed(table, _Edges(y, cell, np.arange(y.size - 1)))
        inner = 1
        larger = float(np.max(law.log_density(y[inner : inner + 2])))
        assert max(found.upper[0][0, inner], found.upper[1][0, inner]) == pytest.approx(larger, rel=1e-12)


# -- discrete draws inside a law on a line -----------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [-3.5, -2.0, 0.0, 0.5, 3.0, 9.0])
def test_points_that_a_bound_excludes(bound: float) -> None:
    law = integers_law(-4, 4)
    for x in range(-4, 5):
        for lowers, uppers, holds in (
            ((bound,), (), x >= bound),
            ((), (bound,), x <= bound),
            ((bound,), (2.0,), bound <= x <= 2),
        ):
            f = Integral(0, law, tuple(map(number, lowers)), tuple(map(number, uppers)), ())
            assert (_at_point(f, float(x)) is not None) == holds


def test_bounds_that_move_with_the_output_are_conditions_on_it() -> None:
    """k >= 2 y - 1 and k <= y + 3 at k = 2: y <= 3/2 and y >= -1."""
    f = Integral(0, integers_law(-4, 4), (at(-1.0, 2.0),), (at(3.0),), ())
    found = _at_point(f, 2.0)
    assert found is not None
    assert [isinstance(g, Indicator) and isinstance(g.bound, Bound) for g in found] == [True, True]
    for y in (-1.5, -0.5, 0.0, 1.25, 1.75, 4.0):
        logs = sum(float(np.ravel(g.log({Y: np.array([y])})[0])[0]) for g in found)
        assert (logs == 0.0) == (-1 <= y <= 1.5)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_the_teeth_of_a_comb_are_the_law(scale: float) -> None:
    """0.3 * the sum over k of P(k) u(y - k / 2), u uniform on (-0.6, 0.6), within a window of 2 on either side."""
    factor = Density(Uniform(-0.6, 0.6), expr(((Y, exact(1)), (0, exact(-0.5))), exact(0)))
    comb = _Comb(math.log(0.3), 1e-15, Geometric(scale), 0, (factor,), exact(0.5), exact(0.6))
    teeth = _teeth([comb], 7)
    assert all(x.error == 1e-15 for x in teeth)
    for y in np.linspace(-2, 2, 81) + 1e-4:
        on = [x for x in teeth if x.active(exact(float(y)))]
        found = math.fsum(math.exp(x.log(np.array([y]), np.array([y]))[0][0]) for x in on)
        truth = 0.3 * math.fsum(mass(scale, k) / 1.2 for k in range(-30, 31) if abs(y - k / 2) < 0.6)
        assert found == pytest.approx(truth, rel=1e-12)


# -- a law that no place showed ----------------------------------------------------------------------------------------


def side_law(peak: float, impossible: bool, log_total: float = -1.0) -> Any:
    def log(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -np.abs(y - peak).sum(axis=1), np.zeros(len(y))

    return SimpleNamespace(impossible=impossible, log_total=log_total, log=log, kinks=list, log_floor=-math.inf)


def block(left: Any, right: Any, dimension: int) -> Any:
    return SimpleNamespace(left=left, right=right, dimension=dimension, scale=1.0, widest=1.0, log_floor=-math.inf)


@pytest.mark.parametrize("dimension", [1, 2])
def test_a_law_that_the_other_cannot_be_is_an_infinite_loss(dimension: int) -> None:
    possible, impossible = side_law(3.0, False), side_law(0.0, True)
    nothing = BothWays(NOTHING, NOTHING)
    found = _known_support(block(possible, impossible, dimension), nothing)
    assert found.backward is NOTHING
    assert (found.forward.value, found.forward.lower, found.forward.upper) == (math.inf,) * 3
    assert (found.forward.log_p, found.forward.log_q) == (-1.0, -math.inf)
    assert len(found.forward.at) == dimension
    if dimension == 1:
        assert abs(found.forward.at[0] - 3.0) < 0.25
    turned = _known_support(block(impossible, possible, dimension), nothing)
    assert turned.forward is NOTHING
    assert turned.backward.value == math.inf
    with pytest.raises(ExactRefused, match="known well"):
        _known_support(block(possible, possible, dimension), nothing)
    known = BothWays(Sup(1.0, 1.0, 1.0), NOTHING)
    assert _known_support(block(possible, impossible, dimension), known) == known
    assert _known_support(block(side_law(3.0, False, -math.inf), possible, dimension), BothWays(NOTHING, known.forward)) == (
        BothWays(NOTHING, known.forward)
    )


# -- cells and settled tails -------------------------------------------------------------------------------------------


def test_kinks_between_which_there_is_no_number() -> None:
    one, grain = exact(1), exact(2.0**-52)
    assert _without_numbers(one, one + grain)
    assert _without_numbers(one + grain / 4, one + grain / 2)
    assert _without_numbers(one + grain / 2, one + grain)
    assert not _without_numbers(one, one + 2 * grain)
    assert not _without_numbers(one - grain / 8, one + grain / 8)  # 1 itself
    assert not _without_numbers(one + grain / 2, one + 3 * grain / 2)
    assert not _without_numbers(exact(0), exact(1e-300))


def test_a_tail_has_settled_where_its_bound_is_near_its_limit() -> None:
    assert _settled(Far(1.0, 0.0, 1.0 + 1e-12), 1e-11)
    assert not _settled(Far(1.0, 0.0, 1.0 + 1e-10), 1e-11)
    assert _settled(Far(-5.0, 0.0, -5.0 + 4e-11), 1e-11)
    assert _settled(Far(1.0, 1e-10, 1.0 + 3e-10), 1e-11)
    assert _settled(Far(0.0, 0.0, 9e-15), 1e-11)
    assert not _settled(Far(0.0, 0.0, 2e-14), 1e-11)
    assert _settled(Far(-math.inf, 0.0, 3.0), 1e-11)
    assert _settled(Far(None, 0.0, 3.0), 1e-11)
    assert _settled(Far(math.inf, 0.0, math.inf), 1e-11)
    assert not _settled(Far(None, 0.0, math.inf), 1e-11)
    assert not _settled(Far(-math.inf, 0.0, math.inf), 1e-11)

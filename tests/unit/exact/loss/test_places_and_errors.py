"""Where suprema and curves look, and what they add up as errors: each place and each error term by hand."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import BudgetExceeded, NotCovered
from dpest.exact.inference.expressions import Expr, expr
from dpest.exact.inference.factors import Bound, Density, Indicator, Integral
from dpest.exact.inference.ratio import BoundedDraw, Chart
from dpest.exact.loss import compared, parts, points, proved, ratio
from dpest.exact.loss.cover import Cell
from dpest.exact.loss.direction_search import _DirectionSearch
from dpest.exact.loss.far import Far
from dpest.exact.loss.last_step import _Side, _Step
from dpest.exact.loss.logs import NOTHING, Logs, Sup
from dpest.exact.loss.mixed import MixedCase, MixedSide, _way
from dpest.exact.loss.periodic import _combs
from dpest.exact.loss.pieces import Piece
from dpest.exact.loss.points import _MARGIN, _with_kinks
from dpest.exact.loss.supremum import _glimpsed
from dpest.exact.loss.vectors import ReleasedRows, _far_out
from dpest.laws.continuous import Laplace, Uniform
from dpest.laws.discrete import Geometric
from dpest.numerics.rationals import exact

Y = -1


def at(constant: float, c: float = 1.0, v: int = Y) -> Expr:
    return expr(((v, exact(c)),), exact(constant))


def known(log: float, off: float) -> Any:
    """A factor without variables: a number that is known up to an error."""
    return SimpleNamespace(scope=(), log=lambda _: (np.array(log), np.array([off / 2, off])))


# -- weights of sums over whole numbers --------------------------------------------------------------------------------

COMB = Integral(0, Geometric(1.0), (), (), (Density(Uniform(0.0, 1.0), expr(((Y, exact(1)), (0, exact(-1))), exact(0))),))


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("count", [1, 4])
def test_the_weight_of_a_comb_and_its_error(count: int, times: int) -> None:
    """ln count + the constants and the numbers of all parts, each as often as it occurs; errors add up alike."""
    measures = {
        "comb": SimpleNamespace(log_constant=-0.5, factors=[known(-1.0, 1e-3), COMB]),
        "beside": SimpleNamespace(log_constant=-0.25, factors=[known(-2.0, 1e-5), known(0.125, 1e-7)]),
    }
    both = [(SimpleNamespace(component="comb"), 1), (SimpleNamespace(component="beside"), times)]
    for order in (both, both[::-1]):
        found = _combs(SimpleNamespace(cases=[(order, count)], measures=SimpleNamespace(of=measures.get)))  # type: ignore[arg-type]
        assert found is not None
        (comb,) = found
        assert comb.log_weight == pytest.approx(math.log(count) - 1.5 - times * 2.125, abs=1e-15)
        assert comb.error == pytest.approx(1e-3 + times * (1e-5 + 1e-7), rel=1e-12)
        assert (abs(comb.step), comb.reach) == (1, 1)
    twice = [(SimpleNamespace(component="comb"), 2)], [(SimpleNamespace(component="comb"), 1)] * 2
    for order in twice:
        assert _combs(SimpleNamespace(cases=[(order, 1)], measures=SimpleNamespace(of=measures.get))) is None  # type: ignore[arg-type]


# -- points of a lattice -----------------------------------------------------------------------------------------------


def from_on(edge: float, side: int) -> Piece:
    """A whole-number law from a place on, or up to it."""
    return Piece(0.0, 0.0, (Density(Geometric(1.0), at(0.0)), Indicator(Bound(at(-edge * side, side)))))


@pytest.mark.parametrize("edges", [(), (3.0,), (-200.0,), (150.5,), (-300.0, 80.25), (-40.0, 40.0), (20.0, 400.0)])
@pytest.mark.parametrize("window", [(-10, 10), (30, 35), (-400, 500), None])
def test_points_lie_around_every_place_where_a_piece_begins_or_ends(edges: tuple[float, ...], window: Any) -> None:
    """Every whole number from the points that are looked at anyway to beyond each such place: there are no gaps."""
    given = np.arange(window[0], window[1] + 1.0) if window else np.empty(0)
    own = [from_on(e, side) for e, side in zip(edges, itertools.cycle((1, -1)), strict=False)]
    found, gaps = _with_kinks(given[:, None], own)
    wanted = {*given, *(x for e in edges for x in (math.floor(e) - _MARGIN, math.ceil(e) + _MARGIN))}
    assert not gaps
    assert list(found[:, 0]) == (list(np.arange(min(wanted), max(wanted) + 1)) if wanted else [])


def test_gaps_that_are_too_wide_are_told_by_where_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest gaps below are filled while points last; of the others, the point before and the side are told."""
    window = np.arange(-5.0, 6.0)[:, None]
    own = [from_on(e, 1) for e in (-1e12, -1000.0, 700.0, 2.0**31)]
    monkeypatch.setattr(points, "MOST_POINTS", 1200)
    found, gaps = _with_kinks(window, own)
    m = _MARGIN
    assert gaps == [(-1000.0 - m, -1), (-5.0, -1), (700.0 + m, 1)]
    assert {-1e12 - m, -1e12 + m, -1000.0, 700.0 + m, 2.0**31 + m} <= set(found[:, 0])
    assert set(np.arange(6.0, 700.0)) <= set(found[:, 0])
    with pytest.raises(BudgetExceeded, match="1200 are listed"):
        _with_kinks(window, [from_on(2.0**60, 1)])


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("far", [2**31, 10**12])
def test_numbers_far_out_that_a_program_asks_for(side: int, far: int) -> None:
    """A guard against numbers that do not fit into 32 bits: the loss stays that of a mixture of two geometric laws."""

    def mechanism(x: int, guarded: bool) -> Any:
        k = x + (dpest.geometric(1.0) if dpest.bernoulli(0.5) else dpest.geometric(2.0))
        return "too large" if guarded and side * k > far else k

    plain, found = (dpest.estimate(mechanism, (0, 1), guarded=g, method="exact") for g in (False, True))

    def log_mass(k: int) -> float:
        return math.log(sum((1 - math.exp(-1 / b)) / (1 + math.exp(-1 / b)) * math.exp(-abs(k) / b) for b in (1.0, 2.0)))

    truth = max(abs(log_mass(k) - log_mass(k - 1)) for k in range(-200, 200))
    for r in (plain, found):
        assert r.lower <= truth + 1e-12
        assert truth <= r.upper + 1e-12
        assert r.upper - r.lower <= 1e-9


@pytest.mark.parametrize("side", [1, -1])
def test_a_gap_is_bounded_by_what_laws_declare(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mixtures whose ratio is largest between the window and a place beyond it where one of them ends (oracle: points)."""
    monkeypatch.setattr(points, "MOST_POINTS", 3000)

    def mechanism(x: int) -> Any:
        k = dpest.geometric(2.0) if dpest.bernoulli(1 - math.exp(-30)) else 3 * x + dpest.geometric(3.0)
        return "far" if side * k > 10**6 else k

    def log_mass(x: int, k: int) -> float:
        own = [math.log1p(-math.exp(-30)) + log_geometric(2.0, k), -30 + log_geometric(3.0, k - 3 * x)]
        return float(np.logaddexp(*own))

    def log_geometric(b: float, k: int) -> float:
        return math.log(-math.expm1(-1 / b) / (1 + math.exp(-1 / b))) - abs(k) / b

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    truth = max(abs(log_mass(0, k) - log_mass(1, k)) for k in range(-2000, 2000))
    assert truth > 0.9
    assert found.lower <= truth + 1e-9
    assert truth <= found.upper + 1e-9


def test_the_bounds_of_gaps_and_of_what_lies_beyond_all_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each direction has the largest of its own bounds; a gap is bounded from the points before it on its own side."""
    y = np.array([-90.0, -5.0, 0.0, 5.0, 80.0])[:, None]
    told = {
        (-90.0, 5.0, 1): (7.0, 1.0),
        (-5.0, 80.0, -1): (2.0, 9.0),
        (-90.0, 80.0, 1): (3.0, 4.0),
        (-90.0, 80.0, -1): (5.0, 6.0),
    }
    asked = []

    def beyond(_p: Any, _q: Any, own: np.ndarray, side: int) -> Any:
        asked.append((own.min(), own.max(), side))
        return tuple(Far(None, 0.0, upper) for upper in told[asked[-1]])

    ratios = np.array([0.5, 0.0, 1.0, -0.25, 0.0])
    for name, value in (("_finite", False), ("pieces", [1]), ("_with_kinks", (y, [(5.0, 1), (-5.0, -1)])), ("outgrown", 0)):
        monkeypatch.setattr(points, name, lambda *_, value=value: value)
    monkeypatch.setattr(points, "logs_at", lambda *_: Logs(y, ratios, np.zeros(5), np.zeros(5)))
    monkeypatch.setattr(points, "_beyond", beyond)
    found = points.on_points(SimpleNamespace(points=lambda: y, left=None, right=None, dimension=1))  # type: ignore[arg-type]
    assert sorted(asked) == sorted(told)
    assert (found.forward.upper, found.backward.upper) == (7.0, 9.0)
    assert (found.forward.value, found.backward.value) == pytest.approx((1.0, 0.25))
    assert points._at_most(found.forward, 6.0) == found.forward
    assert points._at_most(NOTHING, 6.0) == NOTHING


@pytest.mark.parametrize("known", ["left", "right"])
def test_a_law_of_which_no_pieces_are_known_has_no_bound_between_its_points(known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.array([-1.0, 0.0, 2.0])[:, None]
    for name, value in (("_finite", False), ("outgrown", 0)):
        monkeypatch.setattr(points, name, lambda *_, value=value: value)
    monkeypatch.setattr(points, "pieces", lambda side: [1] if side == known else None)
    monkeypatch.setattr(points, "logs_at", lambda *_: Logs(y, np.array([0.5, 0.0, 1.0]), np.zeros(3), np.zeros(3)))
    found = points.on_points(SimpleNamespace(points=lambda: y, left="left", right="right", dimension=1))  # type: ignore[arg-type]
    assert found.forward.value == pytest.approx(1.0)
    assert found.forward.upper == found.backward.upper == math.inf


# -- places where densities vanish -------------------------------------------------------------------------------------


def test_kinks_that_are_one_double_belong_to_the_cell_on_their_own_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kinks 2^-80 apart at either end: the cell begins at the last of them and ends at the first."""
    tiny = exact(2) ** -80
    line = proved._Line.__new__(proved._Line)
    line.edges = [exact(-5), exact(0.25) - tiny, exact(0.25), exact(1), exact(1) + tiny, exact(7)]
    line.kinks = np.array([float(e) for e in line.edges])
    line.finest, line.places = 1.0, []
    line.p = line.q = [SimpleNamespace(log=lambda y, _: (np.zeros(y.shape), np.zeros(y.shape)))]  # type: ignore[list-item]
    asked: list[Any] = []
    monkeypatch.setattr(proved, "edge", lambda _, place, side, start: asked.append((place, side, start)))
    for left, right in itertools.product((False, True), repeat=2):
        asked.clear()
        line.places.clear()
        cell = line._cut(Cell(0.25, 1.0, (True,), (True,)), (left, right))
        assert (cell.low > 0.25, cell.high < 1.0) == (left, right)
        assert cell.low - 0.25 <= 2.0**-10
        assert 1.0 - cell.high <= 2.0**-10
        ends = [(exact(0.25), 1, cell.low - 0.25)] * 2 * left + [(exact(1), -1, 1.0 - cell.high)] * 2 * right
        assert asked == ends
        assert [x.at for x in line.places] == [0.25] * left + [1.0] * right
    outside = line._cut(Cell(0.5, 0.75, (True,), (True,)), (True, True))
    assert (outside.low, outside.high) == (0.5, 0.75)


# -- a first look ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swap", [False, True])
def test_a_first_look_shows_losses_that_are_there(swap: bool) -> None:
    """ln of a Laplace law of scale 1 over one of scale 2 falls from ln 2 in the middle by half the distance."""
    sides = [
        SimpleNamespace(kinks=lambda: [at(0.0)], log=lambda y, b=b: (-np.abs(y[:, 0]) / b - math.log(2 * b), np.zeros(len(y))))
        for b in (1.0, 2.0)
    ]
    sides = sides[::-1] if swap else sides
    found = _glimpsed(SimpleNamespace(left=sides[0], right=sides[1], widest=1.0, scale=1.0))  # type: ignore[arg-type]
    near, far = found[::-1] if swap else found
    assert 0.6 < near <= math.log(2)
    assert far == pytest.approx(20 - math.log(2), rel=1e-12)
    # Moved by 3: on the one side of both kinks the loss of one direction, on the other that of the other.
    moved = [
        SimpleNamespace(kinks=lambda k=k: [at(-k)], log=lambda y, k=k: (-np.abs(y[:, 0] - k), np.zeros(len(y))))
        for k in (5.0, 8.0)
    ]
    found = _glimpsed(SimpleNamespace(left=moved[swap], right=moved[not swap], widest=1.0, scale=1.0))  # type: ignore[arg-type]
    assert found == pytest.approx((3.0, 3.0))


def test_directions_are_looked_at_from_every_face() -> None:
    """In every dimension some places on each face of the cube, every other coordinate from -1 to 1."""
    for sides in (2, 3, 5, 8, 9):
        for rows in ((), ((1,),)):
            search = _DirectionSearch.__new__(_DirectionSearch)
            search.sides, search.cone = sides, SimpleNamespace(rows=rows)  # type: ignore[assignment]
            u = search._starts()
            assert u.shape[1] == sides
            assert np.abs(u).max() == 1.0
            for k, sign in itertools.product(range(sides), (1, -1) if rows else (1,)):
                face = u[u[:, k] == sign]
                assert len(np.unique(np.delete(face, k, axis=1), axis=0)) >= 2 * sides - 1
                if sides > 2:
                    assert np.all(np.delete(face, k, axis=1).max(axis=0) == 1.0)


# -- outputs that build on others --------------------------------------------------------------------------------------


def factor(v: int, slope: float, off: float) -> Any:
    return SimpleNamespace(scope=(v,), log=lambda at: (slope * at[v], np.full(len(at[v]), off)))


def test_a_law_of_steps_adds_its_factors_and_their_errors() -> None:
    """Up to u = 0 one case, from there on another; the last output is 2 y + 3 u + 1 or 2 y - u deviations from its mean."""
    names = ({-1: -2}, {-2: -2})  # the other output is the second of the block
    rows = ((exact(2),), (exact(2),))
    steps = (
        _Step(-1.0, (factor(-1, 2.0, 1e-5), factor(-2, 0.5, 1e-7)), names, ((rows[0], at(1.0, 3.0, -2)),), (at(0.0, -1.0, -2),)),
        _Step(
            -3.0,
            (factor(-1, -1.0, 1e-3), factor(-1, -1.0, 1e-4)),
            names[:1] * 2,
            ((rows[1], at(0.0, -1.0, -2)),),
            (at(0.0, 1.0, -2),),
        ),
    )
    u = np.array([[-2.0], [-0.5], [0.25], [4.0]])
    log, places, error = _Side(steps, (1,)).at(u)
    assert log == pytest.approx([-1 - math.log(2) + 2.5 * x if x < 0 else -3 - math.log(2) - 2 * x for x in u[:, 0]])
    assert places[:, 0] == pytest.approx([3 * x + 1 if x < 0 else -x for x in u[:, 0]])
    assert error == pytest.approx([1e-5 + 1e-7] * 2 + [1e-3 + 1e-4] * 2, rel=1e-12)
    for order in (steps, steps[::-1]):
        assert list(_Side(order, (1,)).at(u[2:])[0]) == list(log[2:])
    alone, _, _ = _Side(steps[:1], (1,)).at(u)
    assert list(alone) == [*log[:2], -math.inf, -math.inf]


def test_the_place_that_is_shown_of_a_limit_has_the_densities_that_are_shown() -> None:
    """Of two outputs with noise of their own one moves: far out in that one, in the middle of the other."""
    one = exact(1)
    rows = tuple(((v, one), (-1 - v, -one)) for v in (0, 1))
    released = ReleasedRows((Laplace(1.0), Laplace(1.0)), rows, (exact(0), exact(0)))
    left = SimpleNamespace(log=lambda y: (-np.abs(y).sum(axis=1), np.zeros(len(y))))
    right = SimpleNamespace(log=lambda y: (-np.abs(y - 1).sum(axis=1), np.zeros(len(y))))
    block: Any = SimpleNamespace(dimension=2, widest=3.0, left=left, right=right)
    for shift, swap in itertools.product(((1, 0), (0, -1), (2, 2), (1, -3)), (False, True)):
        place, shown = _far_out(block, released, [exact(s) for s in shift], swap=swap)
        assert [math.copysign(1, x) if math.isinf(x) else x for x in place] == [np.sign(s) for s in shift]
        there = np.array([shift]) / max(map(abs, shift)) * 192.0
        p, q = float(left.log(there)[0][0]), float(right.log(there)[0][0])
        assert shown == pytest.approx((q, p) if swap else (p, q))


# -- quotients and averages --------------------------------------------------------------------------------------------


def test_what_is_not_known_well_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one law at most, of the other at least, with both errors; NaN, or an error above a tenth, proves nothing."""
    inf, nan = math.inf, math.nan
    most, least = np.array([1.0, 1.0, 1.0, -inf, -inf, inf, nan]), np.array([0.5, 0.5, 0.5, 0.0, -inf, inf, 0.0])
    e, f = np.array([0.01, 0.2, 0.01, 0.0, 0.0, 0.0, 0.0]), np.array([0.02, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0])
    monkeypatch.setattr(ratio, "enclosed", lambda _o, _c, _s, which: (most, e) if which is ratio.Which.MOST else (least, f))
    search = ratio._RatioSearch.__new__(ratio._RatioSearch)
    search.p = search.q = ()
    search.far = []
    cells = ratio._Cells(Chart.Y, np.arange(7.0), np.arange(1.0, 8.0), np.ones((2, 7), bool))
    for row in search._bounds(cells, ratio._AtEnds(*np.zeros((3, 2, 7)))):
        assert row == pytest.approx([0.53, inf, inf, -inf, -inf, inf, inf], abs=1e-12)
        assert row[0] >= 0.53 - 1e-16  # what rounding adds is in both errors


def average(places: list[float], count: float, weight: float, error: float = 0.0) -> MixedCase:
    """Noisy sums over a noisy count of at least 1; or the noisy sums alone."""
    bottom = BoundedDraw(Laplace(2.0), exact(1), exact(count), 1.0) if count else None
    return MixedCase(tuple(BoundedDraw(Laplace(1.0), exact(1), exact(c)) for c in places), bottom, weight, error)


CASES = [
    (average([0, 0], 4, -1.0, 1e-3), average([1, 0.5], 3, -2.5, 1e-2), 1.5 + 0.5 + 1.5),
    (average([1], 5, -2.0), average([1], 4, -0.25), 0.5 - 1.75),
    (average([0, 2], 0, -0.5), average([0, 1], 0, -0.75), 1.0 + 0.25),
]


@pytest.mark.parametrize(("one", "other", "truth"), CASES)
def test_a_case_is_at_most_so_much_likelier_than_another(one: MixedCase, other: MixedCase, truth: float) -> None:
    """The sum of the moves over their scales, and of the log weights; no place shows more, and errors are added."""
    found = one.above(other)
    assert truth + one.error + other.error <= found <= truth + one.error + other.error + 1e-11
    y = np.array(list(itertools.product([-30.0, -1.0, 0.0, 0.5, 3.0, 40.0], repeat=len(one.tops))))
    (p, e), (q, f) = one.log(y), other.log(y)
    assert np.all(p - q <= found + e + f)
    back = other.above(one)
    assert np.all(q - p <= back + e + f)


def test_cases_are_matched_by_their_form() -> None:
    """The bound is that of the worst of matching cases, whatever their order; there is none where forms differ."""
    one, other = (MixedSide((), None, tuple(CASES[k][i] for k in order)) for i, order in enumerate(((0, 1), (1, 0))))  # type: ignore[arg-type]
    most = CASES[0][2] + 0.011
    for value, lower, upper in ((3.0, 2.9, most), (3.6, 3.4, most), (5.0, 4.9, 4.9)):
        found = _way(Sup(value, lower, value + 0.1, (1.0,), -2.0, -5.0), one, other)
        assert (found.value, found.lower, found.upper) == pytest.approx((min(value, upper), lower, upper), abs=1e-11)
        assert (found.at, found.log_p, found.log_q) == ((1.0,), -2.0, -5.0)
    beside = MixedSide((), None, (CASES[2][0], CASES[2][0]))  # type: ignore[arg-type]
    found = _way(Sup(3.0, 2.9, 3.1), one, beside)
    assert (found.value, found.lower, found.upper) == (3.0, 2.9, math.inf)


# -- curves ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("places", [[3.0], [-2.0, 5.5], [], [0.0, 40.0], [-30.0, 50.0]])
@pytest.mark.parametrize("j", [0, 1])
def test_boxes_begin_at_the_kinks_across_a_coordinate(places: list[float], j: int) -> None:
    """Each kink is an edge, and the edges reach as far as the noise does; kinks along other coordinates do not count."""
    own = [at(-2 * x, 2.0, -1 - j) for x in places]
    others = [at(-7.75, 1.0, -2 + j), expr(((-1, exact(1)), (-2, exact(1))), exact(-6.75))]
    block: Any = SimpleNamespace(
        left=SimpleNamespace(kinks=lambda: [*own[:1], *others]), right=SimpleNamespace(kinks=lambda: own[1:]), scale=1.0
    )
    edges = parts._axis_edges(block, j, parts._Reach(-20.0, 24.0, 0.0))
    assert set(places or [2.0]) <= set(edges)
    assert edges[0] == min([-20.0, *(x - 1 for x in places)])
    assert edges[-1] == max([24.0, *(x + 1 for x in places)])
    assert not {7.75, 6.75} & set(edges)


@pytest.mark.parametrize("loose", [(0.0, 0.0), (1e-9, 0.0), (0.0, 1e-9), (1e-9, 1e-9)])
def test_runs_that_were_not_explored_fit_into_one_list_of_cells_only(loose: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared, "_bucket", lambda tree: tree)
    monkeypatch.setattr(compared, "together", lambda sources, rest=(0.0, 0.0): (sources, rest))
    logs = tuple(math.log(x) if x else -math.inf for x in loose)

    def outputs(trees: list[Any]) -> Any:
        return compared._outputs(SimpleNamespace(buckets=trees, log_unexplored=logs))  # type: ignore[arg-type]

    (whole,) = outputs([compared.Leaf("a"), compared.Leaf("b")]).trees  # type: ignore[arg-type]
    assert whole.source == (["a", "b"], pytest.approx(loose, rel=1e-12))
    several = [compared.Leaf("a"), compared.ProductPart(())]  # type: ignore[arg-type]
    if any(loose):
        with pytest.raises(NotCovered, match="a loop without end"):
            outputs(several)
    else:
        (mixture,) = outputs(several).trees
        assert mixture.parts == tuple(several)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("badly", [0, 1])
def test_a_cell_is_cut_where_every_piece_is_known_well(side: int, badly: int) -> None:
    """A table is known 1/10000 away from its end and further; a piece that takes no part does not matter."""

    def piece(near: float) -> Any:
        return SimpleNamespace(log=lambda at, _middle: (np.zeros(1), np.where(np.abs(at - 2.0) < near, 1.0, 1e-12)))

    pieces = [piece(0.0), piece(0.0)]
    pieces[badly] = piece(1e-4)
    line = proved._Line.__new__(proved._Line)
    line.p, line.q, line.finest = (pieces[0], piece(math.inf)), (pieces[1],), 1.0
    cell: Any = SimpleNamespace(low=2.0, high=5.0, middle=3.5, p=(True, False), q=(True,))
    cut = line._cut_at(cell, 2.0, side)
    assert 1e-4 <= side * (cut - 2.0) <= 0.5
    pieces[badly].log = pieces[1 - badly].log
    assert 0 < side * (line._cut_at(cell, 2.0, side) - 2.0) < 1e-4

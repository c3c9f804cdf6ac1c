"""What blocks give to a curve: bounds of their ratios, errors of their densities, normal tails; coordinates; kept curves."""

from __future__ import annotations

import itertools
import math
import pickle
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import special

import dpest
from dpest.curves.cells import ROUND
from dpest.curves.tails import NormalTails
from dpest.errors import NotCovered
from dpest.exact.inference.cases import Numbering
from dpest.exact.inference.component import Case, Placed, components
from dpest.exact.inference.expressions import Expr, coordinate, expr, number, plus
from dpest.exact.inference.factors import Bound
from dpest.exact.inference.lattice import Lattice
from dpest.exact.loss import parts
from dpest.exact.loss.blocks import CoordinateKind, Measures
from dpest.exact.loss.buckets import buckets
from dpest.exact.loss.compare import ZERO
from dpest.exact.loss.coordinates import CoordinateRows, Frame, kind_of, simplifying
from dpest.exact.loss.direction import DirectionSide
from dpest.exact.loss.logs import NOTHING, BothWays, Sup
from dpest.exact.loss.profile import ComparedProfile
from dpest.exact.loss.strata import _arrangements
from dpest.inputs.pairs import Pair
from dpest.laws.continuous import Gaussian, Laplace, Uniform
from dpest.laws.discrete import Geometric
from dpest.numerics.rationals import exact
from dpest.trace.explore import trace

REAL, LATTICE = CoordinateKind.REAL, CoordinateKind.LATTICE


# -- bounds of ratios and errors of densities --------------------------------------------------------------------------


def test_a_ratio_lies_between_the_upper_ends_of_both_suprema(monkeypatch: pytest.MonkeyPatch) -> None:
    both = BothWays(Sup(1.0, 0.9, 1.1), Sup(0.5, 0.4, 0.7))
    monkeypatch.setattr(parts, "supremum", lambda _: both)
    assert parts._ratio_bounds(None) == (-0.7, 1.1)  # type: ignore[arg-type]
    monkeypatch.setattr(parts, "supremum", lambda _: BothWays(NOTHING, both.forward))
    assert parts._ratio_bounds(None) == (-1.1, math.inf)  # type: ignore[arg-type]


def test_errors_of_densities() -> None:
    """The larger relative error, and rounding of the logarithm; where one law is below a table's floor nothing is known."""
    y = np.zeros((5, 1))
    p, q = np.array([-1.0, -np.inf, -3.0, -60.0, -np.inf]), np.array([-2.0, -2.0, -np.inf, -1.0, -np.inf])
    left = SimpleNamespace(log=lambda _: (p, np.full(5, 1e-10)), cases=[1])
    right = SimpleNamespace(log=lambda _: (q, np.full(5, 3e-10)), cases=[1])
    found = parts.densities(SimpleNamespace(left=left, right=right, log_floor=-math.inf), y)  # type: ignore[arg-type]
    assert np.array_equal(found[0], p)
    assert np.array_equal(found[1], q)
    rounding = np.array([5.0, 4.0, 7.0, 64.0, 4.0])
    assert found[2] - 3e-10 == pytest.approx(ROUND * rounding, rel=1e-6, abs=1e-20)
    _, _, floored = parts.densities(SimpleNamespace(left=left, right=right, log_floor=-50.0), y)  # type: ignore[arg-type]
    assert list(floored >= 1.0) == [False, True, True, True, False]


def test_one_case_that_is_not_normal_leaves_no_normal_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {"a": NormalTails(-1.0, 2.0, 0.5, 0.5), "b": NormalTails(-3.0, 1.0, 1.0, 1.5), "laplace": None}
    monkeypatch.setattr(parts, "_normal_case", cases.get)

    def block(*sides: list[str]) -> Any:
        return SimpleNamespace(left=_side(sides[0]), right=_side(sides[1]))

    found = parts._normal_tails(block(["a", "b"], ["b"]))
    assert found == (NormalTails(-3.0, 2.0, 0.5, 1.5), cases["b"])
    for sides in ((["a", "laplace"], ["a"]), (["a"], ["laplace", "b"]), ([], ["a"]), (["laplace"], ["a"])):
        assert parts._normal_tails(block(*sides)) is None


def _side(names: list[str]) -> Any:
    return SimpleNamespace(cases=[(name, 1) for name in names])


# -- coordinates -------------------------------------------------------------------------------------------------------


def rows(kinds: list[CoordinateKind], laws: list[Any], coefficients: list[dict[int, int]]) -> CoordinateRows:
    numbering = Numbering()
    numbering.laws.extend(laws)
    own: list[Expr | None] = [expr(((v, exact(c)) for v, c in row.items()), exact(0)) for row in coefficients]
    return CoordinateRows(numbering, [], {}, own, {}, kinds)


def test_each_coordinate_is_brought_to_few_draws_within_its_kind() -> None:
    """Two sums of Laplace draws and two of whole-number draws: after the map each is one draw."""
    laws = [Laplace(1.0), Laplace(1.0), Geometric(1.0), Geometric(1.0)]
    kinds = [REAL, LATTICE, REAL, LATTICE]
    case = rows(kinds, laws, [{0: 1, 1: 1}, {2: 1, 3: 1}, {0: 1, 1: -1}, {2: 1, 3: 2}])
    for floors in (False, True):
        transform = simplifying(case, kinds, floors)
        for i, row in enumerate(transform):
            assert all(not c or kinds[j] is kinds[i] for j, c in enumerate(row))
            value = case.value(row)
            assert value is not None
            assert len(value.terms) == (2 if floors and kinds[i] is LATTICE else 1)
        assert np.linalg.matrix_rank(np.array([[float(c) for c in row] for row in transform])) == 4


def test_a_real_combination_without_continuous_noise_is_a_lattice() -> None:
    laws = [Laplace(1.0), Geometric(1.0)]
    case = rows([REAL, REAL], laws, [{0: 1, 1: 1}, {0: 1}])
    one = exact(1)
    assert kind_of([one, exact(0)], [REAL, REAL], case) is REAL
    assert kind_of([one, -one], [REAL, REAL], case) is LATTICE
    assert kind_of([one, one], [REAL, REAL], case) is REAL
    whole = rows([LATTICE, LATTICE], laws, [{1: 1}, {1: 2}])
    assert kind_of([exact(0), one], [LATTICE, LATTICE], whole) is LATTICE


@pytest.mark.parametrize(("origin", "step"), [(0, 1), (3, 2), (-1, 0.5)])
def test_coordinates_of_a_frame_are_measured_from_its_origin_in_steps(origin: float, step: float) -> None:
    """y0 = 3 + 2 g and y1 = y0 + 5 + h: with t = (transform @ y - origin) / step each equation says that t is what it is."""
    case = rows([LATTICE, LATTICE], [Geometric(1.0), Geometric(1.0)], [{0: 2}, {0: 2, 1: 1}])
    case.rows = [plus(x, number(c), 1) for x, c in zip(case.rows, (3, 8), strict=True) if x is not None]
    one, nothing = exact(1), exact(0)
    lattices = (Lattice(exact(origin), exact(step)), Lattice(nothing, one))
    found = case._case(Frame(((one, nothing), (-one, one)), lattices))
    for g, h in itertools.product((-2, 0, 5), (-1, 0, 3)):
        y = 3 + 2 * g, 8 + 2 * g + h
        t = (exact(y[0]) - lattices[0].origin) / lattices[0].step, exact(y[1] - y[0])
        at = {0: exact(g), 1: exact(h), coordinate(0): t[0], coordinate(1): t[1]}
        assert [e.exactly(at) for e in found.equations] == [0, 0]
        assert found.equations[0].exactly({**at, coordinate(0): t[0] + 1}) != 0
        assert float(Frame(((one, nothing), (-one, one)), lattices).place(0, float(t[0]))) == y[0]


# -- what a result keeps -----------------------------------------------------------------------------------------------


def release(x: float) -> Any:
    return x + dpest.laplace(1)


def test_nothing_is_unseen_where_nothing_was_left_out() -> None:
    assert ZERO.log_unseen == -math.inf
    assert (NOTHING.value, NOTHING.lower, NOTHING.upper, NOTHING.log_p) == (-math.inf,) * 4
    event = dpest.estimate(release, (0, 1), method="exact").witness
    assert event is not None
    assert abs(event.log_left - event.log_right) == pytest.approx(1.0, abs=1e-12)


def test_a_kept_curve_travels_with_its_pair() -> None:
    result = dpest.estimate(release, (0, 1), method="exact")
    again = pickle.loads(pickle.dumps(result))
    truth = 1 - math.exp(-0.25)  # of Laplace noise moved by its scale, at epsilon = 1/2
    found = again.delta(0.5)
    assert found.lower <= truth <= found.upper


def test_a_curve_that_cannot_travel_says_so() -> None:
    lock = threading.Lock()
    kept = ComparedProfile(lambda: lock, None)  # type: ignore[arg-type, return-value]
    gone = pickle.loads(pickle.dumps(kept))
    assert isinstance(gone, ComparedProfile)
    with pytest.raises(NotCovered, match="could not be pickled"):
        gone.delta(0.5)
    plain = pickle.loads(pickle.dumps(ComparedProfile(_something, None)))  # type: ignore[arg-type]
    assert plain.comparison == "something"


def _something() -> str:
    return "something"


@pytest.mark.parametrize("named", [True, False])
def test_a_curve_names_the_pair_that_it_is_of(named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpest.exact.loss import compared

    monkeypatch.setattr(compared, "compared_curve", lambda comparison, name: (comparison, name))
    pair = Pair("", 0, 1) if named else None
    profile = ComparedProfile(_something, pair)  # type: ignore[arg-type]
    assert profile.curve == ("something", str(pair) if named else None)  # type: ignore[comparison-overlap]


# -- how far noise reaches ---------------------------------------------------------------------------------------------


def placed(laws: tuple[Any, ...], coefficients: tuple[float, ...], constant: float, bounds: tuple[Bound, ...] = ()) -> Placed:
    """y = the sum of coefficient * draw, plus a constant."""
    terms = [(v, exact(c)) for v, c in enumerate(coefficients)]
    (one,) = components(Case(laws, bounds, (expr([*terms, (coordinate(0), exact(-1))], exact(constant)),)))
    return one


def test_the_range_of_a_sum_is_the_sum_of_ranges() -> None:
    """3 + 2 U(-1, 2) - 5 U(0, 1) lies between -4 and 7; nothing lies outside."""
    bounded = placed((Uniform(-1.0, 2.0), Uniform(0.0, 1.0)), (2.0, -5.0), 3.0).component
    found = parts._component_reach(bounded, 0)
    assert (found.low, found.high, found.beyond) == pytest.approx((-4.0, 7.0, 0.0))
    noisy = parts._component_reach(placed((Laplace(0.5), Uniform(0.0, 1.0)), (-2.0, 1.0), 1.0).component, 0)
    # P(|2 L| > 119) of scale 1 is e^-119, and is told to be at least that.
    assert -122 < noisy.low < -118
    assert 120 < noisy.high < 123
    outside = math.exp(-(noisy.high - 2)) / 2 + math.exp(noisy.low - 1) / 2
    assert 0.5 * outside <= noisy.beyond <= 1e-50


def test_gaussian_noise_beside_bounded_values() -> None:
    """4 + 2 N(0, 1/2) - 3 U(-1, 2): centres from -2 to 7, deviation 1."""
    one = placed((Gaussian(0.5), Uniform(-1.0, 2.0)), (2.0, -3.0), 4.0)
    found = parts._normal_case(frozenset({(one, 1)}))
    assert found is not None
    assert found.low <= -2.0 <= 7.0 <= found.high
    assert found.least < 1.0 < found.most  # with room for rounding
    assert (found.low, found.high, found.least, found.most) == pytest.approx((-2.0, 7.0, 1.0, 1.0), abs=1e-12)
    two = placed((Gaussian(0.6), Gaussian(0.4)), (1.0, -2.0), 0.0)
    sums = parts._normal_case(frozenset({(two, 1)}))
    assert sums is not None
    assert (sums.low, sums.high, sums.most) == pytest.approx((0.0, 0.0, 1.0), abs=1e-12)
    for other in (
        placed((Gaussian(1.0), Laplace(1.0)), (1.0, 1.0), 0.0),
        placed((Uniform(0.0, 1.0), Uniform(0.0, 1.0)), (1.0, 1.0), 0.0),
        placed((Gaussian(1.0),), (1.0,), 0.0, (Bound(expr(((0, exact(1)),), exact(0))),)),
    ):
        assert parts._normal_case(frozenset({(other, 1)})) is None
    assert parts._normal_case(frozenset({(one, 2)})) is None


@pytest.mark.parametrize("shape", [("a", "a", "b"), ("a", "b", "c", "a"), ("a",), ("a", "a", "a", "a"), ()])
@pytest.mark.parametrize("exchange", [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 3], [0, 0, 1, 1]])
def test_how_many_outputs_a_sorted_one_stands_for(shape: tuple[str, ...], exchange: list[int]) -> None:
    own = exchange[: len(shape)]
    kept = [p for p in itertools.permutations(range(len(shape))) if all(own[i] == own[j] for i, j in enumerate(p))]
    assert _arrangements(shape, own) == len({tuple(shape[i] for i in p) for p in kept})


def average(x: float) -> Any:
    return ["mean", (x + dpest.laplace(1)) / (10 + dpest.laplace(1))]


def test_a_quotient_of_two_random_values_is_a_coordinate_of_its_own() -> None:
    (bucket,) = buckets(trace(average, 0, {}), trace(average, 1, {}), Measures())
    assert bucket.constants == ((0, "mean"),)
    (stratum,) = [s for g in bucket.groups for s in g.strata if s.leaves]
    assert stratum.leaves == ((1, 0),)
    (block,) = stratum.blocks
    assert block.kinds == (REAL,)
    assert isinstance(block.left, DirectionSide)
    assert isinstance(block.right, DirectionSide)


# -- Gaussian noise through a linear map -------------------------------------------------------------------------------


def normal_delta(mu: float, epsilon: float) -> float:
    """delta(epsilon) of N(mu, 1) against N(0, 1)."""
    return float(special.ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * special.ndtr(-mu / 2 - epsilon / mu))


TREE = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], *np.eye(4, dtype=int)])
STRATEGIES = (TREE, np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 2], [0, 3, 1, 0]]))


@pytest.mark.parametrize(
    "workload", [np.tril(np.ones((4, 4))), np.eye(4), np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]] * 2)]
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_pseudo_inverse_has_rows_that_are_almost_parallel(workload: Any, strategy: Any) -> None:
    """Whatever the least squares answers are, they tell of the noise what its projection onto their rows does."""

    def answers(x: list[int], rng: np.random.Generator) -> Any:
        return workload @ np.linalg.pinv(strategy) @ (strategy @ np.array(x) + rng.normal(0, 3, size=len(strategy)))

    rows = workload @ np.linalg.pinv(strategy)
    gap = rows @ strategy @ np.array([1, 0, 0, 0])
    mu = math.sqrt(gap @ np.linalg.pinv(9 * rows @ rows.T, rcond=1e-9) @ gap)
    found = dpest.estimate(answers, ([3, 1, 2, 2], [4, 1, 2, 2]), method="exact").delta(0.1)
    assert found.upper - found.lower < 1e-11
    assert found == pytest.approx(normal_delta(mu, 0.1), rel=1e-10)


def test_noise_that_is_released_twice_is_a_closed_form_too() -> None:
    """A noisy covariance matrix is symmetric: one of its entries is there twice."""

    def covariance(rows: Any, rng: np.random.Generator) -> Any:
        x = np.array(rows)
        noise = np.triu(rng.normal(0, 1.5, size=(2, 2)))
        return x.T @ x + noise + noise.T - np.diag(np.diag(noise))

    pair = ([[0.5, 0.1], [0.9, 0.4]], [[0.5, 0.1], [0.1, 0.8]])
    moved = np.array([0.9 * 0.9 - 0.1 * 0.1, 0.9 * 0.4 - 0.1 * 0.8, 0.4 * 0.4 - 0.8 * 0.8])
    found = dpest.estimate(covariance, pair, method="exact").delta(0.2)
    assert found.upper - found.lower < 1e-12
    assert found == pytest.approx(normal_delta(float(np.linalg.norm(moved)) / 1.5, 0.2), rel=1e-12)

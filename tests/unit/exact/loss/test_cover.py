"""Branch and bound on a line: the bound covers a fine grid, is close to it, and pieces say what they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.exact.inference.expressions import Expr, expr
from dpest.exact.inference.factors import Between, Bound, Density, Indicator
from dpest.exact.loss.cover import Cell, cover
from dpest.exact.loss.pieces import Piece, cell_edges, matched, within
from dpest.laws.continuous import Exponential, Gaussian, Laplace, Logistic, Uniform
from dpest.laws.discrete import integers_law
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact

Y = -1
T4 = from_frozen(stats.t(4))[1]


def at(constant: float, c: float = 1.0) -> Expr:
    return expr(((Y, exact(c)),), exact(constant))


def piece(weight: float, law: object, constant: float, c: float = 1.0, error: float = 0.0) -> Piece:
    return Piece(math.log(weight) + math.log(abs(c)), error, (Density(law, at(constant, c)),))  # type: ignore[arg-type]


def total(pieces: list[Piece], y: np.ndarray) -> np.ndarray:
    out = np.full(y.shape, -np.inf)
    for x in pieces:
        own = np.full(y.shape, x.log_weight)
        for f in x.factors:
            own = own + np.asarray(f.log({Y: y})[0])
        out = np.logaddexp(out, own)
    return out


MIXTURES = {
    "laplace": (
        [piece(0.3, Laplace(1.0), 0), piece(0.7, Laplace(2.0), -1)],
        [piece(0.5, Laplace(1.0), -0.5), piece(0.5, Laplace(2.0), 1)],
    ),
    "gaussian": (
        [piece(0.9, Gaussian(0.5), 0), piece(0.1, Gaussian(3.0), 0.25)],
        [piece(0.9, Gaussian(0.5), 0.2), piece(0.1, Gaussian(3.0), 0.25)],
    ),
    "logistic": ([piece(1.0, Logistic(1.0), 0)], [piece(0.5, Logistic(2.0), 0.5), piece(0.5, Gaussian(4.0), 0)]),
    "student": ([piece(0.6, T4, 0), piece(0.4, Gaussian(1.0), 1)], [piece(0.6, T4, 1), piece(0.4, Gaussian(1.0), 0)]),
    "scaled": ([piece(1.0, Gaussian(1.0), 0.3, 2.0)], [piece(0.5, Gaussian(1.0), 0), piece(0.5, Laplace(1.0), 0, -1.0)]),
}


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("error", [0.0, 1e-4])
def test_bounds_cover_a_grid_and_are_close(name: str, error: float) -> None:
    p, q = ([Piece(x.log_weight, error, x.factors) for x in side] for side in MIXTURES[name])
    edges = [float(x) for x in cell_edges([p, q])]
    ends = [-6.0, *(e for e in edges if -6 < e < 6), 6.0]
    cells = [Cell(a, b, (True,) * len(p), (True,) * len(q)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    found = cover(p, q, cells, (-math.inf, -math.inf))
    grid = np.linspace(-6, 6, 20_001)
    ratio = total(p, grid) - total(q, grid)
    assert found.forward >= ratio.max() + error
    assert found.backward >= (-ratio).max() + error
    assert found.forward <= ratio.max() + 1e-6 + 8 * error
    assert found.backward <= (-ratio).max() + 1e-6 + 8 * error
    shown = found.logs
    np.testing.assert_allclose(shown.p, total(p, shown.y[:, 0]), atol=1e-12)
    np.testing.assert_allclose(shown.q, total(q, shown.y[:, 0]), atol=1e-12)
    assert (shown.error >= 2 * error).all()


def test_nothing_is_looked_at_below_what_is_known() -> None:
    p, q = MIXTURES["gaussian"]
    cells = [Cell(-6.0, 6.0, (True, True), (True, True))]
    quick = cover(p, q, cells, (5.0, 5.0))
    close = cover(p, q, cells, (-math.inf, -math.inf))
    assert quick.logs.y.size < close.logs.y.size
    assert quick.forward <= 5.0 or quick.forward >= close.forward - 1e-9


def test_pieces_that_are_not_there_do_not_count() -> None:
    """A uniform piece ends at 1: on its cell both count, beyond it one does."""
    p = [piece(0.5, Uniform(0.0, 1.0), 0), piece(0.5, Laplace(1.0), 0)]
    q = [piece(1.0, Laplace(1.0), 0)]
    cells = [Cell(0.0, 1.0, (True, True), (True,)), Cell(1.0, 3.0, (False, True), (True,))]
    found = cover(p, q, cells, (-math.inf, -math.inf))
    truth = math.log(0.5 + 0.5 / (0.5 * math.exp(-1.0)))  # at 1 from the left
    assert truth <= found.forward <= truth + 1e-9
    assert math.log(2) <= found.backward <= math.log(2) + 1e-9
    assert p[0].active(exact(0.5))
    assert not p[0].active(exact(1.5))
    assert [float(x) for x in cell_edges([p, q])] == [0.0, 1.0] or 1.0 in [float(x) for x in cell_edges([p, q])]


def test_where_a_piece_is_positive() -> None:
    bound = Piece(0.0, 0.0, (Indicator(Bound(at(-2))), Density(Exponential(1.0), at(0))))
    assert bound.active(exact(2.5))
    assert not bound.active(exact(1.5))
    assert not Piece(0.0, 0.0, (Density(Exponential(1.0), at(0)),)).active(exact(-1))
    window = Piece(0.0, 0.0, (Between(Uniform(0.0, 1.0), (at(0),), (at(2),)),))  # a draw between y and y + 2
    assert window.active(exact(0.5))
    assert window.active(exact(-1.5))
    assert not window.active(exact(1.5))
    assert not window.active(exact(-2.5))
    whole = Piece(0.0, 0.0, (Between(integers_law(0, 3), (at(0),), ()),))
    assert whole.active(exact(2.5))
    assert not whole.active(exact(3.5))


@pytest.mark.parametrize("c", [1.0, -2.0])
def test_curvature_bounds_the_second_derivative(c: float) -> None:
    own = piece(1.0, T4, 0.3, c)
    y = np.linspace(-3, 3, 6001)
    logs = total([own], y)
    second = np.diff(logs, 2) / (y[1] - y[0]) ** 2
    for a in range(0, 6000, 500):
        low, high = np.array([y[a]]), np.array([y[a + 500]])
        bound = float(own.curvature(low, high)[0])
        assert bound >= second[a : a + 499].max() - 1e-6
        assert bound <= max(second[max(a - 500, 0) : a + 999].max(), 0.0) + 4.0
    assert piece(1.0, Laplace(1.0), 0).concave
    assert not own.concave
    assert own.bounded
    assert float(piece(1.0, Gaussian(1.0), 0).curvature(low, high)[0]) == 0.0


def test_logs_of_a_piece_carry_rounding_of_large_offsets() -> None:
    far = piece(0.5, Laplace(1e-3), -1e6)
    y = np.array([1e6 + 0.002])
    logs, error = far.log(y, y)
    assert float(logs[0]) == pytest.approx(math.log(0.5) - 2.0 - math.log(2e-3), abs=float(error[0]))
    assert 1e-8 < float(error[0]) < 1e-5
    near, small = piece(0.5, Laplace(1.0), 0, error=1e-9).log(np.array([0.5]), np.array([0.5]))
    assert float(near[0]) == pytest.approx(math.log(0.25) - 0.5)
    assert 1e-9 <= float(small[0]) < 1.1e-9
    inside, _ = within(Density(Uniform(0.0, 1.0), at(0)), np.array([1.0 + 1e-15]), np.array([0.5]))
    assert float(inside[0]) == 0.0


def test_pieces_of_two_laws_are_matched_by_structure_and_place() -> None:
    a, b, c = piece(0.1, Laplace(1.0), 3), piece(0.2, Laplace(1.0), -3), piece(0.7, Gaussian(1.0), 0)
    assert matched([a, b, c]) == matched([c, b, a])
    order = matched([a, b, c])
    assert order.index(b) < order.index(a)
    tail = a.scales
    assert tail == (1.0, 1.0)
    assert piece(1.0, Laplace(3.0), 0, 2.0).scales == (1.5, 1.5)


# -- the same through the door -----------------------------------------------------------------------------------------


def test_a_mixture_with_a_smooth_maximum_inside() -> None:
    """0.94 N(9.33 - x/5, 0.4) + 0.06 N(0.26, 49.28): the largest ratio is inside, found by golden section."""

    def mechanism(x: float) -> object:
        if dpest.bernoulli(0.94):
            return 9.33 - 0.2 * x + dpest.gaussian(0.4)
        return 0.26 + dpest.gaussian(49.28)

    def log_density(y: np.ndarray, x: float) -> np.ndarray:
        one = math.log(0.94) + stats.norm.logpdf(y, 9.33 - 0.2 * x, 0.4)
        return np.logaddexp(one, math.log(0.06) + stats.norm.logpdf(y, 0.26, 49.28))

    y = np.linspace(5, 14, 200_001)
    truth = float(np.abs(log_density(y, 0) - log_density(y, 1)).max())
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth + 1e-9
    assert found.upper >= truth
    assert found.upper - found.lower <= 1e-5


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.5])
def test_gaussian_noise_through_a_linear_map(epsilon: float) -> None:
    """(x + a, x + a + b): the shift (1, 1) is one of a alone, so that delta is that of a single draw."""

    def mechanism(x: float) -> object:
        a, b = dpest.gaussian(1.5), dpest.gaussian(0.5)
        return (x + a, x + a + b)

    mu = 1 / 1.5
    truth = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    found = dpest.estimate(mechanism, (0, 1), method="exact").delta(epsilon)
    assert found.lower <= truth + 1e-14
    assert found.upper >= truth - 1e-14
    assert found.upper - found.lower <= 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 0.9])
def test_delta_of_laplace_noise(epsilon: float) -> None:
    """1 - e^((eps - 1/b) / 2) for a move by 1."""
    found = dpest.estimate(lambda x: x + dpest.laplace(1.0), (0, 1), method="exact").delta(epsilon)
    truth = -math.expm1((epsilon - 1.0) / 2)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-10


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_delta_of_whole_number_noise(epsilon: float) -> None:
    """(sum over k of (P(k) - e^eps P(k - 1))+ = P(k <= 0) (1 - e^(eps - 1))."""
    found = dpest.estimate(lambda x: x + dpest.geometric(1.0), (0, 1), method="exact").delta(epsilon)
    a = math.exp(-1.0)
    truth = 1 / (1 + a) * -math.expm1(epsilon - 1.0)
    assert found.lower <= truth + 1e-15
    assert found.upper >= truth - 1e-15
    assert found.upper - found.lower <= 1e-10


def test_delta_of_a_condition_beside_noise() -> None:
    """A coin decides whether the value is told: with probability 1/4 it is."""

    def mechanism(x: float) -> object:
        return x + dpest.laplace(1.0) if dpest.bernoulli(0.25) else None

    found = dpest.estimate(mechanism, (0, 1), method="exact").delta(0.2)
    truth = 0.25 * -math.expm1((0.2 - 1.0) / 2)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-10

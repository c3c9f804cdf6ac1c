"""Whether conditions contradict each other, against linear programs in exact arithmetic by hand and by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Bound
from dpest.exact.inference.feasible import contradictory, without_implied
from dpest.laws.continuous import Exponential, Laplace, Uniform
from dpest.laws.discrete import Geometric, integers_law
from dpest.numerics.rationals import exact
from dpest.numerics.simplex import Undecided

REAL, WHOLE = Laplace(1.0), Geometric(1.0)


def bound(constant: float, **terms: float) -> Bound:
    """terms + constant >= 0, with draws named a, b, c."""
    return Bound(expr((("abc".index(name), exact(c)) for name, c in terms.items()), exact(constant)))


def test_bounds_that_touch_contradict_only_where_a_continuous_draw_takes_part() -> None:
    touching = [bound(-2, a=1), bound(2, a=-1)]  # a >= 2 and a <= 2
    assert contradictory(touching, [REAL])
    assert not contradictory(touching, [WHOLE])
    assert contradictory([bound(-2, a=1), bound(1, a=-1)], [WHOLE])
    assert not contradictory([bound(-2, a=1), bound(3, a=-1)], [REAL])


def test_supports_count() -> None:
    assert contradictory([bound(0, a=-1)], [Exponential(1.0)])  # a <= 0 has probability zero
    assert not contradictory([bound(0.001, a=-1)], [Exponential(1.0)])
    assert contradictory([bound(-1, a=1)], [Uniform(0.0, 1.0)])
    assert not contradictory([bound(-3, a=1)], [integers_law(0, 3)])  # the last point itself is left
    assert contradictory([bound(-4, a=1)], [integers_law(0, 3)])
    assert not contradictory([bound(-1, a=1, b=1)], [Uniform(0.0, 1.0), Uniform(0.0, 1.0)])
    assert contradictory([bound(-2, a=1, b=1)], [Uniform(0.0, 1.0), Uniform(0.0, 1.0)])


def test_a_single_bound_on_unbounded_draws_never_contradicts() -> None:
    assert not contradictory([bound(-1e9, a=1, b=-3)], [REAL, WHOLE])
    assert not contradictory([], [REAL])
    assert not contradictory([], [Uniform(0.0, 1.0)])


def test_a_bound_without_draws_is_a_plain_truth() -> None:
    other = bound(0, a=1)
    assert contradictory([bound(-1), other], [REAL])
    assert not contradictory([bound(0), other], [REAL])
    assert not contradictory([bound(1), other], [REAL])


def test_cycles() -> None:
    cycle = [bound(0, a=1, b=-1), bound(0, b=1, c=-1)]
    assert contradictory([*cycle, bound(0, c=1, a=-1)], [REAL] * 3)
    assert not contradictory([*cycle, bound(1e-9, c=1, a=-1)], [REAL] * 3)
    assert not contradictory([*cycle, bound(0, c=1, a=-1)], [WHOLE] * 3)
    assert contradictory([*cycle, bound(-1, c=1, a=-1)], [WHOLE] * 3)


def test_coordinates_of_the_output_are_no_draws() -> None:
    y = Bound(expr(((-1, exact(1)),), exact(-2))), Bound(expr(((-1, exact(-1)),), exact(2)))
    assert not contradictory(y, [REAL])  # y >= 2 and y <= 2 leaves y = 2


@pytest.mark.parametrize("start", [0, 100, 200])
def test_against_a_linear_program(start: int) -> None:
    """The largest slack t with every bound >= t: above zero it is feasible, below zero it is not."""
    for seed in range(start, start + 20):
        _as_the_program_says(np.random.default_rng(seed))


def _as_the_program_says(rng: np.random.Generator) -> None:
    rows = rng.integers(-2, 3, (int(rng.integers(2, 6)), 3)).astype(float)
    constants = rng.integers(-4, 5, len(rows)).astype(float)
    laws = [Uniform(-2.0, 3.0), REAL, Exponential(2.0)]
    a = np.hstack([-rows, np.ones((len(rows), 1))])
    limits = np.array([[-1, 0, 0, 1], [1, 0, 0, 1], [0, 0, -1, 1]], float)
    tops = np.array([2.0, 3.0, 0.0])
    box = [(-1e3, 1e3)] * 3 + [(-50, 1)]
    found = linprog([0, 0, 0, -1], np.vstack([a, limits]), np.concatenate([constants, tops]), bounds=box)
    assert found.status == 0
    bounds = [Bound(expr(((i, exact(c)) for i, c in enumerate(row)), exact(k))) for row, k in zip(rows, constants, strict=True)]
    if abs(found.fun) > 1e-7:
        assert contradictory(bounds, laws) == (found.fun > 0)


@pytest.mark.parametrize("start", range(4))
def test_bounds_that_are_left_out_follow_from_the_others(start: int) -> None:
    # Rung: a linear program. The least value of what was left out, under what is kept, is not negative.
    rng = np.random.default_rng(start)
    for _ in range(25):
        pairs = [rng.choice(5, size=2, replace=False) for _ in range(8)]
        bounds = [Bound(expr([(int(u), exact(1)), (int(v), exact(-1))], exact(int(rng.integers(-1, 3))))) for u, v in pairs]
        kept = without_implied(bounds)
        a = np.zeros((len(kept), 5))
        for row, b in zip(a, kept, strict=True):
            for v, c in b.expression.terms:
                row[v] = -float(c)
        ends = [float(b.expression.constant) for b in kept]
        for gone in bounds:
            goal = np.zeros(5)
            for v, c in gone.expression.terms:
                goal[v] = float(c)
            least = linprog(goal, A_ub=a, b_ub=ends, bounds=[(None, None)] * 5)
            smallest = {0: least.fun, 2: float("inf")}.get(least.status, -float("inf"))
            assert smallest + float(gone.expression.constant) >= -1e-9


def test_of_a_chain_and_its_shortcut_the_chain_is_kept() -> None:
    chain = [Bound(expr([(0, exact(1)), (1, exact(-1))], exact(0))), Bound(expr([(1, exact(2)), (2, exact(-2))], exact(0)))]
    shortcut = Bound(expr([(0, exact(1)), (2, exact(-1))], exact(0)))
    tighter = Bound(expr([(0, exact(1)), (2, exact(-1))], exact(-1)))
    assert without_implied([*chain, shortcut]) == chain
    assert without_implied([*chain, tighter]) == [*chain, tighter]


def test_what_takes_too_long_to_tell_is_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(rows: object) -> bool:
        raise Undecided

    monkeypatch.setattr("dpest.exact.inference.feasible.hold_together", undecided)
    assert not contradictory([bound(-2, a=1), bound(1, a=-1)], [REAL])


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_implied_bounds_are_told_in_any_scale(scale: float) -> None:
    """a - b >= 1 and b - c >= 1 imply a - c >= 2, and not a - c >= 3."""
    given = [bound(-scale, a=scale, b=-scale), bound(-1, b=1, c=-1)]
    assert without_implied([*given, bound(-2, a=1, c=-1)]) == given
    assert without_implied([*given, bound(-2 * scale, a=scale, c=-scale)]) == given
    for more in (bound(-3, a=1, c=-1), bound(-3 * scale, a=scale, c=-scale)):
        assert without_implied([*given, more]) == [*given, more]

"""What shifts cost at most over a box of differences, and how long shifts of Gaussian draws are (oracle: every vertex)."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpest.exact.inference.expressions import expr
from dpest.exact.proof import policy
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.gaussian import CONSTANT, ShiftedCells
from dpest.exact.proof.joint import _dearest
from dpest.exact.proof.policy import cost_of
from dpest.laws.continuous import Exponential, Laplace
from dpest.laws.law import Law
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact

LAWS: dict[int, Law] = {0: Laplace(2.0), 1: Exponential(0.5), 2: Laplace(0.25)}
RANGES = {-1: (Fraction(-1), Fraction(2)), -2: (Fraction(0), Fraction(1, 3)), -3: (Fraction(-2), Fraction(-1))}
BOX = Box("all move", tuple((v, (exact(low), exact(high))) for v, (low, high) in RANGES.items()))


def price(draw: int, s: Fraction) -> Fraction | None:
    """|s| / b of a Laplace draw; s / b of an exponential one, which cannot be shifted downwards."""
    if draw == 1:
        return s * 2 if s >= 0 else None
    return abs(s) / (2 if draw == 0 else Fraction(1, 4))


def by_vertices(shifts: dict[int, tuple[dict[int, Fraction], Fraction]]) -> Fraction | None:
    """The largest cost over the vertices: a cost that is convex has its largest value there."""
    most = Fraction(0)
    for corner in itertools.product(*RANGES.values()):
        at = dict(zip(RANGES, corner, strict=True))
        prices = [price(v, c + sum(x * at[i] for i, x in terms.items())) for v, (terms, c) in shifts.items()]
        if None in prices:
            return None
        most = max(most, sum(p for p in prices if p is not None))
    return most


@pytest.mark.parametrize("vertices", [1 << 10, 1])  # up to which all are looked at: beyond, each draw has its own worst end
def test_the_cost_of_a_policy_is_that_at_its_worst_vertex(vertices: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_MOST_VERTICES", vertices)
    rng, seen, tight = random.Random(2), set(), 0
    for _ in range(200):
        shifts = {}
        for v in rng.sample(range(3), rng.randint(0, 3)):
            terms = {i: Fraction(rng.randint(-2, 2), 3) for i in rng.sample(list(RANGES), rng.randint(0, 3))}
            shifts[v] = terms, Fraction(rng.randint(-1, 4), 2)
        own = {v: expr([(i, exact(x)) for i, x in terms.items()], exact(c)) for v, (terms, c) in shifts.items()}
        found, truth = cost_of(own, LAWS, BOX), by_vertices(shifts)
        seen.add(truth is None)
        assert (found is None) == (truth is None)
        if found is not None and truth is not None:
            assert found >= truth
            tight += found == truth
            assert found == truth or (vertices == 1 and len(shifts) > 1)
    assert seen == {True, False}
    assert tight > 40


def test_shifts_that_the_law_allows_at_some_vertices_only_cost_too_much() -> None:
    for slope, offset, cost in ((1, 0, None), (1, 1, 6), (-1, 1, None), (-1, 2, 6)):
        assert cost_of({1: expr([(-1, exact(slope))], exact(offset))}, LAWS, BOX) == cost


def test_the_dearest_corner_is_the_one_that_costs_most() -> None:
    """A corner that the law does not allow is dearer than every other."""
    rng, seen = random.Random(4), set()
    for _ in range(100):
        shifts = {
            v: ({i: Fraction(rng.randint(-2, 2)) for i in RANGES}, Fraction(rng.randint(0, 9))) for v in rng.sample(range(3), 2)
        }
        own = {v: expr([(i, exact(x)) for i, x in terms.items()], exact(c)) for v, (terms, c) in shifts.items()}
        corner, most = _dearest(own, LAWS, list(RANGES), dict(BOX.moves))
        truth = by_vertices(shifts)
        prices = [price(v, c + sum(x * Fraction(corner[i]) for i, x in terms.items())) for v, (terms, c) in shifts.items()]
        seen.add(truth is None)
        assert most == truth
        assert None in prices if truth is None else sum(p for p in prices if p is not None) == truth
    assert seen == {True, False}


@pytest.mark.parametrize("ends", [(None, 1), (-1, None), (None, None)])
def test_inputs_that_change_without_bound_have_no_cost(ends: Any) -> None:
    box = Box("x changes", ((-1, tuple(None if e is None else exact(e) for e in ends)), (-2, (exact(-1), exact(1)))))  # type: ignore[arg-type]
    follows, other = expr([(-1, exact(1))], exact(0)), expr([(-2, exact(1))], exact(0))
    assert cost_of({0: follows}, LAWS, box) is None
    assert cost_of({0: other, 2: follows}, LAWS, box) is None
    assert cost_of({0: other}, LAWS, box) == exact(1) / 2


@pytest.mark.parametrize("beside", [0, 3])
def test_costs_that_are_not_convex_are_added_at_their_own_worst_ends(beside: float) -> None:
    """Two Cauchy draws are moved by d and 1 - d: 2 asinh(s / 2) each, which is most in the middle, and no vertex shows it."""
    law = from_frozen(stats.cauchy())[1]
    shifts = {0: expr([(-1, exact(1))], exact(0)), 1: expr([(-1, exact(-1))], exact(1)), 2: expr((), exact(beside))}
    laws: dict[int, Law] = {0: law, 1: law, 2: Laplace(1.0)}
    found = cost_of(shifts, laws, Box("d changes", ((-1, (exact(0), exact(1))),)))
    assert found is not None
    assert found >= 4 * math.asinh(1 / 4) + beside
    assert found == pytest.approx(4 * math.asinh(1 / 2) + beside, rel=1e-12)


# -- lengths of shifts -------------------------------------------------------------------------------------------------


def cells(shifts: list[dict[Any, int]], sigmas: list[int], ranges: dict[Any, Any]) -> ShiftedCells:
    told = tuple((c, tuple(None if e is None else exact(e) for e in r)) for c, r in ranges.items())
    made = tuple(tuple(sorted((c, exact(x)) for c, x in s.items())) for s in shifts)
    return ShiftedCells("x", tuple(map(exact, sigmas)), told, (), made)  # type: ignore[arg-type]


def longest(shifts: list[dict[Any, int]], sigmas: list[int], ranges: dict[Any, Any]) -> Fraction:
    """The largest square of the length over all combinations of ends."""
    vertices = np.array(list(itertools.product(*ranges.values())), dtype=int)
    moved = vertices @ np.array([[s.get(c, 0) for c in ranges] for s in shifts]).T
    sizes = np.array([math.lcm(*sigmas) // sigma for sigma in sigmas])
    return Fraction(int(((moved * sizes) ** 2).sum(axis=1).max()), math.lcm(*sigmas) ** 2)


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 12])
def test_the_longest_shift_is_at_a_vertex(columns: int) -> None:
    """Exactly, for few columns; for many, each draw at its own worst end, which is no less than the truth."""
    rng = random.Random(columns)
    names = [("d", -1 - i) for i in range(columns)]
    for trial in range(6 if columns < 12 else 3):
        ranges: dict[Any, Any] = {c: sorted(rng.sample(range(-3, 4), 2)) for c in names} | {CONSTANT: (1, 1)}
        linked = {c: rng.choice([-2, -1, 1, 3]) for c in names}
        shifts = [linked | {CONSTANT: 2}, {c: rng.choice([-1, 1]) for c in names}, {}]
        if trial == 0:  # both draws are shifted most at one vertex
            ranges = dict.fromkeys(names, (-2, 1)) | {CONSTANT: (1, 1)}
            shifts = [dict.fromkeys(names, 1), dict.fromkeys(names, 2), {}]
        sigmas = [2, 3, 1]
        found, truth = cells(shifts, sigmas, ranges).mu_squared(), longest(shifts, sigmas, ranges)
        assert found is not None
        assert found >= truth
        apart = sum(longest([s], [sigma], ranges) for s, sigma in zip(shifts, sigmas, strict=True))
        assert found == (truth if columns < 10 or trial == 0 else apart)


def test_shifts_without_a_common_column_are_at_their_worst_together() -> None:
    """(2^2 + 3^2) / 4: an input each; without an end there is no bound."""
    ranges: dict[Any, Any] = {("d", -1): (-1, 2), ("d", -2): (-3, 1)}
    shifts: list[dict[Any, int]] = [{("d", -1): 1}, {("d", -2): 1}]
    assert cells(shifts, [2, 2], ranges).mu_squared() == exact(13) / 4
    for end in ((None, 1), (-1, None)):
        assert cells(shifts, [2, 2], ranges | {("d", -2): end}).mu_squared() is None
        assert cells(shifts[:1], [2], ranges | {("d", -2): end}).mu_squared() == 1


@pytest.mark.parametrize("wrong", [None, "shift", "constant", "another column"])
def test_a_shift_keeps_what_its_equations_say(wrong: str | None) -> None:
    """s0 + 2 s1 = -3 d + 1 with s0 = -d, s1 = -d + 1/2."""
    d, q = ("d", -1), ("q", -1)
    half = exact(1) / 2
    first, second = {d: exact(-1)}, {d: exact(-1), CONSTANT: half}
    if wrong == "shift":
        first[d] = exact(1)
    elif wrong == "constant":
        second[CONSTANT] = -half
    elif wrong is not None:
        second[q] = half
    equation = (((0, exact(1)), (1, exact(2))), ((d, exact(-3)), (CONSTANT, exact(1))))
    shifts = tuple(tuple(sorted(s.items())) for s in (first, second))
    assert ShiftedCells("x", (exact(1), exact(1)), (), (equation,), shifts).holds() == (wrong is None)


@pytest.mark.parametrize("inputs", [7, 8])
def test_costs_that_cannot_all_be_largest_at_once_are_added_corner_by_corner(inputs: int) -> None:
    """|d| and |1 - d| of one input cost 1 together at both ends, and 2 at their own worst ends."""
    names = [-1 - k for k in range(inputs)]
    box = Box("all move", tuple((v, (exact(0), exact(1))) for v in names))
    shifts = {2 * k: expr([(v, exact(1))], exact(0)) for k, v in enumerate(names)}
    shifts |= {2 * k + 1: expr([(v, exact(-1))], exact(1)) for k, v in enumerate(names)}
    assert cost_of(shifts, dict.fromkeys(shifts, Laplace(1.0)), box) == inputs

"""Remainders of noise: geometric series, sums over turns, and budgets."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from dpest.errors import BudgetExceeded
from dpest.laws.continuous import Gumbel, Logistic
from dpest.laws.discrete import Geometric, integers_law
from dpest.laws.wrapped import Wrapped, WrappedTable, residues, wrapped
from dpest.numerics.rationals import exact


@pytest.mark.parametrize("scale", [0.01, 0.3, 5.0, 40.0])
@pytest.mark.parametrize(("top", "bottom"), [(1, 2), (1, 7), (3, 7), (-2, 9), (1, 40)])
def test_remainders_of_two_sided_geometric_noise(scale: float, top: int, bottom: int) -> None:
    """With w = e^(-1 / b), k = r modulo q has the weight (w^r + w^(q - r)) / (1 - w^q), (1 + w^q) / (1 - w^q) for r = 0."""
    found = residues(Geometric(scale), exact(Fraction(top, bottom)))
    with mpmath.workdps(40):
        w = mpmath.exp(-1 / mpmath.mpf(scale))
        whole = (1 + w) / (1 - w)
        truth = {}
        for r in range(bottom):
            weight = (w**r + w ** (bottom - r)) if r else 1 + w**bottom
            truth[top * r % bottom] = mpmath.log(weight / (1 - w**bottom) / whole)
        assert set(found.points) == set(map(float, range(bottom)))
        for point in found.points:
            expected = float(truth[int(point)])
            assert float(found.log_density(point)) == pytest.approx(expected, abs=1e-13 * (1 + abs(expected)))


@pytest.mark.parametrize("first", [0, 10**6, -(10**6) - 10])
def test_remainders_of_bounded_noise(first: int) -> None:
    found = residues(integers_law(first, first + 10), exact(Fraction(1, 4)))
    counts = [sum(k % 4 == r for k in range(first, first + 11)) for r in range(4)]
    assert found.points == (0.0, 1.0, 2.0, 3.0)
    assert [math.exp(found.log_density(r)) for r in range(4)] == pytest.approx([n / 11 for n in counts], rel=1e-13)


def test_points_that_bounded_noise_does_not_reach_are_impossible() -> None:
    assert residues(integers_law(3, 5), exact(Fraction(1, 7))).points == (3.0, 4.0, 5.0)


@pytest.mark.parametrize(("first", "count"), [(0, 2**32), (-7, 10**9 + 3), (-(2**31), 2**40 + 1)])
@pytest.mark.parametrize(("top", "bottom"), [(1, 4), (3, 7), (-2, 9), (1, 1000)])
def test_remainders_of_very_many_equal_chances(first: int, count: int, top: int, bottom: int) -> None:
    """Whole turns give each residue once; what is left of the last turn is counted one by one."""
    found = residues(integers_law(first, first + count - 1), exact(Fraction(top, bottom)))
    counts = dict.fromkeys(range(bottom), count // bottom)
    for k in range(first, first + count % bottom):
        counts[top * k % bottom] += 1
    assert found.points == tuple(map(float, range(bottom)))
    for r, n in counts.items():
        assert float(found.log_density(r)) == pytest.approx(math.log(Fraction(n, count)), rel=1e-15)


def test_too_many_points() -> None:
    with pytest.raises(BudgetExceeded, match=r"more than 200000 points to be taken modulo 3"):
        residues(Geometric(600.0), exact(Fraction(1, 3)))
    residues(Geometric(400.0), exact(Fraction(1, 3)))


def _truth(base: str, scale: float, turn: float, place: float) -> float:
    """The density of (noise % turn) / turn at a place of the circle, as a sum over turns at 30 digits."""
    with mpmath.workdps(30):
        x, s, m = mpmath.mpf(place), mpmath.mpf(scale), mpmath.mpf(turn)

        def density(k: int) -> mpmath.mpf:
            z = (x + k) * m / s
            return m / s * (mpmath.sech(z / 2) ** 2 / 4 if base == "logistic" else mpmath.exp(-z - mpmath.exp(-z)))

        reach = int(80 * scale / turn) + 2
        return float(mpmath.log(mpmath.fsum(density(k) for k in range(-reach, reach + 1))))


@pytest.mark.parametrize(("scale", "fits"), [(10.0, True), (12.0, False)])
def test_noise_that_goes_around_too_often_is_refused(scale: float, fits: bool) -> None:
    """Of logistic noise, e^-720 of the mass lies beyond 720 scales on either side: 1440 scales of turns, 16000 at most."""
    law = Wrapped(Logistic(scale), exact(1))
    if fits:
        assert math.exp(float(law.log_density(0.5))) == pytest.approx(1.0, abs=1e-9)  # so wide that it is uniform
    else:
        with pytest.raises(BudgetExceeded, match="goes around more than 16000 times"):
            law.log_density(0.5)


def test_narrow_noise_far_from_zero_goes_around_a_few_times() -> None:
    base = SimpleNamespace(reach=lambda _: (1e6 - 3.0, 1e6 + 3.0), words=str)
    turns = Wrapped(base, exact(-1))._turns  # type: ignore[arg-type]
    assert turns[0] <= -1e6 - 4
    assert turns[-1] >= -1e6 + 3
    assert turns.size < 20


@pytest.mark.parametrize("law", [Logistic(1.0), Gumbel(0.5)], ids=["logistic", "gumbel"])
@pytest.mark.parametrize("turn", [2.0, 0.1, 8.0])
def test_noise_of_hundreds_of_turns_is_a_table(law: Logistic | Gumbel, turn: float) -> None:
    found = wrapped(law, 1 / exact(turn))
    assert isinstance(found, WrappedTable)
    for place in (0.0, 0.1, 0.5, 0.93, 1.0):
        truth = _truth(law.family, law.b, turn, place)
        assert abs(float(found.log_density(place)) - truth) <= found.error + float(found.noise(place, np.array(truth)))
    assert found.error < 1e-12


def test_mass_of_wrapped_noise_adds_up() -> None:
    found = wrapped(Logistic(1.0), exact(Fraction(1, 2)))
    ends = np.array([0.0, 0.2, 0.25, 0.7, 1.0])
    with mpmath.workdps(30):

        def below(x: float) -> mpmath.mpf:
            return mpmath.fsum(
                1 / (1 + mpmath.exp(-2 * (k + mpmath.mpf(x)))) - 1 / (1 + mpmath.exp(-2 * k)) for k in range(-40, 41)
            )

        truth = [float(mpmath.log(below(b) - below(a))) for a, b in itertools.pairwise(map(float, ends))]
    assert found.log_interval(ends[:-1], ends[1:]) == pytest.approx(truth, abs=1e-13)

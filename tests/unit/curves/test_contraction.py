"""Losses merged on a grid from below, against potentials in 40 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpest.curves.cells import Losses
from dpest.curves.contraction import _convex, _merged, _Sorted, contracted


def potential(mass: list[mpmath.mpf], loss: list[mpmath.mpf], log_t: mpmath.mpf) -> mpmath.mpf:
    """The sum of p (t - e^-loss)+."""
    t = mpmath.exp(log_t)
    return mpmath.fsum(p * (t - mpmath.exp(-x)) for p, x in zip(mass, loss, strict=True) if -x < log_t)


def random_losses(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Heavy single losses, dense ones, and a pile next to the smallest one: the edge of a subsampled step."""
    count = int(rng.integers(1, 40))
    kinds = [
        rng.uniform(-1, 1, count),
        -0.3 + rng.exponential(0.05, count),
        np.round(rng.uniform(-1, 1, count), 1),
        np.concatenate([[-1.0, 1.0], rng.normal(0, 0.2, count)]),
    ]
    loss = np.sort(kinds[int(rng.integers(len(kinds)))])
    mass = rng.exponential(1.0, loss.size) ** float(rng.choice([1, 3]))
    return loss, mass / mass.sum()


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_the_potential_is_never_above_the_one_that_was_given(seed: int, keep: bool) -> None:
    rng = np.random.default_rng(seed)
    loss, mass = random_losses(rng)
    step = float(rng.choice([0.003, 0.05, 0.4]))
    n = np.floor(loss / step).astype(np.int64)
    points, logs = _merged(_Sorted(n, loss - n * step, mass), step, keep)
    with mpmath.workdps(40):
        before = [mpmath.mpf(int(a)) * step + b for a, b in zip(n, loss - n * step, strict=True)], [mpmath.mpf(p) for p in mass]
        after = [mpmath.mpf(int(a)) * step for a in points], [mpmath.exp(mpmath.mpf(x)) for x in logs]
        places = [-x for x in (*before[0], *after[0])]
        places += [max(places) + 1, max(places) + 30, *(0.5 * (a + b) for a, b in zip(places[:-1], places[1:], strict=True))]
        for place in places:
            assert potential(after[1], after[0], place) <= potential(before[1], before[0], place)


def dense(count: int = 4000) -> Losses:
    """The losses of a step of subsampled noise: a pile next to the smallest one, q = 0.001, sigma = 0.8."""
    x = np.linspace(-6, 6, count)
    logs = -0.5 * x**2
    loss = np.log1p(-0.001 + 0.001 * np.exp((2 * 0.8 * x - 1) / (2 * 0.8**2)))
    return Losses(logs - np.log(np.exp(logs).sum()), loss, 0.0)


@pytest.mark.parametrize("step", [6.4e-5, 1.6e-5])
def test_the_expectation_is_kept_where_losses_pile_up_at_the_smallest(step: float) -> None:
    """What k parts lose of their mean is k times what one loses: it must be of the order of the step's square."""
    given = dense()
    n, log_mass, _ = contracted(given, step, 0.0, 10.0)
    p, q = np.exp(given.log_mass), np.exp(log_mass)
    lost = float(p @ np.exp(-given.loss) / p.sum() - q @ np.exp(-n * step) / q.sum())
    assert abs(lost) < 1e-11
    spread = float(p @ given.loss**2) - float(q @ (n * step) ** 2)
    assert 0 < spread < step**2


def test_the_sharper_of_two_lists_is_taken() -> None:
    """A heavy single loss at the bottom: keeping the expectation there would move it by half a step."""
    loss = np.array([-1.05, 0.0, 1.0])
    given = Losses(np.log([0.4, 0.2, 0.4]), loss, 0.0)
    step = 0.1
    best = contracted(given, step, 0.0, 2.0)
    rest = np.array([0.05, 0.0, 0.0])
    each = [_merged(_Sorted(np.array([-11, 0, 10]), rest, np.array([0.4, 0.2, 0.4])), step, keep) for keep in (False, True)]
    moments = [float(np.exp(logs) @ np.exp(2.0 * step * n)) for n, logs in each]
    assert float(np.exp(best[1]) @ np.exp(2.0 * step * best[0])) == pytest.approx(max(moments), rel=1e-9)


def test_nothing_between_the_points_stays_as_it_is() -> None:
    given = Losses(np.log([0.25, 0.75]), np.array([-0.2, 0.3]), 0.0)
    n, logs, guard = contracted(given, 0.1, 0.0)
    assert n.tolist() == [-2, 3]
    np.testing.assert_allclose(np.exp(logs), [0.25, 0.75], rtol=1e-12)
    assert np.exp(logs).sum() <= 1.0
    assert 0 < guard < 1e-12
    assert math.isfinite(float(contracted(given, 7.0, 0.0)[1].sum()))


def largest_convex(x: list[mpmath.mpf], values: list[mpmath.mpf]) -> list[mpmath.mpf]:
    """The largest convex function below given values, at every place: the lowest chord that passes it."""
    out = []
    for j, place in enumerate(x):
        chords = [values[j]]
        for i in range(j):
            for k in range(j + 1, len(x)):
                share = (place - x[k]) / (x[i] - x[k])
                chords.append(share * values[i] + (1 - share) * values[k])
        out.append(min(chords))
    return out


@pytest.mark.parametrize("seed", range(40))
def test_points_with_negative_masses_leave_the_largest_convex_potential(seed: int) -> None:
    rng = np.random.default_rng(seed)
    step = float(rng.choice([0.01, 0.3, 2.0]))
    knots = np.sort(rng.choice(60, int(rng.integers(3, 12)), replace=False)) - 20
    mass = rng.exponential(1.0, knots.size) * rng.choice([1.0, 1.0, -0.4], knots.size)
    mass[0], mass[-1] = abs(mass[0]) + 2.0, abs(mass[-1]) + 2.0
    found = _convex(knots, mass, step)
    if found is None:
        assert (mass < 0).any()
        return
    assert (found >= 0).all()
    with mpmath.workdps(40):
        x = [mpmath.exp(-mpmath.mpf(int(k)) * step) for k in knots]
        losses = [mpmath.mpf(int(k)) * step for k in knots]
        before, after = ([potential([mpmath.mpf(p) for p in m], losses, mpmath.log(t)) for t in x] for m in (mass, found))
        wanted = largest_convex(x, before)
        total = abs(mpmath.fsum(map(abs, mass.tolist())))
        for place, value, most in zip(x, after, wanted, strict=True):
            if min(before) >= 0 and found[0] > 0:
                assert abs(value - most) <= 1e-13 * total * max(place, x[0])
            assert value <= most + 1e-40


def test_a_potential_that_would_be_negative_is_none() -> None:
    assert _convex(np.array([0, 1, 2]), np.array([3.0, 1.0, -0.5]), 0.1) is None
    assert _convex(np.array([0, 1, 2]), np.array([3.0, -4.0, 0.5]), 0.1) is None
    first = _convex(np.array([0, 1, 2]), np.array([-0.5, 1.0, 2.0]), 0.1)  # only the slope beyond it is kept
    assert first is not None
    np.testing.assert_allclose(first, [0.0, 0.5, 2.0], rtol=1e-12)

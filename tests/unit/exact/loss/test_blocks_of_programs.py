"""Blocks of small traced programs: limits along directions, windows of repeating laws, kinks, places of limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

import dpest
from dpest.exact.inference.expressions import expr
from dpest.exact.loss import joint
from dpest.exact.loss.blocks import Block, Measures
from dpest.exact.loss.buckets import buckets
from dpest.exact.loss.far import UNKNOWN, Far
from dpest.exact.loss.joint import _declared, _promising
from dpest.exact.loss.line import line_kinks
from dpest.exact.loss.logs import Logs, Sup
from dpest.exact.loss.periodic import periodic
from dpest.exact.loss.proved import limit_along
from dpest.exact.loss.shift import moved_concave_sum
from dpest.numerics.rationals import exact
from dpest.trace.explore import trace


def block(mechanism: Callable[[float], Any], pair: tuple[float, float]) -> Block:
    """The only block with coordinates of a mechanism's output."""
    all_ = buckets(trace(mechanism, pair[0], {}), trace(mechanism, pair[1], {}), Measures())
    (found,) = [b for bucket in all_ for g in bucket.groups for s in g.strata for b in s.blocks if b.dimension]
    return found


# -- along a direction -------------------------------------------------------------------------------------------------


def summed(x: float) -> Any:
    own = dpest.laplace(2)
    z = dpest.laplace(1)
    return [x + z + own, z + dpest.laplace(3)]


def test_a_limit_along_a_direction_of_two_coordinates_that_share_noise() -> None:
    """Coordinates are z' = z + b and y - z' of y = x + z + a: with y = 0.1 fixed and z' on its way down only b's tail moves.

    The density comes to e^(z' / 3) times the integral of f_a(v) f_z(y - x - v) e^((x + v - y) / 3).
    """
    found = limit_along(block(summed, (0, 1)), np.array([0.3, -0.2]), np.array([-1.0, 1.0]))

    def part(x: float) -> Any:
        def f(v: Any) -> Any:
            return mpmath.exp(-abs(v) / 2 - abs(mpmath.mpf("0.1") - x - v) + (x + v) / 3)

        return mpmath.log(mpmath.quad(f, [-mpmath.inf, *sorted((0, mpmath.mpf("0.1") - x)), mpmath.inf]))

    truth = float(part(0) - part(1))
    assert found is not None
    for far, sign in zip(found, (1, -1), strict=True):
        assert far.limit is not None
        assert abs(far.limit - sign * truth) <= far.error + 1e-12
        assert sign * truth - 1e-12 <= far.upper <= sign * truth + 1e-9


def above_zero(x: float) -> Any:
    z = dpest.laplace(1)
    return [x + z + dpest.laplace(2), z + dpest.laplace(3)] if z > 0 else None


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_limit_of_integrals_over_the_shared_noise(side: float) -> None:
    """y = x + z + a far out, z + b fixed: only a's tail moves, and the ratio of x = 0 to x = 1 tends to e^(-+1/2)."""
    found = limit_along(block(above_zero, (0, 1)), np.array([0.3, -0.2]), np.array([0.0, side]))
    assert found is not None
    for far, sign in zip(found, (1, -1), strict=True):
        assert far.limit == pytest.approx(-sign * side / 2, abs=1e-11)
        assert far.upper == pytest.approx(-sign * side / 2, abs=1e-9)


def tail(values: list[float]) -> Logs:
    p = np.array(values)
    return Logs(np.zeros((len(p), 1)), p, np.zeros(len(p)), np.full(len(p), 1e-9))


def test_tails_that_are_worth_a_closer_look() -> None:
    """Those that grow, or move near the best value; not those that are flat up to their errors, or far below it."""
    top = Sup(1.0, 1.0, 1.0)
    assert _promising(tail([0.9, 0.95]), top)
    assert _promising(tail([1.0005, 0.9999]), top)
    assert _promising(tail([0.1, 0.2]), top)
    assert not _promising(tail([0.95, 0.9]), top)
    assert not _promising(tail([1.0, 1.0]), top)
    assert not _promising(tail([1.0, 1.0 - 1e-9]), top)  # less by no more than its error
    assert not _promising(tail([1.0, 1.0 + 1e-9]), top)
    assert _promising(tail([1.0, 1.0 + 1e-8]), top)
    assert _promising(tail([1.1, 1.1]), top)


@pytest.mark.parametrize("swap", [False, True])
def test_limits_that_are_declared(swap: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    law = SimpleNamespace(log=lambda y: (np.full(len(y), -3.0), np.zeros(len(y))))
    here: Any = SimpleNamespace(left=law, right=law, scale=1.0, widest=1.0, dimension=1)

    def declared(one: Far | None, two: Far) -> Sup | None:
        both = None if one is None else (two, one) if swap else (one, two)
        monkeypatch.setattr(joint, "limit_along", lambda *_: both)
        return _declared(here, np.zeros(1), np.ones(1), (math.inf,), swap)

    other = Far(7.0, 1e-3, 7.0)
    for nothing in (None, UNKNOWN, Far(None, 0.0, 3.0), Far(-math.inf, 0.0, 3.0)):
        assert declared(nothing, other) is None
    found = declared(Far(2.0, 1e-3, 5.0), other)
    assert found is not None
    assert (found.value, found.lower, found.upper) == pytest.approx((2.0, 1.999, 2.001))
    assert (found.at, found.limit, found.log_p, found.log_q) == ((math.inf,), True, -3.0, -3.0)
    endless = declared(Far(math.inf, 0.0, math.inf), other)
    assert endless is not None
    assert (endless.value, endless.lower, endless.upper) == (math.inf,) * 3


# -- laws that repeat themselves ---------------------------------------------------------------------------------------


def mass(k: int) -> float:
    a = math.exp(-1.0)
    return (1 - a) / (1 + a) * a ** abs(k)


@pytest.mark.parametrize("shift", [0.25, -0.7])
def test_a_window_holds_a_whole_period_beyond_where_the_law_repeats(shift: float) -> None:
    """x + 2 G + U(-1, 1): it repeats from |y| = 1 + |x| on, every 2."""
    found = periodic(block(lambda x: x + 2 * dpest.geometric(1) + dpest.uniform(-1, 1), (0, shift)))
    assert found is not None
    assert found.window >= 1 + abs(shift) + 2
    edge = float(found.window)
    for pieces, x in ((found.p, 0.0), (found.q, shift)):
        for y in np.linspace(-edge, edge, 57) + 1e-3:
            on = [p for p in pieces if p.active(exact(float(y)))]
            density = math.fsum(math.exp(p.log(np.array([y]), np.array([y]))[0][0]) for p in on)
            assert density == pytest.approx(math.fsum(mass(k) / 2 for k in range(-30, 31) if abs(y - x - 2 * k) < 1), rel=1e-12)


# -- places ------------------------------------------------------------------------------------------------------------


def test_a_law_without_kinks_is_looked_at_around_zero() -> None:
    side = SimpleNamespace(kinks=list)
    assert line_kinks(SimpleNamespace(left=side, right=side)).tolist() == [0.0]  # type: ignore[arg-type]
    some = SimpleNamespace(
        kinks=lambda: [expr(((-1, exact(2)),), exact(3)), expr((), exact(1)), expr(((-1, exact(-1)),), exact(0.5))]
    )
    assert line_kinks(SimpleNamespace(left=some, right=side)).tolist() == [-1.5, 0.5]  # type: ignore[arg-type]
    assert line_kinks(SimpleNamespace(left=side, right=some)).tolist() == [-1.5, 0.5]  # type: ignore[arg-type]


def test_where_the_ratio_of_moved_sums_grows_without_end() -> None:
    """Gaussian noise and a uniform draw: upwards for the larger input, downwards for the smaller."""
    found = moved_concave_sum(block(lambda x: x + dpest.gaussian(1) + dpest.uniform(0, 1), (0, 1)))
    assert found is not None
    assert (found.forward.value, found.forward.at, found.forward.limit) == (math.inf, (-math.inf,), True)
    assert (found.backward.value, found.backward.at, found.backward.limit) == (math.inf, (math.inf,), True)
    ended = moved_concave_sum(block(lambda x: x + dpest.uniform(0, 2) + dpest.uniform(0, 3), (0, 1)))
    assert ended is not None
    assert (ended.forward.value, ended.forward.limit) == (math.inf, False)
    assert 0 < ended.forward.at[0] < 1
    assert 5 < ended.backward.at[0] < 6

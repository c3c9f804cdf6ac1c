"""What an exact test needs: a mechanism, a pair, and the truth in both directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import dpest

INF = math.inf
E = math.e
ln = math.log


@dataclass(frozen=True)
class Case:
    """`truth` is (forward, backward): the suprema of ln P - ln P' and of ln P' - ln P."""

    mechanism: Callable[..., Any]
    left: Any
    right: Any
    truth: tuple[float, float]


def same(truth: float) -> tuple[float, float]:
    return truth, truth


def check(case: Case) -> dpest.Result:
    """Both directions to 1e-9, the truth inside the bracket, and the bracket narrow."""
    result = dpest.estimate(case.mechanism, (case.left, case.right), method="exact")
    (found,) = result.pairs
    truth = max(case.truth)
    assert (found.forward, found.backward) == pytest.approx(case.truth, rel=1e-9, abs=1e-12)
    own = 4e-15 * max(1.0, min(truth, 1e3))  # the rounding of the oracle's formula
    assert found.lower - own <= truth <= found.upper + own
    assert truth == INF or found.upper - found.lower <= 1e-9 * max(1.0, truth)
    return result


def laplace_cdf(z: float, scale: float = 1.0) -> float:
    """P(Laplace(scale) <= z)."""
    return math.exp(z / scale) / 2 if z < 0 else 1 - math.exp(-z / scale) / 2


def finite(p: dict[Any, float], q: dict[Any, float]) -> tuple[float, float]:
    """Both losses between two laws on few outputs."""

    def one_way(a: dict[Any, float], b: dict[Any, float]) -> float:
        return max(ln(m / b[k]) if b.get(k) else INF for k, m in a.items() if m)

    return one_way(p, q), one_way(q, p)


def geometric_mass(k: int, scale: float) -> float:
    """P(two-sided geometric == k)."""
    return math.tanh(1 / (2 * scale)) * math.exp(-abs(k) / scale)


def geometric_at_least(k: int, scale: float) -> float:
    """P(two-sided geometric >= k)."""
    r = math.exp(-1 / scale)
    return r**k / (1 + r) if k > 0 else 1 - r ** (1 - k) / (1 + r)

"""Mechanisms with known losses, written with dpest draws, for tests of sampling."""

from __future__ import annotations

import math
from typing import Any

import dpest

EPS = 0.1
NAN = math.nan


def svt1(queries: list[float]) -> tuple[Any, ...]:
    """Above threshold, cutoff 1: 0.0878011042170006 over the seven patterns at n = 10."""
    threshold = 0.5 + dpest.laplace(2 / EPS)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4 / EPS) >= threshold:
            return (0,) * i + (1,) + (NAN,) * (len(queries) - i - 1)
    return (0,) * len(queries)


def svt5(queries: list[float]) -> list[Any]:
    """No query noise: infinite."""
    threshold = 1 + dpest.laplace(2 / EPS)
    return [q >= threshold for q in queries]


def svt6(queries: list[float]) -> list[int]:
    """No cutoff: 0.42003154450669 over the seven patterns at n = 10."""
    threshold = 1 + dpest.laplace(2 / EPS)
    return [1 if q + dpest.laplace(2 / EPS) >= threshold else 0 for q in queries]


def numerical_svt(queries: list[float], eps: float = EPS) -> list[Any]:
    """Releases noisy values, cutoff 2: 0.0803154596 over the seven patterns at n = 10, 0.7955012069 with eps = 1."""
    threshold = 1 + dpest.laplace(3 / eps)
    out: list[Any] = []
    passed = 0
    for q in queries:
        if passed == 2:
            out.append(NAN)
        elif q + dpest.laplace(12 / eps) >= threshold:
            out.append(q + dpest.laplace(6 / eps))
            passed += 1
        else:
            out.append(0.0)
    return out


def prefix_sum(values: list[float]) -> Any:
    """Running sums of noisy values: the L1 distance times eps."""
    return dpest.cumsum([v + dpest.laplace(1 / EPS) for v in values])


def noisy_histogram_wrong_scale(values: list[float]) -> list[Any]:
    """Noise of scale eps instead of 1/eps: 10 for inputs that differ by 1."""
    return [v + dpest.laplace(EPS) for v in values]


def randomised_response(bit: int) -> Any:
    """ln 3."""
    return dpest.where(dpest.bernoulli(0.5) > 0, bit, dpest.bernoulli(0.5))


def permanent_bits(bits: tuple[int, ...]) -> list[Any]:
    """RAPPOR with f = 0.75, p = 0.45, q = 0.55 on given Bloom bits: the sum over differing bits of ln(P1 / P0)."""
    kept = 0.25
    shown = [0.55 * (kept + 0.375) + 0.45 * 0.375, 0.55 * 0.375 + 0.45 * (kept + 0.375)]
    return [dpest.bernoulli(shown[0] if bit else shown[1]) for bit in bits]


def permanent_bits_loss(differing: int) -> float:
    """The loss when as many bits differ."""
    one, zero = 0.55 * 0.625 + 0.45 * 0.375, 0.55 * 0.375 + 0.45 * 0.625
    return differing * max(math.log(one / zero), math.log((1 - zero) / (1 - one)))

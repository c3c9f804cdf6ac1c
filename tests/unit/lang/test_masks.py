"""`k & 7` of a number with very many values is its remainder, and no path for each of them."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError


def _odd(x: int) -> Any:
    return (x + dpest.geometric(1.0)) & 1


def _odd_is_likely(x: int) -> float:
    """P(x + K is odd) for P(K = k) in proportion to e^-|k|, summed."""
    law = {k: math.exp(-abs(k)) for k in range(-800, 801)}
    return sum(w for k, w in law.items() if (x + k) % 2) / sum(law.values())


def _last_byte(x: int) -> Any:
    return (x + random.getrandbits(16)) & 255


def _negative(x: int) -> Any:
    return (random.randint(-200, 55) + 3 * x) & 127, random.getrandbits(8) & 0


def _law_of_negative(x: int) -> dict[int, Fraction]:
    law: dict[int, Fraction] = {}
    for k in range(-200, 56):
        at = (k + 3 * x) & 127
        law[at] = law.get(at, Fraction(0)) + Fraction(1, 256)
    return law


def _loss(p: dict[int, Fraction], q: dict[int, Fraction]) -> float:
    return max(abs(math.log(p[k] / q[k])) for k in p) if p.keys() == q.keys() else math.inf


ODD = [_odd_is_likely(x) for x in (0, 1)]
CASES: list[tuple[Callable[[int], Any], float]] = [
    (_odd, max(abs(math.log(ODD[0] / ODD[1])), abs(math.log((1 - ODD[0]) / (1 - ODD[1]))))),
    (_last_byte, 0.0),
    (_negative, _loss(_law_of_negative(0), _law_of_negative(1))),
]


@pytest.mark.parametrize(("mechanism", "truth"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_last_bits(mechanism: Callable[[int], Any], truth: float) -> None:
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert math.isclose(found.lower, found.upper, rel_tol=1e-9, abs_tol=1e-12)


def _seeded_by_two_bits(x: float) -> Any:
    return x + np.random.default_rng(secrets.randbits(32) & 3).laplace()


def test_a_seed_of_two_bits_is_refused_at_once() -> None:
    with pytest.raises(DpestError):
        dpest.estimate(_seeded_by_two_bits, (0, 1), method="exact")

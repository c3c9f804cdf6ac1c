"""`Fraction`, `Decimal` and `np.float32` of random values, methods of whole numbers, and fractions as outputs: closed forms."""

from __future__ import annotations

import decimal
import fractions
import hashlib
import math
import random
import secrets
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError

RNG = np.random.default_rng()


def _unbiased(bit: int) -> Any:
    """Warner's estimator of one bit, from coins in whole numbers."""
    p = fractions.Fraction(3, 4)
    said = bit if secrets.randbelow(p.denominator) < p.numerator else 1 - bit
    return (fractions.Fraction(said) - (1 - p)) / (2 * p - 1)


def _thirds(x: int) -> Any:
    return [Fraction(x + random.randrange(3), 3), "of all"]


def _third_or_half(x: int) -> Any:
    return Decimal(1) / 3 if random.random() < 0.25 + x / 2 else decimal.Decimal("0.5")


def _fraction_and_double(x: int) -> Any:
    """A fraction and a float that are equal are one output."""
    return (Fraction(1, 2) if random.random() < 0.5 else 0.25) if x else (0.5 if random.random() < 0.5 else Decimal("0.25"))


def _decimal_of_a_draw(x: int) -> Any:
    return min(Decimal(random.randint(0, 3)) + x, 3)


def _tail_of_single(x: float) -> Any:
    return np.float32(x + RNG.exponential(2.0)) > 3.0


def _single(x: float) -> Any:
    return np.float32(x + RNG.laplace(0, 2.0)) * np.float32(0.5)


def _single_weights(x: float) -> Any:
    weights = np.asarray([x, 1.0], dtype=np.float32)
    return [np.float32(w + RNG.laplace(0, 4.0)).item() for w in weights]


def _hashed(x: int) -> Any:
    """Local hashing with a drawn seed: one bit, told with probability 3/4."""
    seed = secrets.randbelow(6)
    bit = hashlib.sha256(seed.to_bytes(2, "big") + bytes([x])).digest()[0] % 2
    return seed, bit if random.random() < 0.75 else 1 - bit


def _parity(x: int) -> Any:
    """Hadamard response: the parity of the bits that a drawn row and the value share."""
    row = random.randrange(4)
    parity = (row & (x + 1)).bit_count() % 2
    return row, parity if random.random() < 0.75 else 1 - parity


def _length(x: int) -> Any:
    return (random.randrange(4) ^ (x + 1)).bit_length()


CASES: list[tuple[Callable[[Any], Any], float]] = [
    (_hashed, math.log(3)),  # some seed tells 0 and 1 apart, as is seen below
    (_parity, math.log(3)),
    (_length, 0.0),  # row ^ 1 and row ^ 2 are uniform both
    (_unbiased, math.log(3)),
    (_thirds, math.inf),
    (_third_or_half, math.log(3)),
    (_fraction_and_double, 0.0),
    (_decimal_of_a_draw, math.inf),
    (_tail_of_single, 0.5),  # P(> 3) is e^-1.5 and e^-1
    (_single, 0.5),
    (_single_weights, 0.25),
]


@pytest.mark.parametrize(("mechanism", "truth"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_values_of_other_types_tell_what_they_are(mechanism: Callable[[Any], Any], truth: float) -> None:
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth <= found.upper
    assert found.lower == found.upper or math.isclose(found.lower, found.upper, rel_tol=1e-9, abs_tol=1e-12)


def test_some_seed_tells_the_inputs_apart() -> None:
    first = [[hashlib.sha256(seed.to_bytes(2, "big") + bytes([x])).digest()[0] % 2 for seed in range(6)] for x in (0, 1)]
    assert first[0] != first[1]


def _single_of_points(x: int) -> Any:
    """0.1 and float32(0.1) are two numbers."""
    return np.float32(0.1 * (x + dpest.geometric(1.0))) > 0.1


@pytest.mark.parametrize("mechanism", [_single_of_points, lambda x: Decimal(x + RNG.normal()) > Decimal("0.5")])
def test_what_has_no_answer_is_refused(mechanism: Callable[[Any], Any]) -> None:
    with pytest.raises(DpestError):
        dpest.estimate(mechanism, (0, 1), method="exact")

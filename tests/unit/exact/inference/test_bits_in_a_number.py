"""Bits of many people in one number, as reports of sketches hold them: the number tells each of them."""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import dpest

ONE = [0, 1] * 8
OTHER = [1, *ONE[1:]]


def _flipped(b: int) -> Any:
    return b ^ (random.random() < 0.25)


def _added(bits: list[int]) -> Any:
    return sum(_flipped(b) << i for i, b in enumerate(bits))


def _shifted(bits: list[int]) -> Any:
    out = 0
    for b in bits:
        out = (out << 1) | _flipped(b)
    return out


def _put_in(bits: list[int]) -> Any:
    out = 0
    for i, b in enumerate(bits):
        out |= (b if random.random() < 0.75 else 1 - b) << i
    return out


def _set(bits: list[int]) -> Any:
    out = 0
    for i, b in enumerate(bits):
        if random.random() < (0.75 if b else 0.25):
            out |= 1 << i
    return out


@pytest.mark.parametrize("mechanism", [_added, _shifted, _put_in, _set])
def test_sixteen_bits_in_one_number(mechanism: Callable[[list[int]], Any]) -> None:
    found = dpest.estimate(mechanism, (ONE, OTHER), method="exact")
    assert found.lower <= math.log(3) <= found.upper  # one bit of sixteen independent ones differs
    assert math.isclose(found.lower, found.upper, rel_tol=1e-9)


OPERATIONS = [operator.or_, operator.xor, operator.and_]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("factor", "offset"), [(4, 0), (4, 2), (2, 0), (-4, 0), (1, 8), (4, -1)])
def test_whole_numbers_bit_by_bit(operation: Callable[[int, int], int], factor: int, offset: int) -> None:
    """Bits above those of the other number, among them, and of negative numbers: against all pairs of values."""

    def mechanism(x: int) -> Any:
        return operation(factor * random.randint(-1, 2) + offset, random.randint(0, 2) + x) % 3

    laws: list[dict[int, Fraction]] = [{}, {}]
    for x, (a, b) in itertools.product((0, 1), itertools.product(range(-1, 3), range(3))):
        out = operation(factor * a + offset, b + x) % 3
        laws[x][out] = laws[x].get(out, Fraction(0)) + Fraction(1, 12)
    same = laws[0].keys() == laws[1].keys()
    truth = max(abs(math.log(laws[0][k] / laws[1][k])) for k in laws[0]) if same else math.inf
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.lower == found.upper or math.isclose(found.lower, found.upper, rel_tol=1e-9, abs_tol=1e-12)

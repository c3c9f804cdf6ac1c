"""Bits and digits of sixteen people, put together as a text: each is one of several texts, and not a path for each."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest

RNG = np.random.default_rng()
ONE = [0, 1] * 8
OTHER = [1, *ONE[1:]]


def _bits(items: list[int]) -> Any:
    return "".join(str(b ^ (random.random() < 0.25)) for b in items)


def _bits_in_f_strings(items: list[int]) -> Any:
    return "".join(f"{b ^ (random.random() < 0.25)}" for b in items)


def _mapped(items: list[int]) -> Any:
    return "".join(map(str, [b if random.random() < 0.75 else 1 - b for b in items]))


def _of_an_array(items: list[int]) -> Any:
    return "".join(str(int(b)) for b in np.array(items) ^ (RNG.random(len(items)) < 0.25))


def _digits(items: list[int]) -> Any:
    return "-".join(f"{random.randint(0, 2) if random.random() < 0.75 else b}" for b in items)


def _counted(items: list[int]) -> Any:
    return sum(1 for b in items if str(b ^ (random.random() < 0.25)) == "1")


def _count_law(items: list[int]) -> list[Fraction]:
    law = [Fraction(1)]
    for b in items:
        yes = Fraction(3, 4) if b else Fraction(1, 4)
        law = [yes * below + (1 - yes) * here for below, here in zip([Fraction(0), *law], [*law, Fraction(0)], strict=True)]
    return law


COUNTS = max(abs(math.log(p / q)) for p, q in zip(_count_law(ONE), _count_law(OTHER), strict=True))
CASES: list[tuple[Callable[[list[int]], Any], float]] = [
    (_bits, math.log(3)),
    (_bits_in_f_strings, math.log(3)),
    (_mapped, math.log(3)),
    (_of_an_array, math.log(3)),
    (_digits, math.log(2)),  # 1/2 for the true digit, 1/4 for each other one
    (_counted, COUNTS),
]


def _letters(word: str) -> Any:
    return "".join(ch if random.random() < 0.5 else random.choice("aeiou".replace(ch, "")) for ch in word)


def test_letters_with_methods_of_strings_inside() -> None:
    found = dpest.estimate(_letters, ("aeiou" * 3, "ieiou" + "aeiou" * 2), method="exact")
    assert found.lower <= math.log(4) <= found.upper  # 1/2 for the letter itself, 1/8 for each of the four others
    assert math.isclose(found.lower, found.upper, rel_tol=1e-9)


@pytest.mark.parametrize(("mechanism", "truth"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_digits_of_many_people(mechanism: Callable[[Any], Any], truth: float) -> None:
    found = dpest.estimate(mechanism, (ONE, OTHER), method="exact")
    assert found.lower <= truth <= found.upper
    assert math.isclose(found.lower, found.upper, rel_tol=1e-9)

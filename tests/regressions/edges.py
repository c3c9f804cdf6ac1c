"""Wrong answers where floating-point arithmetic, types or the sign of zero decide, mostly at points that are rarely drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from mpmath import mp

from tests.regressions.case import Case, Refusal
from tests.regressions.discrete import enumerated, formula

RARE = 1e-6  # a point with this weight is not met in the few dozen runs that compare a trace with the program
MAY = Refusal.ALLOWED


def cases() -> Iterator[Case]:
    """All of them."""
    yield from signs_of_zero()
    yield from sums_rounded_once()
    yield from digits()
    yield from ends_of_doubles()
    yield from exact_types()


def _sign(x: Any, d: Any, wide: int, unit: Any) -> Any:
    return math.copysign(1.0, unit * (x + d.integers(-wide, wide)))


def _rare_sign(x: Any, d: Any) -> Any:
    k = d.categorical([0.5, RARE, 0.5 - RARE] if x else [0.25, RARE, 0.75 - RARE]) - 1
    return math.copysign(2.0, k)


def signs_of_zero() -> Iterator[Case]:
    for wide in (5000, 500_000):
        yield formula(f"copysign of an int that may be 0, {wide}", partial(_sign, wide=wide, unit=1), (wide, wide + 1), 0)
    yield enumerated("copysign of a rare 0", _rare_sign, (0, 1))
    yield enumerated("copysign of small ints", partial(_sign, wide=2, unit=1), (0, 1))
    yield enumerated("copysign of -0.0", partial(_sign, wide=2, unit=-0.5), (0, 1), refusal=MAY)
    yield enumerated("copysign of -0.0, rarely", partial(_sign, wide=300, unit=-1.0), (300, 301), refusal=MAY)


def _all_tenths(x: Any, d: Any) -> Any:
    return x if math.fsum([0.1 * d.bernoulli(0.1) for _ in range(10)]) == 1 else 5


def _tenths(x: Any, d: Any) -> Any:
    return math.fsum([0.1 * d.bernoulli(0.5) for _ in range(3)] + [0.1 * x]) > 0.3


def sums_rounded_once() -> Iterator[Case]:
    """math.fsum of ten tenths is 1, their sum is not."""
    yield formula("fsum of ten tenths", _all_tenths, (0, 1), mp.inf)
    yield enumerated("fsum of three tenths", _tenths, (0, 1))


def _halves_of_cents(x: Any, d: Any, unit: float) -> Any:
    return round(x + d.integers(0, 9) * unit, 2)


def _rare_digit(x: Any, d: Any) -> Any:
    k = d.categorical([0.5, 0.35 if x else 0.25, RARE, 0.15 - RARE if x else 0.25 - RARE])
    return round(k * 0.05 + 0.05, 1)


def digits() -> Iterator[Case]:
    """round(2.675, 2) is 2.67: the double is below the tie."""
    for unit, pair in [(0.005, (0, 0.5)), (0.005, (2.67, 2.675)), (0.015, (1.005, 1.015))]:
        yield enumerated(f"round(x + {unit} * integers, 2), {pair}", partial(_halves_of_cents, unit=unit), pair)
    yield enumerated("round(x, 1) at a rare tie", _rare_digit, (0, 1))


def _overflow(x: Any, d: Any) -> Any:
    return x if np.exp(d.categorical([0.5, 0.5 - RARE, RARE]) * 500.0) == np.inf else 5


def _no_overflow(x: Any, d: Any) -> Any:
    best, k = math.inf, np.exp(1.0 * (x + d.integers(0, 3)))
    return k < best


def _product(x: Any, d: Any, factor: float) -> Any:
    return (x + d.integers(0, 2)) * factor * factor


def _large_product(x: Any, d: Any, factor: float) -> Any:
    return x if d.integers(0, 2) * factor * factor > 1e308 else 5


def ends_of_doubles() -> Iterator[Case]:
    yield formula("exp that overflows rarely", _overflow, (0, 1), mp.inf, refusal=MAY)
    yield formula("exp below infinity", _no_overflow, (0, 1), 0, refusal=MAY)
    yield formula("products that are all 0.0", partial(_product, factor=1e-200), (0, 1), 0, refusal=MAY)
    yield formula("products of 1e-150", partial(_product, factor=1e-150), (0, 1), mp.inf)
    yield formula("a product beyond doubles", partial(_large_product, factor=1e200), (0, 1), mp.inf, refusal=MAY)


def _exactly_int(x: Any, d: Any) -> Any:
    k = d.integers(0, 2) + x
    return k if type(k) is int else 99


def _class_is_float(x: Any, d: Any) -> Any:
    z = d.uniform(0, 1) + x
    return z > 0.5 if z.__class__ is float else None


def exact_types() -> Iterator[Case]:
    yield formula("type(k) is int", _exactly_int, (0, 1), mp.inf, refusal=MAY)
    yield formula("the class of a float", _class_is_float, (0, 1), mp.inf, refusal=MAY)

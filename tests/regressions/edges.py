"""Wrong answers where floating-point arithmetic, types or the sign of zero decide, mostly at points that are rarely drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy import special

from tests.oracles import families
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
    yield from squares()
    yield from bits_of_counts()
    yield from ends_of_functions()


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


def _bits(x: Any, d: Any, written: str) -> Any:
    count = int(d.laplace(1) + x > 0)
    values = {"sum": count + 0, "max": max(count, 0), "rounded": round(count / 2 + 0.125), "xor": 1 ^ (count ^ 1)}
    return ~values.get(written, 1 if count else 0) > -2


def bits_of_counts() -> Iterator[Case]:
    """~0 is -1 and ~1 is -2, however the 0 or 1 was made; only of truth values `~` is `not`."""
    z = families.laplace(1)
    chances = [z.above(-x) for x in (0, 1)]
    for written in ("sum", "max", "rounded", "choice", "xor"):
        yield formula(f"~ of a count of one, {written}", partial(_bits, written=written), (0, 1), _of_two(chances))


def _square_above(x: Any, d: Any, low: int, root: int) -> Any:
    return np.clip(x + d.laplace(1), low, 3) ** 2 > root**2


def _square_or_coin(x: Any, d: Any, low: int, root: int) -> Any:
    return int(np.clip(x + d.laplace(1), low, 3) ** 2 > root**2) == d.bernoulli(0.35)


def _roots(x: Any, d: Any, low: int, root: int) -> Any:
    with np.errstate(invalid="ignore"):
        return np.sqrt(max(x + d.laplace(1), low)) <= root


def squares() -> Iterator[Case]:
    """An end of a clipped value is no value of its own: where its square stands must not decide the square of the rest."""
    z = families.laplace(1)
    for low, root, pair in [(-2, 1, (0, 1)), (-2, 1, (1, 1.5)), (-2, 2, (0, 1)), (-1, 2, (0, 1)), (-3, 1, (0, -0.5))]:
        above = [z.above(root - x) + (z.below(-root - x) if root < -low else 0) for x in pair]
        coins = [p * mpf(0.35) + (1 - p) * (1 - mpf(0.35)) for p in above]
        words = f"clip to {low}, root {root}, {pair}"
        yield formula(f"square, {words}", partial(_square_above, low=low, root=root), pair, _of_two(above))
        yield formula(f"square beside a coin, {words}", partial(_square_or_coin, low=low, root=root), pair, _of_two(coins))
        roots = [z.mass(-x, root**2 - x) for x in pair]
        yield formula(f"square root, {words}", partial(_roots, low=low, root=root), pair, _of_two(roots))


def _rounded_to_its_end(x: Any, d: Any, function: Any, end: float) -> Any:
    return function(x + d.laplace(1)) == end


def ends_of_functions() -> Iterator[Case]:
    """Doubles are at the end of such a function far before infinity, and the program sees them there."""
    z = families.laplace(1)
    for name, function, end in (("tanh", np.tanh, 1.0), ("expit", special.expit, 1.0), ("expm1", np.expm1, -1.0)):
        at = _first_at(function, end)
        for pair in ((0, 1), (0.5, 0.25)):
            chances = [z.above(at - x) if at > 0 else z.below(at - x) for x in pair]
            run = partial(_rounded_to_its_end, function=function, end=end)
            yield formula(f"{name} of noise is {end:g}, {pair}", run, pair, _of_two(chances))


def _first_at(function: Any, end: float) -> mpf:
    """Where a function's doubles come to an end of its range, by halves."""
    inside, outside = 0.0, 40.0 if function(40.0) == end else -40.0
    for _ in range(80):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if function(middle) == end else (middle, outside)
    return mpf(outside)


def _of_two(chances: Sequence[Any]) -> Any:
    """The loss of an answer that is yes or no, from the chance of yes under both inputs."""
    p, q = chances
    return max(abs(mp.log(p / q)), abs(mp.log((1 - p) / (1 - q))))

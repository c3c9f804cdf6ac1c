"""The epsilon at which a decreasing curve reaches a delta."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpest.numerics.bracket import Bracketed

_MOST = 80  # steps of a search that halves its interval, or makes its step four times as long, at worst
DeltaOf = Callable[[float], Bracketed]


def smallest_epsilon(delta_of: DeltaOf, delta: float, guess: tuple[float, float], end: float) -> Bracketed:
    """The smallest epsilon in [0, end] with delta_of(epsilon) <= delta, from a guess of it and of the slope of -ln delta.

    The middle comes from secants of ln delta, kept inside what is known. The lower end is an epsilon at which the curve
    is surely above delta, the upper end one at which it is surely not.
    """
    zero = delta_of(0.0)
    if zero.upper <= delta:
        return Bracketed(0.0, 0.0, 0.0)
    if zero.lower <= delta:
        upper = _above(delta_of, delta, 0.0, 1e-12, end)
        return Bracketed(min(0.5 * upper, end), 0.0, upper)
    middle, slope = _middle(delta_of, delta, guess, end)
    found = delta_of(middle)
    off = abs(_log_ratio(found.upper, delta)) + abs(_log_ratio(delta, found.lower))
    step = max(4e-16 * middle, 1.05 * off / slope)
    return Bracketed(middle, _below(delta_of, delta, middle, step), _above(delta_of, delta, middle, step, end))


def _middle(delta_of: DeltaOf, delta: float, guess: tuple[float, float], end: float) -> tuple[float, float]:
    """Where the middle of the bracket reaches delta, and how steep -ln delta is there.

    Secants are taken in u = -ln(1 - x / end): towards a largest loss delta falls like a power of the distance from it.
    """
    scale = end if end < math.inf else 0.0
    low, high = 0.0, end
    x = min(max(guess[0], 0.0), 0.5 * end)
    slope = guess[1] * _stretch(x, scale)
    before: tuple[float, float] | None = None
    for turn in range(_MOST):
        found = delta_of(x)
        f = math.log(found / delta) if found > 0 else -math.inf
        low, high = (x, high) if f > 0 else (low, x)
        u = _unbounded(x, scale)
        if before is not None and math.isfinite(f) and u != before[0] and f != before[1]:
            slope = max(abs((f - before[1]) / (u - before[0])), 1e-12)
        if abs(f) <= max(1e-13, 0.2 * abs(_log_ratio(found.upper, found.lower))) or high - low <= 4e-16 * min(high, 1e300):
            break
        before = (u, f) if math.isfinite(f) else before
        x = _bounded(u + f / slope, scale) if math.isfinite(f) else -1.0
        if not low < x < high or turn % 10 == 9:
            x = 0.5 * (low + high) if high < math.inf else 2 * max(low, 1.0)
    return x, slope / _stretch(x, scale)


def _unbounded(x: float, scale: float) -> float:
    return -math.log1p(-x / scale) if scale > 0 and x < scale else x


def _bounded(u: float, scale: float) -> float:
    return scale * -math.expm1(-u) if scale and u > -700 else u


def _stretch(x: float, scale: float) -> float:
    """dx / du."""
    return max(scale - x, 1e-16 * scale) if scale else 1.0


def _above(delta_of: DeltaOf, delta: float, x: float, step: float, end: float) -> float:
    for _ in range(_MOST):
        y = min(x + step, end)
        if delta_of(y).upper <= delta:
            return y
        if y >= end:
            return math.inf
        step *= 4
    return math.inf


def _below(delta_of: DeltaOf, delta: float, x: float, step: float) -> float:
    for _ in range(_MOST):
        y = x - step
        if y <= 0:
            return 0.0
        if delta_of(y).lower > delta:
            return y
        step *= 4
    return 0.0


def _log_ratio(a: float, b: float) -> float:
    return math.log(a / b) if a > 0 and b > 0 else 1.0

"""The log ratio of two sums of pieces along a half-line, from the tails that they declare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpest.exact.inference.rays import Tail
from dpest.laws.asymptote import Asymptote, Burst
from dpest.numerics.logspace import log_sum
from dpest.numerics.rationals import Rational


@dataclass(frozen=True)
class Far:
    """What the log ratio tends to (None where that is not known), its error, and a bound from the start on."""

    limit: float | None
    error: float
    upper: float


UNKNOWN = Far(None, 0.0, math.inf)
_KNOWN = 0.5  # the relative error from which on a tail's constant counts as not known


def far(p: Sequence[Tail | None], q: Sequence[Tail | None], start: float) -> Far:
    """ln (sum of p) - ln (sum of q) for all t >= start; unknown parts of q only make it smaller."""
    if not p:
        return Far(-math.inf, 0.0, -math.inf)
    known = [t for t in q if t is not None]
    if not known or any(t is None for t in p):
        return UNKNOWN
    slowest = known[0]
    for t in known[1:]:
        order = heavier(t.asymptote, slowest.asymptote)
        if order is None:
            return UNKNOWN
        slowest = t if order > 0 else slowest
    leading = [t for t in known if t.asymptote.order == slowest.asymptote.order]
    return _against(list(p), leading, len(known) == len(q), start)


def _against(p: Sequence[Tail | None], leading: list[Tail], complete: bool, start: float) -> Far:
    star = leading[0].asymptote
    tops, alike = [], []
    for t in p:
        assert t is not None
        order = heavier(t.asymptote, star)
        if order is None:
            return UNKNOWN
        if order > 0:
            return Far(math.inf, 0.0, math.inf) if complete else UNKNOWN
        if order == 0:
            alike.append(t)
            tops.append(t.asymptote.constant + t.high + t.error)
        elif _falls(t.asymptote, star, start):
            tops.append(_above(t.asymptote, star, start) + t.high + t.error)
        else:
            return UNKNOWN
    below = float(log_sum(np.array([t.asymptote.constant + t.low - t.error for t in leading])))
    upper = float(log_sum(np.array(tops))) - below if max(tops) < math.inf and below > -math.inf else math.inf
    limit = None
    if complete:
        parts = [float(log_sum(np.array([t.asymptote.constant for t in side]))) for side in (alike, leading)]
        limit = parts[0] - parts[1] if alike else -math.inf
    error = max((t.error for t in (*alike, *leading)), default=0.0) * 2
    if not error < _KNOWN:  # a constant that was not worked out is no limit
        return UNKNOWN
    return Far(limit, error, upper)


def _above(a: Asymptote, b: Asymptote, start: float) -> float:
    """a(t) - b(t), and the constant of b: double exponentials that both have cancel before they are worked out."""
    if sorted(a.bursts) == sorted(b.bursts):
        a, b = replace(a, bursts=()), replace(b, bursts=())
    return a.at(start) - b.at(start) + b.constant


def heavier(a: Asymptote, b: Asymptote) -> int | None:
    """1 where a decays more slowly than b, 0 where they decay alike, -1 else; None where it cannot be told."""
    burst = _bursts(a.bursts, b.bursts)
    if burst is None or burst:
        return burst
    for x, y in ((a.square, b.square), (a.rate, b.rate), (-a.power, -b.power)):
        if x != y:
            return 1 if x < y else -1
    return 0


def _bursts(a: tuple[Burst, ...], b: tuple[Burst, ...]) -> int | None:
    if sorted(a) == sorted(b):
        return 0
    first, second = _by_speed(a), _by_speed(b)
    for speed in sorted({*first, *second}, reverse=True):
        x, y = first.get(speed, -math.inf), second.get(speed, -math.inf)
        if abs(x - y) > 1e-9 * max(1.0, min(abs(x), abs(y))):
            return 1 if x < y else -1
        if sorted(c for s, c in a if s == speed) != sorted(c for s, c in b if s == speed):
            return None
    return None


def _by_speed(bursts: tuple[Burst, ...]) -> dict[Rational, float]:
    out: dict[Rational, float] = {}
    for speed, log_factor in bursts:
        out[speed] = float(np.logaddexp(out.get(speed, -np.inf), float(log_factor)))
    return out


def _falls(a: Asymptote, b: Asymptote, start: float) -> bool:
    """Whether a(t) - b(t) falls for all t >= start."""
    square, rate, power = (float(x) for x in (a.square - b.square, a.rate - b.rate, a.power - b.power))
    if sorted(a.bursts) != sorted(b.bursts):
        growth, speed = _burst_growth(a.bursts, b.bursts, start)
        return growth >= abs(2 * square * start + rate) + abs(power) / start and growth * speed >= 2 * abs(square)
    # -(2 square t + rate) + power / t <= 0, that is 2 square t^2 + rate t - power >= 0, and not falling from there on.
    return 2 * square * start**2 + rate * start - power >= 0 and 4 * square * start + rate >= 0


def _burst_growth(a: tuple[Burst, ...], b: tuple[Burst, ...], start: float) -> tuple[float, float]:
    """The derivative of (bursts of a) - (bursts of b) at the start, and a speed at which it grows at least; 0 where unsure."""
    first, second = _by_speed(a), _by_speed(b)
    total, slowest = 0.0, math.inf
    for speed in {*first, *second}:
        s = float(speed)
        one, two = (math.exp(min(x.get(speed, -math.inf) + s * start, 600.0)) for x in (first, second))
        if two > one and s >= max(float(v) for v in first):
            return 0.0, 0.0
        total += s * (one - two)
        slowest = min(slowest, s)
    return total, slowest

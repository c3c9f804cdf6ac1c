"""Densities that are sums of moved, scaled and cut pieces of one family, and the largest log ratio of two of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf

from tests.oracles.families import Family
from tests.oracles.truth import real

INSIDE = np.concatenate([[1e-9, 1e-6, 1e-3], np.linspace(0.01, 0.99, 41), [1 - 1e-3, 1 - 1e-6, 1 - 1e-9]])
OUTWARD = np.concatenate([np.sinh(np.linspace(0, 6, 120)) * 0.2, [50.0, 60.0, 80.0, 100.0]])
HEAVY = np.array([1e3, 1e4, 1e5, 1e6, 1e8, 1e10, 1e12])


@dataclass(frozen=True)
class Density:
    """A sum of pieces: weight * f((y - b) / a) / |a| for y between low and high."""

    family: Family
    pieces: tuple[tuple[Any, Any, Any, Any, Any], ...]  # low, high (of y), a, b, weight

    def log(self, y: Any) -> Any:
        """The log density at an array of doubles."""
        total = np.full(y.shape, -np.inf)
        for low, high, a, b, weight in self.pieces:
            here = (y >= float(low)) & (y <= float(high))
            if np.any(here):
                with np.errstate(over="ignore"):
                    part = self.family.log((y[here] - float(b)) / float(a)) + float(mp.log(weight)) - math.log(abs(a))
                total[here] = np.logaddexp(total[here], part)
        return total

    def at(self, y: Any) -> Any:
        """The density at 50 digits."""
        total = mpf(0)
        for low, high, a, b, weight in self.pieces:
            if low <= y <= high:
                total += weight * self.family.density((y - real(b)) / real(a)) / abs(real(a))
        return total

    def edges(self) -> set[Any]:
        """Where a piece ends or has a kink."""
        out: set[Any] = set()
        for low, high, a, b, _ in self.pieces:
            kinks = [real(a) * real(k) + real(b) for k in self.family.kinks]
            out.update(y for y in (low, high, *kinks) if low <= y <= high)
        return out


def density(law: Any, stratum: Any) -> Density:
    """The density of a stratum's free coordinate."""
    pieces = []
    for low, high, a, b, weight in law.pieces[stratum]:
        ends = [_image(z, a, b) for z in (low, high)]
        pieces.append((min(ends), max(ends), a, b, weight))
    return Density(law.family, tuple(pieces))


def _image(z: Any, a: Any, b: Any) -> Any:
    if math.isinf(z):
        return mpf(z) if a > 0 else -mpf(z)
    return real(a) * real(z) + real(b)


@dataclass(frozen=True)
class Found:
    """The largest log ratio that was evaluated; `settled` says that nothing grows at the ends of what was looked at."""

    value: Any
    settled: bool


def scan(p: Density, q: Density, floor: float = -math.inf) -> Found:
    """The largest ln p - ln q: one grid in each interval between edges, then golden sections around the best places.

    Places where ln q is not above the floor do not count: what was not followed of q may lie there.
    """
    edges = sorted(p.edges() | q.edges() | {mpf("-inf"), mpf("inf")})
    best, settled = mpf(0), True
    for low, high in zip(edges, edges[1:], strict=False):
        y = _grid(low, high, p, q)
        if not y.size:
            settled = settled and not _longer(p, q, low, high)
            continue
        ratio, seen = _log_ratio(p, q, y, floor)
        if not np.any(seen):
            continue
        if np.any(np.isposinf(ratio)):
            return Found(mp.inf, True)
        settled = settled and (not math.isinf(high) or _flat(ratio)) and (not math.isinf(low) or _flat(ratio[::-1]))
        best = max(best, *(_refined(p, q, y, k, low, high, floor) for k in _peaks(ratio)))
    return Found(best, settled)


def _longer(p: Density, q: Density, low: Any, high: Any) -> bool:
    """Whether p reaches beyond both ends of q's range in an interval too narrow for doubles.

    Data that miss each other by a rounding (0.1 + 0.2 and 0.3) move a range by that much: as real numbers the loss is infinite.
    """
    middle = (low + high) / 2
    beyond = all(middle < piece[0] for piece in q.pieces) or all(middle > piece[1] for piece in q.pieces)
    return beyond and bool(p.at(middle))


def _log_ratio(p: Density, q: Density, y: Any, floor: float) -> tuple[Any, Any]:
    a, b = p.log(y), q.log(y)
    seen = (a > -np.inf) & ((b > floor) | (floor == -np.inf))
    with np.errstate(invalid="ignore"):
        ratio = np.where(seen, a - b, -np.inf)
    return ratio, seen


def _grid(low: Any, high: Any, p: Density, q: Density) -> Any:
    lo, hi = float(low), float(high)
    points = []
    for side in (p, q):
        for _, _, a, b, _ in side.pieces[:40]:
            reach = np.concatenate([OUTWARD, HEAVY]) if side.family.name.startswith(("t(", "cauchy")) else OUTWARD
            points.append(float(b) + abs(float(a)) * side.family.scale * np.concatenate([-reach[::-1], reach]))
    if math.isfinite(lo) and math.isfinite(hi):
        points.append(lo + (hi - lo) * INSIDE)
    elif math.isfinite(lo) or math.isfinite(hi):
        end, side = (lo, 1.0) if math.isfinite(lo) else (hi, -1.0)
        points.append(end + side * np.array([1e-9, 1e-6, 1e-3, 0.1, 1.0]))
    y = np.unique(np.concatenate(points))
    margin = 1e-13 * max(1.0, abs(lo) if math.isfinite(lo) else 0.0, abs(hi) if math.isfinite(hi) else 0.0)
    return y[(y > lo + margin) & (y < hi - margin)]


def _flat(outward: Any) -> bool:
    """Whether the ratio has settled at the outer end, or lies well below what was found elsewhere and falls."""
    last = outward[-4:]
    if len(last) < 4 or np.ptp(last) <= 1e-9:
        return True
    return bool(last[-1] < np.max(outward) - 1e-3 and np.all(np.diff(last) < 0))


def _peaks(ratio: Any) -> list[int]:
    """The few best places of a grid, both ends among the candidates."""
    order = np.argsort(ratio)[::-1][:40]
    chosen: list[int] = []
    for k in order.tolist():
        if all(abs(k - c) > 2 for c in chosen):
            chosen.append(k)
        if len(chosen) == 3:
            break
    return chosen


def _refined(p: Density, q: Density, y: Any, k: int, low: Any, high: Any, floor: float) -> Any:
    """The largest ratio near a grid point; next to an edge the limit from inside counts."""
    left = mpf(float(y[k - 1])) if k else _just(low, high, mpf(float(y[0])))
    right = mpf(float(y[k + 1])) if k + 1 < len(y) else _just(high, low, mpf(float(y[-1])))

    def f(t: Any) -> Any:
        a, b = p.at(t), q.at(t)
        if floor > -math.inf and (not b or mp.log(b) <= floor):
            return -mp.inf
        return (mp.log(a) - mp.log(b)) if a and b else (mp.inf if a else -mp.inf)

    return max(f(left), f(right), f(mpf(float(y[k]))), _golden(f, left, right))


def _just(end: Any, other: Any, near: Any) -> Any:
    """A point next to an end of an interval, or the outermost grid point where the end is infinite."""
    if mp.isinf(end):
        return near
    width = abs(near - end)
    return end + (width if near > end else -width) * mpf("1e-20")


def _golden(f: Any, a: Any, b: Any) -> Any:
    ratio = (mp.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    fc, fd = f(c), f(d)
    for _ in range(40):
        if fc > fd:
            b, d, fd = d, c, fc
            c = b - ratio * (b - a)
            fc = f(c)
        else:
            a, c, fc = c, d, fd
            d = a + ratio * (b - a)
            fd = f(d)
    return max(fc, fd)

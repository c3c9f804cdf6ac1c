"""Quotients of Laplace noise by a value that is at least c > 0, far out: there the log ratio of their laws is monotone.

Where y s is beyond the mode a of the top for each s >= c, the density is e^(a / b) times the integral of s e^(-y s / b) over
the law of the bottom s, whose parts may be densities and single numbers. The larger y is, the more the small s weigh: where the
ratio of the two laws of s only rises or only falls, so does the ratio of the two densities, up to its limit, the ratio at the
smallest s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.exact.inference.ratio import BoundedDraw, Share
from dpest.laws.continuous import Laplace
from dpest.laws.images import Moved

_ROUND = 1e-14  # what the weights of the cases may be off by beside their errors


@dataclass(frozen=True)
class FarSide:
    """All y beyond a bound on one side: 1 / y lies between 0 and `nearest`, where the log ratio is monotone."""

    nearest: float  # 1 / y at the bound; infinite where all y of that sign are beyond it
    limit: float  # of ln p - ln q
    slack: float  # how far both may be off


@dataclass(frozen=True)
class _Part:
    """Where a bottom may lie in one case, and ln of the ratio of its two laws at the least and at the largest number there."""

    low: float
    high: float
    first: float
    last: float


def far_side(p: Sequence[Share], q: Sequence[Share], sign: int) -> FarSide | None:
    """What holds for large y (sign 1) or for y far below zero (sign -1); None where nothing is known."""
    if len(p) != len(q) or not all(_open(s, sign) for s in (*p, *q)):
        return None
    pairs = list(zip(*(sorted(side, key=_bounds) for side in (p, q)), strict=True))
    if any(not _alike(a, b) for a, b in pairs):
        return None
    parts = [_part(a, b, sign) for a, b in pairs]
    if parts[0].low <= 0 or any(one.high > other.low for one, other in zip(parts, parts[1:], strict=False)):
        return None
    slack = math.fsum(s.error + _law_error(s) for s in (*p, *q)) + _ROUND * (1 + math.fsum(abs(x.first) for x in parts))
    logs = [x for part in parts for x in (part.first, part.last)]
    rises = all(a <= b + slack for a, b in zip(logs, logs[1:], strict=False))
    if not rises and not all(a >= b - slack for a, b in zip(logs, logs[1:], strict=False)):
        return None
    # A ratio that is monotone but for drops of that size, one between two parts each, is that far from a monotone one at most.
    slack *= len(parts) + 1
    furthest = max(sign * s.top.mode for s in (*p, *q))
    return FarSide(sign * (parts[0].low / furthest if furthest > 0 else math.inf), logs[0], slack)


def _open(s: Share, sign: int) -> bool:
    """Whether nothing bounds the quotient on that side, and its top is Laplace noise."""
    free = math.isinf(s.most if sign > 0 else s.least) and math.isinf(s.top.low) and math.isinf(s.top.high)
    return free and isinstance(s.top.law, Laplace)


def _law_error(s: Share) -> float:
    return s.bottom.law.error if isinstance(s.bottom, BoundedDraw) else 0.0


def _bounds(s: Share) -> tuple[float, float]:
    return (s.bottom.low, s.bottom.high) if isinstance(s.bottom, BoundedDraw) else (float(s.bottom), float(s.bottom))


def _alike(a: Share, b: Share) -> bool:
    """Whether two cases are the same but for where their noise is and what they weigh."""
    if _bounds(a) != _bounds(b) or a.top.scale != b.top.scale:
        return False
    if isinstance(a.bottom, BoundedDraw) and isinstance(b.bottom, BoundedDraw):
        return bool(_noise_of(a.bottom)[0] == _noise_of(b.bottom)[0])
    return not isinstance(a.bottom, BoundedDraw) and not isinstance(b.bottom, BoundedDraw)


def _noise_of(x: BoundedDraw) -> tuple[Any, float]:
    """All but the place of a value's noise, and its place; of a root, that of what the root is taken of."""
    if not isinstance(x.law, Moved):
        return (x.law, x.factor), float(x.offset)
    side = 1 if x.factor > 0 else -1
    return (x.law.law, x.law.factor, x.law.function, x.factor, x.offset), side * x.law.offset


def _part(a: Share, b: Share, sign: int) -> _Part:
    """The two laws of one case of the bottom: of log-concave noise that is moved, the ratio only rises or only falls."""
    weight = a.log_weight - b.log_weight + sign * float(a.top.offset - b.top.offset) / a.top.scale
    if not isinstance(a.bottom, BoundedDraw) or not isinstance(b.bottom, BoundedDraw):
        return _Part(*_bounds(a), weight, weight)
    first = weight + _log_ratio(a.bottom, b.bottom, a.bottom.low)
    moved = _noise_of(a.bottom)[1] - _noise_of(b.bottom)[1]
    if math.isfinite(a.bottom.high):
        return _Part(a.bottom.low, a.bottom.high, first, weight + _log_ratio(a.bottom, b.bottom, a.bottom.high))
    return _Part(a.bottom.low, a.bottom.high, first, first + math.copysign(math.inf, moved) if moved else first)


def _log_ratio(a: BoundedDraw, b: BoundedDraw, s: float) -> float:
    at = np.asarray(s)
    return float(a.log_density(at) - b.log_density(at))

"""delta(eps) of one compared pair.

    delta(eps) = sum over buckets of the sum (or integral) of max(0, p - e^eps q)

A bucket with one random part is summed and integrated directly. Independent parts are convolved as distributions of
losses, between a lower and an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt

from dpest.errors import NotCovered
from dpest.numerics.bracket import Bracketed
from dpest.numerics.logspace import Floats, log_diff
from dpest.numerics.quadrature import integrate, with_tails
from dpest.privacy.blocks import Block, Kind
from dpest.privacy.buckets import Bucket
from dpest.privacy.compare import Comparison
from dpest.privacy.line import Line, block_line
from dpest.privacy.logs import logs_at
from dpest.privacy.spectrum import ONE, Losses, Spectrum, grid_step, joined, merged, on_grid, product, trimmed
from dpest.privacy.strata import Stratum
from dpest.privacy.witness import mass

_CELLS = 2000
_REACH = 3000.0  # scales beyond the kinks that an integral over an output goes


class ComparedProfile:
    """The privacy profile of a comparison, which is made again when it is first asked for: graphs are large, results are not."""

    def __init__(self, compared: Callable[[], Comparison]) -> None:
        self._compared = compared

    @cached_property
    def comparison(self) -> Comparison:
        """The two laws, part by part."""
        return self._compared()

    @cached_property
    def _buckets(self) -> list[_Outcomes]:
        return [_outcomes(b) for b in self.comparison.buckets]

    def delta(self, epsilon: float) -> Bracketed:
        """The smallest delta for which the pair is (epsilon, delta)-close, in the worse direction."""
        sides = [[b.delta(epsilon, swap) for b in self._buckets] for swap in (False, True)]
        missing = [math.exp(m) for m in self.comparison.log_unexplored]
        totals = []
        for parts, extra in zip(sides, missing, strict=True):
            value, low, high = (math.fsum(getattr(p, name) for p in parts) for name in ("value", "lower", "upper"))
            totals.append(Bracketed(min(1.0, value), max(0.0, low), min(1.0, high + extra)))
        return max(totals, key=float)


@dataclass(frozen=True)
class _Delta:
    value: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """What a bucket can return: single outcomes, lines with weights, or independent parts between two bounds."""

    points: Spectrum
    lines: tuple[tuple[Block, float, float], ...]  # a block on a line, and ln of the weights that go with it
    parts: tuple[tuple[Spectrum, Spectrum], ...] = ()  # independent parts: (lower, upper)

    @cached_property
    def _losses(self) -> list[list[Losses]]:
        """The convolved losses of the parts, for each direction: (lower, upper)."""
        return [[_convolved(self.parts, swap, up=up) for up in (False, True)] for swap in (False, True)]

    def delta(self, epsilon: float, swap: bool) -> _Delta:
        """The bucket's share of delta."""
        if self.parts:
            # Splitting is off by the square of the step, moving down by the step itself: the upper bound is the better one.
            low, high = (losses.delta(epsilon) for losses in self._losses[swap])
            noise = 1e-13 * len(self.parts)
            return _Delta(high, max(0.0, low - noise), high + noise)
        points = self.points.swapped() if swap else self.points
        total = points.delta(epsilon)
        error = 1e-14 * total
        for block, p, q in self.lines:
            line = block_line(block)
            value, off = _line_delta(line.swapped() if swap else line, epsilon, *((q, p) if swap else (p, q)))
            total, error = total + value, error + off
        return _Delta(total, total - error, total + error)


def _outcomes(bucket: Bucket) -> _Outcomes:
    groups = [[_factors(s) for s in g.strata] for g in bucket.groups]
    busy = [g for g in groups if len(g) > 1 or g[0].pieces]
    if len(busy) <= 1 and all(len(f.pieces) <= 1 for g in busy for f in g):
        idle = [f for g in groups if g not in busy for f in g]
        weight = sum(f.log_p for f in idle), sum(f.log_q for f in idle)
        return _direct(busy[0] if busy else [_Factors(0.0, 0.0, ())], weight)
    parts = [bounds for g in groups for bounds in _independent(g)]
    exact = _exact_product([low for low, high in parts]) if all(low is high for low, high in parts) else None
    return _Outcomes(exact, ()) if exact else _Outcomes(ONE, (), tuple(parts))


@dataclass(frozen=True, eq=False)
class _Factors:
    """A stratum: its weights under both laws, and the blocks that are not mere weights."""

    log_p: float
    log_q: float
    pieces: tuple[Spectrum | Block, ...]


def _factors(stratum: Stratum) -> _Factors:
    many = math.log(stratum.multiplicity)
    log_p = log_q = many
    pieces: list[Spectrum | Block] = []
    for block in stratum.blocks:
        if block.dimension == 0:
            logs = logs_at(block, np.empty((1, 0)))
            log_p, log_q = log_p + float(logs.p[0]), log_q + float(logs.q[0])
        elif block.kinds[0] is Kind.LATTICE:
            assert block.points is not None
            logs = logs_at(block, block.points())
            pieces.append(merged(Spectrum(logs.p, logs.q)))
        elif block.dimension == 1 and block.equal:
            both = mass(block, block.left, -math.inf, math.inf)
            log_p, log_q = log_p + both, log_q + both
        elif block.dimension == 1:
            pieces.append(block)
        else:
            raise NotCovered(
                f"delta(eps) of {block.dimension} continuous outputs that share noise is not covered; single ones, discrete "
                "outputs and independent parts are"
            )
    return _Factors(log_p, log_q, tuple(pieces))


def _direct(strata: list[_Factors], weight: tuple[float, float]) -> _Outcomes:
    points: list[Spectrum] = []
    lines: list[tuple[Block, float, float]] = []
    for f in strata:
        p, q = f.log_p + weight[0], f.log_q + weight[1]
        match f.pieces:
            case ():
                points.append(Spectrum(np.array([p]), np.array([q])))
            case (Spectrum() as s,):
                points.append(s.weighted(p, q))
            case (Block() as block,):
                lines.append((block, p, q))
    return _Outcomes(joined(points) if points else Spectrum(np.empty(0), np.empty(0)), tuple(lines))


# -- one coordinate on a line ------------------------------------------------------------------------------------------


def _line_delta(line: Line, epsilon: float, log_p: float, log_q: float) -> tuple[float, float]:
    """The integral of max(0, p - e^eps q), and its error; panels end where the ratio crosses e^eps."""
    breaks = np.unique(np.concatenate([line.kinks, _crossings(line, epsilon + log_q - log_p)]))
    low, high = np.array([breaks[0] - _REACH * line.widest]), np.array([breaks[-1] + _REACH * line.widest])

    def log_f(_: object, x: Floats) -> tuple[Floats, Floats]:
        logs = line.evaluate(x.ravel())
        gap = log_diff(logs.p + log_p, logs.q + log_q + epsilon)
        with np.errstate(invalid="ignore"):
            # p - e^eps q loses digits where they are close: its relative error grows, its size shrinks.
            grown = np.where(gap > -np.inf, logs.slack() * np.exp(np.minimum(logs.p + log_p - gap, 700.0)), 0.0)
        return gap.reshape(x.shape), grown.reshape(x.shape)

    found = integrate(log_f, with_tails(breaks[None, :], low, high, line.scale))
    value = float(np.exp(found.log_value[0]))
    return value, value * float(found.error[0])


def _crossings(line: Line, level: float) -> Floats:
    """Where the log ratio crosses a level: sign changes on a fine scan, bisected."""
    spread = max(line.widest, float(np.ptp(line.kinks)))
    far = spread * np.concatenate([np.linspace(0.01, 10.0, 400), np.geomspace(10.1, 1000.0, 200)])
    inner = np.concatenate([np.linspace(a, b, 100) for a, b in zip(line.kinks[:-1], line.kinks[1:], strict=True)] or [line.kinks])
    y = np.unique(np.concatenate([line.kinks[0] - far, inner, line.kinks[-1] + far]))

    def above(t: Floats) -> npt.NDArray[np.bool_]:
        ratio = line.evaluate(t).ratio
        return np.asarray(np.where(np.isnan(ratio), -np.inf, ratio) > level)

    state = above(y)
    at = np.flatnonzero(state[1:] != state[:-1])
    low, high, start = y[at], y[at + 1], state[at]
    for _ in range(60 if at.size else 0):
        middle = 0.5 * (low + high)
        same = above(middle) == start
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    found = np.asarray(0.5 * (low + high))
    away = np.abs(found[:, None] - line.kinks).min(axis=1, initial=np.inf)
    return np.asarray(found[away > 1e-9 * line.scale])  # a jump at a kink is no crossing


def _cells(block: Block) -> tuple[Spectrum, Spectrum]:
    """A line cut into cells, worked out once for blocks with the same laws."""
    known = block.left.measures.answers
    key = ("cells", block.left.key, block.right.key)
    if key not in known:
        known[key] = _cut(block)
    found: tuple[Spectrum, Spectrum] = known[key]
    return found


def _cut(block: Block) -> tuple[Spectrum, Spectrum]:
    """Each cell as one outcome (lower), and as the two extremes of its ratio (upper)."""
    line = block_line(block)
    spread = max(line.widest, float(np.ptp(line.kinks)))
    far = spread * np.concatenate([np.linspace(0.0, 12.0, _CELLS)[1:], np.geomspace(12.1, _REACH, 100)])
    inner = [np.linspace(a, b, 200) for a, b in zip(line.kinks[:-1], line.kinks[1:], strict=True)]
    y = np.unique(np.concatenate([line.kinks[0] - far, *inner, line.kinks, line.kinks[-1] + far]))
    edges = np.stack([y[:-1], y[1:]], axis=1)

    def masses(pick: str) -> Floats:
        def log_f(_: object, x: Floats) -> tuple[Floats, float]:
            return getattr(line.evaluate(x.ravel()), pick).reshape(x.shape), 0.0

        return integrate(log_f, edges).log_value

    log_p, log_q = masses("p"), masses("q")
    inset = 1e-9 * np.diff(y)
    ends = [line.evaluate(t).ratio for t in (y[:-1] + inset, 0.5 * (y[1:] + y[:-1]), y[1:] - inset)]
    return merged(Spectrum(log_p, log_q)), _spread(log_p, log_q, np.minimum.reduce(ends), np.maximum.reduce(ends))


def _spread(log_p: Floats, log_q: Floats, low: Floats, high: Floats) -> Spectrum:
    """Cells as outcomes at the extremes of their ratio, both masses kept."""
    with np.errstate(invalid="ignore", divide="ignore"):
        loss = log_p - log_q
        usable = np.isfinite(loss) & np.isfinite(low) & np.isfinite(high) & (high - low > 1e-13)
        share = np.clip(np.expm1(low - loss) / np.expm1(low - high), 0.0, 1.0)  # of p at the higher loss
        up = log_p + np.log(np.where(usable, share, 0.0))
        down = log_p + np.log(np.where(usable, 1 - share, 1.0))
    down_q = np.where(usable, down - low, log_q)
    return Spectrum(np.concatenate([down, up[usable]]), np.concatenate([down_q, (up - high)[usable]]))


# -- independent parts -------------------------------------------------------------------------------------------------


def _independent(strata: list[_Factors]) -> list[tuple[Spectrum, Spectrum]]:
    """A group with one shape is as many independent parts as it has blocks; otherwise it is one part."""
    if len(strata) > 1:
        return [_group_bounds(strata)]
    (f,) = strata
    pieces = [_group_bounds([_Factors(0.0, 0.0, (piece,))]) for piece in f.pieces]
    return [*pieces, _group_bounds([_Factors(f.log_p, f.log_q, ())])]


def _group_bounds(strata: list[_Factors]) -> tuple[Spectrum, Spectrum]:
    """A group's outcomes between a lower and an upper bound; one and the same where they are exact."""
    lower, upper, exact = [], [], True
    for f in strata:
        bounds = [(s, s) if isinstance(s, Spectrum) else _cells(s) for s in f.pieces]
        exact = exact and all(low is high for low, high in bounds)
        lower.append(_combined([b[0] for b in bounds]).weighted(f.log_p, f.log_q))
        upper.append(_combined([b[1] for b in bounds]).weighted(f.log_p, f.log_q))
    low = joined(lower)
    return (low, low) if exact else (low, joined(upper))


def _combined(parts: list[Spectrum]) -> Spectrum:
    found = _exact_product(parts)
    if found is None:
        raise NotCovered("delta(eps) of an output whose shape depends on the run and that has several continuous coordinates")
    return found


def _exact_product(parts: list[Spectrum]) -> Spectrum | None:
    total: Spectrum | None = ONE
    for s in parts:
        total = product(total, merged(s)) if total is not None else None
    return total


def _convolved(parts: tuple[tuple[Spectrum, Spectrum], ...], swap: bool, *, up: bool) -> Losses:
    chosen = [trimmed(p[up].swapped() if swap else p[up], up=up) for p in parts]
    step = grid_step(chosen)
    return reduce(Losses.convolved, [on_grid(s, step, up=up) for s in chosen])

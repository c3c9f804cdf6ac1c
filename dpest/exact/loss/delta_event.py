"""The event behind delta(epsilon), in words: the outputs that one input makes more than e^epsilon times as likely."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from dpest.curves.curve import Curve
from dpest.curves.tree import Leaf
from dpest.exact.inference.cases import Constant
from dpest.exact.loss.blocks import CoordinateKind
from dpest.exact.loss.buckets import Bucket
from dpest.exact.loss.compare import Comparison
from dpest.exact.loss.logs import logs_at
from dpest.exact.loss.parts import line_places
from dpest.exact.loss.strata import Stratum
from dpest.exact.loss.witness import Name, show_output
from dpest.inputs.pairs import Pair
from dpest.inputs.shown import show
from dpest.numerics.logspace import Floats
from dpest.results import DeltaWitness, Direction
from dpest.trace.outputs import rebuild

_SHOWN = 6  # outputs or intervals that are written out
_SCAN = 4000


def delta_event(comparison: Comparison, curve: Curve, pair: Pair | None, epsilon: float) -> DeltaWitness:
    """The event of the worse direction, with its probabilities."""
    deltas = [w.delta(epsilon, curve.tolerance) for w in curve.ways]
    worse = 1 if deltas[1][1] > deltas[0][1] * (1 + 1e-6) else 0
    direction = (Direction.LEFT, Direction.RIGHT)[worse]
    whole = curve.ways[worse].whole
    p = q = math.nan
    if whole is None:
        mu = math.sqrt(curve.ways[worse].mu_squared)
        p, q = (float(ndtr(s * mu / 2 - epsilon / mu)) for s in (1, -1)) if mu else (0.0, 0.0)
    elif isinstance(whole, Leaf):
        cells = whole.source.at(epsilon)
        over = cells.losses > epsilon
        p, q = float(np.exp(cells.log_p[over]).sum()), float(np.exp(cells.log_q[over]).sum())
    left, right = (p, q) if worse == 0 else (q, p)
    words = _words(comparison, epsilon, worse == 1)
    return DeltaWitness(pair, direction, words, epsilon, left, right, 0.5 * math.fsum(deltas[worse]))


def _words(comparison: Comparison, epsilon: float, swap: bool) -> str:
    likely, other = ("D'", "D") if swap else ("D", "D'")
    clauses: list[str] = []
    for bucket in comparison.buckets:
        found = _bucket(bucket, epsilon, swap)
        if found is None:
            return f"the outputs that are more than e^{epsilon:g} times as likely (or dense) under {likely} as under {other}"
        clauses += found
    if not clauses:
        return "no output"
    rest = f" or {len(clauses) - _SHOWN} more" if len(clauses) > _SHOWN else ""
    return " or ".join(clauses[:_SHOWN]) + rest


def _bucket(bucket: Bucket, epsilon: float, swap: bool) -> list[str] | None:
    """What a bucket adds to the event; None where it has several random parts."""
    busy = [g for g in bucket.groups if len(g.strata) > 1 or any(b.dimension and not b.equal for b in g.strata[0].blocks)]
    if len(busy) > 1:
        return None
    shift = 0.0
    for group in bucket.groups:
        if group not in busy:
            shift += sum(_weight(b, swap) for b in group.strata[0].blocks if b.dimension == 0)
    if not busy:
        return [f"output == {_filled(bucket)}"] if shift > epsilon else []
    out: list[str] = []
    for stratum in busy[0].strata:
        found = _stratum(bucket, stratum, epsilon - shift, swap)
        if found is None:
            return None
        out += found
    return out


def _weight(block: Any, swap: bool) -> float:
    logs = logs_at(block, np.empty((1, 0)))
    p, q = float(logs.p[0]), float(logs.q[0])
    p, q = (q, p) if swap else (p, q)
    return -math.inf if p == -math.inf else p - q


def _stratum(bucket: Bucket, stratum: Stratum, level: float, swap: bool) -> list[str] | None:
    """The outputs of one stratum whose log ratio is above a level."""
    level -= sum(_weight(b, swap) for b in stratum.blocks if b.dimension == 0)
    random = [(b, m) for b, m in zip(stratum.blocks, stratum.members, strict=True) if b.dimension and not b.equal]
    if not random:
        return [f"output == {_filled(bucket, stratum)}"] if level < 0 else []
    if len(random) > 1 or random[0][0].dimension > 1 or len(stratum.frame.restore) != 1:
        return None
    ((block, _),) = random
    if block.kinds[0] is CoordinateKind.LATTICE:
        assert block.points is not None
        y = block.points()[:, 0]
        over = _above(block, y, level, swap)
        return [f"output == {_filled(bucket, stratum, _released(stratum, float(t)))}" for t in y[over]]
    shape = _filled(bucket, stratum)
    ends = [(_released(stratum, a), _released(stratum, b)) for a, b in _intervals(block, level, swap)]
    return [_interval(shape, *sorted(pair)) for pair in ends]


def _released(stratum: Stratum, t: float) -> float:
    """The released value that a stratum's only coordinate stands for."""
    factor = stratum.frame.restore[0][0]
    if math.isinf(t):
        return t if factor * stratum.frame.lattices[0].step > 0 else -t
    return float(factor * stratum.frame.place(0, t))


def _above(block: Any, y: Floats, level: float, swap: bool) -> npt.NDArray[np.bool_]:
    logs = logs_at(block, y[:, None])
    ratio = (logs.swapped() if swap else logs).ratio
    return np.asarray(np.where(np.isnan(ratio), -np.inf, ratio) > level)


def _intervals(block: Any, level: float, swap: bool) -> list[tuple[float, float]]:
    """Where the ratio on a line is above a level, on a scan whose crossings are bisected."""
    kinks = line_places(block)
    far = block.widest * np.concatenate([np.linspace(0.01, 12.0, _SCAN), np.geomspace(12.1, 1e4, 200)])
    inner = [np.linspace(a, b, 66)[1:-1] for a, b in zip(kinks[:-1], kinks[1:], strict=True)]
    y = np.unique(np.concatenate([kinks[0] - far, *inner, kinks[-1] + far]))
    state = _above(block, y, level, swap)
    at = np.flatnonzero(state[1:] != state[:-1])
    low, high, start = y[at], y[at + 1], state[at]
    for _ in range(50 if at.size else 0):
        middle = 0.5 * (low + high)
        same = _above(block, middle, level, swap) == start
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    ends = [-math.inf] if state[0] else []
    ends += (0.5 * (low + high)).tolist()
    ends += [math.inf] if state[-1] else []
    return list(zip(ends[::2], ends[1::2], strict=True))


def _filled(bucket: Bucket, stratum: Stratum | None = None, value: float | None = None) -> str:
    """An output of the bucket; what a stratum leaves open is a value, or x."""
    leaves: list[Any] = [None] * bucket.size
    for i, x in bucket.constants:
        leaves[i] = x
    for group in bucket.groups:
        for position, x in group.strata[0].leaves:
            leaves[position] = x.value if isinstance(x, Constant) else Name("any")
    for position, x in stratum.leaves if stratum is not None else ():
        leaves[position] = x.value if isinstance(x, Constant) else Name("x") if value is None else value
    return show_output(rebuild(bucket.structure, leaves))


def _interval(shape: str, low: float, high: float) -> str:
    subject = "output" if shape == "x" else "x"
    tail = "" if shape == "x" else f" in output {shape}"
    if math.isinf(low) and math.isinf(high):
        return f"any {subject}{tail}"
    if math.isinf(high):
        return f"{subject} > {_tidy(low)}{tail}"
    if math.isinf(low):
        return f"{subject} < {_tidy(high)}{tail}"
    return f"{_tidy(low)} < {subject} < {_tidy(high)}{tail}"


def _tidy(x: float) -> str:
    return show(0.0 if abs(x) < 1e-9 else float(f"{x:.7g}"))

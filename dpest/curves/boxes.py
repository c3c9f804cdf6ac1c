"""Two densities of two or three coordinates, cut into boxes: masses by nested Gauss rules, ranges by Legendre coefficients.

As on a line (`dpest.curves.pieces`), what the rules leave out is estimated from the last coefficients of each axis.
Boxes are halved along the axis on which they have settled least. Kinks that are not parallel to an axis run through
boxes; there the error stays large until the boxes are small, and it goes into the bracket.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.curves.cells import ROUND, LossCells
from dpest.numerics.arrays import Arrays
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.quadrature import legendre_rule

Flags = npt.NDArray[np.bool_]
Densities = Callable[[Floats], tuple[Floats, Floats, Floats]]
_ORDERS = {2: 10, 3: 7}
_MOST_BOXES = {2: 30_000, 3: 6_000}
_ROUNDS = 24  # rounds of halving; what is still open after them goes into the bracket as it is
_NEGLIGIBLE = -60.0  # ln of a box's share of the mass: one of 1e-26 is far below the rounding of the whole and not cut further
_VARIANCE = 1e-6  # as for pieces, with fewer boxes
_ROOM = 1e4


@dataclass(frozen=True, eq=False)
class _KnownBoxes(Arrays):
    """Boxes with what is known of them."""

    low_end: Floats  # boxes x dimensions
    high_end: Floats
    log_p: Floats
    log_q: Floats
    slack: Floats
    low: Floats
    high: Floats
    axis: npt.NDArray[np.intp]  # along which each is to be halved next
    fuzzy: Flags


@dataclass(frozen=True, eq=False)
class Boxes:
    """Two densities on a box of two or three coordinates, with edges to start from and what lies beyond."""

    densities: Densities
    edges: tuple[Floats, ...]
    beyond: tuple[float, float] = (0.0, 0.0)
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def dimension(self) -> int:
        """How many coordinates there are."""
        return len(self.edges)

    @cached_property
    def _settled(self) -> _KnownBoxes:
        return self._refined(self._start(), None)

    @cached_property
    def cells(self) -> LossCells:
        """Cells for a composition."""
        return self._as_cells(self._settled)

    def at(self, epsilon: float) -> LossCells:
        """Cells for delta(epsilon): those that straddle it are cut further."""
        return self._as_cells(self._refined(self._settled, epsilon))

    def _start(self) -> _KnownBoxes:
        lows = np.array(list(itertools.product(*(e[:-1] for e in self.edges))))
        highs = np.array(list(itertools.product(*(e[1:] for e in self.edges))))
        return self._measured(lows, highs)

    def _refined(self, boxes: _KnownBoxes, epsilon: float | None) -> _KnownBoxes:
        most = _MOST_BOXES[self.dimension] * (1 if epsilon is None else 2)
        for _ in range(_ROUNDS if epsilon is None else 8):
            share = _restless(boxes) if epsilon is None else _straddling(boxes, epsilon)
            room = most - boxes.log_p.size
            open_ones = share > 0
            if int(open_ones.sum()) > room:
                worst = np.argsort(-share)[: max(0, room)]
                open_ones = np.zeros(share.size, bool)
                open_ones[worst] = share[worst] > 0
            if not open_ones.any():
                break
            boxes = _KnownBoxes.joined([boxes.pick(~open_ones), self._measured(*_halved(boxes.pick(open_ones)))])
        return boxes

    def _measured(self, low: Floats, high: Floats) -> _KnownBoxes:
        parts = [_box(self.densities, low[i : i + 512], high[i : i + 512]) for i in range(0, len(low), 512)]
        return _KnownBoxes.joined(parts)

    def _as_cells(self, b: _KnownBoxes) -> LossCells:
        rough = b.slack > 0.1
        beyond = [x + _ROOM * float(np.exp(log_sum(m[rough]))) for x, m in zip(self.beyond, (b.log_p, b.log_q), strict=True)]
        b = b.pick(~rough)
        return LossCells(b.log_p, b.log_q, 1.12 * b.slack, b.low, b.high, (beyond[0], beyond[1]), self.bounds)


def _box(densities: Densities, low: Floats, high: Floats) -> _KnownBoxes:
    count, d = low.shape
    nodes, weights, to_coefficients = legendre_rule(_ORDERS[d])
    half = 0.5 * (high - low)
    grids = np.stack([g.ravel() for g in np.meshgrid(*([nodes] * d), indexing="ij")], axis=1)
    x = (low + half)[:, None, :] + half[:, None, :] * grids[None]
    shape = (count, *([nodes.size] * d))
    log_p, log_q, error = (np.asarray(v).reshape(shape) for v in densities(x.reshape(-1, d)))
    volume = np.log(half).sum(axis=1)
    p, slack_p, rough_p = _mass(log_p, error, volume, weights, to_coefficients)
    q, slack_q, rough_q = _mass(log_q, error, volume, weights, to_coefficients)
    ends = _range(log_p, log_q, error, to_coefficients)
    axis = np.argmax(np.maximum(np.maximum(rough_p, rough_q), ends[2]), axis=1)
    slack = np.maximum(slack_p, slack_q)
    return _KnownBoxes(low, high, p, q, slack, ends[0], ends[1], axis, np.asarray(slack > 1e-10))


def coefficients(values: Floats, matrix: Floats) -> Floats:
    """The Legendre coefficients of values on the nodes of each box, along all axes."""
    out = values
    for axis in range(1, values.ndim):
        out = np.moveaxis(np.tensordot(out, matrix, axes=([axis], [1])), -1, axis)
    return np.asarray(out)


def last_coefficients(c: Floats) -> Floats:
    """For each axis, the sum of the last two slices of the coefficients."""
    out = []
    for axis in range(1, c.ndim):
        last = np.take(c, [-2, -1], axis=axis)
        out.append(np.abs(last).reshape(len(c), -1).sum(axis=1))
    return np.stack(out, axis=1)


def _mass(logs: Floats, error: Floats, volume: Floats, weights: Floats, matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """ln of each box's mass, its relative error, and the error along each axis."""
    count, d = len(logs), logs.ndim - 1
    top = logs.reshape(count, -1).max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    f = np.exp(logs - safe.reshape(-1, *([1] * d)))
    tails = 4 * last_coefficients(coefficients(f, matrix)) * 2.0**d
    value, noise = f, f * error
    for _ in range(d):
        value, noise = value @ weights, noise @ weights
    with np.errstate(divide="ignore", invalid="ignore"):
        rough = np.where(value[:, None] > 0, tails / value[:, None], 0.0)
        slack = np.where(value > 0, (tails.sum(axis=1) + noise) / value, 0.0)
        log_value = np.where(value > 0, np.log(value) + volume + safe, -np.inf)
    size = np.where(np.isfinite(log_value), np.abs(log_value), 0.0) + np.abs(safe) + np.abs(volume)
    return log_value, np.asarray(slack + ROUND * (16.0 + size)), rough


def _range(log_p: Floats, log_q: Floats, error: Floats, matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """The ends of ln p/q on each box, and how much it changes along each axis."""
    count = len(log_p)
    none_p, none_q = log_p == -np.inf, log_q == -np.inf
    with np.errstate(invalid="ignore"):
        ratio = np.where(none_p | none_q, 0.0, log_p - log_q)
    c = coefficients(ratio, matrix)
    flat = np.abs(c).reshape(count, -1)
    middle = c.reshape(count, -1)[:, 0]
    size = np.where(none_p, 0.0, np.abs(log_p)) + np.where(none_q, 0.0, np.abs(log_q))
    noise = (error + ROUND * (2.0 + size)).reshape(count, -1).max(axis=1)
    swing = flat[:, 1:].sum(axis=1) + 4 * last_coefficients(c).sum(axis=1) + 2 * noise
    low, high = middle - swing, middle + swing
    p_none, q_none = none_p.reshape(count, -1), none_q.reshape(count, -1)
    mixed = (p_none.any(axis=1) & ~p_none.all(axis=1)) | (q_none.any(axis=1) & ~q_none.all(axis=1))
    only_p, only_q = q_none.all(axis=1) & ~p_none.all(axis=1), p_none.all(axis=1) & ~q_none.all(axis=1)
    low = np.where(mixed | only_q, -np.inf, np.where(only_p, np.inf, low))
    high = np.where(mixed | only_p, np.inf, np.where(only_q, -np.inf, high))
    changes = []
    for axis in range(1, c.ndim):
        moving = np.take(c, np.arange(1, c.shape[axis]), axis=axis)
        changes.append(np.abs(moving).reshape(count, -1).sum(axis=1))
    return low, high, np.stack(changes, axis=1)


def _halved(b: _KnownBoxes) -> tuple[Floats, Floats]:
    return halved_along(b.low_end, b.high_end, b.axis.astype(int))


def halved_along(low: Floats, high: Floats, axis: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Boxes, each cut into two along an axis of its own."""
    rows = np.arange(len(low))
    middle = 0.5 * (low[rows, axis] + high[rows, axis])
    first, second = high.copy(), low.copy()
    first[rows, axis] = middle
    second[rows, axis] = middle
    return np.concatenate([low, second]), np.concatenate([first, high])


def _shares(b: _KnownBoxes) -> Floats:
    return np.maximum(np.exp(b.log_p - log_sum(b.log_p)), np.exp(b.log_q - log_sum(b.log_q)))


def _restless(b: _KnownBoxes) -> Floats:
    """How much each box asks to be halved: unsettled mass, or variance of the loss inside; 0 where it need not be."""
    share = _shares(b)
    with np.errstate(invalid="ignore"):
        width = np.where(b.high == b.low, 0.0, b.high - b.low)
        loss = b.log_p - b.log_q
    finite = np.isfinite(width)
    loss = np.where(np.isfinite(loss), loss, 0.0)
    mean = float(share @ loss / share.sum())
    variance = float(share @ (loss - mean) ** 2 / share.sum())
    inside = np.where(finite, share * np.minimum(width, 1e3) ** 2, share) / max(variance, 1e-12)
    asks = np.maximum(np.where(inside > _VARIANCE / 3000, inside, 0.0), np.where(b.fuzzy, share * np.minimum(b.slack, 1.0), 0.0))
    return np.where(share > math.exp(_NEGLIGIBLE), asks, 0.0)


def _straddling(b: _KnownBoxes, epsilon: float) -> Floats:
    """The mass of the boxes whose ratio crosses e^epsilon, times how far it may lie on either side."""
    across = (b.low < epsilon) & (b.high > epsilon)
    with np.errstate(invalid="ignore"):
        width = np.minimum(np.where(np.isfinite(b.high - b.low), b.high - b.low, 1.0), 1.0)
    share = np.where(across, np.exp(b.log_p) * width, 0.0)
    return np.where(share > 1e-9 * share.sum(), share, 0.0)

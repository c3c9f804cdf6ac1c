"""Integrals of positive functions given by their logarithm, many at once, each with a bound on its error.

Panels lie between the edges that the caller gives (every kink is one). A panel is accepted when the last coefficients
of its Legendre expansion are negligible beside the row's total; otherwise it is halved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.numerics.logspace import Floats, log_sum_by_row

Rows = npt.NDArray[np.intp]
LogFunction = Callable[[Rows, Floats], Floats]  # (row of each panel, points: panels x nodes) -> ln f

ORDER = 24
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
# Legendre coefficients from values at the nodes: exact for polynomials below degree 2 * ORDER - 1.
TO_COEFFICIENTS = (np.polynomial.legendre.legvander(NODES, ORDER - 1) * WEIGHTS[:, None]).T * (np.arange(ORDER)[:, None] + 0.5)
TAIL = np.ascontiguousarray(TO_COEFFICIENTS[-3:].T)
TOLERANCE = 1e-14
_HALVINGS = 48
_BLOCK = 1 << 17  # panels evaluated at once
_MOST = 1 << 20  # panels that one round may hold before no more are halved


@dataclass(frozen=True)
class Integrals:
    """ln of each row's integral, and the relative error of each."""

    log_value: Floats
    error: Floats


@dataclass
class _Panels:
    """Panels still to be accepted: the row they belong to, their ends."""

    row: Rows
    low: Floats
    high: Floats


def integrate(log_f: LogFunction, edges: Floats, noise: Callable[[], float] = lambda: 0.0) -> Integrals:
    """The integral of each row of `log_f` over its panels; `edges` has a sorted row of panel ends for each.

    `noise` is the relative error of the function's values so far: no panel is halved to look below it.
    """
    rows = edges.shape[0]
    panels = _panels(edges)
    done_row: list[Rows] = []
    done_value: list[Floats] = []
    done_error: list[Floats] = []
    for halving in range(_HALVINGS):
        value, error = _measure(log_f, panels)
        total = log_sum_by_row(
            np.concatenate([*done_row, panels.row]), np.concatenate([*done_value, value]), rows
        )
        fine = error <= np.where(np.isfinite(total), total, 0.0)[panels.row] + np.log(TOLERANCE)
        fine |= (value == -np.inf) | (error <= value + np.log(rounding(value) + 4 * noise()))
        if halving == _HALVINGS - 1 or fine.size > _MOST:
            fine[:] = True
        done_row.append(panels.row[fine])
        done_value.append(value[fine])
        done_error.append(error[fine])
        if fine.all():
            break
        panels = _halved(panels, ~fine)
    row = np.concatenate(done_row)
    log_value = log_sum_by_row(row, np.concatenate(done_value), rows)
    log_error = log_sum_by_row(row, np.concatenate(done_error), rows)
    with np.errstate(invalid="ignore"):
        error = np.where(log_error > -np.inf, np.exp(np.minimum(log_error - log_value, 700.0)), 0.0)
    return Integrals(log_value, np.where(log_value == -np.inf, 0.0, error))


def rounding(logs: Floats) -> Floats:
    """The relative rounding error of e^logs, and of the sums that made it."""
    return 1e-15 * (4.0 + np.where(np.isfinite(logs), np.abs(logs), 0.0))


def _panels(edges: Floats) -> _Panels:
    low, high = edges[:, :-1], edges[:, 1:]
    # Ends that differ by rounding alone bound nothing.
    wide = high - low > 1e-13 * np.maximum(np.abs(low), np.abs(high))
    row = np.broadcast_to(np.arange(edges.shape[0])[:, None], low.shape)
    return _Panels(row[wide], low[wide], high[wide])


def _measure(log_f: LogFunction, panels: _Panels) -> tuple[Floats, Floats]:
    """ln of each panel's integral and of its error."""
    count = panels.row.size
    value, error = np.empty(count), np.empty(count)
    for start in range(0, count, _BLOCK):
        part = slice(start, start + _BLOCK)
        half = 0.5 * (panels.high[part] - panels.low[part])
        x = (panels.low[part] + half)[:, None] + half[:, None] * NODES
        value[part], error[part] = _rule(log_f(panels.row[part], x), half)
    return value, error


def _rule(logs: Floats, half: Floats) -> tuple[Floats, Floats]:
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    f = np.exp(logs - safe[:, None])
    with np.errstate(divide="ignore"):
        value = np.log(half * (f @ WEIGHTS)) + safe
        error = np.log(half * np.abs(f @ TAIL).sum(axis=1)) + safe
    return value, error


def _halved(panels: _Panels, which: npt.NDArray[np.bool_]) -> _Panels:
    row, low, high = panels.row[which], panels.low[which], panels.high[which]
    middle = 0.5 * (low + high)
    return _Panels(np.concatenate([row, row]), np.concatenate([low, middle]), np.concatenate([middle, high]))


def with_tails(breaks: Floats, low: Floats, high: Floats, scale: float) -> Floats:
    """Sorted panel edges in [low, high] for each row: its breaks, and tails that widen with the distance from them."""
    steps = scale * 4.0 ** np.arange(0, 12)
    if breaks.shape[1] == 0:
        breaks = np.clip(0.0, low, high)[:, None]
    first, last = breaks.min(axis=1, keepdims=True), breaks.max(axis=1, keepdims=True)
    edges = np.concatenate([breaks, first - steps, last + steps, low[:, None], high[:, None]], axis=1)
    edges = np.clip(edges, low[:, None], np.maximum(high, low)[:, None])
    edges.sort(axis=1)
    return edges

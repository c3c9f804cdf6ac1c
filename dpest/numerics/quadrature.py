"""Integrals of positive functions given by their logarithm, many at once, each with a bound on its error.

Panels lie between the edges that the caller gives (every kink is one). A panel is accepted when the last coefficients
of its Legendre expansion are negligible beside the row's total; otherwise it is halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.numerics.effort import spend, spend_steps
from dpest.numerics.logspace import Floats, log_sum_by_row

RowNumbers = npt.NDArray[np.intp]
# (row of each panel, points: panels x nodes) -> (ln f, relative error of f)
LogFunction = Callable[[RowNumbers, Floats], tuple[Floats, Floats | float]]

ORDER = 24  # points of the Gauss rule, exact up to degree 47: more cost time on easy panels, fewer halve hard ones more often


def legendre_rule(order: int) -> tuple[Floats, Floats, Floats]:
    """The nodes of the Gauss rule, its weights, and the matrix that takes values at the nodes to Legendre coefficients.

    Both are solved for at the nodes as they are rounded. NumPy's own weights divide by 1 - x^2, which is good to 1e-13 at the
    outermost nodes: a constant came back 2e-13 too large at the ends of its panel.
    """
    nodes = np.polynomial.legendre.leggauss(order)[0]
    to_coefficients: Floats = np.asarray(np.linalg.inv(np.polynomial.legendre.legvander(nodes, order - 1)), float)
    return nodes, 2.0 * to_coefficients[0], to_coefficients


NODES, WEIGHTS, TO_COEFFICIENTS = legendre_rule(ORDER)
TAIL = np.ascontiguousarray(TO_COEFFICIENTS[-3:].T)
TOLERANCE = 1e-14  # relative: a panel whose error is below this share of the whole is not halved
_HALVINGS = 48  # down to 4e-15 of the first panel, nearly as narrow as the rounding of its ends allows
_BLOCK = 512  # panels evaluated at once: their 12,288 points stay in a processor's cache; 2,048 take a fifth longer
_MOST_SCALES = 100.0  # length of a gap between breaks, in scales, up to which halving alone finds what is in it
_MOST = 1 << 20  # panels that one round may hold before no more are halved


@dataclass(frozen=True)
class Integrals:
    """ln of each row's integral, and the relative error of each."""

    log_value: Floats
    error: Floats


@dataclass
class _OpenPanels:
    """Panels still to be accepted: the row they belong to, their ends."""

    row: RowNumbers
    low: Floats
    high: Floats


def integrate(log_f: LogFunction, edges: Floats, halvings: int = _HALVINGS) -> Integrals:
    """The integral of each row of `log_f` over its panels; `edges` has a sorted row of panel ends for each.

    The function's own errors are integrated along; no panel is halved to look below them, nor more often than `halvings` say.
    """
    spend_steps(300)
    rows = edges.shape[0]
    panels = _panels(edges)
    done: list[tuple[RowNumbers, Floats, Floats]] = []
    for halving in range(halvings):
        value, error, noise = _measure(log_f, panels)
        so_far = [*done, (panels.row, value, error)]
        total = log_sum_by_row(np.concatenate([d[0] for d in so_far]), np.concatenate([d[1] for d in so_far]), rows)
        fine = error <= np.where(np.isfinite(total), total, 0.0)[panels.row] + np.log(TOLERANCE)
        fine |= (value == -np.inf) | (error <= np.logaddexp(value + np.log(rounding(value)), noise + np.log(4.0)))
        if halving == halvings - 1 or fine.size > _MOST:
            fine[:] = True
        done.append((panels.row[fine], value[fine], np.logaddexp(error, noise)[fine]))
        if fine.all():
            break
        panels = _halved(panels, ~fine)
    row, values, errors = (np.concatenate([d[i] for d in done]) for i in range(3))
    log_value, log_error = log_sum_by_row(row, values, rows), log_sum_by_row(row, errors, rows)
    with np.errstate(invalid="ignore"):
        relative = np.where(log_error > -np.inf, np.exp(np.minimum(log_error - log_value, 700.0)), 0.0)
    return Integrals(log_value, np.where(log_value == -np.inf, 0.0, relative))


def rounding(logs: Floats) -> Floats:
    """The relative rounding error of e^logs, and of the sums that made it."""
    return 1e-15 * (4.0 + np.where(np.isfinite(logs), np.abs(logs), 0.0))


def _panels(edges: Floats) -> _OpenPanels:
    low, high = edges[:, :-1], edges[:, 1:]
    # Ends that differ by rounding alone bound nothing.
    wide = high - low > 1e-15 * np.maximum(np.abs(low), np.abs(high))
    row = np.broadcast_to(np.arange(edges.shape[0])[:, None], low.shape)
    return _OpenPanels(row[wide], low[wide], high[wide])


def _measure(log_f: LogFunction, panels: _OpenPanels) -> tuple[Floats, Floats, Floats]:
    """ln of each panel's integral, of its quadrature error, and of what the function's own errors add up to."""
    count = panels.row.size
    value, error, noise = np.empty(count), np.empty(count), np.empty(count)
    for start in range(0, count, _BLOCK):
        part = slice(start, start + _BLOCK)
        half = 0.5 * (panels.high[part] - panels.low[part])
        spend(half.size * ORDER)
        x = (panels.low[part] + half)[:, None] + half[:, None] * NODES
        logs, inner = log_f(panels.row[part], x)
        value[part], error[part], noise[part] = _rule(logs, inner, half)
    return value, error, noise


def _rule(logs: Floats, inner: Floats | float, half: Floats) -> tuple[Floats, Floats, Floats]:
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    f = np.exp(logs - safe[:, None])
    with np.errstate(divide="ignore"):
        value = np.log(half * (f @ WEIGHTS)) + safe
        error = np.log(half * np.abs(f @ TAIL).sum(axis=1)) + safe
        noise = np.log(half * ((f * inner) @ WEIGHTS)) + safe if np.any(inner) else np.full(half.shape, -np.inf)
    return value, error, noise


def _halved(panels: _OpenPanels, which: npt.NDArray[np.bool_]) -> _OpenPanels:
    row, low, high = panels.row[which], panels.low[which], panels.high[which]
    middle = 0.5 * (low + high)
    return _OpenPanels(np.concatenate([row, row]), np.concatenate([low, middle]), np.concatenate([middle, high]))


def with_tails(breaks: Floats, low: Floats, high: Floats, scale: float) -> Floats:
    """Sorted panel edges in [low, high] for each row: its breaks, and panels that widen with the distance from them."""
    if breaks.shape[1] == 0:
        breaks = np.clip(0.0, low, high)[:, None]
    breaks = np.sort(breaks, axis=1)
    steps = _steps(float(np.max(high - low, initial=0.0)), scale, 12)
    parts = [breaks, breaks[:, :1] - steps, breaks[:, -1:] + steps, low[:, None], high[:, None], *_within_gaps(breaks, scale)]
    edges = np.clip(np.concatenate(parts, axis=1), low[:, None], np.maximum(high, low)[:, None])
    return np.sort(edges, axis=1)


def _steps(length: float, scale: float, least: int) -> Floats:
    count = math.ceil(math.log(max(length / scale, 1.0), 4.0)) if length < math.inf else 600
    return np.asarray(scale * 4.0 ** np.arange(0, min(600, max(least, count))))


def _within_gaps(breaks: Floats, scale: float) -> list[Floats]:
    """Edges that widen from both ends of each gap: on a panel of many scales every node may miss what lies beside a break."""
    gaps = np.diff(breaks, axis=1)
    widest = float(gaps.max(initial=0.0))
    if widest <= _MOST_SCALES * scale:
        return []
    steps = _steps(widest, scale, 0)
    half = 0.5 * gaps[:, :, None]
    inward = np.minimum(steps, half)
    rows = breaks.shape[0]
    return [(breaks[:, :-1, None] + inward).reshape(rows, -1), (breaks[:, 1:, None] - inward).reshape(rows, -1)]

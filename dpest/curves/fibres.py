"""delta of outputs whose last part is Gaussian noise around a place that the other outputs set: one integral over these.

A step of gradient descent from the weights that were released before it is of this kind. Where the other outputs are fixed, both
laws of the last part are one normal law, moved, and what it adds to delta is a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import special

from dpest.curves.boxes import coefficients, halved_along, last_coefficients
from dpest.curves.cells import ROUND, LossCells
from dpest.curves.tree import CellSource
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import legendre_rule

# ln of both densities of the other outputs at rows of them, how far the last part is moved there, and their relative error.
Fibre = Callable[[Floats], tuple[Floats, Floats, Floats, Floats]]
Indices = npt.NDArray[np.intp]
_ORDERS = {1: 20, 2: 12}  # of the rules, by how many other outputs there are
_MOST_PANELS = {1: 4_000, 2: 12_000}  # a second or ten
_ROUNDS = 40  # of halving; what is still open after them goes into the bracket as it is
_CLOSE = {1: 1e-12, 2: 1e-9}  # relative to the whole: errors of all panels at which none is cut further
_NORMAL = 1e-14  # relative error that is granted to scipy's log_ndtr, for each unit of the logarithm
_FAR = 40.0  # deviations beyond which less than e^-800 of a normal law lies


@dataclass(frozen=True, eq=False)
class Fibres:
    """Both laws of the other outputs, with edges to start from and what lies beyond, and the way that the last part moves."""

    fibre: Fibre
    edges: tuple[Floats, ...]
    beyond: tuple[float, float]
    whole: Callable[[], CellSource]  # the same part, cut along all coordinates
    _known: dict[float, LossCells] = field(default_factory=dict, repr=False)

    @property
    def cells(self) -> LossCells:
        """Cells for a composition."""
        return self.whole().cells

    def at(self, epsilon: float) -> LossCells:
        """Cells for delta(epsilon): what lies above it, below it, and what one law alone can produce."""
        if epsilon not in self._known:
            self._known[epsilon] = self._cut_at(epsilon)
        return self._known[epsilon]

    def _cut_at(self, epsilon: float) -> LossCells:
        total, error, most = _Integrals(self, epsilon).refined()
        above, below, p_below, q_above, p_alone, q_alone = (float(x) for x in total)
        p_above, q_below = above + math.exp(epsilon) * q_above, below + math.exp(-epsilon) * p_below
        pairs = np.array([(p_above, q_above), (p_below, q_below), (p_alone, 0.0), (0.0, q_alone)])
        sizes = [p_above + math.exp(epsilon) * q_above, q_below + math.exp(-epsilon) * p_below, p_alone, q_alone]
        offs = [error[0], error[1], error[4], error[5]]
        slack = np.array([float(e) / s + 4 * ROUND if s > 0 else 0.0 for e, s in zip(offs, sizes, strict=True)])
        room = 2 * slack
        low = np.array([epsilon, -most, math.inf, -math.inf]) - np.array([0.0, *room[1:]])
        high = np.array([most, epsilon, math.inf, -math.inf])
        keep = (pairs > 0).any(axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(pairs)[keep]
        return LossCells(logs[:, 0], logs[:, 1], slack[keep], low[keep], high[keep], self.beyond)


def _last(log_p: Floats, log_q: Floats, mu: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Six parts at each place (what is above and below, its shares, what one law alone has), and their rounding."""
    both = (log_p > -np.inf) & (log_q > -np.inf)
    p, q = np.where(both, log_p, -np.inf), np.where(both, log_q, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rest = np.where(both, epsilon - (log_p - log_q), 0.0)
        still = mu < 1e-9 * np.maximum(1.0, np.abs(rest))
        safe = np.where(still, 1.0, mu)
        ends = [np.where(still, np.where(rest < 0, np.inf, -np.inf), s * 0.5 * mu - rest / safe) for s in (1, -1)]
        inside = [special.log_ndtr(x) for x in ends], [special.log_ndtr(-x) for x in ends]
        p_above, q_above = np.exp(p + inside[0][0]), np.exp(q + inside[0][1])
        p_below, q_below = np.exp(p + inside[1][0]), np.exp(q + inside[1][1])
        above = np.maximum(p_above - math.exp(epsilon) * q_above, 0.0)
        below = np.maximum(q_below - math.exp(-epsilon) * p_below, 0.0)
    alone = np.where(both, 0.0, np.exp(log_p)), np.where(both, 0.0, np.exp(log_q))
    # Between `still` and not, a ratio is that of the other outputs alone up to mu.
    loose = np.where(still, mu, 0.0)
    sizes = p_above + math.exp(epsilon) * q_above, q_below + math.exp(-epsilon) * p_below
    spread = _NORMAL * (4.0 + np.abs(np.where(both, log_p, 0.0)) + np.abs(np.where(both, log_q, 0.0)) + np.abs(rest))
    values = np.stack([above, below, p_below, q_above, *alone])
    moved = loose * (np.exp(p) + math.exp(epsilon) * np.exp(q))  # of what is above, and e^-epsilon times that of what is below
    noise = np.stack(
        [
            spread * sizes[0] + moved,
            spread * sizes[1] + math.exp(-epsilon) * moved,
            *(spread * x for x in (p_below, q_above, *alone)),
        ]
    )
    return values, noise


class _Integrals:
    """The six integrals over panels, which are halved where they have settled least."""

    def __init__(self, part: Fibres, epsilon: float) -> None:
        self.part, self.epsilon = part, epsilon
        d = len(part.edges)
        self.nodes, self.weights, self.matrix = legendre_rule(_ORDERS[d])
        grids = np.meshgrid(*([self.nodes] * d), indexing="ij")
        self.grid = np.stack([g.ravel() for g in grids], axis=1)
        self.most = 1.0

    def refined(self) -> tuple[Floats, Floats, float]:
        """The integrals, their errors, and a loss that all but a negligible mass stays below."""
        d = len(self.part.edges)
        lows = np.stack([g.ravel() for g in np.meshgrid(*(e[:-1] for e in self.part.edges), indexing="ij")], axis=1)
        highs = np.stack([g.ravel() for g in np.meshgrid(*(e[1:] for e in self.part.edges), indexing="ij")], axis=1)
        values, errors, noise, axis = self._measured(lows, highs)
        for _ in range(_ROUNDS):
            asks = errors[:2].max(axis=0)
            goal = _CLOSE[d] * float(values[:2].sum(axis=1).max()) + float(noise[:2].sum(axis=1).max())
            order = np.argsort(-asks)
            open_ones = order[np.cumsum(asks[order][::-1])[::-1] > goal][: max(0, _MOST_PANELS[d] - asks.size)]
            if not open_ones.size:
                break
            new = halved_along(lows[open_ones], highs[open_ones], axis[open_ones])
            kept = np.setdiff1d(np.arange(asks.size), open_ones)
            more = self._measured(*new)
            lows, highs = np.concatenate([lows[kept], new[0]]), np.concatenate([highs[kept], new[1]])
            values, errors, noise = (
                np.concatenate([a[:, kept], b], axis=1) for a, b in zip((values, errors, noise), more[:3], strict=True)
            )
            axis = np.concatenate([axis[kept], more[3]])
        assert np.isfinite(values).all()
        off = errors.sum(axis=1) + noise.sum(axis=1) + 8 * ROUND * values.sum(axis=1)
        return values.sum(axis=1), off, self.most

    def _measured(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats, Indices]:
        parts = [self._panels(low[i : i + 256], high[i : i + 256]) for i in range(0, len(low), 256)]
        values, errors, noise = (np.concatenate([p[i] for p in parts], axis=1) for i in range(3))
        return values, errors, noise, np.concatenate([p[3] for p in parts])

    def _panels(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats, Indices]:
        count, d = low.shape
        half = 0.5 * (high - low)
        u = (low + half)[:, None, :] + half[:, None, :] * self.grid[None]
        log_p, log_q, mu, error = self.part.fibre(u.reshape(-1, d))
        values, noise = _last(log_p, log_q, mu, self.epsilon)
        noise = noise + values * error
        with np.errstate(invalid="ignore"):
            reach = np.abs(np.where(np.isfinite(log_p) & np.isfinite(log_q), log_p - log_q, 0.0)) + mu * (mu + _FAR)
        self.most = max(self.most, 1.1 * float(reach.max()) + abs(self.epsilon) + 1.0)
        volume = np.prod(half, axis=1)
        shape = (count, *([self.nodes.size] * d))
        sums, offs, rough = [], [], []
        for value, off in zip(values, noise, strict=True):
            f, n = value.reshape(shape), off.reshape(shape)
            rough.append(4 * last_coefficients(coefficients(f, self.matrix)) * 2.0**d * volume[:, None])
            for _ in range(d):
                f, n = f @ self.weights, n @ self.weights
            sums.append(f * volume)
            offs.append(n * volume)
        along = np.stack(rough)
        return np.stack(sums), along.sum(axis=2), np.stack(offs), np.argmax(along[:2].max(axis=0), axis=1)

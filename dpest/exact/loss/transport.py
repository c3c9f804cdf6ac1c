"""An upper end for two mixtures: the cases of the one are handed out over those of the other, as in amplification by sampling.

P = sum w_i p_i and Q = sum v_j q_j. For shares f_ij >= 0 that add up to w_i over j, P <= sum_j q_j sum_i f_ij e^(S_ij), where
S_ij is the largest log ratio of p_i and q_j: P / Q is at most the largest sum_i f_ij e^(S_ij) / v_j. The best shares solve a
linear program; whatever the solver returns, the bound is worked out from shares that add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.component import Parts, Placed
from dpest.exact.loss.blocks import Block, BlockLaw, connected
from dpest.exact.loss.combinations import restricted
from dpest.exact.loss.logs import BothWays, Ends
from dpest.exact.loss.vectors import moved_vector
from dpest.numerics.logspace import Floats

_MOST_PAIRS = 64  # of cases: each may ask for a search of its own
_STEEP = 300.0  # log ratios above are no bound worth having, and e^S has to be a double
_ROUNDING = 1e-12  # relative, of a hundred terms with exponentials of a few hundred

Solve = Callable[[Block], BothWays]


@dataclass(frozen=True)
class _MixturePart:
    """One case: ln of its weight, the error of it, and its components that have outputs."""

    log_weight: float
    error: float
    placed: tuple[Placed, ...]


def mixture_ends(block: Block, solve: Solve) -> Ends:
    """Upper ends of the loss in both directions; infinite where neither law is a mixture, or the cases tell nothing."""
    counts = len(block.left.cases), len(block.right.cases)
    if not 1 < counts[0] * counts[1] <= _MOST_PAIRS:
        return math.inf, math.inf
    left, right = ([_part(parts, count, side) for parts, count in side.cases] for side in (block.left, block.right))
    try:
        pairs = [[_ends(block, a, b, solve) for b in right] for a in left]
    except ExactRefused:
        return math.inf, math.inf
    forward = np.array([[ends[0] for ends in row] for row in pairs])
    backward = np.array([[ends[1] for ends in row] for row in pairs]).T
    return _handed_out(left, right, forward), _handed_out(right, left, backward)


def _part(parts: Parts, count: int, side: BlockLaw) -> _MixturePart:
    log_weight, error = math.log(count), 0.0
    for placed, times in parts:
        if not placed.outputs:
            logs, errors = side.measures.of(placed.component).log(np.empty((1, 0)))
            log_weight, error = log_weight + times * float(logs[0]), error + times * float(np.max(errors))
    return _MixturePart(log_weight, error, tuple(p for p, times in parts if p.outputs for _ in range(times)))


def _ends(block: Block, left: _MixturePart, right: _MixturePart, solve: Solve) -> Ends:
    """Upper ends of the log ratio of two cases: coordinates that share no noise add up."""
    forward = backward = 0.0
    for members in connected([list(left.placed), list(right.placed)]):
        p, q = (BlockLaw(((restricted(x.placed, members), 1),), block.left.measures) for x in (left, right))
        part = Block(tuple(block.kinds[j] for j in members), p, q, _points(block, members), block.scale, block.widest)
        if part.equal:
            continue
        # What takes a search of its own in several coordinates would take one for each pair of cases.
        found = solve(part) if len(members) == 1 else moved_vector(part)
        if found is None:
            return math.inf, math.inf
        forward, backward = forward + found.forward.upper, backward + found.backward.upper
    return forward, backward


def _points(block: Block, members: tuple[int, ...]) -> Callable[..., Floats] | None:
    """The points of some coordinates of a lattice."""
    if block.points is None:
        return None
    points = block.points
    return lambda *, some=False: np.unique(points(some=some)[:, list(members)], axis=0)


def _handed_out(given: list[_MixturePart], taken: list[_MixturePart], ends: Floats) -> float:
    """ln of the smallest bound that shares of the given cases over the others show."""
    from scipy.optimize import linprog

    w, v = (np.exp([x.log_weight for x in parts]) for parts in (given, taken))
    usable = ends < _STEEP
    if not usable.any(axis=1).all() or not v.all():
        return math.inf
    each = np.where(usable, np.exp(np.where(usable, ends, 0.0)), 0.0) / v[None, :]
    rows, columns = each.shape
    # The shares one after the other, and last the bound.
    most = np.zeros((columns, rows * columns + 1))
    for j in range(columns):
        most[j, j : rows * columns : columns] = each[:, j]
    most[:, -1] = -1.0
    whole = np.hstack([np.kron(np.eye(rows), np.ones(columns)), np.zeros((rows, 1))])
    limits = [(0.0, None if x else 0.0) for x in usable.ravel()]
    goal = np.append(np.zeros(rows * columns), 1.0)
    found = linprog(goal, A_ub=most, b_ub=np.zeros(columns), A_eq=whole, b_eq=w, bounds=[*limits, (None, None)], method="highs")
    if found.status != 0 or found.x is None:
        return math.inf
    shares = np.where(usable, np.maximum(found.x[:-1].reshape(rows, columns), 0.0), 0.0)
    totals = shares.sum(axis=1)
    if not totals.all():
        return math.inf
    bound = float(((shares * (w / totals)[:, None]) * each).sum(axis=0).max())
    errors = max(x.error for x in given) + max(x.error for x in taken)
    return math.log(bound) + errors + _ROUNDING if bound > 0 else math.inf

"""StatDP (Ding, Wang, Wang, Zhang, Kifer, CCS 2018): choose an event on one sample, test the claim on another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from dpest.errors import InvalidInput
from dpest.results import Direction
from dpest.run.streams import stream
from dpest.sampling.bounds.statement import Counts
from dpest.sampling.runs.outcomes import is_discrete
from dpest.sampling.runs.outputs import Batch, Matrix
from dpest.sampling.scores.attacks import Attack, half_lines
from dpest.sampling.scores.choose import Cut, Goal, choose_cut
from dpest.sampling.scores.event import Event
from dpest.sampling.scores.row_table import fit_table


def statdp(train: Sequence[Batch], goal: Goal, width: int) -> tuple[Event, Direction]:
    """The event and its direction, fixed on the selection sample: single outputs, or half-lines of one coordinate."""
    left, right = (b.resized(width) for b in train)
    candidates: list[Attack] = (
        [fit_table(left, right)] if is_discrete(left, right) else [half_lines(j, left, right) for j in range(width)]
    )
    cuts: list[tuple[Cut, Attack]] = [(choose_cut(a.score(left), a.score(right), goal), a) for a in candidates]
    cut, attack = max(cuts, key=lambda found: found[0].promise)
    return Event(attack, cut.threshold, cut.direction is Direction.LEFT, width), cut.direction


def hypergeometric_tail(s: int, total: int, n1: int, n2: int) -> float:
    """P(X >= s) where X of `total` hits fall to the first of two groups of sizes n1 and n2 by chance alone."""
    low, high = max(0, total - n2), min(total, n1)
    if s <= low:
        return 1.0
    if s > high:
        return 0.0
    x = np.arange(s, high + 1, dtype=np.float64)
    log_all = _choose(np.array(n1 + n2, dtype=np.float64), np.array(total, dtype=np.float64))
    return float(min(1.0, np.exp(_choose(np.array(float(n1)), x) + _choose(np.array(float(n2)), total - x) - log_all).sum()))


def _choose(n: Matrix, k: Matrix) -> Matrix:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def p_values(counts: Counts, direction: Direction, claims: Sequence[float], seed: int = 0) -> list[float]:
    """One-sided p-values of "the mechanism is claim-DP" for each claim, by thinning and Fisher's exact test.

    If P(S) <= exp(claim) P'(S), keeping each hit with probability exp(-claim) makes the first count no likelier than the second,
    which Fisher's test refutes or not.  One uniform number per hit serves all claims, so that p-values grow with the claim.
    """
    if any(not 0 <= claim < math.inf for claim in claims):
        raise InvalidInput(f"claims must be finite numbers >= 0, got {list(claims)!r}")
    k1, n1, k2, n2 = counts.ordered(direction)
    marks = np.sort(stream(seed, 77).random(k1))
    kept = np.searchsorted(marks, np.exp(-np.asarray(claims, dtype=np.float64)), side="left")
    return [hypergeometric_tail(int(s), int(s) + k2, n1, n2) for s in kept]

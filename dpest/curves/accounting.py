"""To and from the privacy loss distributions of Google's dp_accounting, which is an optional dependency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpest.curves.cells import ROUND, LossCells
from dpest.curves.gaussian import gaussian_piece
from dpest.curves.grid import upwards
from dpest.curves.tree import Fixed, Leaf, Tree
from dpest.curves.way import Way
from dpest.errors import InvalidInput, MissingExtra, NotCovered

_DIRECTIONS = ("D over D'", "D' over D")


def _library() -> tuple[Any, Any]:
    try:
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ImportError as error:
        raise MissingExtra("this needs dp_accounting: pip install dp-accounting") from error
    return privacy_loss_distribution, pld_pmf


def to_dp_accounting(ways: Sequence[Way], interval: float) -> Any:
    """A pessimistic PrivacyLossDistribution: every part on the interval's grid, composed by dp_accounting.

    D over D' is its "remove" direction and D' over D its "add" direction. What dp_accounting then computes carries its own
    rounding errors, which it does not bound.
    """
    if not 0 < interval < 1:
        raise InvalidInput(f"the interval of the grid must lie between 0 and 1, such as 1e-4, got {interval!r}")
    if len(ways) != 2:
        raise NotCovered(f"a distribution of dp_accounting is about one pair of inputs, this curve about {len(ways) // 2}")
    distributions, pmfs = _library()
    sides = []
    for direction in _DIRECTIONS:
        way = next(w for w in ways if w.direction == direction)
        parts = list(way.parts)
        if way.mu_squared:
            parts.append((Leaf(gaussian_piece(math.sqrt(way.mu_squared), way.mu_error)), 1))
        made = [(_pmf(pmfs, tree, interval), k) for tree, k in parts]
        total = None
        for pmf, k in made:
            one = pmf.self_compose(k) if k > 1 else pmf
            total = one if total is None else total.compose(one)
        sides.append(total)
    return distributions.PrivacyLossDistribution(*sides)


def _pmf(pmfs: Any, tree: Tree, interval: float) -> Any:
    if not isinstance(tree, Leaf):
        raise NotCovered("an output with several parts that depend on the run cannot be put on one grid of dp_accounting")
    losses = tree.losses(True)
    grid = upwards(losses, interval, 0.0)
    first, last = int(grid.n[0]), int(grid.n[-1])
    if last - first > 50_000_000:
        ends = f"from {first * interval:g} to {last * interval:g}"
        raise InvalidInput(f"losses {ends} on a grid of {interval:g} are too many points: give a larger interval")
    probabilities = np.zeros(last - first + 1)
    probabilities[grid.n - first] = np.exp(grid.log_mass)
    return pmfs.DensePLDPmf(interval, first, probabilities, losses.infinite, True)


def from_dp_accounting(distribution: Any) -> tuple[Way, ...]:
    """Both directions of a PrivacyLossDistribution, its probabilities taken as exact."""
    _library()
    if not hasattr(distribution, "_pmf_remove"):
        raise InvalidInput(f"expected a PrivacyLossDistribution of dp_accounting, got {type(distribution).__name__}")
    pmfs = (distribution._pmf_remove, distribution._pmf_add)
    return tuple(Way(None, d, ((Leaf(Fixed(_cells(p.to_dense_pmf()))), 1),)) for d, p in zip(_DIRECTIONS, pmfs, strict=True))


def _cells(pmf: Any) -> LossCells:
    probabilities = np.asarray(pmf._probs, float)
    loss = (pmf._lower_loss + np.arange(probabilities.size)) * float(pmf._discretization)
    keep = probabilities > 0
    log_p, loss = np.log(probabilities[keep]), loss[keep]
    log_q = log_p - loss
    if pmf._infinity_mass > 0:
        log_p, log_q = np.append(log_p, math.log(pmf._infinity_mass)), np.append(log_q, -math.inf)
        loss = np.append(loss, math.inf)
    slack = ROUND * (4.0 + np.abs(log_p) + np.where(np.isfinite(loss), np.abs(loss), 0.0))
    return LossCells(log_p, log_q, slack, loss, loss)

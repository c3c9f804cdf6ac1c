"""The loss and delta(eps) between two laws of `tests.oracles.sweep`, with enclosures."""

from __future__ import annotations

import math
from typing import Any

from mpmath import mp, mpf

from tests.oracles.densities import density, scan
from tests.oracles.sweep import Law, Mechanism, law
from tests.oracles.truth import Truth, between

# Probabilities given as doubles add up to 1 only to their rounding; a law may be normalised or not.
NORMALISED = mpf("1e-15")
LIGHT = mpf("1e-25")
FLOOR = -38.0  # ln of a density beside which one of `LIGHT` at most, which was not followed, is less than the slack


def sweep_truth(mechanism: Mechanism, pair: tuple[Any, Any], *, closed: bool, source: str = "sweep") -> Truth:
    """The loss of a pair; `closed` says that every possible output has been seen (the outputs are a few words)."""
    p, q = (law(mechanism, x) for x in pair)
    return loss(p, q, closed=closed, source=source)


def loss(p: Law, q: Law, *, closed: bool, source: str) -> Truth:
    """The enclosure of the larger direction."""
    ways = [_one_way(p, q, closed), _one_way(q, p, closed)]
    lower, upper = (max(w[i] for w in ways) for i in (0, 1))
    return between(lower, max(lower, upper), source)


def _one_way(p: Law, q: Law, closed: bool) -> tuple[Any, Any]:
    """Bounds of sup ln p - ln q over the outputs."""
    lower, upper = mpf(0), mpf(0)
    for key, mass in p.atoms.items():
        other = q.atoms.get(key, mpf(0))
        low, high = _ratio(mass, other + q.rest), _ratio(mass + p.rest, other)
        lower, upper = max(lower, low), max(upper, high)
    if p.unseen or (p.rest and not (closed and p.rest < LIGHT)):
        upper = mp.inf
    for stratum in p.pieces:
        low, high = _densities(p, q, stratum)
        lower, upper = max(lower, low), max(upper, high)
    slack = NORMALISED * (1 + abs(lower))
    return lower - slack if lower and not mp.isinf(lower) else lower, upper + slack if upper else upper


def _ratio(p: Any, q: Any) -> Any:
    if not p:
        return mpf(0)
    return mp.inf if not q else mp.log(p / q)


def _densities(p: Law, q: Law, stratum: Any) -> tuple[Any, Any]:
    """The largest log ratio of densities on one stratum: found on a grid in doubles, refined at 50 digits."""
    if stratum not in q.pieces:
        return (mp.inf, mp.inf) if q.rest < mpf("1e-20") else (mpf(0), mp.inf)
    found = scan(density(p, stratum), density(q, stratum), FLOOR if q.rest else -math.inf)
    if max(p.rest, q.rest) > LIGHT or (q.beyond and mp.isinf(found.value)):
        return mpf(0), mp.inf
    # Weight of at most 1e-25 that was not followed changes a density where it counts by far less than this.
    slack = mpf("1e-9") if q.rest else mpf(0)
    high = mp.inf if p.rest or p.beyond or not found.settled else found.value + mpf("1e-7") * (1 + found.value)
    return max(mpf(0), found.value - slack), high


def delta(p: Law, q: Law, epsilon: float) -> Truth:
    """The hockey-stick divergence of two laws of constants, the larger direction."""
    assert not p.pieces
    assert not q.pieces
    factor = mp.exp(mpf(epsilon))
    values = []
    for one, other in ((p, q), (q, p)):
        total = sum((max(mpf(0), m - factor * other.atoms.get(k, mpf(0))) for k, m in one.atoms.items()), mpf(0))
        values.append(total)
    best = max(values)
    slack = p.rest + factor * q.rest + q.rest + factor * p.rest + NORMALISED
    return between(best - slack, best + slack, "sweep")

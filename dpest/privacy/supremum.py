"""The largest log ratio of two laws on one block of output coordinates, in both directions, and where it is.

Between the kinks of both densities the log ratio is smooth: it is scanned there, its local maxima are refined, and its
limits in every tail direction are extrapolated. A point that one law can produce and the other cannot is a proof of an
infinite loss.
"""

from __future__ import annotations

import numpy as np

from dpest.numerics.logspace import Floats
from dpest.privacy.blocks import Block, Kind
from dpest.privacy.joint import on_space
from dpest.privacy.line import Line, block_line, both_ways, larger, tail_logs
from dpest.privacy.logs import NOTHING, BothWays, Logs, Sup, best, logs_at
from dpest.privacy.shift import shifted


def supremum(block: Block) -> BothWays:
    """The block's loss in both directions; blocks with the same laws are worked out once."""
    known = block.left.measures.answers
    key = (block.kinds, block.left.key, block.right.key)
    if key not in known:
        known[key] = _supremum(block)
    found: BothWays = known[key]
    return found


def _supremum(block: Block) -> BothWays:
    if block.equal:
        return _equal(block)
    if block.dimension == 0:
        logs = logs_at(block, np.empty((1, 0)))
        return BothWays(best(logs), best(logs.swapped()))
    if block.kinds[0] is Kind.LATTICE:
        return _on_lattice(block)
    if block.dimension > 1:
        return on_space(block)
    return shifted(block) or both_ways(block_line(block))


def _equal(block: Block) -> BothWays:
    """Equal laws: exactly zero, whatever rounding says."""
    if block.left.impossible:
        return BothWays(NOTHING, NOTHING)
    log_p = float(logs_at(block, np.empty((1, 0))).p[0]) if block.dimension == 0 else 0.0
    zero = Sup(0.0, 0.0, 0.0, (), log_p, log_p) if log_p > -np.inf else NOTHING
    return BothWays(zero, zero)


def _on_lattice(block: Block) -> BothWays:
    assert block.points is not None
    y = block.points()
    logs = logs_at(block, y)
    ways = BothWays(best(logs), best(logs.swapped()))
    if block.dimension > 1 or len(y) < 2:
        return ways
    return _with_lattice_tails(block, y[:, 0], logs, ways)


def _with_lattice_tails(block: Block, y: Floats, logs: Logs, ways: BothWays) -> BothWays:
    """Takes the limits in both tails in, at distances from the centre that are whole numbers of steps."""
    step = float(np.diff(y).min())
    centre = float(y[np.argmax(np.logaddexp(logs.p, logs.q))])
    forward, backward = ways.forward, ways.backward
    for sign, end in ((1, float(y[-1])), (-1, float(y[0]))):
        unit = step * max(1, round(abs(end - centre) / (64 * step)))
        line = Line(lambda t: logs_at(block, t[:, None]), np.array([centre]), unit, unit, block.log_floor)
        tail = tail_logs(line, centre, sign, unit)
        if tail is not None:
            forward, backward = larger(forward, tail.limit()), larger(backward, tail.swapped().limit())
    return BothWays(forward, backward)

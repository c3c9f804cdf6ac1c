"""The largest log ratio of two laws on one block of output coordinates, in both directions, and where it is.

Closed forms come first, then enclosures on one coordinate, then enumeration of finitely many points. Where a search is all
there is, what it reached is the lower end, and there is no upper end. A point that one law can produce and the other cannot
is a proof of an infinite loss.
"""

from __future__ import annotations

import math

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.loss.blocks import Block, BlockLaw, CoordinateKind
from dpest.exact.loss.joint import on_space
from dpest.exact.loss.line import block_line, scan, searched
from dpest.exact.loss.logs import NOTHING, BothWays, Sup, best, capped, logs_at
from dpest.exact.loss.points import on_points
from dpest.exact.loss.proved import proved
from dpest.exact.loss.ratio import RatioSide, quotient_supremum
from dpest.exact.loss.shift import moved_concave_sum, moved_sum, shifted
from dpest.exact.loss.vectors import moved_vector

ANY = (-math.inf, -math.inf)


def supremum(block: Block, worth: tuple[float, float] = ANY) -> BothWays:
    """The block's loss in both directions; blocks with the same laws are worked out once.

    Losses up to `worth` are not worth a closer look: where a direction has no larger one, its bracket may be wide.
    """
    known = block.left.measures.answers
    key = (block.kinds, block.left.key, block.right.key)
    if key not in known or any(a > b for a, b in zip(known[key][0], worth, strict=True)):
        known[key] = worth, _known_support(block, _supremum(block, worth))
    found: BothWays = known[key][1]
    return found


def _supremum(block: Block, worth: tuple[float, float] = ANY) -> BothWays:
    if block.equal:
        return _equal(block)
    if isinstance(block.left, RatioSide):
        return quotient_supremum(block)
    if block.dimension == 0:
        logs = logs_at(block, np.empty((1, 0)))
        return BothWays(best(logs), best(logs.swapped()))
    if block.kinds[0] is CoordinateKind.LATTICE:
        return capped(on_points(block), moved_sum(block) if block.dimension == 1 else None)
    if block.dimension > 1:
        return moved_vector(block) or on_space(block)
    found = shifted(block) or moved_concave_sum(block)
    if found is None:
        found = capped(proved(block, worth) or searched(block_line(block)), moved_sum(block))
    return found


def _known_support(block: Block, found: BothWays) -> BothWays:
    """The loss, where a law that no place showed is impossible: that a search found nothing does not make a law impossible."""
    ways = []
    for own, other, sup in ((block.left, block.right, found.forward), (block.right, block.left, found.backward)):
        if not sup.possible and not own.impossible and own.log_total > -math.inf:
            if not other.impossible:
                raise ExactRefused("no place was found at which the density of an output is known well")
            sup = Sup(math.inf, math.inf, math.inf, _somewhere(block, own), own.log_total, -math.inf)
        ways.append(sup)
    return BothWays(ways[0], ways[1])


def _somewhere(block: Block, own: BlockLaw) -> tuple[float, ...]:
    """A place that a law alone can produce: the likeliest of a few."""
    places = scan(block_line(block))[:, None] if block.dimension == 1 else np.zeros((1, block.dimension))
    return tuple(float(v) for v in places[int(np.argmax(own.log(places)[0]))])


def _equal(block: Block) -> BothWays:
    """Equal laws: exactly zero, whatever rounding says."""
    if block.left.impossible:
        return BothWays(NOTHING, NOTHING)
    # On a line an event is weighed when it is told.
    log_p = block.left.log_total if block.kinds != (CoordinateKind.REAL,) else 0.0
    zero = Sup(0.0, 0.0, 0.0, (), log_p, log_p) if log_p > -np.inf else NOTHING
    return BothWays(zero, zero)

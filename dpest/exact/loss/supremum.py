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
from dpest.exact.loss.cells_of_space import highest_on_cells
from dpest.exact.loss.cover import as_good_as
from dpest.exact.loss.direction import DirectionSide
from dpest.exact.loss.direction_search import direction_supremum
from dpest.exact.loss.joint import on_space, with_place
from dpest.exact.loss.line import block_line, line_kinks, scan, searched
from dpest.exact.loss.logs import ANY, NOTHING, OPEN_ENDED, BothWays, Ends, Sup, capped, logs_at, of_one_output
from dpest.exact.loss.mixed import MixedSide, mixed_supremum
from dpest.exact.loss.points import on_points
from dpest.exact.loss.proved import proved
from dpest.exact.loss.ratio import RatioSide, quotient_supremum
from dpest.exact.loss.shift import moved_concave_sum, moved_sum, shifted, tilted
from dpest.exact.loss.sphere import SphereSide, sphere_supremum
from dpest.exact.loss.transport import mixture_ends
from dpest.exact.loss.vectors import moved_vector

_GLIMPSED = np.array([0.1, 1.0, 4.0, 40.0])  # scales beyond the kinks at which a first look is taken


def supremum(block: Block, worth: Ends = ANY, most: Ends = OPEN_ENDED, *, each: bool = False) -> BothWays:
    """The block's loss in both directions; blocks with the same laws are worked out once.

    Losses up to `worth` are not worth a closer look: where a direction has no larger one, its bracket may be wide. The loss is
    known to be `most` at most: once that is reached, nothing more is looked at. Of quotients the smaller direction stays open,
    below the larger one, unless `each` is asked for.
    """
    known = block.left.measures.answers
    each = each and isinstance(block.left, DirectionSide | RatioSide)
    key = (block.kinds, block.left.key, block.right.key, each)
    if key not in known or not _suffices(known[key][0], (worth, most)):
        known[key] = (worth, most), _known_support(block, _supremum(block, worth, most, each=each))
    found: BothWays = known[key][1]
    return found


def _suffices(done: tuple[Ends, Ends], wanted: tuple[Ends, Ends]) -> bool:
    """Whether what was worked out for some `worth` and `most` is as good as is wanted."""
    from_here = all(a <= b for a, b in zip(done[0], wanted[0], strict=True))
    return from_here and all(a >= b for a, b in zip(done[1], wanted[1], strict=True))


def glimpse(block: Block) -> tuple[float, float]:
    """What a few places show of the block's loss in both directions: where to look first, and no more."""
    if block.equal or isinstance(block.left, RatioSide | DirectionSide) or block.kinds != (CoordinateKind.REAL,):
        return 0.0, 0.0
    return block.left.measures.once(("glimpse", block.left.key, block.right.key), None, lambda: _glimpsed(block))


def _glimpsed(block: Block) -> tuple[float, float]:
    kinks, steps = line_kinks(block), block.widest * _GLIMPSED
    logs = logs_at(block, np.concatenate([kinks[0] - steps, 0.5 * (kinks[1:] + kinks[:-1]), kinks[-1] + steps])[:, None])
    ratio = logs.ratio[np.isfinite(logs.ratio)]
    return (float(ratio.max()), float(-ratio.min())) if ratio.size else (0.0, 0.0)


def _supremum(block: Block, worth: Ends, most: Ends, *, each: bool) -> BothWays:
    if block.equal:
        return _equal(block)
    if isinstance(block.left, RatioSide):
        return quotient_supremum(block, each=each)
    if isinstance(block.left, DirectionSide):
        return direction_supremum(block, each=each)
    if isinstance(block.left, MixedSide):
        return mixed_supremum(block)
    if isinstance(block.left, SphereSide):
        return sphere_supremum(block)
    if block.dimension == 0:
        return of_one_output(logs_at(block, np.empty((1, 0))))
    if block.kinds[0] is CoordinateKind.LATTICE:
        if block.dimension == 1:
            return tilted(block) or capped(on_points(block), moved_sum(block))
        return _closed_as_mixtures(block, on_points(block))
    if block.dimension > 1:
        return moved_vector(block) or _searched_on_space(block, worth, most)
    found = shifted(block) or moved_concave_sum(block)
    if found is None:
        found = capped(proved(block, worth, most) or searched(block_line(block)), moved_sum(block))
    return found


def _closed_as_mixtures(block: Block, found: BothWays) -> BothWays:
    """What points of a lattice show, with an upper end where more points than those looked at leave one open."""
    is_open = any(sup.lower < sup.upper and not as_good_as(sup.lower, sup.upper) for sup in (found.forward, found.backward))
    return capped(found, mixture_ends(block, supremum)) if is_open else found


def _searched_on_space(block: Block, worth: Ends, most: Ends) -> BothWays:
    """What a search shows, with an upper end on cells of the space where one is open and worth the work."""
    ends = mixture_ends(block, supremum)
    found = capped(on_space(block, worth, most), ends)
    ways = zip((found.forward, found.backward), worth, most, strict=True)
    open_ones = ((sup, min(top, sup.upper)) for sup, least, top in ways if sup.lower < sup.upper and least < math.inf)
    is_wanted = any(not as_good_as(sup.lower, top) for sup, top in open_ones)
    reached = found.forward.lower, found.backward.lower
    tops = highest_on_cells(block, reached) if is_wanted else None
    if tops is None:
        return found
    forward, backward = (top.place(block.dimension) for top in tops)
    return capped(with_place(block, found, (forward, backward)), (min(ends[0], tops[0].value), min(ends[1], tops[1].value)))


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

"""Losses moved to a grid, so that a transform can add them: outwards for the upper curve, inwards for the lower one.

Upwards, a loss is split between its two neighbours so that both of its probabilities are kept: that spreads the ratio,
and is off by the square of the step. Downwards is `dpest.curves.contraction`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.curves.cells import ROUND, Losses, upward_share
from dpest.curves.contraction import GUARD, contracted
from dpest.curves.tree import Leaf, Mixture, ProductPart, Tree, leaves
from dpest.numerics.logspace import Floats, log_sum

Ints = npt.NDArray[np.int64]
_MOST_LATTICE = 1 << 17  # points of a lattice that a single part may span
_HEAVY = 1e-3  # probability from which a single loss is worth a grid point of its own
_FEW = 64  # outcomes up to which each is worth one
_NARROW = 1e-10  # the widest range of a cell that counts as a single loss


@dataclass(frozen=True, eq=False)
class Grid:
    """Losses at offset + n * step, with ln of their probabilities."""

    n: Ints
    log_mass: Floats
    loss: Floats  # offset + n * step
    offset: float
    guard: float  # how far below the grid points the losses may lie (downwards only)


@dataclass(frozen=True)
class LossLattice:
    """Grid points that single losses lie on: offset + n * measure; measure 0 where any step will do."""

    measure: float
    offsets: dict[int, float]  # by id of the leaf
    complete: bool = False  # whether there are no other losses

    def step(self, most: float) -> float:
        """The largest step up to `most` that divides the measure; the measure itself where nothing lies between."""
        if self.complete:
            return self.measure
        return self.measure / math.ceil(self.measure / most) if self.measure else most


def lattice(tree: Tree) -> LossLattice:
    """The grid points on which all sizeable single losses of a tree lie; any grid where there is no such lattice."""
    chosen = _independent_leaves(tree)
    grain = max((leaf.cells.lower.doubt for leaf in chosen), default=0.0)
    singles = {id(leaf): _apart(_single_losses(leaf), grain) for leaf in chosen}
    measure = _measure([x - losses[0] for losses in singles.values() if losses.size for x in losses[1:]], grain)
    if measure is None:
        return LossLattice(0.0, {})
    complete = measure > 0 and len(chosen) == len(leaves(tree)) and all(all_single(leaf) for leaf in chosen)
    return LossLattice(measure, {key: float(losses[0]) for key, losses in singles.items() if losses.size}, complete)


def _independent_leaves(tree: Tree) -> list[Leaf]:
    """Leaves that may have an offset of their own: those that are not part of a mixture."""
    match tree:
        case Leaf():
            return [tree]
        case ProductPart(parts):
            return [leaf for p, _ in parts for leaf in _independent_leaves(p)]
        case Mixture():
            return []


def _single_losses(leaf: Leaf) -> Floats:
    cells = leaf.cells
    with np.errstate(invalid="ignore"):
        narrow = (cells.high - cells.low <= _NARROW * np.maximum(1.0, np.abs(cells.losses))) & np.isfinite(cells.losses)
    heavy = narrow & (np.maximum(cells.log_p, cells.log_q) > math.log(_HEAVY))
    return np.sort(cells.losses[narrow if all_single(leaf) else heavy])


def _apart(losses: Floats, grain: float) -> Floats:
    """Sorted losses, those that differ by no more than the errors of their masses as one: where a ratio is constant, many cells
    have the same loss."""
    if not losses.size:
        return losses
    starts = np.flatnonzero(np.concatenate([[True], np.diff(losses) > 2 * grain]))
    return np.asarray(0.5 * (losses[starts] + losses[np.append(starts[1:], losses.size) - 1]))


def all_single(leaf: Leaf) -> bool:
    """Whether a part has few outcomes, each with one loss."""
    cells = leaf.cells
    if cells.size > _FEW or any(cells.beyond):
        return False
    with np.errstate(invalid="ignore"):
        wide = cells.high - cells.low > _NARROW * np.maximum(1.0, np.abs(cells.losses))
    return not bool(np.any(wide & np.isfinite(cells.losses)))


def _measure(gaps: list[float], grain: float = 0.0) -> float | None:
    """A number of which all gaps are whole multiples up to rounding; 0 where there are none; None where there is none."""
    if not gaps:
        return 0.0
    widest = max(gaps)
    out = widest
    for gap in gaps:
        a, b = out, gap
        while b > max(1e-9 * widest, 8 * grain):
            a, b = b, abs(a - b * round(a / b))
        out = a
        if widest > out * _MOST_LATTICE:
            return None
    out = float(widest / round(widest / out))
    off = max(abs(g - out * round(g / out)) for g in gaps)
    return out if off <= 0.25 * GUARD * widest + grain else None


def upwards(losses: Losses, step: float, offset: float) -> Grid:
    """Each loss split between its neighbours, both probabilities kept."""
    moved = losses.loss - offset
    n = np.floor(moved / step)
    rest = np.clip(moved - n * step, 0.0, step)
    noise = 4 * ROUND * (np.abs(losses.loss) + abs(offset) + step)
    share = upward_share(np.minimum(rest + noise, step), np.zeros_like(rest), np.full_like(rest, step))
    with np.errstate(divide="ignore"):
        log_up, log_down = np.log(share), np.log1p(-share)
    mass = losses.log_mass + 2 * ROUND
    both = np.concatenate([n, n + 1]).astype(np.int64)
    return _collected(both, np.concatenate([mass + log_down, mass + log_up]), step, offset)


def downwards(losses: Losses, step: float, offset: float, order: float = 1.0) -> Grid:
    """Neighbouring losses merged on grid points, so that no test tells the inputs apart better than before."""
    n, log_mass, guard = contracted(losses, step, offset, order)
    return Grid(n, log_mass, np.asarray(offset + n * step, float), offset, guard)


def _collected(n: Ints, log_mass: Floats, step: float, offset: float) -> Grid:
    """Equal points as one, in increasing order."""
    keep = log_mass > -np.inf
    points, where = np.unique(n[keep], return_inverse=True)
    where = where.ravel()
    top = np.full(points.size, -np.inf)
    np.maximum.at(top, where, log_mass[keep])
    total = np.bincount(where, np.exp(log_mass[keep] - top[where]), points.size)
    many = np.bincount(where, minlength=points.size)
    found = np.log(total) + top
    found = found + ROUND * (4.0 + many + np.abs(found))
    return Grid(points, found, np.asarray(offset + points * step, float), offset, 0.0)


def gridded(
    tree: Tree, up: bool, step: float, offsets: dict[int, float], known: dict[int, Grid], order: float = 1.0
) -> dict[int, Grid]:
    """The grid of every leaf, by its id; from below, the sharpest for moments of an order."""
    match tree:
        case Leaf():
            if id(tree) not in known:
                losses, offset = tree.losses(up), offsets.get(id(tree), 0.0)
                known[id(tree)] = upwards(losses, step, offset) if up else downwards(losses, step, offset, order)
        case ProductPart(parts):
            for part, _ in parts:
                gridded(part, up, step, offsets, known, order)
        case Mixture(parts):
            for part in parts:
                gridded(part, up, step, offsets, known, order)
    return known


@dataclass(frozen=True)
class Moments:
    """ln of the moment generating function at a tilt, with its first two derivatives."""

    log_mgf: float
    mean: float
    variance: float


def moments(tree: Tree, up: bool, tilt: float, grids: dict[int, Grid] | None = None) -> Moments:
    """ln E e^(tilt * loss) over finite losses, of the losses themselves or of those on a grid."""

    def at(leaf: Leaf) -> Losses | Grid:
        return leaf.losses(up) if grids is None else grids[id(leaf)]

    return _moments(tree, at, tilt)


def rough_moments(tree: Tree, up: bool, tilt: float) -> Moments:
    """The same of few merged losses: to plan with."""
    return _moments(tree, lambda leaf: leaf.losses(up).coarse, tilt)


def rough_log_mgf(tree: Tree, up: bool, tilts: Floats) -> Floats:
    """ln E e^(tilt * loss) of few merged losses, at several tilts: to plan with."""
    match tree:
        case Leaf():
            at = tree.losses(up).coarse
            return np.asarray(log_sum(at.log_mass + tilts[:, None] * at.loss, axis=1)) if at.loss.size else tilts - np.inf
        case ProductPart(parts):
            return np.asarray(sum(k * rough_log_mgf(p, up, tilts) for p, k in parts), float)
        case Mixture(parts):
            return np.asarray(log_sum(np.stack([rough_log_mgf(p, up, tilts) for p in parts]), axis=0))


def _moments(tree: Tree, of: Callable[[Leaf], Losses | Grid], tilt: float) -> Moments:
    match tree:
        case Leaf():
            at = of(tree)
            return _leaf_moments(at.log_mass, at.loss, tilt)
        case ProductPart(parts):
            each = [(_moments(p, of, tilt), k) for p, k in parts]
            return Moments(*(math.fsum(k * getattr(m, name) for m, k in each) for name in ("log_mgf", "mean", "variance")))
        case Mixture(parts):
            found = [_moments(p, of, tilt) for p in parts]
            logs = np.array([m.log_mgf for m in found])
            total = float(log_sum(logs))
            if total == -math.inf:
                return Moments(total, 0.0, 0.0)
            weights = np.exp(logs - total)
            means, variances = (np.array([getattr(m, name) for m in found]) for name in ("mean", "variance"))
            mean = float(weights @ means)
            return Moments(total, mean, float(weights @ (variances + (means - mean) ** 2)))


def _leaf_moments(log_mass: Floats, loss: Floats, tilt: float) -> Moments:
    if not loss.size:
        return Moments(-math.inf, 0.0, 0.0)
    logs = log_mass + tilt * loss
    total = float(log_sum(logs))
    weights = np.exp(logs - total)
    mean = float(weights @ loss)
    return Moments(total, mean, float(weights @ (loss - mean) ** 2))

"""The privacy loss distribution of one compared pair, and the curve that follows from it.

The outputs of both programs are a mixture of buckets (one for each shape), a bucket is a product of groups that share
no noise, a group a mixture of strata, a stratum a product of blocks. Blocks become cells (`dpest.exact.loss.parts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpest.curves.cells import product, single
from dpest.curves.curve import Curve
from dpest.curves.gaussian import gaussian_piece
from dpest.curves.tree import CellSource, Fixed, Leaf, Mixture, ProductPart, Tree, swapped, together, weighted
from dpest.curves.way import Way
from dpest.errors import NotCovered
from dpest.exact.loss.buckets import Bucket, Group
from dpest.exact.loss.compare import Comparison
from dpest.exact.loss.parts import SharedGaussian, Weight, part_of
from dpest.exact.loss.strata import Stratum
from dpest.results import Direction

_MOST_PRODUCT = 40_000  # outcomes of a product that is multiplied out


def compared_curve(comparison: Comparison, pair: str | None = None) -> Curve:
    """The curve of a comparison, both directions."""
    found = _outputs(comparison)
    ends = comparison.forward, comparison.backward
    ways = []
    for way, direction in enumerate((Direction.LEFT, Direction.RIGHT)):
        trees = found.trees if way == 0 else tuple(swapped(t) for t in found.trees)
        pure = (max(0.0, ends[way].lower), max(0.0, ends[way].upper))
        parts = tuple((t, 1) for t in trees)
        ways.append(Way(pair, direction.value, parts, found.mu_squared, found.error, pure))
    return Curve(tuple(ways))


@dataclass(frozen=True, eq=False)
class _Outputs:
    """Independent parts of the whole output: trees, and Gaussian noise in closed form."""

    trees: tuple[Tree, ...]
    mu_squared: float = 0.0
    error: float = 0.0


def _outputs(comparison: Comparison) -> _Outputs:
    loose = tuple(math.exp(m) for m in comparison.log_unexplored)
    if len(comparison.buckets) == 1 and not any(loose) and all(len(g.strata) == 1 for g in comparison.buckets[0].groups):
        return _independent([b for g in comparison.buckets[0].groups for b in _parts(g.strata[0])])
    buckets = [_bucket(b) for b in comparison.buckets]
    if all(isinstance(b, Leaf) for b in buckets):
        return _Outputs((Leaf(together([b.source for b in buckets if isinstance(b, Leaf)], (loose[0], loose[1]))),))
    if any(loose):  # it may lie on any output: only a single list of cells can take it in
        raise NotCovered("delta(eps) of a loop without end whose output has several independent parts")
    return _Outputs((Mixture(tuple(buckets)),))


def _independent(parts: list[Weight | SharedGaussian | CellSource]) -> _Outputs:
    """One path on either side: every block is a part of its own, and Gaussian shifts add their squares."""
    shifts = [p for p in parts if isinstance(p, SharedGaussian)]
    weights = [p for p in parts if isinstance(p, Weight) and (p.log_p != 0.0 or p.log_q != 0.0 or p.error > 1e-15)]
    sources = [p for p in parts if not isinstance(p, Weight | SharedGaussian)]
    squared = math.fsum(s.mu_squared for s in shifts)
    error = max((s.error for s in shifts), default=0.0) + 4e-16
    if weights:
        return _Outputs((_stratum_tree(weights, shifts, sources),))
    return _Outputs(tuple(Leaf(s) for s in sources), squared, error)


def _parts(stratum: Stratum) -> list[Weight | SharedGaussian | CellSource]:
    found = [part_of(b) for b in stratum.blocks]
    many = math.log(stratum.multiplicity)
    return [*found, Weight(many, many, 4e-16 * (1 + many))] if stratum.multiplicity > 1 else found


def _bucket(bucket: Bucket) -> Tree:
    groups = [_group(g) for g in bucket.groups]
    trees: list[Tree] = []
    log_p = log_q = error = 0.0
    for tree in groups:
        one = _only_weight(tree)
        if one is None:
            trees.append(tree)
        else:
            log_p, log_q, error = log_p + one.log_p, log_q + one.log_q, error + one.error
    return _times(trees, Weight(log_p, log_q, error))


def _only_weight(tree: Tree) -> Weight | None:
    """A group with one outcome, as a weight."""
    if not isinstance(tree, Leaf) or not isinstance(tree.source, Fixed):
        return None
    cells = tree.source.cells
    if cells.size != 1 or any(cells.beyond):
        return None
    return Weight(float(cells.log_p[0]), float(cells.log_q[0]), float(cells.slack[0]))


def _group(group: Group) -> Tree:
    trees = [_stratum(s) for s in group.strata]
    if all(isinstance(t, Leaf) for t in trees):
        return Leaf(together([t.source for t in trees if isinstance(t, Leaf)]))
    return Mixture(tuple(trees))


def _stratum(stratum: Stratum) -> Tree:
    parts = _parts(stratum)
    weights, shifts = [p for p in parts if isinstance(p, Weight)], [p for p in parts if isinstance(p, SharedGaussian)]
    return _stratum_tree(weights, shifts, [p for p in parts if not isinstance(p, Weight | SharedGaussian)])


def _stratum_tree(weights: list[Weight], shifts: list[SharedGaussian], sources: list[CellSource]) -> Tree:
    squared = math.fsum(s.mu_squared for s in shifts)
    if squared:
        sources = [gaussian_piece(math.sqrt(squared), max(s.error for s in shifts)), *sources]
    whole = Weight(*(math.fsum(getattr(w, name) for w in weights) for name in ("log_p", "log_q", "error")))
    return _times([Leaf(s) for s in sources], whole)


def _times(trees: list[Tree], weight: Weight) -> Tree:
    """Independent parts together, with a weight; discrete ones multiplied out."""
    if not trees:
        return Leaf(Fixed(single([weight.log_p], [weight.log_q], weight.error)))
    discrete = [t for t in trees if isinstance(t, Leaf) and isinstance(t.source, Fixed)]
    rest = [t for t in trees if t not in discrete]
    merged: list[Tree] = []
    for leaf in discrete:
        last = merged[-1] if merged else None
        if isinstance(last, Leaf) and last.cells.size * leaf.cells.size <= _MOST_PRODUCT:
            merged[-1] = Leaf(Fixed(product(last.cells, leaf.cells)))
        else:
            merged.append(leaf)
    trees = [*merged, *rest]
    if weight.log_p or weight.log_q or weight.error:
        first = trees[0]
        if isinstance(first, Leaf):
            trees[0] = Leaf(weighted(first.source, weight.log_p, weight.log_q, weight.error))
        else:
            trees.append(Leaf(Fixed(single([weight.log_p], [weight.log_q], weight.error))))
    return trees[0] if len(trees) == 1 else ProductPart(tuple((t, 1) for t in trees))

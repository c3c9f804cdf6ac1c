"""How the parts of an output go together: cells, independent parts, and parts that exclude each other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias

from dpest.curves.cells import LossCells, Losses, joined, merged


class CellSource(Protocol):
    """Where the cells of a part come from: narrow ones for a composition, and ones that end where the ratio crosses e^eps."""

    @property
    def cells(self) -> LossCells:
        """Cells for a composition."""

    def at(self, epsilon: float) -> LossCells:
        """Cells for delta(epsilon) of this part alone."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """One part, as cells."""

    source: CellSource

    @property
    def cells(self) -> LossCells:
        """Its cells, for a composition."""
        return self.source.cells

    def losses(self, up: bool) -> Losses:
        """The losses that dominate the part's (up), or that it dominates."""
        return self.cells.upper if up else self.cells.lower


@dataclass(frozen=True, eq=False)
class Fixed:
    """Cells that need no refinement: single outcomes."""

    cells: LossCells

    def at(self, epsilon: float) -> LossCells:
        """The same cells."""
        return self.cells


@dataclass(frozen=True, eq=False)
class Swapped:
    """The other direction of a part."""

    inner: CellSource

    @cached_property
    def cells(self) -> LossCells:
        """The cells, swapped."""
        return self.inner.cells.swapped()

    def at(self, epsilon: float) -> LossCells:
        """The cells for delta(epsilon) of the other direction: its ratio crosses e^epsilon where this one crosses e^-epsilon."""
        return self.inner.at(-epsilon).swapped()


@dataclass(frozen=True, eq=False)
class Weighted:
    """A part together with a further independent event."""

    inner: CellSource
    log_p: float
    log_q: float
    error: float

    @cached_property
    def cells(self) -> LossCells:
        """The cells, weighted."""
        return self.inner.cells.weighted(self.log_p, self.log_q, self.error)

    def at(self, epsilon: float) -> LossCells:
        """The cells for delta(epsilon), weighted."""
        shift = self.log_p - self.log_q
        inner = self.inner.at(epsilon - shift if math.isfinite(shift) else epsilon)
        return inner.weighted(self.log_p, self.log_q, self.error)


@dataclass(frozen=True, eq=False)
class Joined:
    """Parts that exclude each other, as one."""

    inner: tuple[CellSource, ...]
    loose: tuple[float, float] = (0.0, 0.0)  # mass that may lie anywhere

    @cached_property
    def cells(self) -> LossCells:
        """The cells of all of them."""
        return self._with([s.cells for s in self.inner])

    def at(self, epsilon: float) -> LossCells:
        """The cells for delta(epsilon) of all of them."""
        return self._with([s.at(epsilon) for s in self.inner])

    def _with(self, parts: list[LossCells]) -> LossCells:
        found = joined(parts)
        return replace(found, loose=self.loose) if any(self.loose) else found


@dataclass(frozen=True, eq=False)
class ProductPart:
    """Independent parts, each as often as its count says: their losses add."""

    parts: tuple[tuple[Tree, int], ...]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Parts of which exactly one happens; their masses add up to that of the whole."""

    parts: tuple[Tree, ...]


Tree: TypeAlias = Leaf | ProductPart | Mixture


@dataclass(frozen=True)
class Masses:
    """Bounds (all from above, or all from below) of the mass at finite and at infinite losses."""

    finite: float
    infinite: float

    def power(self, k: int) -> Masses:
        """Independent copies: the loss is infinite where that of one of them is."""
        if not self.infinite:
            return Masses(self.finite**k, 0.0)
        if not self.finite:
            return Masses(0.0, self.infinite**k)
        whole = self.finite**k
        return Masses(whole, whole * math.expm1(k * math.log1p(self.infinite / self.finite)))

    def times(self, other: Masses) -> Masses:
        """Two independent parts."""
        mixed = self.infinite * (other.finite + other.infinite) + self.finite * other.infinite
        return Masses(self.finite * other.finite, mixed)


def masses(tree: Tree, up: bool) -> Masses:
    """The mass at finite and at infinite losses, from above or from below."""
    match tree:
        case Leaf():
            found = tree.losses(up)
            # A probability: whatever rounding adds, the finite mass beside an infinite one is at most the rest.
            finite = min(found.mass, 1.0 - found.infinite) if up else found.mass
            return Masses(max(0.0, finite), found.infinite)
        case ProductPart(parts):
            out = Masses(1.0, 0.0)
            for part, k in parts:
                out = out.times(masses(part, up).power(k))
            return out
        case Mixture(parts):
            each = [masses(p, up) for p in parts]
            return Masses(math.fsum(m.finite for m in each), math.fsum(m.infinite for m in each))


def factors(tree: Tree) -> int:
    """How many leaves one output runs through at most, counted with repetition."""
    match tree:
        case Leaf():
            return 1
        case ProductPart(parts):
            return sum(k * factors(p) for p, k in parts)
        case Mixture(parts):
            return max(factors(p) for p in parts)


def leaves(tree: Tree) -> list[Leaf]:
    """Every leaf, once for each place in which it stands."""
    match tree:
        case Leaf():
            return [tree]
        case ProductPart(parts):
            return [leaf for p, _ in parts for leaf in leaves(p)]
        case Mixture(parts):
            return [leaf for p in parts for leaf in leaves(p)]


def swapped(tree: Tree) -> Tree:
    """The other direction."""
    match tree:
        case Leaf(source):
            return Leaf(_swapped(source))
        case ProductPart(parts):
            return ProductPart(tuple((swapped(p), k) for p, k in parts))
        case Mixture(parts):
            return Mixture(tuple(swapped(p) for p in parts))


def _swapped(source: CellSource) -> CellSource:
    match source:
        case Fixed(cells):
            return Fixed(cells.swapped())
        case Swapped(inner):
            return inner
        case _:
            return Swapped(source)


def weighted(source: CellSource, log_p: float, log_q: float, error: float) -> CellSource:
    """A part together with a further independent event that has these probabilities."""
    if isinstance(source, Fixed):
        return Fixed(source.cells.weighted(log_p, log_q, error))
    return source if log_p == log_q == error == 0.0 else Weighted(source, log_p, log_q, error)


def together(sources: list[CellSource], loose: tuple[float, float] = (0.0, 0.0)) -> CellSource:
    """Parts that exclude each other, as one; single outcomes with equal losses become one."""
    fixed = [s.cells for s in sources if isinstance(s, Fixed)]
    rest = [s for s in sources if not isinstance(s, Fixed)]
    points = [Fixed(merged(joined(fixed)))] if fixed else []
    if points and not rest:
        return Fixed(replace(points[0].cells, loose=loose))
    parts = (*points, *rest)
    return parts[0] if len(parts) == 1 and not any(loose) else Joined(parts, loose)


def extent(tree: Tree, up: bool) -> tuple[float, float]:
    """The smallest and the largest finite loss."""
    match tree:
        case Leaf():
            loss = tree.losses(up).loss
            return (float(loss[0]), float(loss[-1])) if loss.size else (0.0, 0.0)
        case ProductPart(parts):
            ends = [(extent(p, up), k) for p, k in parts]
            return sum(k * e[0] for e, k in ends), sum(k * e[1] for e, k in ends)
        case Mixture(parts):
            each = [extent(p, up) for p in parts]
            return min(e[0] for e in each), max(e[1] for e in each)


def most(tree: Tree) -> float:
    """An upper end of the loss, infinite ones included."""
    match tree:
        case Leaf():
            return tree.cells.most
        case ProductPart(parts):
            return sum(k * most(p) for p, k in parts)
        case Mixture(parts):
            return max(most(p) for p in parts)


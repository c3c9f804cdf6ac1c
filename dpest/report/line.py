"""A block of continuous output coordinates along a line: one coordinate moves, the others stay where the loss is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.exact.loss.blocks import Block, BlockLaw
from dpest.numerics.logspace import Floats

POINTS = 321  # of a drawn density: enough for a smooth line
FADED = 3.5  # a density this far below its peak, in logarithms, may leave the picture
STEPS = 2.0 ** np.arange(-2, 6.5, 0.5)  # distances from a kink at which the density is looked at, in scales
NEAR = 2.0  # a place this many scales outside is still shown, with so much room around it:
ROOM = 0.25
STEEPEST = 700.0  # log ratios beyond this are as good as infinite
MOST_COORDINATES = 8  # of a vector are looked at for the one that carries the loss; each costs 65 densities
FAR = 10.0  # a coordinate that tends to infinity stays this many scales away instead


@dataclass(frozen=True, eq=False)
class OutputLine:
    """The line through a place, along one coordinate."""

    block: Block
    base: Floats
    along: int = 0

    def log(self, side: BlockLaw, y: Floats) -> Floats:
        """ln of one side's density at points of the line."""
        rows = np.tile(self.base, (len(y), 1))
        rows[:, self.along] = y
        return side.log(rows)[0]

    def largest(self, y: Floats) -> Floats:
        """The larger of the two log densities."""
        return np.asarray(np.maximum(self.log(self.block.left, y), self.log(self.block.right, y)))

    def kinks(self) -> Floats:
        """Where the line crosses a surface on which a density is not smooth."""
        found = []
        for side in (self.block.left, self.block.right):
            for kink in side.kinks():
                terms = {-1 - v: float(c) for v, c in kink.terms}
                if terms.get(self.along):
                    rest = sum(c * self.base[j] for j, c in terms.items() if j != self.along)
                    found.append(-(float(kink.constant) + rest) / terms[self.along])
        return np.array(found or [self.base[self.along]])

    def spread(self) -> float:
        """By how much the log ratio of the two sides changes along the line, as far as a picture shows it."""
        y = self.grid(points=65)
        left, right = self.log(self.block.left, y), self.log(self.block.right, y)
        with np.errstate(invalid="ignore"):
            ratios = np.clip(np.where(left == right, 0.0, left - right), -STEEPEST, STEEPEST)
        return float(np.ptp(ratios))

    def grid(self, faded: float = FADED, points: int = POINTS) -> Floats:
        """Even points where a density has not faded, and points just beside each kink and the place itself."""
        kinks = self.kinks()
        low, high = self._range(kinks, faded)
        marks = [m for m in (*kinks, self.base[self.along]) if low <= m <= high]
        beside = [m + side * 1e-9 * self.block.scale for m in marks for side in (-1, 1)]
        return np.unique(np.concatenate([np.linspace(low, high, points), beside]))

    def _range(self, kinks: Floats, faded: float) -> tuple[float, float]:
        """Where the larger density is within `faded` of its peak, and the place itself unless it is far from there."""
        steps = self.block.scale * np.concatenate([-STEPS[::-1], [0.0], STEPS])
        y = np.unique((kinks[:, None] + steps[None, :]).ravel())
        logs = self.largest(y)
        kept = np.flatnonzero(logs >= logs.max() - faded)
        low, high = float(y[max(kept[0] - 1, 0)]), float(y[min(kept[-1] + 1, len(y) - 1)])
        place, near, room = float(self.base[self.along]), NEAR * self.block.scale, ROOM * self.block.scale
        return (min(low, place - room) if low - near < place else low), (max(high, place + room) if place < high + near else high)

    def log_mass(self, side: BlockLaw) -> float:
        """ln of one side's mass on the line, as well as a picture needs it."""
        y = self.grid(faded=16.0, points=4001)
        return float(np.log(np.trapezoid(np.exp(self.log(side, y)), y)))


def line_through(block: Block, at: Sequence[float]) -> OutputLine:
    """The line through a place, brought back from infinity."""
    reach = FAR * block.scale
    base = np.clip(np.array(at or [0.0] * block.dimension, dtype=np.float64), -reach, reach)
    return OutputLine(block, base)


def carrying_line(block: Block, at: Sequence[float]) -> OutputLine:
    """The line through a place along the coordinate that changes the log ratio most."""
    first = line_through(block, at)
    if block.dimension == 1:
        return first
    lines = [OutputLine(block, first.base, j) for j in range(min(block.dimension, MOST_COORDINATES))]
    return max(lines, key=OutputLine.spread)

"""delta(epsilon) of independent losses together: the right tilt and step for each question, each transform made once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

from dpest.curves.cells import ROUND, product
from dpest.curves.grid import LossLattice, lattice, rough_moments
from dpest.curves.transform import OUTSIDE, Sums, Window, added, window
from dpest.curves.tree import Fixed, Leaf, Masses, ProductPart, Tree, extent, factors, masses

_LEAST, _MOST = 1 << 10, 1 << 22  # points of a transform
_EXACT = 20_000  # outcomes up to which independent discrete parts are multiplied out
_NEAR = 0.75  # deviations from the centre of a tilt within which it is used again
_COARSEST = 3e-3  # a step for a wider bracket would save nothing
_NARROWEST = 1e-5  # the least deviation, relative to the range of all losses of one part: larger tilts cost digits
_LOWER_TILTS = (0.75, 0.5, 0.25)  # shares of the best tilt that are tried where a single part has a heavy tail under it
_LOST = 4.0  # nats by which a lower tilt may make what is asked for smaller beside the rest, and so rounding errors larger
_SHORTER = 0.7  # how much shorter its window must be
_NATS = 20.0  # that a window holds beyond the tolerance: what is outside of it is then far below that
TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class LossSum:
    """Independent losses added up: one direction of a composed curve."""

    tree: Tree
    made: dict[bool, list[Sums]] = field(default_factory=lambda: {False: [], True: []})

    def delta(self, epsilon: float, tolerance: float) -> tuple[float, float]:
        """delta(epsilon) from below and from above, relative width at most `tolerance` where that can be had."""
        size, before = 0, math.inf
        while True:
            chosen = [self._side(epsilon, up, tolerance, size) for up in (False, True)]
            low, high = (self._value(s, epsilon, up) for s, up in zip(chosen, (False, True), strict=True))
            largest = max((s.values.size for s in chosen if s is not None), default=_MOST)
            hopeless = high - low > 0.75 * before  # twice the points should have helped more
            if high <= low * (1 + tolerance) or high <= 1e-300 or largest >= _MOST or hopeless:
                return low, high
            size, before = 2 * largest, high - low

    def _value(self, chosen: Sums | None, epsilon: float, up: bool) -> float:
        finite = 0.0 if chosen is None else chosen.delta(epsilon)
        return min(1.0, finite + self._infinite(up))

    def _side(self, epsilon: float, up: bool, tolerance: float, size: int) -> Sums | None:
        """The transform that answers for one side; None where epsilon is above every finite loss, or where there is none."""
        ends = self.extents[up]
        if self._masses[up].finite <= 0.0 or epsilon >= ends[1] + 1e-12 * abs(ends[1]) + 1e-300:
            return None
        flat = self._flat(epsilon, up)
        found = [
            s
            for s in self.made[up]
            if s.values.size >= size and (abs(s.mean - epsilon) <= _NEAR * s.deviation or (flat and s.tilt == 0.0))
        ]
        chosen = max(found, key=lambda s: s.values.size, default=None)
        if chosen is None:
            chosen = self._made(epsilon, up, tolerance, size)
            self.made[up].append(chosen)
        return chosen

    def _flat(self, epsilon: float, up: bool) -> bool:
        """Whether epsilon lies below the mean, so that nothing is gained by a tilt."""
        return self.centres[up] >= epsilon

    @cached_property
    def centres(self) -> dict[bool, float]:
        """The mean of the untilted losses."""
        return {up: rough_moments(self.tree, up, 0.0).mean for up in (False, True)}

    @cached_property
    def extents(self) -> dict[bool, tuple[float, float]]:
        """The smallest and the largest finite loss."""
        return {up: extent(self.tree, up) for up in (False, True)}

    @cached_property
    def lattice(self) -> LossLattice:
        """The grid points that single losses ask for."""
        return lattice(self.tree)

    @cached_property
    def _masses(self) -> dict[bool, Masses]:
        return {up: masses(self.tree, up) for up in (False, True)}

    def _infinite(self, up: bool) -> float:
        spare = 8 * ROUND * (factors(self.tree) + 16)
        return self._masses[up].infinite * (1 + spare if up else 1 - spare)

    def _made(self, epsilon: float, up: bool, tolerance: float, size: int) -> Sums:
        where = self._window(epsilon, up, tolerance)
        low, high = self.extents[up]
        spare = 1e-9 * (1.0 + abs(low) + abs(high))
        where = replace(where, low=max(where.low, low - spare), high=min(where.high, high + spare))
        step, points = self._step(where, tolerance, size)
        return added(self.tree, up, where, step, self.lattice.offsets, points)

    def _window(self, epsilon: float, up: bool, tolerance: float) -> Window:
        """Where the sum lies under the tilt that makes epsilon its mean, or under a lower one where that is much shorter.

        Under the best tilt rare large losses of single parts may make up most of the variance; a little below it they do not.
        """
        if self.lattice.complete:
            return window(self.tree, up, self._tilt(epsilon, up))
        outside = min(OUTSIDE, _NATS - math.log(tolerance))
        best = window(self.tree, up, self._tilt(epsilon, up), outside)
        out, height = best, self._height(best.tilt, epsilon, up)
        for tilt in (best.tilt * share for share in _LOWER_TILTS if best.tilt > 0):
            lost = self._height(tilt, epsilon, up) - height
            other = window(self.tree, up, tilt, outside + lost) if lost <= _LOST else out
            out = other if other.high - other.low < _SHORTER * (out.high - out.low) else out
        # It answers for the epsilons around the mean of the best tilt, and is as sharp as that.
        return replace(out, mean=best.mean, deviation=min(best.deviation, out.deviation))

    def _height(self, tilt: float, epsilon: float, up: bool) -> float:
        """ln of what the tilted probabilities are to be multiplied by at epsilon: the smaller, the less do their errors weigh."""
        return rough_moments(self.tree, up, tilt).log_mgf - tilt * epsilon

    @cached_property
    def _narrowest(self) -> float:
        """The shortest window."""
        low, high = self.extents[True]
        return _NARROWEST * (high - low) / math.sqrt(factors(self.tree))

    def _step(self, where: Window, tolerance: float, size: int) -> tuple[float, int]:
        """A step whose square is small enough, and how many points the window has then.

        Splitting a loss between points that are h apart adds at most h^2 / 4 (on average h^2 / 6) to its variance. Under a
        tilt t that raises ln E e^(t loss) by about t (t + 1) h^2 / 12 for each part, and so delta by that share.
        """
        sharpness = max(where.tilt * (where.tilt + 1), 1 / where.deviation**2, 1e-12)
        wanted = math.sqrt(1.6 * min(tolerance, _COARSEST) / (factors(self.tree) * sharpness))
        low, high = self.extents[True]
        length = max(where.high - where.low, self._narrowest, 1e-12)
        if size:
            wanted = min(wanted, 0.9 * length / size)
        wanted = max(min(wanted, length / _LEAST), 1.01 * length / (_MOST - 4), 1e-12 * max(abs(low), abs(high)))
        step = self.lattice.step(wanted)
        return step, min(_MOST, 1 << max(10, math.ceil(math.log2(length / step + 4))))

    def _tilt(self, epsilon: float, up: bool) -> float:
        """The tilt under which the mean is epsilon, roughly; 0 where it is larger already."""
        if self._flat(epsilon, up):
            return 0.0
        low, high = 0.0, 1.0 / max(math.sqrt(rough_moments(self.tree, up, 0.0).variance), 1e-9)
        for _ in range(60):
            if rough_moments(self.tree, up, high).mean >= epsilon:
                break
            low, high = high, 2 * high
            if rough_moments(self.tree, up, high).variance < self._narrowest**2:
                return low  # next to the largest loss: nearly everything lies there under any larger tilt
        for _ in range(30):
            middle = 0.5 * (low + high)
            found = rough_moments(self.tree, up, middle)
            if abs(found.mean - epsilon) < 0.1 * math.sqrt(max(found.variance, 0.0)):
                return middle
            low, high = (middle, high) if found.mean < epsilon else (low, middle)
        return 0.5 * (low + high)

    def rough_log_delta(self, epsilon: float) -> float:
        """ln delta(epsilon), roughly: to plan with."""
        infinite = math.log(self._infinite(False)) if self._infinite(False) > 0 else -math.inf
        if epsilon >= self.extents[True][1]:
            return infinite
        tilt = self._tilt(epsilon, True)
        mean, log_delta = self._saddle(tilt)
        return max(infinite, log_delta + tilt * (mean - epsilon))

    def guess(self, delta: float) -> tuple[float, float]:
        """Roughly the epsilon at which the curve reaches delta, and how steep ln delta is there, by a saddle point."""
        target = math.log(delta)
        low, high = 0.0, 1.0
        while high < 1e6 and self._saddle(high)[1] > target:
            low, high = high, 2 * high
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._saddle(middle)[1] > target else (low, middle)
        return self._saddle(high)[0], max(high, 1e-3)

    def _saddle(self, tilt: float) -> tuple[float, float]:
        """The mean under a tilt, and ln delta there to first order."""
        m = rough_moments(self.tree, True, tilt)
        spread = tilt * math.sqrt(max(m.variance, 1e-30))
        return m.mean, m.log_mgf - tilt * m.mean - math.log1p(2.5 * spread * (1 + tilt))


def multiplied(tree: Tree) -> Tree:
    """A tree of few discrete outcomes, multiplied out as far as that stays small."""
    if not isinstance(tree, ProductPart):
        return tree
    parts: list[tuple[Tree, int]] = []
    for part, k in tree.parts:
        if isinstance(part, Leaf) and isinstance(part.source, Fixed):
            parts.extend(_powers(part, k))
        else:
            parts.append((part, k))
    small = sorted((p for p in parts if p[1] == 1 and _fixed(p[0])), key=lambda p: _count(p[0]))
    rest = [p for p in parts if p not in small]
    while len(small) > 1 and _count(small[0][0]) * _count(small[1][0]) <= 16 * _EXACT:
        joint = Leaf(Fixed(product(small[0][0].cells, small[1][0].cells)))  # type: ignore[union-attr]
        if joint.cells.size > _EXACT:
            break
        small = sorted([(joint, 1), *small[2:]], key=lambda p: _count(p[0]))
    out = [*small, *rest]
    return out[0][0] if len(out) == 1 and out[0][1] == 1 else ProductPart(tuple(out))


def _fixed(tree: Tree) -> bool:
    return isinstance(tree, Leaf) and isinstance(tree.source, Fixed)


def _count(tree: Tree) -> int:
    return tree.cells.size if isinstance(tree, Leaf) else _EXACT


def _powers(leaf: Leaf, k: int) -> list[tuple[Tree, int]]:
    """A discrete part k times: repeated squaring while the outcomes stay few, the rest as counts."""
    if lattice(leaf).measure and k * _span(leaf) > _EXACT:
        return [(leaf, k)]  # a transform on the lattice is as sharp, and much shorter
    square, left = leaf.cells, k
    out: list[tuple[Tree, int]] = []
    while left:
        if left & 1:
            out.append((Leaf(Fixed(square)), 1))
        left >>= 1
        bigger = product(square, square) if left and square.size**2 <= 16 * _EXACT else None
        if left and (bigger is None or bigger.size > _EXACT):
            return [*out, (Leaf(Fixed(square)), 2 * left)]
        square = bigger if bigger is not None else square
    return out


def _span(leaf: Leaf) -> float:
    """How many lattice points one part spans."""
    found = lattice(leaf)
    loss = leaf.cells.losses
    finite = loss[(loss > -math.inf) & (loss < math.inf)]
    return float(finite.max() - finite.min()) / found.measure + 1 if finite.size and found.measure else math.inf

"""The points that a discrete output can take: lattices of rationals, and how far they reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.cases import Floor
from dpest.exact.inference.expressions import Expr
from dpest.lang.nodes import Draw
from dpest.laws.law import Continuous, Discrete, Law
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import ONE, ZERO, Rational, common_measure, exact
from dpest.numerics.rationals import floor as floored
from dpest.trace.literal import FREE, Bounds, Literal, ends

WINDOW = -60.0  # ln of the mass that an infinite law's window leaves out
MOST_POINTS = 400_000
_SOME = 2_001  # of the values of a rounding that are too many: a loss that tails have, or a steep place, is met by one of them
_MOST_SUMS = 1_000_000  # sums of two finite laws that are listed one by one
_MOST_EXACT = 1 << 52  # whole numbers well below the largest that floats hold exactly


@dataclass(frozen=True)
class Lattice:
    """origin + step * (whole numbers); a step of 0 is a single point."""

    origin: Rational
    step: Rational

    def meets(self, other: Lattice) -> bool:
        """Whether the two have a point in common."""
        step = common_measure((self.step, other.step))
        gap = self.origin - other.origin
        return bool((gap / step).denominator == 1) if step else not gap

    def from_zero(self) -> Lattice:
        """The same points, counted from the one in [0, step)."""
        if not self.step:
            return self
        step = abs(self.step)
        return Lattice(self.origin - step * floored(self.origin / step), step)


def spanned(lattices: Sequence[Lattice]) -> Lattice:
    """The coarsest lattice that holds all of them; its step is not 0."""
    origin = lattices[0].origin
    step = common_measure([x.step for x in lattices] + [x.origin - origin for x in lattices])
    return Lattice(origin, step or ONE)


def meeting(lattices: Sequence[Lattice]) -> list[int]:
    """Numbers the lattices such that those that meet, directly or through others, have one number."""
    groups: dict[int, set[Lattice]] = {}
    named = [x.from_zero() for x in lattices]
    first = {x: i for i, x in reversed(list(enumerate(named)))}  # thousands of cases may share a few lattices
    for x, i in sorted(first.items(), key=lambda item: item[1]):
        met = [k for k, group in groups.items() if any(map(x.meets, group))]
        together = {x}.union(*(groups.pop(k) for k in met))
        groups[min(met, default=i)] = together
    numbers = {x: k for k, group in groups.items() for x in group}
    return [numbers[x] for x in named]


def of_sum(value: Expr, laws: Sequence[Law]) -> Lattice:
    """Where an affine expression of whole-number draws can lie."""
    if not all(isinstance(laws[v], Discrete) and laws[v].integral for v, _ in value.terms):  # type: ignore[attr-defined]
        raise ExactRefused("an output is a sum of discrete values on different lattices")
    return Lattice(value.constant, common_measure(c for _, c in value.terms))


def of_floor(floor: Floor) -> Lattice:
    """Where a rounded value can lie."""
    # Measured from where the rounded value lies without noise: however large the data are, the steps stay small.
    return Lattice(floor.offset + floor.scale * floored(floor.inner.constant), abs(floor.scale))


def sum_points(value: Expr, laws: Sequence[Law], lattice: Lattice) -> Floats:
    """Where an affine expression of whole-number draws can lie, as whole numbers on a lattice."""
    start = whole((value.constant - lattice.origin) / lattice.step)
    terms = [(laws[v], whole(c / lattice.step)) for v, c in value.terms]
    windows = [c * _window(law) for law, c in terms]
    if math.prod(map(len, windows)) <= _MOST_SUMS:
        total = np.array([start], float)
        for w in windows:
            total = np.unique(np.add.outer(total, w))
        return _checked(total)
    reach = sum(float(np.abs(w).max()) for w in windows)
    step = int(common_measure(exact(c) for _, c in terms))
    if reach / step > MOST_POINTS:
        raise BudgetExceeded(f"an output with {2 * reach / step:.3g} points; at most {MOST_POINTS} are listed")
    return _checked(start + step * np.arange(-(reach // step), reach // step + 1))


def _window(law: Law) -> Floats:
    assert isinstance(law, Discrete)
    return law.window(WINDOW)[0]


def floor_points(floor: Floor, lattice: Lattice, bounds: Bounds, *, some: bool = False) -> Floats:
    """The values of a rounding within the reach of what it rounds, as whole numbers on a lattice; `some` where they are many."""
    low, high = _reach(floor, bounds)
    if high - low < MOST_POINTS:
        steps = np.arange(math.floor(low) - 1.0, math.ceil(high) + 2.0)
    elif some and math.isfinite(high - low):
        steps = np.unique(np.round(np.linspace(low, high, _SOME)))
    else:
        raise BudgetExceeded(f"a rounded value with {high - low:.3g} points; at most {MOST_POINTS} are listed")
    scale, offset = whole(floor.scale / lattice.step), whole((floor.offset - lattice.origin) / lattice.step)
    return _checked(np.sort(scale * steps + offset))


def _reach(floor: Floor, bounds: Bounds) -> tuple[float, float]:
    """What is rounded lies between these, by the reach of its draws and by conditions on just this combination of them."""
    low = high = float(floor.inner.constant)
    for draw, c in floor.inner.terms:
        assert isinstance(draw, Draw)
        reach = [float(c) * x for x in _ends(draw.law)]
        low, high = low + min(reach), high + max(reach)
    literal = Literal(tuple(floor.inner.terms), ZERO)  # type: ignore[arg-type]
    lead = sorted(literal.terms, key=lambda t: id(t[0]))[0][1]
    known = [None if x is None else float(lead * x + floor.inner.constant) for x in ends(bounds.get(literal.direction[0], FREE))]
    least, most = known if lead > 0 else known[::-1]
    return max(low, -math.inf if least is None else least), min(high, math.inf if most is None else most)


def floor_ends(floor: Floor) -> tuple[float, float]:
    """The smallest and the largest number that is rounded, whatever the conditions."""
    return _reach(floor, {})


def _ends(law: Law) -> tuple[float, float]:
    if isinstance(law, Continuous):
        return law.reach(WINDOW)
    points = _window(law)
    return float(points[0]), float(points[-1])


def whole(x: Rational) -> int:
    """A rational that is known to be whole."""
    assert x.denominator == 1
    return int(x)


def _checked(points: Floats) -> Floats:
    if points.size and np.abs(points).max() > _MOST_EXACT:
        raise ExactRefused(
            "an output on lattices whose common step is too fine, such as 0.1 * a + 0.3 * b: rounding decides which values "
            "are equal; return a whole number instead, a + 3 * b"
        )
    return points

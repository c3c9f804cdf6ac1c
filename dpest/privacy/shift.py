"""One draw, released: the loss of a shift, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpest.engine.component import Component
from dpest.engine.convolve import merged_sums
from dpest.laws.law import Continuous, Law
from dpest.numerics.rationals import Rational, exact
from dpest.privacy.blocks import Block, Side
from dpest.privacy.logs import BothWays, Sup

_FAR = 8.0  # scales out at which the densities of a limit are shown


@dataclass(frozen=True)
class Release:
    """y = coefficient * draw + constant."""

    law: Law
    coefficient: Rational
    constant: Rational

    def log_mass(self, low: float, high: float) -> float:
        """ln P(low < y < high)."""
        assert isinstance(self.law, Continuous)
        ends = sorted(self._draw(y) for y in (low, high))
        return float(self.law.log_interval(*ends))

    def log_density(self, y: float) -> float:
        """ln of the density at y."""
        return float(self.law.log_density(self._draw(y))) - math.log(abs(float(self.coefficient)))

    def _draw(self, y: float) -> float:
        """The draw behind a released value."""
        if math.isinf(y):
            return y if self.coefficient > 0 else -y
        return float((exact(y) - self.constant) / self.coefficient)


def shifted(block: Block) -> BothWays | None:
    """The block's loss where both laws are the same draw, moved; None where they are not, or no closed form is known."""
    p, q = release(block.left), release(block.right)
    if p is None or q is None or p.law != q.law or p.coefficient != q.coefficient:
        return None
    forward, backward = _sup(p, q), _sup(q, p)
    return BothWays(forward, backward) if forward and backward else None


def release(side: Side) -> Release | None:
    if len(side.cases) != 1 or len(side.cases[0][0]) != 1:
        return None
    ((placed, times),) = side.cases[0][0]
    component: Component = placed.component
    if times != 1 or side.cases[0][1] != 1 or component.folded or component.bounds or len(component.equations) != 1:
        return None
    laws, _, _, (equation,) = merged_sums(dict(enumerate(component.laws)), [], [], list(component.equations))
    # coefficient * draw + constant - y == 0, up to a common factor
    scale = -equation.coefficient(-1)
    if len(laws) != 1 or not scale:
        return None
    ((draw, law),) = laws.items()
    return Release(law, equation.coefficient(draw) / scale, equation.constant / scale)


def _sup(p: Release, q: Release) -> Sup | None:
    law = p.law
    if not isinstance(law, Continuous):
        return None
    moved = (p.constant - q.constant) / p.coefficient
    found = law.shift(float(moved))
    if found is None:
        return None
    limit = math.isinf(found.at)
    x = math.copysign(_FAR * law.scale, found.at) if limit else found.at
    y = float(p.coefficient * exact(x) + p.constant)
    direction = 1 if p.coefficient > 0 else -1
    place = math.copysign(math.inf, found.at * direction) if limit else y
    slack = 4e-16 * found.loss if math.isfinite(found.loss) else 0.0
    ends = (found.loss - slack, found.loss + slack)
    return Sup(found.loss, *ends, (place,), p.log_density(y), q.log_density(y), limit, ray=found.ray * direction)

"""The loss of a vector with noise of a gamma length in a uniform direction.

In d dimensions the density at a distance s from the centre is proportional to s^(k - d) e^(-s / b) for a length of shape k. With
k = d the log ratio is (the difference of two distances) / b, at most the distance of the centres over b, and the same at each
centre. With k < d the density is infinite at its centre, with k > d it is zero there: both tell the centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import Expansion
from dpest.exact.inference.sphere import Radius, Spherical
from dpest.exact.inference.stars import condition_components
from dpest.exact.loss.blocks import Block, CoordinateKind, IntegratedLaw, Measures
from dpest.exact.loss.logs import BothWays, Sup
from dpest.numerics.logspace import HALF_GRAIN, Floats
from dpest.numerics.rationals import ONE, ZERO, Rational

_UNIT = Radius(ONE, ONE)
_NEAR = 1e-6  # of the distance between the centres: where an infinite loss is shown
_ROUNDING = 1e-15  # relative: a sum of squares, a root and a quotient


@dataclass(frozen=True, eq=False)
class SphereSide(IntegratedLaw):
    """One law of a vector: its centre, and the length of its noise."""

    centre: tuple[Rational, ...] = ()
    radius: Radius = _UNIT
    log_weight: float = 0.0
    error: float = 0.0

    def log(self, y: Floats) -> tuple[Floats, Floats]:
        """ln of the density at each row of y, up to a constant that both laws share."""
        centre, d = np.array([float(c) for c in self.centre]), len(self.centre)
        distance = np.sqrt(((y - centre) ** 2).sum(axis=1))
        # The centre and each difference are rounded once, the sum of squares d times, its root once.
        off = HALF_GRAIN * ((d / 2 + 4) * distance + np.sqrt((centre**2).sum()))
        steep, length = abs(float(self.radius.shape - d)), distance / float(self.radius.scale)
        with np.errstate(divide="ignore", invalid="ignore"):
            power = math.copysign(steep, self.radius.shape - d) * np.log(distance) if steep else np.zeros(len(y))
            near = np.where(distance > 2 * off, 2 * steep * off / distance, math.inf) if steep else 0.0
            rounding = 2 * HALF_GRAIN * (1 + np.abs(power) + length)
        return self.log_weight + power - length, self.error + near + off / float(self.radius.scale) + rounding

    @cached_property
    def impossible(self) -> bool:
        """Never."""
        return False

    @cached_property
    def log_total(self) -> float:
        """ln of the probability of its case."""
        return self.log_weight

    @cached_property
    def key(self) -> frozenset[Any]:
        """Equal for sides that are the same law."""
        return frozenset([(self.centre, self.radius, self.log_weight)])


def sphere_block(left: list[Expansion], right: list[Expansion], places: list[int], measures: Measures) -> Block:
    """Both laws of the outputs at some places, which are the coordinates of one vector."""
    if len(left) != 1 or len(right) != 1:
        raise ExactRefused("noise in a uniform direction that several cases release")
    p, q = (_side(cases[0], places, measures) for cases in (left, right))
    if p.radius != q.radius:
        raise ExactRefused("noise in a uniform direction whose length depends on the input")
    return Block((CoordinateKind.REAL,) * len(places), p, q)


def _side(case: Expansion, places: list[int], measures: Measures) -> SphereSide:
    parts = [x for i in places if isinstance(x := case.values[i], Spherical)]
    vectors = {(x.vector, x.dimension, x.radius, abs(x.factor)) for x in parts}
    coordinates = sorted(x.coordinate for x in parts)
    if len(parts) < len(places) or len(vectors) > 1 or coordinates != list(range(parts[0].dimension)):
        raise ExactRefused("noise in a uniform direction of which some coordinates are released, or in different multiples")
    used = {id(d) for x in parts for d in x.draws}
    if any(id(d) in used for x in case.literals for d, _ in x.terms):
        raise ExactRefused("noise in a uniform direction that is compared with something")
    log_weight = error = 0.0
    for placed in condition_components(list(case.literals), case.loops):
        logs, off = measures.of(placed.component).log(np.empty((1, 0)))
        log_weight, error = log_weight + float(logs[0]), error + float(off[0])
    radius = Radius(parts[0].radius.shape, parts[0].radius.scale * abs(parts[0].factor))
    return SphereSide((), measures, tuple(x.offset for x in parts), radius, log_weight, error)


def sphere_supremum(block: Block) -> BothWays:
    """The block's loss in both directions."""
    p, q = block.left, block.right
    assert isinstance(p, SphereSide)
    assert isinstance(q, SphereSide)
    return BothWays(_way(p, q), _way(q, p))


def _way(p: SphereSide, q: SphereSide) -> Sup:
    squares = sum(((a - b) ** 2 for a, b in zip(p.centre, q.centre, strict=True)), ZERO)
    centre = np.array([float(c) for c in p.centre])
    if p.radius.shape != len(p.centre) and squares:
        other = np.array([float(c) for c in q.centre])
        near, far = (centre, other) if p.radius.shape < len(p.centre) else (other, centre)
        y = (near + _NEAR * (far - near))[None, :]
        logs = float(p.log(y)[0][0]), float(q.log(y)[0][0])
        return Sup(math.inf, math.inf, math.inf, tuple(map(float, near)), *logs, limit=True)
    weight = p.log_weight - q.log_weight
    loss = math.sqrt(float(squares)) / float(p.radius.scale) + weight
    off = p.error + q.error + _ROUNDING * (abs(loss) + abs(weight))
    at = tuple(map(float, centre))
    return Sup(loss, loss - off, loss + off, at, p.log_weight, p.log_weight - loss)

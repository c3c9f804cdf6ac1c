"""Quotients with one bottom that is clipped: s / max(n, 1) is a quotient in one case and s itself in the other.

    p(y) = integral over n >= 1 of n^k f_1(n y_1) ... f_k(n y_k) f_n(n) dn  +  P(n < 1) f_1(y_1) ... f_k(y_k)

No loss exceeds that of the noisy values, case by case; what is reached is looked for at centres and far out, where one of the two
terms alone is left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import Affine, Expansion, Ratio
from dpest.exact.inference.direction import NOISE, NoisyRay
from dpest.exact.inference.ratio import BoundedDraw
from dpest.exact.inference.stars import condition_components
from dpest.exact.loss.blocks import Block, CoordinateKind, IntegratedLaw, Measures
from dpest.exact.loss.direction import summed
from dpest.exact.loss.logs import BothWays, Sup, best, logs_at
from dpest.exact.loss.ratio import moved_noise
from dpest.lang.nodes import Draw, Linear
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.rationals import ONE, Rational
from dpest.trace.literal import Literal

_FAR = np.array([1.0, 8.0, 64.0, 512.0, 4096.0])  # scales beyond the centres at which ratios are looked at
_MOST_PLACES = 4000  # all combinations for up to three outputs; with more, those on both diagonals


@dataclass(frozen=True)
class MixedCase:
    """Noisy tops over a noisy bottom between two bounds, or over 1; with the weight of the case."""

    tops: tuple[BoundedDraw, ...]
    bottom: BoundedDraw | None
    log_weight: float
    error: float

    def log(self, y: Floats) -> tuple[Floats, Floats]:
        """ln of the case's density at each row of y, and the relative error."""
        if self.bottom is None:
            logs = sum(top.log_density(y[:, i]) for i, top in enumerate(self.tops)) + self.log_weight
            return np.asarray(logs), np.full(len(y), self.error + 1e-15)
        noises = (*self.tops, self.bottom)
        ray = NoisyRay(noises, True, self.log_weight, self.error, self.bottom.low, self.bottom.high)
        return ray.log(np.concatenate([y, np.ones((len(y), 1))], axis=1))

    def above(self, other: MixedCase) -> float:
        """At most ln of its density over that of a case of the same form: the loss of the noisy values."""
        mine, others = ([*x.tops, *([x.bottom] if x.bottom is not None else [])] for x in (self, other))
        moved = sum(moved_noise(a, b) for a, b in zip(mine, others, strict=True))
        return moved + self.log_weight - other.log_weight + self.error + other.error + 1e-14

    @property
    def form(self) -> str:
        """What two cases must have in common to be compared."""
        bottom = None if self.bottom is None else (repr(self.bottom.law), self.bottom.low, self.bottom.high)
        return repr(([(repr(t.law), float(t.factor)) for t in self.tops], bottom))


@dataclass(frozen=True, eq=False)
class MixedSide(IntegratedLaw):
    """One law of such outputs: a sum over its cases."""

    shares: tuple[MixedCase, ...] = ()

    def log(self, y: Floats) -> tuple[Floats, Floats]:
        """ln of the density at each row of y, and the relative error."""
        return summed([s.log(y) for s in self.shares])

    @cached_property
    def impossible(self) -> bool:
        """Never: there is a case."""
        return False

    @cached_property
    def log_total(self) -> float:
        """ln of the probability of its cases together; those with bounds on the noise count as certain."""
        return float(log_sum(np.array([s.log_weight for s in self.shares])))

    @cached_property
    def key(self) -> frozenset[Any]:
        """Equal for sides that are the same law."""
        return frozenset((s, self.shares.count(s)) for s in self.shares)


def mixed_block(left: list[Expansion], right: list[Expansion], places: list[int], measures: Measures) -> Block:
    """Both laws of the outputs at some places."""
    if not left or not right:
        raise ExactRefused("quotients of random values that one input alone releases")
    p, q = (MixedSide((), measures, tuple(_case(x, places, measures) for x in cases)) for cases in (left, right))
    return Block((CoordinateKind.REAL,) * len(places), p, q)


def _case(case: Expansion, places: Sequence[int], measures: Measures) -> MixedCase:
    values = [case.values[i] for i in places]
    if all(isinstance(v, Affine) for v in values):
        tops, bottom = [v.value for v in values if isinstance(v, Affine)], None
    else:
        ratios = [v for v in values if isinstance(v, Ratio)]
        bottoms = {(r.bottom.terms, r.bottom.constant) for r in ratios}
        if len(ratios) < len(values) or len(bottoms) > 1 or any(r.offset for r in ratios):
            raise ExactRefused("a quotient of two random values shares noise with another output")
        tops, bottom = [r.top for r in ratios], ratios[0].bottom
    forms = [*tops, *([bottom] if bottom is not None else [])]
    noises = [_noise(f) for f in forms]
    used = [id(f.terms[0][0]) for f in forms]
    if len(set(used)) < len(used):
        raise ExactRefused("quotients of random values that share noise")
    own = [x for x in case.literals if any(id(d) in used for d, _ in x.terms)]
    if own and bottom is None:
        raise ExactRefused("quotients of random values whose tops are compared with something")
    below = None if bottom is None else _bounded(noises.pop(), bottom, own)
    log_weight = error = 0.0
    for placed in condition_components([x for x in case.literals if x not in own], case.loops):
        logs, off = measures.of(placed.component).log(np.empty((1, 0)))
        log_weight, error = log_weight + float(logs[0]), error + float(off[0])
    return MixedCase(tuple(noises), below, log_weight, error)


def _noise(form: Linear) -> BoundedDraw:
    draw, c = form.terms[0] if len(form.terms) == 1 else (None, ONE)
    if not isinstance(draw, Draw) or not isinstance(draw.law, NOISE):
        raise ExactRefused("quotients of sums of several random values, or of noise that is not Laplace, Gaussian or logistic")
    return BoundedDraw(draw.law, c, form.constant)


def _bounded(noise: BoundedDraw, form: Linear, literals: Sequence[Literal]) -> BoundedDraw:
    """The bottom between the bounds that conditions set: it must be positive."""
    draw, c = form.terms[0]
    low, high = -math.inf, math.inf
    for x in literals:
        if len(x.terms) != 1 or x.terms[0][0] is not draw:
            raise ExactRefused("quotients of random values that are compared with other values")
        bound = float(_at(x, c, form.constant))
        low, high = (max(low, bound), high) if (x.terms[0][1] > 0) == (c > 0) else (low, min(high, bound))
    if not low >= 0:
        raise ExactRefused("quotients of random values whose bottom may be negative in some cases")
    return BoundedDraw(noise.law, noise.factor, noise.offset, low, high)


def _at(x: Literal, factor: Rational, constant: Rational) -> Rational:
    """The value at which a condition on its draw begins to hold."""
    return factor * (-x.constant / x.terms[0][1]) + constant


def mixed_supremum(block: Block) -> BothWays:
    """The block's loss in both directions."""
    p, q = block.left, block.right
    assert isinstance(p, MixedSide)
    assert isinstance(q, MixedSide)
    logs = logs_at(block, _places(p, q))
    known = np.isfinite(logs.p) & np.isfinite(logs.q) & (logs.error < 1e-6)
    logs = logs.pick(known)
    return BothWays(_way(best(logs), p, q), _way(best(logs.swapped()), q, p))


def _way(found: Sup, p: MixedSide, q: MixedSide) -> Sup:
    """What was reached, below the largest loss of matching cases: a ratio of sums is no larger than one of its terms."""
    mine, others = (sorted(x.shares, key=lambda s: s.form) for x in (p, q))
    same = [s.form for s in mine] == [s.form for s in others]
    upper = max(a.above(b) for a, b in zip(mine, others, strict=True)) if same else math.inf
    upper = max(upper, found.lower)
    return Sup(min(found.value, upper), found.lower, upper, found.at, found.log_p, found.log_q)


def _places(p: MixedSide, q: MixedSide) -> Floats:
    """Around the centres and far out, in every direction."""
    columns = []
    for tops in zip(*(s.tops for side in (p, q) for s in side.shares), strict=True):
        centres = np.array(sorted({t.mode for t in tops}))
        far = max(t.scale for t in tops) * _FAR
        columns.append(np.unique(np.concatenate([[0.0], centres, centres[0] - far, centres[-1] + far])))
    if math.prod(map(len, columns)) <= _MOST_PLACES:
        return np.array(list(itertools.product(*columns)))
    ends = [np.array([c[0], 0.0, c[-1]]) for c in columns]
    return np.array(list(itertools.islice(itertools.product(*ends), _MOST_PLACES)))

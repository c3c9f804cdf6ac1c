"""One law on a real coordinate as a sum of pieces, each log-concave (or nearly) between the kinks of all of them.

A product of log-concave densities, cut by linear conditions and with any of its variables integrated out, is log-concave
(Prekopa 1973). Discrete draws are the exception: each of their points is a piece of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dpest.exact.inference.asymptotics import tail
from dpest.exact.inference.changed import changed, fixed
from dpest.exact.inference.eliminate import ROUNDING, Measure
from dpest.exact.inference.expressions import Expr, number
from dpest.exact.inference.factors import (
    LOG_WINDOW,
    Between,
    Bound,
    Density,
    Factor,
    Indicator,
    Integral,
)
from dpest.exact.inference.mixtures import mixed_bend
from dpest.exact.inference.rays import Ray, Tail
from dpest.exact.loss.blocks import BlockLaw
from dpest.laws.asymptote import Asymptote
from dpest.laws.law import Continuous, Discrete
from dpest.laws.panels import Panels
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import Rational, exact

Y = -1  # the coordinate
MOST = 400  # pieces of one law; a lattice with more points inside one law is left to other bounds
_UNKNOWN = 0.5  # a relative error from which on a value counts as not known
_DEEP = 1e-9  # the same as a share of the logarithm, where that is huge


@dataclass(frozen=True, eq=False)
class Piece:
    """weight * a product of factors of the coordinate."""

    log_weight: float
    error: float
    factors: tuple[Factor, ...]

    def log(self, y: Floats, middle: Floats) -> tuple[Floats, Floats]:
        """ln of the piece at y, as the limit from within the cell around `middle`, and the relative error."""
        total, error = np.full(y.shape, self.log_weight), np.full(y.shape, ROUNDING + self.error)
        for f in self.factors:
            logs, more = within(f, y, middle)
            total, error = total + logs, error + more
        # A density of e^-1e20 is as good as known with an error that is large beside 1.
        return total, np.where(error < np.maximum(_UNKNOWN, _DEEP * np.abs(total)), error, np.inf)

    def active(self, y: Rational) -> bool:
        """Whether the piece is positive around y, which lies on no kink."""
        return all(_positive(f, y) for f in self.factors)

    def curvature(self, low: Floats, high: Floats) -> Floats:
        """A bound on the second derivative of its logarithm between low and high; infinite where none is known."""
        out = np.zeros(low.shape)
        for f in self.factors:
            out = out + _curvature(f, low, high)
        return out

    @cached_property
    def bounded(self) -> bool:
        """Whether a bound on that second derivative is known everywhere."""
        return bool(np.all(np.isfinite(self.curvature(np.array([-1.0]), np.array([1.0])))))

    @cached_property
    def concave(self) -> bool:
        """Whether its logarithm is concave."""
        return all(_keeps_concave(f) for f in self.factors)

    @cached_property
    def log_floor(self) -> float:
        """The log density below which nothing is claimed."""
        laws = [law for f in self.factors for law in f.laws()]
        return max((-law.trusted for law in laws if isinstance(law, Panels)), default=-math.inf)

    def tail(self, ray: Ray) -> Tail | None:
        """How it behaves along a half-line."""
        found = tail(self.factors, ray)
        return None if found is None else found + Tail(Asymptote(self.log_weight), 0.0, 0.0, ROUNDING + self.error)

    @cached_property
    def scales(self) -> tuple[float, float]:
        """The shortest and the longest distance over which a factor changes by a sizeable amount."""
        found = [s for f in self.factors for s in _scales(f)]
        return (min(found), max(found)) if found else (math.inf, 0.0)

    def kinks(self) -> Iterable[Expr]:
        """Places beyond which it need not be smooth, or begins, or ends."""
        for f in self.factors:
            yield from f.kinks
            if isinstance(f, Between) and isinstance(f.law, Discrete):
                yield from _crossings(f, f.law)


Substitution = Callable[[Expr, tuple[int, ...]], Expr]


def pieces(side: BlockLaw, substitution: Substitution | None = None) -> list[Piece] | None:
    """The pieces of a law on one coordinate; None where there are too many, or its structure is another one.

    With a substitution each component's expressions are first written in terms of one number.
    """
    out: list[Piece] = []
    for parts, count in side.cases:
        weight, error = math.log(count), 0.0
        lists: list[list[Piece]] = []
        for placed, times in parts:
            measure = side.measures.of(placed.component)
            if not placed.outputs:
                logs, off = measure.log(np.empty((1, 0)))
                weight, error = weight + times * float(logs[0]), error + times * float(off[0])
            elif times > 1:
                return None
            else:
                if substitution is not None:
                    change = partial(_on, substitution, placed.outputs)
                    measure = replace(measure, factors=tuple(changed(f, change) for f in measure.factors))
                expanded = _expanded(measure)
                if expanded is None:
                    return None
                lists.append(expanded)
        for combination in itertools.product(*lists):
            factors = tuple(f for p in combination for f in p.factors)
            own = weight + sum(p.log_weight for p in combination), error + sum(p.error for p in combination)
            if own[0] > -math.inf:
                out.append(Piece(*own, factors))
            if len(out) > MOST:
                return None
    return out


def _on(substitution: Substitution, outputs: tuple[int, ...], e: Expr) -> Expr:
    return substitution(e, outputs)


def _expanded(measure: Measure) -> list[Piece] | None:
    """A measure with the points of its discrete draws told apart."""
    done = [Piece(measure.log_constant, 0.0, ())] if measure.log_constant > -math.inf else []
    for f in measure.factors:
        options = _options(f)
        if options is None or len(done) * len(options) > MOST:
            return None
        done = [Piece(a.log_weight + b.log_weight, a.error + b.error, (*a.factors, *b.factors)) for a in done for b in options]
    return done


def _options(f: Factor) -> list[Piece] | None:
    if not f.scope:
        value, error = f.log({})
        return [Piece(float(value), float(np.max(error)), ())]
    if not (isinstance(f, Integral) and isinstance(f.law, Discrete)):
        return [Piece(0.0, 0.0, (f,))]
    if not f.law.finite:
        return None
    points, logs = f.law.window(LOG_WINDOW)
    if len(points) > MOST:
        return None
    out = []
    for x, log_p in zip(points, logs, strict=True):
        parts = _at_point(f, float(x))
        nested = [_options(g) for g in parts] if parts is not None else None
        if nested is None:
            continue
        if any(o is None for o in nested):
            return None
        for combination in itertools.product(*(o for o in nested if o is not None)):
            weight = float(log_p) + sum(p.log_weight for p in combination)
            if weight > -math.inf:
                out.append(Piece(weight, sum(p.error for p in combination), tuple(g for p in combination for g in p.factors)))
    return out


def _at_point(f: Integral, x: float) -> list[Factor] | None:
    """The integrand at one point of a discrete draw; None where a bound excludes the point."""
    assert isinstance(f.law, Discrete)
    value = number(x)
    out: list[Factor] = []
    for bounds, sign in ((f.lowers, 1), (f.uppers, -1)):
        for e in bounds:
            if not e.terms:
                edge = f.law.first(float(e.constant), False) if sign > 0 else f.law.last(float(e.constant), False)
                if sign * float(f.law.first(x, False)) < sign * float(edge):
                    return None
            else:
                gap = Expr(tuple((v, -sign * c) for v, c in e.terms), sign * (exact(x) - e.constant))
                out.append(Indicator(Bound(gap, smooth=True)))
    return out + [fixed(g, f.draw, value) for g in f.factors]


def within(f: Factor, y: Floats, middle: Floats) -> tuple[Floats, Floats | float]:
    """A factor's limit at y from inside a cell in which it is positive: rounding does not move y across its ends."""
    match f:
        case Indicator():
            return np.zeros(y.shape), 0.0
        case Density(law=law, place=place) if isinstance(law, Continuous):
            x = np.clip(place.at({Y: y}), *law.support)
            # x itself is rounded: with offsets that are large beside the scale this is what counts.
            moved = 2.3e-16 * (np.abs(float(place.coefficient(Y)) * y) + abs(float(place.constant)))
            logs = law.log_density(x)
            return logs, law.error + moved * law.slope(x) + law.noise(x, logs)
        case Between(law=law) if isinstance(law, Discrete):
            return f.log({Y: middle})
    return f.log({Y: y})


def _positive(f: Factor, y: Rational) -> bool:
    match f:
        case Indicator(bound=bound):
            return bool(bound.expression.exactly({Y: y}) > 0)
        case Density(law=law, place=place) if isinstance(law, Continuous):
            x = place.exactly({Y: y})
            return bool(law.support[0] < x < law.support[1])
        case Between(law=law) if isinstance(law, Continuous):
            low = max([law.support[0], *(e.exactly({Y: y}) for e in f.lowers)])
            return bool(low < min([law.support[1], *(e.exactly({Y: y}) for e in f.uppers)]))
        case Integral() if _everywhere(f):
            return True
    logs, _ = f.log({Y: np.array([float(y)])})
    return bool(np.ravel(logs)[0] > -np.inf)


def _everywhere(f: Factor) -> bool:
    """Whether a factor is positive wherever its variables are, as its form shows."""
    match f:
        case Density(law=law):
            return isinstance(law, Continuous) and law.support == (-math.inf, math.inf)
        case Between(law=law) | Integral(law=law):
            unbounded = isinstance(law, Continuous) and law.support == (-math.inf, math.inf)
            return unbounded and not (f.lowers and f.uppers) and all(map(_everywhere, getattr(f, "factors", ())))
    return False


def _keeps_concave(f: Factor) -> bool:
    """Whether the logarithm of a factor is concave between kinks; one of a discrete law is constant there."""
    if isinstance(f, Between) and isinstance(f.law, Discrete):
        return True
    return all(isinstance(law, Continuous) and law.log_concave for law in f.laws())


def _curvature(f: Factor, low: Floats, high: Floats) -> Floats | float:
    match f:
        case Density(law=law, place=place) if isinstance(law, Continuous) and not law.log_concave:
            ends = place.at({Y: low}), place.at({Y: high})
            return law.curvature(np.minimum(*ends), np.maximum(*ends)) * float(place.coefficient(Y)) ** 2
        case Integral() if not _keeps_concave(f):
            return mixed_bend(f, Y)
    return 0.0 if _keeps_concave(f) else math.inf


def _scales(f: Factor) -> Iterable[float]:
    """The scales of the laws that the coordinate enters, in units of the coordinate."""
    match f:
        case Density(law=law, place=place):
            places = [place]
        case Between(law=law) | Integral(law=law):
            places = list(f.lowers + f.uppers)
            if isinstance(f, Integral):
                for g in f.factors:
                    yield from _scales(g)
        case _:
            return
    length = law.scale if isinstance(law, Continuous) else 1.0
    yield from (length / abs(float(c)) for e in places if (c := e.coefficient(Y)))


def _crossings(f: Between, law: Discrete) -> Iterable[Expr]:
    """Where a bound that the coordinate sets passes a point of a discrete law."""
    points = law.window(LOG_WINDOW)[0]
    for e in f.lowers + f.uppers:
        for x in points if len(points) <= 4 * MOST else ():
            yield Expr(e.terms, e.constant - exact(float(x)))


def matched(own: list[Piece]) -> list[Piece]:
    """The pieces in an order in which those of two similar laws go together: by structure, then by place."""
    return sorted(own, key=lambda piece: (sorted(map(_structure, piece.factors)), [_places(f) for f in piece.factors]))


def _structure(f: Factor) -> str:
    match f:
        case Density(law=law, place=place):
            return f"density {law!r} {[(v, float(c)) for v, c in place.terms]}"
        case Between(law=law) | Integral(law=law):
            ends = [[(v, float(c)) for v, c in e.terms] for e in f.lowers + f.uppers]
            inner = sorted(map(_structure, f.factors)) if isinstance(f, Integral) else f.power
            return f"{type(f).__name__} {law.words()} {len(f.lowers)} {ends} {inner}"
        case Indicator(bound=bound):
            return f"bound {[(v, float(c)) for v, c in bound.expression.terms]}"
    return type(f).__name__


def _places(f: Factor) -> list[float]:
    match f:
        case Density(place=place):
            return [float(place.constant)]
        case Between() | Integral():
            inner = [x for g in f.factors for x in _places(g)] if isinstance(f, Integral) else []
            return [float(e.constant) for e in f.lowers + f.uppers] + inner
        case Indicator(bound=bound):
            return [float(bound.expression.constant)]
    return []


def cell_edges(groups: Sequence[Sequence[Piece]]) -> list[Rational]:
    """The kinks of all pieces in increasing order, each once."""
    kinks = [k for own in groups for piece in own for k in piece.kinks() if k.terms]
    return sorted({-k.constant / k.coefficient(Y) for k in kinks})

"""The law of the product of two noisy values: a density with a pole at zero, and tails of Bessel functions.

With A and B the two values the density at z is the integral of f_A(u) f_B(z / u) / |u|. In terms of s = ln|u| and t = ln|z| it
is one of f_A(+-e^s) f_B(+-e^(t - s)), smooth but for two kinks, and |z| times the density is tabulated as a function of t. For
values with Laplace noise of scales a and b the integral is that of e^(-u / a - z / (u b)) / u far out, 2 K_0(2 sqrt(z / (a b))),
with an error that falls as fast as the noise itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

from dpest.laws.continuous import Gaussian, Laplace, Logistic
from dpest.laws.heavy import Bell, HeavyTail
from dpest.laws.images import Moved
from dpest.laws.law import Continuous, Rng
from dpest.laws.panels import Panels, tabulate
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import RowNumbers, integrate, with_tails
from dpest.numerics.rationals import exact

SMOOTH = (Laplace, Gaussian, Logistic)  # noise without ends, whose density is positive and bounded
_ROOT = 5  # z^(1/5) has a density that vanishes at zero and has derivatives there, where that of z has a pole
_FIRST = -40.0  # ln|z| in units of the scales at which tables begin: e^-39 of the mass lies below, where the pole is all there is
_REACH = -3000.0  # ln of the mass that is left out of each factor
_FAR = -745.0  # ln of the density beside the largest one at which tables end
_NOTHING = -5000.0  # ln of the density beyond the ends of tables
_EXACT = 1e-14  # the relative error from which on a tail is taken in its closed form


@dataclass(frozen=True)
class NoisyFactor:
    """factor * noise + offset."""

    law: Continuous
    factor: float
    offset: float

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return self.law.scale * abs(self.factor)

    @property
    def reach(self) -> float:
        """How far from zero it comes."""
        return abs(self.offset) + abs(self.factor) * max(map(abs, self.law.reach(_REACH)))

    def log_density(self, x: Floats) -> Floats:
        """ln of its density."""
        return np.asarray(self.law.log_density((x - self.offset) / self.factor) - math.log(abs(self.factor)))

    def turns(self, sign: int) -> list[float]:
        """ln of the sizes around which the density turns, on one side of zero."""
        kink = [math.log(abs(self.offset))] if self.offset * sign > 0 else []
        return [math.log(self.scale), *kink]


@dataclass(frozen=True)
class BesselShape:
    """K_0(2 sqrt(distance / scale))."""

    scale: float

    def log(self, distance: float) -> float:
        """ln of the density, up to a constant."""
        return float(self.logs(np.array(distance)))

    def logs(self, distance: Floats) -> Floats:
        """The same at many places."""
        x = 2 * np.sqrt(distance / self.scale)
        return np.asarray(np.log(special.k0e(x)) - x)


@dataclass(frozen=True)
class RootOfProduct(Continuous):
    """The law of the fifth root of a product."""

    one: NoisyFactor
    other: NoisyFactor

    @property
    def support(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def error(self) -> float:
        return max(self._table(side).error for side in (-1, 1))

    @cached_property
    def scale(self) -> float:
        return float((self.one.scale * self.other.scale) ** (1 / _ROOT))

    @cached_property
    def kinks(self) -> tuple[float, ...]:
        meeting = self.one.offset * self.other.offset
        return tuple(sorted({0.0, math.copysign(abs(meeting) ** (1 / _ROOT), meeting)}))

    def reach(self, log_mass: float) -> tuple[float, float]:
        end = (self.one.reach * self.other.reach) ** (1 / _ROOT)
        return -end, end

    def log_beyond(self, log_mass: float) -> float:
        return max(log_mass, _REACH + 2.0)

    def tail(self, side: int) -> HeavyTail | None:
        """The closed form far out."""
        return _tail(self.one, self.other, side)

    def _table(self, side: int) -> Panels:
        return _table(self.one, self.other, side)

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        with np.errstate(divide="ignore"):
            t = np.maximum(_ROOT * np.log(np.abs(x)), _REACH)
        out = np.empty(x.shape)
        for side in (-1, 1):
            here = x <= 0 if side < 0 else x > 0
            if not np.any(here):
                continue
            logs = self._logs(side, t[here])
            out[here] = logs
        return np.asarray(out + math.log(_ROOT) + (1 - 1 / _ROOT) * t)

    def _logs(self, side: int, t: Floats) -> Floats:
        """ln of the density of the product at side * e^t."""
        first = _begin(self.one, self.other)
        z = np.maximum(t, first)
        logs = self._table(side).log_density(z) - z
        tail = self.tail(side)
        if tail is not None and isinstance(tail.shape, BesselShape):
            logs = np.where(z > _closed_from(tail), _closed(tail, z), logs)
        # Next to zero each of the two pairs of signs adds the product of both densities there for each unit of ln|z|.
        pole = float(self.one.log_density(np.zeros(1))[0] + self.other.log_density(np.zeros(1))[0]) + math.log(2.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(t < first, np.logaddexp(logs, pole + np.log(first - np.minimum(t, first))), logs))

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        parts = [self._within(side, low, high) for side in (-1, 1)]
        return np.where(low < high, np.logaddexp(*parts), -np.inf)

    def _within(self, side: int, low: Floats, high: Floats) -> Floats:
        """ln of the mass between two places on one side of zero."""
        near, far = (low, high) if side > 0 else (-high, -low)
        with np.errstate(divide="ignore"):
            first, last = (_ROOT * np.log(np.maximum(x, 0.0)) for x in (near, far))
        return self._table(side).log_interval(first, last)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(-np.inf, x)

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(x, np.inf)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        parts = [np.asarray(f.law.sample(rng, size), float) * f.factor + f.offset for f in (self.one, self.other)]
        whole = parts[0] * parts[1]
        return np.sign(whole) * np.abs(whole) ** (1 / _ROOT)

    def words(self) -> str:
        return "the fifth root of a product"


@dataclass(frozen=True)
class NoisyProduct(Moved):
    """The law of a product, in terms of its root: integrals are taken over that."""

    peaked = True

    def heavy(self, side: int) -> HeavyTail | None:
        assert isinstance(self.law, RootOfProduct)
        return self.law.tail(side)

    def words(self) -> str:
        assert isinstance(self.law, RootOfProduct)
        return f"a product of {self.law.one.law.words()} and {self.law.other.law.words()}"


def noisy_product(one: NoisyFactor, other: NoisyFactor) -> NoisyProduct:
    """The law of the product of two independent values."""
    return NoisyProduct(RootOfProduct(one, other), 1.0, 0.0, Elementary(Kind.ODD, exact(_ROOT)))


# -- the table ---------------------------------------------------------------------------------------------------------


def _begin(one: NoisyFactor, other: NoisyFactor) -> float:
    """ln|z| from which on densities are tabulated."""
    least = min([0.0, *(math.log(abs(f.offset) / f.scale) for f in (one, other) if f.offset)])
    return math.log(one.scale * other.scale) + 2 * least + _FIRST


@lru_cache(maxsize=64)
def _table(one: NoisyFactor, other: NoisyFactor, side: int) -> Panels:
    """|z| times the density, as a function of ln|z|, on one side of zero."""
    first, last = _begin(one, other), math.log(one.reach * other.reach)
    meeting = one.offset * other.offset
    kinks = (math.log(abs(meeting)),) if meeting * side > 0 else ()
    tail = _tail(one, other, side)
    closed = last if tail is None or math.isinf(tail.start) else min(last, _closed_from(tail))

    def log_f(t: Floats) -> tuple[Floats, Floats]:
        flat = t.ravel()
        # Beyond both ends there is next to nothing; that it goes on to fall makes a table as long as it takes.
        out, error = _NOTHING - np.abs(flat), np.full(flat.shape, _EXACT)
        near, far = (flat >= first - 1.0) & (flat <= closed), (flat > closed) & (flat <= last)
        if near.any():
            out[near], error[near] = _over_sizes(one, other, side, flat[near])
        if tail is not None and far.any():
            out[far] = _closed(tail, flat[far])
        return (out + flat).reshape(t.shape), error.reshape(t.shape)

    edges = [*np.arange(first, last, 1.0), last, closed, *kinks]
    return tabulate(log_f, np.unique(edges), kinks, 1.0, "a product of two noisy values", trusted=-_FAR)


def _over_sizes(one: NoisyFactor, other: NoisyFactor, side: int, t: Floats) -> tuple[Floats, Floats]:
    """ln of the density at side * e^t, and its relative error."""
    high = np.full(t.shape, math.log(one.reach))
    low = np.minimum(t - math.log(other.reach), high)
    parts = []
    for sign in (-1, 1):
        turns = [np.full(t.shape, x) for x in one.turns(sign)] + [t - x for x in other.turns(sign * side)]
        breaks = np.clip(np.stack(turns, axis=1), low[:, None], high[:, None])

        def log_f(row: RowNumbers, s: Floats, sign: int = sign) -> tuple[Floats, float]:
            there = other.log_density(sign * side * np.exp(np.minimum(t[row][:, None] - s, 700.0)))
            return one.log_density(sign * np.exp(s)) + there, 4e-16

        parts.append(integrate(log_f, with_tails(breaks, low, high, 1.0)))
    whole = np.logaddexp(parts[0].log_value, parts[1].log_value)
    share = [np.where(whole > -np.inf, np.exp(x.log_value - np.where(whole > -np.inf, whole, 0.0)), 0.0) for x in parts]
    return whole, share[0] * parts[0].error + share[1] * parts[1].error + 1e-15


# -- far out -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _tail(one: NoisyFactor, other: NoisyFactor, side: int) -> HeavyTail | None:
    """The density of side * z for z far out, where both factors have Laplace noise, or both Gaussian noise."""
    a, b = one.scale, other.scale
    tilt = one.offset / a + side * other.offset / b
    if isinstance(one.law, Gaussian) and isinstance(other.law, Gaussian):  # largest where both are as far out, in their scales
        return HeavyTail(Bell(1 / (a * b), abs(tilt) / math.sqrt(a * b)), 0.0, math.inf)
    if not isinstance(one.law, Laplace) or not isinstance(other.law, Laplace):
        return None
    # The factors have the signs +, side or -, -side: each adds e^tilt or e^-tilt times the integral.
    constant = abs(tilt) + math.log1p(math.exp(-2 * abs(tilt))) - math.log(2 * a * b)
    # Between zero and its centre a factor is not what the integral takes it for: E_1(x) < e^-x / x is missing, with x the
    # distance over one of these lengths. That falls the faster beside K_0 from the largest square of a length over a b on.
    lengths = tuple(length for f, g in ((one, other), (other, one)) if (length := abs(f.offset) * g.scale))
    start = max([a * b, *(length**2 / (a * b) for length in lengths)])
    return HeavyTail(BesselShape(a * b), constant, start, lengths)


@lru_cache(maxsize=64)
def _closed_from(tail: HeavyTail) -> float:
    """ln of the distance from which on the closed form is all that doubles can tell."""
    distance = tail.start
    while tail.error(distance) > _EXACT:
        distance *= 1.25
    return math.log(distance)


def _closed(tail: HeavyTail, t: Floats) -> Floats:
    """ln of the closed form at e^t."""
    assert isinstance(tail.shape, BesselShape)
    return tail.constant + tail.shape.logs(np.exp(np.minimum(t, 700.0)))

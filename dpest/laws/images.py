"""The law of a function of a draw: one of the families where it is one, else the draw's own law moved by the function.

-log(U) is exponential, -log(-log(U)) is Gumbel, log(U / (1 - U)) is logistic, sign(V) log(1 - |V|) is Laplace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from dpest.laws.asymptote import Asymptote, exponential
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.heavy import HeavyTail, of_bell, of_exponential, of_power
from dpest.laws.law import Continuous, Law, Rng
from dpest.numerics.elementary import LOG, SQUARE, Elementary, Kind
from dpest.numerics.logspace import Floats, log_diff
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

_ERROR = 1e-13  # relative: a logarithm, an exponential and a difference each round by a few units of 1e-16
_MOST = 1e300
# Functions of uniform noise whose density, the slope of the inverse, is a part of a log-concave one: e^y, a bell, a logistic law.
_CONCAVE = (Kind.LOG, Kind.LOG1P, Kind.LOGIT, Kind.ARCTANH, Kind.NDTRI, Kind.ERFINV, Kind.ERFCINV, Kind.FOLDED_LOG)
_LEAST = -740.0  # ln of the smallest distance from an end of a domain


@dataclass(frozen=True)
class Image:
    """function(factor * draw + offset) = coefficient * X + constant, where X has this law."""

    law: Continuous
    coefficient: Rational = ONE
    constant: Rational = ZERO


@lru_cache(maxsize=1 << 12)
def image(law: Continuous, factor: Rational, offset: Rational, function: Elementary) -> Image:
    """The law of function(factor * draw + offset), on the part of the line where the function is defined."""
    known = _named(law, factor, offset, function)
    if known is not None:
        return known
    if isinstance(law, Uniform):
        # Next to an end of the domain, 1e-30 above zero, 0.5 + 1e-30 would be rounded: uniform noise is moved there itself.
        ends = [float(x) for x in _ends(law, factor, offset)]
        return Image(Moved(Uniform(ends[0], ends[1]), 1.0, 0.0, function))
    return Image(Moved(law, float(factor), float(offset), function))


def _named(law: Law, factor: Rational, offset: Rational, function: Elementary) -> Image | None:
    """The families that people make of uniform noise."""
    match function.kind, law:
        case Kind.LOG | Kind.LOG1P, Uniform(low=low, high=high):
            shift = ONE if function.kind is Kind.LOG1P else ZERO
            ends = sorted(factor * exact(x) + offset + shift for x in (low, high))
            return _log_of_uniform(ends[1], function) if ends[0] == 0 else None
        case Kind.LOG, Exponential(b=b) if not offset and factor > 0:
            base = _log_base(function)
            return Image(Gumbel(1.0), -base, base * LOG.at(factor * exact(b)))
        case Kind.LOGIT, Uniform(low=low, high=high) if _ends(law, factor, offset) == (0, 1):
            return Image(Logistic(1.0))
        case Kind.ARCTANH, Uniform() if _ends(law, factor, offset) == (-1, 1):
            return Image(Logistic(0.5))
        case Kind.NDTRI, Uniform() if _ends(law, factor, offset) == (0, 1):
            return Image(Gaussian(1.0))
        case Kind.ERFINV, Uniform() if _ends(law, factor, offset) == (-1, 1):
            return Image(Gaussian(math.sqrt(0.5)))
        case Kind.ERFCINV, Uniform() if _ends(law, factor, offset) == (0, 2):
            return Image(Gaussian(math.sqrt(0.5)))
        case Kind.LOG, Moved(law=Uniform() as uniform, function=inner) if inner == _INVERTED and function.parameter is None:
            return _log_odds(uniform, exact(law.factor), exact(law.offset), factor, offset)
        case Kind.TAN, Uniform() if _ends(law, factor, offset) == (-_HALF_PI, _HALF_PI):
            return Image(_cauchy())
        case Kind.FOLDED_LOG, Uniform() if _ends(law, factor, offset) == (-1, 1):
            return Image(Laplace(1.0))
    return None


_INVERTED = Elementary(Kind.POWER, -ONE)
_HALF_PI = exact(math.pi) / 2


def _log_odds(law: Uniform, slope: Rational, start: Rational, factor: Rational, offset: Rational) -> Image | None:
    """log(factor / (slope u + start) + offset): logistic where the two sides of the fraction vanish at the ends of u."""
    low, high = exact(law.low), exact(law.high)
    top = (factor + offset * start, offset * slope)  # as constant + coefficient * u
    if not top[1]:
        return None
    zeros = -top[0] / top[1], -start / slope
    if zeros not in ((low, high), (high, low)):
        return None
    # top / bottom = (top[1] / -slope) * (u - low) / (high - u), or the other way around
    rising = zeros == (low, high)
    return Image(Logistic(1.0), ONE if rising else -ONE, LOG.at(-top[1] / slope))


@lru_cache(maxsize=1)
def _cauchy() -> Continuous:
    from scipy import stats

    from dpest.laws.scipy_law import from_frozen

    law = from_frozen(stats.cauchy())[1]
    assert isinstance(law, Continuous)
    return law


def _ends(law: Uniform, factor: Rational, offset: Rational) -> tuple[Rational, Rational]:
    low, high = sorted(factor * exact(x) + offset for x in (law.low, law.high))
    return low, high


def _log_of_uniform(width: Rational, function: Elementary) -> Image:
    """ln of a uniform value between 0 and the width: ln(width) minus an exponential value."""
    base = _log_base(function)
    return Image(Exponential(1.0), -base, base * LOG.at(width))


def _log_base(function: Elementary) -> Rational:
    """1 / ln(base)."""
    return ONE if function.parameter is None else 1 / LOG.at(function.parameter)


@dataclass(frozen=True)
class Moved(Continuous):
    """The law of function(factor * X + offset); what X puts outside the function's domain is left out of it."""

    law: Continuous
    factor: float
    offset: float
    function: Elementary

    @cached_property
    def _undo(self) -> Elementary:
        return self.function.inverse()

    @cached_property
    def rising(self) -> bool:
        """Whether it grows with X."""
        return self.function.rising == (self.factor > 0)

    def back(self, y: npt.ArrayLike) -> Floats:
        """X, from values of the function."""
        low, high = self.support
        inner = self._undo.values(np.clip(np.asarray(y, float), low, high))
        return np.asarray((inner - self.offset) / self.factor)

    @cached_property
    def peaked(self) -> bool:
        """Whether its density may be infinite, at an end that X comes to (zero, of a square) or inside (zero, of a cube)."""
        low, high = self.support
        inside = [0.0] if self.function.kind is Kind.ODD and low < 0 < high else []
        ends = np.array([*inside, *(e for e in self.support if math.isfinite(e))])
        with np.errstate(all="ignore"):
            return bool(np.any((self._undo.log_slope(ends) == np.inf) & np.isfinite(self.back(ends))))

    def values(self, x: Floats) -> Floats:
        """The function's values where X is x."""
        return self.function.values(self.factor * x + self.offset)

    def on_base(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The ends of an interval as ends of X, the lower one first."""
        return (self.back(low), self.back(high)) if self.rising else (self.back(high), self.back(low))

    @cached_property
    def _domain(self) -> tuple[float, float]:
        low, high = self.function.domain
        return (-math.inf if low is None else float(low)), (math.inf if high is None else float(high))

    def limit(self, x: float) -> float:
        """The function's value where X is x, or at the end of the domain that is nearest to it."""
        inner = self.factor * x + self.offset
        return float(self.function.values(min(max(inner, self._domain[0]), self._domain[1])))

    def _forth(self, x: float) -> float:
        return min(max(self.limit(x), -_MOST), _MOST)

    @cached_property
    def support(self) -> tuple[float, float]:
        ends = [self.limit(x) for x in self.law.support]
        return min(ends), max(ends)

    @property
    def error(self) -> float:
        return self.law.error + _ERROR

    @cached_property
    def log_mass(self) -> float:
        ends = sorted((e - self.offset) / self.factor for e in self._domain)
        return self.law.log_mass if all(map(math.isinf, ends)) else float(self.law.log_interval(*ends))

    @cached_property
    def scale(self) -> float:
        width = abs(self._forth(self._quantile(0.75)) - self._forth(self._quantile(0.25)))
        return width if 0 < width < _MOST else 1.0

    def _quantile(self, share: float) -> float:
        """The value of X below which this share lies of what the function is defined for, roughly."""
        first, last = sorted((e - self.offset) / self.factor for e in self._domain)
        low, high = self.law.reach(-40.0)
        low, high = max(low, first), min(high, last)
        goal = self.log_mass + math.log(share)
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if float(self.law.log_interval(first, middle)) < goal else (low, middle)
        return 0.5 * (low + high)

    @cached_property
    def kinks(self) -> tuple[float, ...]:
        inner = [self._forth(k) for k in self.law.kinks]
        return tuple(sorted({x for x in (*inner, *self.support) if abs(x) < _MOST}))

    def reach(self, log_mass: float) -> tuple[float, float]:
        ends = [self._reached(x, log_mass) for x in self.law.reach(log_mass)]
        return min(ends), max(ends)

    def _reached(self, x: float, log_mass: float) -> float:
        """How far the function goes towards one end of X; next to an end of its domain, up to where so much mass is left."""
        inner, (low, high) = self.factor * x + self.offset, self._domain
        if low < inner < high or abs(self.limit(x)) < _MOST:
            return self._forth(x)
        end, side = (low, 1) if inner <= low else (high, -1)
        first, last = _LEAST, math.log(abs(inner - end) + abs(self.factor) * self.law.scale)
        for _ in range(60):
            middle = 0.5 * (first + last)
            ends = sorted((e - self.offset) / self.factor for e in (end, end + side * math.exp(middle)))
            first, last = (middle, last) if float(self.law.log_interval(*ends)) <= log_mass else (first, middle)
        return min(max(float(self.function.values(end + side * math.exp(first))), -_MOST), _MOST)

    def log_beyond(self, log_mass: float) -> float:
        return self.law.log_beyond(log_mass)

    def asymptote(self, side: int) -> Asymptote | None:
        """A logarithm of uniform noise around zero is exponential on the way down: its density is e^y / width.

        A root y of noise x = (y^2 - offset) / factor has the density f(x) * 2 y / factor.
        """
        root = self._root(self.law.asymptote(1), side)
        if root is not None:
            return replace(root, constant=root.constant + math.log(2.0 / self.factor), power=ONE)
        logarithm = self.function.kind in (Kind.LOG, Kind.LOG1P) and self.function.parameter is None
        plain = isinstance(self.law, Uniform) and self.factor == 1.0 and self.offset == 0.0
        if side > 0 or not logarithm or not plain or not self.law.support[0] <= self._domain[0] < self.law.support[1]:
            return None
        return exponential(-math.log(self.law.support[1] - self.law.support[0]), 1.0)

    def heavy(self, side: int) -> HeavyTail | None:
        """Squares, higher powers and exponentials of Laplace or exponential noise, and squares of Gaussian noise."""
        if side > 0 and isinstance(self.law, Gaussian) and self.function == SQUARE:
            return of_bell(self.law.sigma * abs(self.factor), self.offset)
        half = 0.5 if isinstance(self.law, Laplace) else 1.0
        outwards = side * self.factor > 0 or half == 0.5
        if not isinstance(self.law, Laplace | Exponential) or not outwards:
            return None
        scale = self.law.scale * abs(self.factor)
        match self.function.kind, self.function.parameter:
            case Kind.POWER | Kind.ODD, power if power is not None and (side > 0 or self.function.kind is Kind.ODD):
                return of_power(power, scale, side * self.offset, half)
            case Kind.EXP, None if side > 0:
                return of_exponential(scale, self.offset, half)
        return None

    def mass_asymptote(self, side: int) -> Asymptote | None:
        """What lies beyond a root y is what lies beyond (y^2 - offset) / factor."""
        return self._root(self.law.mass_asymptote(1), side) or super().mass_asymptote(side)

    def _root(self, base: Asymptote | None, side: int) -> Asymptote | None:
        """An exponential tail of the noise as one in its square root; None for other functions and tails."""
        halved = self.function.kind is Kind.POWER and self.function.parameter == exact(0.5)
        if base is None or not halved or side < 0 or self.factor <= 0 or base.power or base.square or base.bursts:
            return None
        rate = base.rate / exact(self.factor)
        return Asymptote(base.constant + float(rate * exact(self.offset)), square=rate)

    def log_density(self, y: npt.ArrayLike) -> Floats:
        y = np.asarray(y, float)
        low, high = self.support
        with np.errstate(invalid="ignore"):
            x = np.clip(self.back(y), *self.law.support)  # at an end, rounding may put it beyond
            out = self.law.log_density(x) + self._undo.log_slope(np.clip(y, low, high)) - math.log(abs(self.factor))
        # At an end of its support a density is what it tends to, unless that is infinite.
        return np.where((y > low) & (y < high) | ((y == low) | (y == high)) & np.isfinite(out), out, -np.inf)

    @property
    def log_concave(self) -> bool:
        match self.law, self.function:
            case Uniform(), _:
                return self.function.kind in _CONCAVE
            case Exponential(), Elementary(kind=Kind.POWER, parameter=p):  # ln f is -c y^(1/p) + (1/p - 1) ln y
                return p is not None and 0 < p <= 1 and self.factor > 0
        return False

    def log_cdf(self, y: npt.ArrayLike) -> Floats:
        return self.log_interval(-np.inf, y)

    def log_sf(self, y: npt.ArrayLike) -> Floats:
        return self.log_interval(y, np.inf)

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        ends = (low, high) if self.rising else (high, low)
        inside = self.law.log_interval(*(self.back(e) for e in ends))
        return np.where(low < high, self._next_to_an_end(*ends, inside), -np.inf)

    def _next_to_an_end(self, first: Floats, last: Floats, inside: Floats) -> Floats:
        """The same between values of uniform noise next to an end of the domain, where doubles have lost the difference."""
        gaps = [g for e in (first, last) if (g := self.function.log_from_end(e)) is not None]
        if not gaps or not isinstance(self.law, Uniform) or (self.factor, self.offset) != (1.0, 0.0):
            return inside
        x = self.back(first), self.back(last)
        for end in self._domain:
            if not end or math.isinf(end):
                continue
            least = abs(end) - max(math.copysign(1.0, end) * e for e in self.law.support)  # as near as the noise comes
            one, two = (np.maximum(g, math.log(least) if least > 0 else -np.inf) for g in gaps)
            near = np.maximum(*(np.abs(e - end) for e in x)) < 0.1 * abs(end)
            width = log_diff(np.maximum(one, two), np.minimum(one, two))
            inside = np.where(near, width - math.log(self.law.scale), inside)
        return inside

    def interval_error(self, low: Floats, high: Floats, out: Floats) -> Floats | float:
        ends = (low, high) if self.rising else (high, low)
        return self.law.interval_error(self.back(ends[0]), self.back(ends[1]), out)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return self.function.values(self.factor * np.asarray(self.law.sample(rng, size), float) + self.offset)

    def slope(self, x: Floats) -> Floats:
        steepest = 1e100  # rounding of a place matters that much at most where nothing better is known
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum((1.0 + np.abs(x) / self.scale) / self.scale, steepest))

    def words(self) -> str:
        return f"{self.function.kind.value} of {self.law.words()}"

"""Laws from frozen scipy.stats distributions: dpest's own where it has the family, else a wrapper around scipy's."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import gmpy2
import numpy as np
import numpy.typing as npt

from dpest.errors import BudgetExceeded, ExactRefused, InvalidLaw
from dpest.laws import continuous as c
from dpest.laws import discrete as d
from dpest.laws import scipy_tails
from dpest.laws.asymptote import Asymptote
from dpest.laws.law import Continuous, Discrete, Law, Rng, Shift
from dpest.numerics.logspace import Floats, log_diff, log_sum
from dpest.numerics.quadrature import integrate
from dpest.numerics.rationals import Rational, exact

_ERROR = 1e-12  # relative, of scipy's densities and distribution functions
_SECANT = 1e-3  # of a law's scale, how far apart slopes are taken: far above rounding, and few laws turn within it
_LEAST = -600.0  # ln of the smallest probability that scipy's plain distribution functions still hold
_NEGLIGIBLE = -30.0  # ln of a mass below scipy's own error: tails that are heavier where squares of doubles overflow are refused
_MOST_POINTS = 200_000

_CONTINUOUS: dict[str, Callable[..., Law | None]] = {  # scale and shapes -> law
    "laplace": c.Laplace,
    "norm": c.Gaussian,
    "expon": c.Exponential,
    "gumbel_r": c.Gumbel,
    "logistic": c.Logistic,
    "uniform": lambda scale: c.Uniform(0.0, scale),
    "gennorm": lambda scale, beta: c.Laplace(scale) if beta == 1 else c.Gaussian(scale / math.sqrt(2)) if beta == 2 else None,
}
_DISCRETE: dict[str, Callable[..., Law]] = {
    "bernoulli": lambda p: d.bernoulli_law(float(p)),
    "randint": lambda low, high: d.integers_law(int(low), int(high) - 1),
    "dlaplace": lambda a: d.Geometric(1.0 / float(a)),
}
# Where the standard density has a corner inside its support.
_CORNERS: dict[str, Callable[..., tuple[float, ...]]] = {
    "triang": lambda mode: (mode,),
    "trapezoid": lambda first, second: (first, second),
    "laplace_asymmetric": lambda kappa: (0.0,),
    "dgamma": lambda a: (0.0,),
    "dweibull": lambda k: (0.0,),
}


def from_frozen(frozen: Any) -> tuple[float, Law]:
    """(location, law): the frozen distribution is the law of location + draw."""
    dist = getattr(frozen, "dist", None)
    if dist is None or not hasattr(frozen, "args") or not hasattr(dist, "_parse_args"):
        raise InvalidLaw(
            f"from_scipy(frozen) needs a frozen distribution of one number, such as scipy.stats.t(df=3), got {frozen!r}"
        )
    shapes, location, scale = _parameters(frozen)
    if hasattr(frozen, "pdf"):
        known = _CONTINUOUS.get(dist.name) if _stock(dist) else None
        return location, (known and known(scale, *shapes)) or _continuous(frozen, shapes, scale)
    made = _DISCRETE.get(dist.name) if _stock(dist) else None
    return location, made(*shapes) if made else _discrete(frozen, shapes)


def _parameters(frozen: Any) -> tuple[tuple[float, ...], float, float]:
    dist = frozen.dist
    shapes, location, scale = dist._parse_args(*frozen.args, **frozen.kwds)
    values = (*shapes, location, scale)
    if any(np.ndim(v) for v in values):
        raise InvalidLaw(f"from_scipy({_words(frozen)}): its parameters must be single numbers; make one draw per parameter")
    finite = all(math.isfinite(v) for v in values)
    if not (finite and scale > 0 and np.all(dist._argcheck(*shapes))):
        raise InvalidLaw(f"from_scipy({_words(frozen)}): scipy.stats.{dist.name} does not allow these parameters")
    return tuple(float(v) for v in shapes), float(location), float(scale)


def _words(frozen: Any) -> str:
    given = [f"{v}" for v in frozen.args] + [f"{k}={v}" for k, v in frozen.kwds.items()]
    return f"scipy.stats.{frozen.dist.name}({', '.join(given)})"


def _stock(dist: Any) -> bool:
    """Whether it is one of scipy's own, which its name and parameters identify."""
    from scipy import stats

    return type(getattr(stats, dist.name, None)) is type(dist)


def _identity(dist: Any) -> bytes:
    """What tells two distributions of one name apart: nothing for scipy's own, the constructor's arguments else."""
    if _stock(dist):
        return b""
    try:
        return pickle.dumps((type(dist).__module__, type(dist).__qualname__, dist._updated_ctor_param()))
    except Exception:
        return repr(id(dist)).encode()


def _log_density(standard: Any, kind: str, x: Floats, support: tuple[float, float]) -> Floats:
    """ln of the density or probability; refuses where scipy only has a plain number that underflows to zero."""
    with np.errstate(all="ignore"):
        out = np.asarray(getattr(standard, f"log{kind}")(x), float)
    method = f"_log{kind}"
    plain = getattr(type(standard.dist), method).__qualname__.startswith("rv_")
    if plain and np.any((out == -np.inf) & (x > support[0]) & (x < support[1]) & ((kind == "pdf") | (x == np.floor(x)))):
        raise ExactRefused(f"scipy.stats.{standard.dist.name} has no {method} of its own: far out its {kind} underflows to zero")
    return out


@lru_cache(maxsize=512)
def _reach(law: ScipyContinuous | ScipyDiscrete, unit: float, log_mass: float) -> tuple[float, float]:
    """Points beyond which at most e^log_mass lies, at growing distances: scipy's own quantiles fail this far out."""
    standard, support = law.standard, law.support
    middle, goal = float(standard.median()), max(log_mass, _LEAST)
    with np.errstate(all="ignore"):
        steps = unit * 2.0 ** np.arange(-1, 1000, 0.125)
        sides = standard.logcdf(middle - steps), standard.logsf(middle + steps)
    ends = []
    for sign, logs, end in zip((-1, 1), sides, support, strict=True):
        far = np.flatnonzero(logs <= goal)
        lost = not far.size or (far[0] > 0 and logs[far[0]] == -np.inf)  # from one place to the next, all that is left
        if lost and math.isinf(end) and logs[far[0] - 1 if far.size else -1] > max(log_mass, _NEGLIGIBLE):
            raise ExactRefused(f"scipy.stats.{standard.dist.name} has so heavy a tail that doubles end before it does")
        ends.append(sign * min(sign * end, float(sign * middle + steps[far[0]]) if far.size else math.inf))
    return ends[0], ends[1]


class _Standard(Law):
    """What continuous and discrete scipy distributions at location 0 share."""

    name: str
    standard: Any

    @property
    def error(self) -> float:
        return _ERROR

    @cached_property
    def support(self) -> tuple[float, float]:
        low, high = self.standard.support()
        return float(low), float(high)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        frozen = self.standard
        whole = (int(x) if x == math.floor(x) else x for x in frozen.args)  # NumPy's binomial wants no float for its n
        return np.asarray(frozen.dist(*whole, **frozen.kwds).rvs(size=size, random_state=rng), float)

    def words(self) -> str:
        return f"from_scipy({self.name})"


@dataclass(frozen=True)
class ScipyContinuous(_Standard, Continuous):
    """A continuous scipy distribution at location 0."""

    name: str
    shapes: tuple[float, ...]
    spread: float
    identity: bytes = field(repr=False)
    standard: Any = field(repr=False, compare=False)

    @cached_property
    def scale(self) -> float:
        low, high = self.standard.ppf([0.25, 0.75])
        return float(high - low) / 2

    @cached_property
    def kinks(self) -> tuple[float, ...]:
        corners = _CORNERS[self.name](*self.shapes) if not self.identity and self.name in _CORNERS else ()
        ends = [x for x in self.support if math.isfinite(x)]
        steps = [float(x) for x in getattr(self.standard.dist, "_hbins", ())]
        inside = [self.spread * x for x in (*corners, *steps)]
        return tuple(sorted({*inside, *ends, float(self.standard.median())}))

    def reach(self, log_mass: float) -> tuple[float, float]:
        return _reach(self, self.scale, log_mass)

    def log_beyond(self, log_mass: float) -> float:
        return max(log_mass, _LEAST)

    def shift_cost(self) -> tuple[Rational | None, Rational | None]:
        # The log density of t has slopes up to (nu + 1) / (2 sqrt(nu)) in units of the scale.
        nu = self.nu
        if nu is None:
            return None, None
        slope = exact((nu + 1) / (2 * math.sqrt(nu)) * (1 + 1e-15)) / exact(self.spread)
        return slope, slope

    def shift_loss(self, s: Rational) -> Rational | None:
        # sup (nu + (x + d)^2) / (nu + x^2) = e^(2 asinh(d / (2 sqrt(nu)))), to the power (nu + 1) / 2.
        nu = self.nu
        if nu is None:
            return super().shift_loss(s)
        away = float(abs(s) / exact(self.spread))
        return exact((nu + 1) * math.asinh(away / (2 * math.sqrt(nu))) * (1 + 1e-14))

    def log_density(self, x: npt.ArrayLike) -> Floats:
        return _log_density(self.standard, "pdf", np.asarray(x, float), self.support)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return self._tail(np.asarray(x, float), -1)

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self._tail(np.asarray(x, float), 1)

    @cached_property
    def nu(self) -> float | None:
        """Student's degrees of freedom (1 for Cauchy); None for every other family."""
        return None if self.identity else scipy_tails.degrees_of_freedom(self.name, self.shapes)

    @property
    def power_at_zero(self) -> float | None:
        """The k of a density x^(k - 1) g(x / s) / s^k whose g falls; None for every other family."""
        return None if self.identity else scipy_tails.power_at_zero(self.name, self.shapes)

    @cached_property
    def log_concave(self) -> bool:
        return not self.identity and scipy_tails.log_concave(self.name, self.shapes)

    def at_end(self, side: int) -> tuple[float, float] | None:
        found = None if self.identity else scipy_tails.at_end(self.name, self.shapes, side)
        return None if found is None else (found[0], found[1] - (found[0] + 1) * math.log(self.spread))

    @property
    def mode(self) -> float | None:
        return 0.0 if self.nu else None

    def curvature(self, low: Floats, high: Floats) -> Floats:
        if self.nu is None:
            return super().curvature(low, high)
        return scipy_tails.student_curvature(self.nu, low / self.spread, high / self.spread) / self.spread**2

    def slope(self, x: Floats) -> Floats:
        if self.nu is None:
            return np.maximum(super().slope(x), self._secant(x))
        return np.asarray((self.nu + 1) * np.abs(x) / (self.nu * self.spread**2 + np.square(x)))

    def _secant(self, x: Floats) -> Floats:
        """The steeper of two secants beside x: where ln f is concave its slope lies between them. 0 where a density ends."""
        aside = _SECANT * self.scale
        with np.errstate(invalid="ignore"):
            here, below, above = (self.log_density(x + d) for d in (0.0, -aside, aside))
            steeper = np.maximum(np.abs(here - below), np.abs(above - here)) / aside
        return np.where(np.isfinite(steeper), steeper, 0.0)

    def asymptote(self, side: int) -> Asymptote | None:
        found = None if self.identity else scipy_tails.right_tail(self.name, self.shapes, side)
        moved = found.moved(1 / exact(self.spread), exact(0)) if found else None
        return Asymptote(-math.log(self.spread)) + moved if moved else None

    def shift(self, d: float) -> Shift | None:
        if self.name == "gennorm" and not self.identity:
            # |x + d|^beta - |x|^beta: at most |d|^beta, at 0, where the power is concave; it grows without end where it is not.
            beta = self.shapes[0]
            return Shift(abs(d / self.spread) ** beta, 0.0) if beta <= 1 or not d else Shift(math.inf, math.copysign(math.inf, d))
        if self.nu is None:
            return None
        # ((x + d)^2 + a) / (x^2 + a) is largest where x^2 + d x = a.
        a = self.nu * self.spread**2
        root = math.hypot(d, 2 * math.sqrt(a))
        most = math.log1p((d * d + abs(d) * root) / (2 * a))
        return Shift((self.nu + 1) / 2 * most, 2 * a / (d + math.copysign(root, d)))

    def _tail(self, x: Floats, sign: int) -> Floats:
        """ln P(beyond x): scipy's, and where that underflows the integral of the density."""
        with np.errstate(all="ignore"):
            out = np.array(self.standard.logsf(x) if sign > 0 else self.standard.logcdf(x), float)
        low, high = self.support
        lost = (out < _LEAST) & (x > low) & (x < high)
        if np.any(lost):
            out[lost] = self._integrated(x[lost], sign)
        return out

    def _integrated(self, x: Floats, sign: int) -> Floats:
        here, inward = self.log_density(x), self.log_density(x - sign * 1e-6 * self.scale)
        with np.errstate(all="ignore"):
            length = np.clip(1e-6 * self.scale / (inward - here), 1e-9 * self.scale, 1e9 * self.scale)
        steps = np.concatenate([[0.0], 2.0 ** np.arange(-3, 12)])
        edges = np.clip(x[:, None] + sign * np.where(np.isfinite(length), length, self.scale)[:, None] * steps, *self.support)
        return integrate(lambda _, y: (self.log_density(y), 0.0), np.sort(edges, axis=1)).log_value


def _continuous(frozen: Any, shapes: tuple[float, ...], scale: float) -> ScipyContinuous:
    standard = frozen.dist(*shapes, loc=0.0, scale=scale)
    return ScipyContinuous(frozen.dist.name, shapes, scale, _identity(frozen.dist), standard)


@dataclass(frozen=True)
class ScipyDiscrete(_Standard, Discrete):
    """A scipy distribution on infinitely many whole numbers, at location 0; the index of a point is the point."""

    name: str
    shapes: tuple[float, ...]
    identity: bytes = field(repr=False)
    standard: Any = field(repr=False, compare=False)
    finite = False

    def log_density(self, x: npt.ArrayLike) -> Floats:
        return _log_density(self.standard, "pmf", np.asarray(x, float), self.support)

    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        bound = np.asarray(bound, float)
        return np.asarray(np.maximum(np.floor(bound) + 1 if strict else np.ceil(bound), self.support[0]))

    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        bound = np.asarray(bound, float)
        return np.asarray(np.minimum(np.ceil(bound) - 1 if strict else np.floor(bound), self.support[1]))

    def asymptote(self, side: int) -> Asymptote | None:
        return None if self.identity else scipy_tails.right_tail_of_points(self.name, self.shapes, side)

    @property
    def geometric(self) -> bool:
        """Whether each point after the first has the same share of what the one before it has."""
        return self.name == "geom" and not self.identity

    @property
    def outgrows_exponentials(self) -> bool:
        """Whether the ratio of one probability to the next grows without bound on every side on which there are points."""
        return not self.identity and scipy_tails.outgrows_exponentials(self.name)

    def tilt(self, other: ScipyDiscrete) -> tuple[float, float] | None:
        """ln of its probability of 0 over that of a law of its family, and how that steps from point to point; None if uneven."""
        if self.name != other.name or self.identity or other.identity:
            return None
        return scipy_tails.tilt(self.name, self.shapes, other.shapes)

    @cached_property
    def _sums(self) -> tuple[float, Floats, Floats]:
        """The first tabulated point, and ln of the sums from either side up to (from) each point."""
        points, logs = self.window(_LEAST)
        below = np.logaddexp.accumulate(np.concatenate([[-np.inf], logs]))
        above = np.logaddexp.accumulate(np.concatenate([[-np.inf], logs[::-1]]))[::-1]
        return float(points[0]), below, above

    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        start, below, above = self._sums
        first, last = np.broadcast_arrays(np.asarray(first, float), np.asarray(last, float))
        i = np.clip(first - start, 0, len(below) - 1).astype(int)
        j = np.clip(last - start + 1, 0, len(below) - 1).astype(int)
        out = np.where(below[i] < above[j], log_diff(below[j], below[i]), log_diff(above[i], above[j]))
        outside = (first <= last) & ((first >= start + len(below) - 1) | (last < start))
        for at in np.argwhere(outside):
            out[tuple(at)] = self._beyond(float(first[tuple(at)]), float(last[tuple(at)]), start)
        return np.where(first <= last, out, -np.inf)

    def _beyond(self, first: float, last: float, start: float) -> float:
        """ln of a sum in a tail: its terms decay, those next to the table are the largest."""
        count = min(last - first + 1, 4000.0)
        points = first + np.arange(count) if first >= start else last - np.arange(count)
        return float(log_sum(self.log_density(points[points >= self.support[0]])))

    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        low, high = _reach(self, 1.0, log_mass)
        if not high - low <= _MOST_POINTS:
            raise BudgetExceeded(f"{self.words()} has too heavy a tail: {high - low:.3g} points would have to be summed")
        points = np.arange(math.floor(low), high + 1)
        return points, self.log_density(points)


def _discrete(frozen: Any, shapes: tuple[float, ...]) -> Law:
    dist = frozen.dist
    if hasattr(dist, "xk"):
        return d.atoms({float(x): float(p) for x, p in zip(dist.xk, dist.pk, strict=True)}, f"from_scipy({dist.name})")
    standard = dist(*shapes)
    low, high = (float(v) for v in standard.support())
    if high - low > d.MOST_POINTS:
        return ScipyDiscrete(dist.name, shapes, _identity(dist), standard)
    points = np.arange(low, high + 1)
    known = dist.name == "binom" and _stock(dist) and 0 < shapes[1] < 1
    logs = _binomial_logs(int(shapes[0]), shapes[1]) if known else standard.logpmf(points)
    kept = np.isfinite(logs)
    off = 0.0 if known else _ERROR
    return d.Atoms(tuple(points[kept].tolist()), tuple(logs[kept].tolist()), f"from_scipy({_words(standard)})", off)


_BITS = 160  # far more than a hundred thousand sums of logarithms lose


@lru_cache(maxsize=64)
def _binomial_logs(n: int, p: float) -> Floats:
    """ln of the probabilities of 0, ..., n, to the last digit: each from the one before it."""
    with gmpy2.context(gmpy2.get_context(), precision=_BITS):
        chance = gmpy2.mpfr(p)
        log, step = n * gmpy2.log1p(-chance), gmpy2.log(chance) - gmpy2.log1p(-chance)
        logs = [float(log)]
        for k in range(n):
            log += gmpy2.log(gmpy2.mpfr(n - k) / (k + 1)) + step
            logs.append(float(log))
    return np.array(logs)

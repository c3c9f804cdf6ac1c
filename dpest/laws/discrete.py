"""The discrete families: points with positive probability, where ties happen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.errors import BudgetExceeded, InvalidLaw
from dpest.laws.asymptote import Asymptote, exponential
from dpest.laws.continuous import check_scale
from dpest.laws.law import Discrete, Rng
from dpest.numerics.logspace import Floats, log1mexp, log_diff
from dpest.numerics.rationals import Rational, exact

MASS_TOLERANCE = 1e-9  # how far probabilities that are given as floats may be from adding up to 1
MOST_POINTS = 1_000_000  # of a law that are listed one by one: 16 MB for points and logarithms
MOST_EXACT = 2**53  # whole numbers up to here are exact as floats


@dataclass(frozen=True)
class Geometric(Discrete):
    """Two-sided: P(k) proportional to exp(-|k| / b) on the whole numbers."""

    b: float

    def __post_init__(self) -> None:
        check_scale(self.b, "geometric(scale)")

    support = (-math.inf, math.inf)
    finite = False

    @property
    def tail_terms(self) -> float:
        return 1 / math.expm1(1 / self.b)

    @cached_property
    def _log_ends(self) -> tuple[float, float]:
        """ln P(0) and ln P(k >= 1): tanh(1/(2b)) and r / (1 + r) with r = e^(-1/b)."""
        r = math.exp(-1 / self.b)
        return math.log(-math.expm1(-1 / self.b)) - math.log1p(r), -1 / self.b - math.log1p(r)

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        return np.where(x == np.floor(x), self._log_ends[0] - np.abs(x) / self.b, -np.inf)

    def asymptote(self, side: int) -> Asymptote:
        return exponential(self._log_ends[0], self.b)

    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        bound = np.asarray(bound, float)
        return np.asarray(np.floor(bound) + 1 if strict else np.ceil(bound))

    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        return -self.first(-np.asarray(bound, float), strict)

    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        first, last = np.broadcast_arrays(np.asarray(first, float), np.asarray(last, float))
        zero, tail = self._log_ends
        with np.errstate(invalid="ignore", divide="ignore"):
            near = np.where(first > 0, first, -last)
            aside = tail - (near - 1) / self.b + log1mexp(-(last - first + 1) / self.b)
            sides = [np.where(n > 0, tail + log1mexp(-n / self.b), -np.inf) for n in (-first, last)]
        across = np.logaddexp(np.logaddexp(*sides), zero)
        return np.where(first > last, -np.inf, np.where((first > 0) | (last < 0), aside, np.minimum(across, 0.0)))

    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        last = math.ceil(-self.b * log_mass) + 1
        points = np.arange(-last, last + 1, dtype=float)
        return points, self.log_density(points)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        # The difference of two one-sided geometric values.
        p = -math.expm1(-1 / self.b)
        return (rng.geometric(p, size) - rng.geometric(p, size)).astype(float)

    def words(self) -> str:
        return f"geometric({self.b:g})"

    def shift_cost(self) -> tuple[Rational | None, Rational | None]:
        return 1 / exact(self.b), 1 / exact(self.b)


@dataclass(frozen=True)
class Atoms(Discrete):
    """Finitely many points; `points` increase, `log_probabilities` go with them."""

    points: tuple[float, ...]
    log_probabilities: tuple[float, ...]
    call: str = "from_atoms"
    off: float = 0.0  # how far a logarithm may be off, where probabilities were worked out
    counts: bool = False  # whether its points are whole numbers as such, of type int, and not floats that happen to be whole
    finite = True

    @cached_property
    def _points(self) -> Floats:
        return np.array(self.points, float)

    @cached_property
    def _log_p(self) -> Floats:
        return np.array(self.log_probabilities, float)

    @cached_property
    def _cumulative(self) -> tuple[Floats, Floats]:
        """ln P(index < i) and ln P(index >= i), for i = 0..n."""
        pad = [-np.inf]
        below = np.logaddexp.accumulate(np.concatenate([pad, self._log_p]))
        above = np.logaddexp.accumulate(np.concatenate([pad, self._log_p[::-1]]))[::-1]
        return below, above

    @property
    def support(self) -> tuple[float, float]:
        return self.points[0], self.points[-1]

    @cached_property
    def integral(self) -> bool:
        return bool(np.all(self._points == np.floor(self._points)))

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        at = np.minimum(np.searchsorted(self._points, x), len(self.points) - 1)
        return np.where(self._points[at] == x, self._log_p[at], -np.inf)

    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        return np.asarray(np.searchsorted(self._points, bound, "right" if strict else "left"), float)

    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        return np.asarray(np.searchsorted(self._points, bound, "left" if strict else "right"), float) - 1

    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        n = len(self.points)
        i = np.clip(np.asarray(first, float), 0, n).astype(int)
        j = np.clip(np.asarray(last, float) + 1, 0, n).astype(int)
        return np.asarray(self._table[np.minimum(i, j), j])

    @cached_property
    def _table(self) -> Floats | _Differences:
        """ln P(i <= index < j), summed from the positive terms alone."""
        n = len(self.points)
        if n > 400:
            return _Differences(self._cumulative)
        table = np.full((n + 1, n + 1), -np.inf)
        for i in range(n):
            table[i, i + 1 :] = np.logaddexp.accumulate(self._log_p[i:])
        return table

    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        return self._points, self._log_p

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        edges = np.exp(self._cumulative[0][1:])
        at = np.searchsorted(edges / edges[-1], rng.random(size), side="right")
        return self._points[np.minimum(at, len(self.points) - 1)]

    def words(self) -> str:
        return self.call


@dataclass(frozen=True)
class Whole(Discrete):
    """Uniform on low, low + 1, ..., high: all in closed form, however many there are."""

    low: int
    high: int
    finite = True

    @property
    def _count(self) -> int:
        return self.high - self.low + 1

    @property
    def support(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        inside = (x == np.floor(x)) & (x >= self.low) & (x <= self.high)
        return np.where(inside, -math.log(self._count), -np.inf)

    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        bound = np.asarray(bound, float)
        return np.asarray(np.maximum(np.floor(bound) + 1 if strict else np.ceil(bound), self.low))

    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        bound = np.asarray(bound, float)
        return np.asarray(np.minimum(np.ceil(bound) - 1 if strict else np.floor(bound), self.high))

    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        inside = np.minimum(np.asarray(last, float), self.high) - np.maximum(np.asarray(first, float), self.low) + 1
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(inside, 0.0)) - math.log(self._count))

    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        if self._count > MOST_POINTS:
            raise BudgetExceeded(f"{self.words()} has {self._count} points, too many to go through one by one")
        points = np.arange(self.low, self.high + 1, dtype=float)
        return points, np.full(points.shape, -math.log(self._count))

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return rng.integers(self.low, self.high, size, endpoint=True).astype(float)

    def words(self) -> str:
        return f"integers({self.low}, {self.high})"


class _Differences:
    """Too many points for a table: differences of the cumulative sums, from the side that loses fewer digits."""

    def __init__(self, cumulative: tuple[Floats, Floats]) -> None:
        self.below, self.above = cumulative

    def __getitem__(self, at: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]) -> Floats:
        i, j = at
        left = log_diff(self.below[j], self.below[i])
        right = log_diff(self.above[i], self.above[j])
        return np.where(self.below[i] < self.above[j], left, right)


def atoms(probabilities: dict[float, float], call: str = "from_atoms") -> Atoms:
    """A finite law from point -> probability, checked; points of probability zero are dropped."""
    for point, p in probabilities.items():
        if not (isinstance(p, int | float | np.number) and p >= 0):
            raise InvalidLaw(f"{call}: the probability of {point!r} must be a number >= 0, got {p!r}")
        if not math.isfinite(point):
            raise InvalidLaw(f"{call}: a point must be a finite number, got {point!r}")
    total = math.fsum(probabilities.values())
    if not abs(total - 1) <= MASS_TOLERANCE:
        raise InvalidLaw(f"{call}: the probabilities must sum to 1, they sum to {total!r} (off by {total - 1:+.3g})")
    kept = sorted((float(x), float(p)) for x, p in probabilities.items() if p > 0)
    return Atoms(tuple(x for x, _ in kept), tuple(math.log(p) for _, p in kept), call)


def bernoulli_law(p: float) -> Atoms:
    """1 with probability p, else 0."""
    if not (isinstance(p, int | float | np.number) and 0 <= p <= 1):
        raise InvalidLaw(f"bernoulli(p) needs a probability in [0, 1], got {p!r}")
    points = [(0.0, math.log1p(-p))] if p < 1 else []
    points += [(1.0, math.log(p))] if p > 0 else []
    return Atoms(tuple(x for x, _ in points), tuple(q for _, q in points), f"bernoulli({p:g})", counts=True)


def categorical_law(probabilities: npt.ArrayLike) -> Atoms:
    """An index, with the given probabilities."""
    try:
        values = np.asarray(probabilities, float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or values.size == 0:
        raise InvalidLaw(f"categorical(probs) needs a non-empty list of probabilities, got {probabilities!r}")
    law = atoms({float(i): float(p) for i, p in enumerate(values)}, f"categorical({values.size} values)")
    return replace(law, counts=True)


def integers_law(low: int, high: int) -> Whole:
    """Uniform on low, low + 1, ..., high."""
    whole = all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in (low, high))
    if not whole or low > high:
        raise InvalidLaw(f"integers(low, high) needs whole numbers low <= high, got low={low!r}, high={high!r}")
    if max(abs(int(low)), abs(int(high))) > MOST_EXACT:
        raise InvalidLaw(f"integers(low, high) needs numbers up to 2**53, got low={low!r}, high={high!r}")
    return Whole(int(low), int(high))

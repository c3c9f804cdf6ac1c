"""The factors that elimination leaves: functions of draws and output coordinates, in log space, with their kinks.

A factor answers `log(values) -> (ln value, relative error)`. Its kinks are the hyperplanes, affine expressions that
vanish on them, across which it need not be smooth: no quadrature panel may straddle one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpest.errors import BudgetExceeded
from dpest.exact.inference.expressions import Expr, Values, distinct, meetings, number, plus, single, solved, substituted
from dpest.exact.inference.gaps import differences, edge_error, log_gap
from dpest.laws.images import Moved
from dpest.laws.law import Continuous, Discrete, Law
from dpest.numerics.effort import spend_steps
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.quadrature import Integrals, LogFunction, RowNumbers, integrate, with_tails
from dpest.numerics.rationals import exact

LOG_REACH = -3000.0  # integrals leave out at most this much of a draw's mass, as a logarithm
LOG_WINDOW = -80.0  # sums over infinite laws leave out at most this much of one, as a logarithm
_MOST_TERMS = 200_000
_TERMS_IN_A_STEP = 50  # of a sum over whole numbers: 0.2 microseconds each, with a factor or two
_ROWS = 1 << 12  # rows of a nested integral done at once
_MOST_KINKS = 400

Answer = tuple[Floats, Floats | float]  # logarithms, and their relative errors


@dataclass(frozen=True)
class Bound:
    """expression >= 0."""

    expression: Expr
    smooth: bool = False  # a continuous draw was solved for in it: its boundary has probability zero


class Factor(ABC):
    """A positive function of some variables."""

    @property
    @abstractmethod
    def scope(self) -> frozenset[int]:
        """The variables that it depends on."""

    @property
    @abstractmethod
    def kinks(self) -> tuple[Expr, ...]:
        """The hyperplanes across which it need not be smooth."""

    @abstractmethod
    def log(self, values: Values) -> Answer:
        """ln of the factor, and its relative error."""

    def laws(self) -> Iterator[Law]:
        """The laws that the factor is made of."""
        yield from ()


@dataclass(frozen=True)
class Between(Factor):
    """P(a draw lies between bounds that other variables set), to some power."""

    law: Law
    lowers: tuple[Expr, ...]
    uppers: tuple[Expr, ...]
    power: int = 1

    @cached_property
    def scope(self) -> frozenset[int]:
        return frozenset(v for e in self.lowers + self.uppers for v in e.variables())

    @cached_property
    def kinks(self) -> tuple[Expr, ...]:
        places = [*self.lowers, *self.uppers]
        if isinstance(self.law, Continuous):
            places += [number(k) for k in self.law.kinks]
        inner = -10**9  # any number that is no variable
        return meetings([plus(single(inner), p, -1) for p in places], inner)

    @cached_property
    def _widths(self) -> tuple[Expr, ...]:
        return differences(self.lowers, self.uppers)

    def log(self, values: Values) -> Answer:
        law = self.law
        error: Floats | float = law.error
        if isinstance(law, Continuous):
            low = _largest([e.at(values) for e in self.lowers])
            high = _smallest([e.at(values) for e in self.uppers])
            if not self.lowers:
                out = law.log_cdf(high)
                error = error + law.noise(high, out)
            elif not self.uppers:
                out = law.log_sf(low)
                error = error + law.noise(low, out)
            else:
                out, more = log_gap(law, low, high, _smallest([e.at(values) for e in self._widths]))
                error = error + more + law.noise(low, out) + law.noise(high, out)
        else:
            assert isinstance(law, Discrete)
            first = _largest([law.first(e.at(values), False) for e in self.lowers])
            last = _smallest([law.last(e.at(values), False) for e in self.uppers])
            out = law.log_between(first, last)
        return (out if self.power == 1 else self.power * out), self.power * error

    def laws(self) -> Iterator[Law]:
        yield self.law


@dataclass(frozen=True)
class Density(Factor):
    """The density (or probability) of a draw that the outputs fix, at the value they give it."""

    law: Law
    place: Expr

    @cached_property
    def scope(self) -> frozenset[int]:
        return frozenset(self.place.variables())

    @cached_property
    def kinks(self) -> tuple[Expr, ...]:
        points = self.law.kinks if isinstance(self.law, Continuous) else ()
        return tuple(Expr(self.place.terms, self.place.constant - exact(k)) for k in points)

    def log(self, values: Values) -> Answer:
        x = self.place.at(values)
        logs = self.law.log_density(x)
        return logs, self.law.error + (self.law.noise(x, logs) if isinstance(self.law, Continuous) else 0.0)

    def laws(self) -> Iterator[Law]:
        yield self.law


@dataclass(frozen=True)
class Indicator(Factor):
    """1 where a bound on the outputs alone holds, else 0."""

    bound: Bound

    @cached_property
    def scope(self) -> frozenset[int]:
        return frozenset(self.bound.expression.variables())

    @cached_property
    def kinks(self) -> tuple[Expr, ...]:
        return (self.bound.expression,)

    def log(self, values: Values) -> Answer:
        # Closed on both sides where it is smooth: at its edge a ratio of sums is no larger than on one of the sides.
        return np.where(np.asarray(self.bound.expression.at(values)) >= 0, 0.0, -np.inf), 0.0


@dataclass(frozen=True)
class OnLattice(Factor):
    """A function of an expression whose values lie apart from each other."""

    expression: Expr

    @cached_property
    def scope(self) -> frozenset[int]:
        return frozenset(self.expression.variables())

    kinks = ()


class Identity(OnLattice):
    """1 where an output coordinate has the one value it can have, else 0."""

    def log(self, values: Values) -> Answer:
        return np.where(np.asarray(self.expression.at(values)) == 0, 0.0, -np.inf), 0.0


class WholeIndicator(OnLattice):
    """1 where an expression of lattice coordinates is a whole number, else 0."""

    def log(self, values: Values) -> Answer:
        x = np.asarray(self.expression.at(values), float)
        return np.where(x == np.floor(x), 0.0, -np.inf), 0.0


@dataclass(frozen=True, eq=False)
class Integral(Factor):
    """A product of factors with one draw integrated (or summed) out, within bounds that other variables set."""

    draw: int
    law: Law
    lowers: tuple[Expr, ...]
    uppers: tuple[Expr, ...]
    factors: tuple[Factor, ...]

    @cached_property
    def scope(self) -> frozenset[int]:
        bounds = {v for e in self.lowers + self.uppers for v in e.variables()}
        return frozenset(bounds.union(*(f.scope for f in self.factors)) - {self.draw})

    @cached_property
    def surfaces(self) -> tuple[Expr, ...]:
        """Every hyperplane at which the integrand has a kink."""
        own = [plus(single(self.draw), e, -1) for e in self.lowers + self.uppers]
        if isinstance(self.law, Continuous):
            own += [single(self.draw, -exact(k)) for k in self.law.kinks]
        return tuple(own + [k for f in self.factors for k in f.kinks])

    @cached_property
    def _breaks(self) -> tuple[Expr, ...]:
        """Where the draw meets each of these hyperplanes."""
        return tuple(dict.fromkeys(solved(k, self.draw) for k in self.surfaces if k.coefficient(self.draw)))

    @cached_property
    def kinks(self) -> tuple[Expr, ...]:
        if isinstance(self.law, Discrete):
            points = self.law.window(LOG_WINDOW)[0] if self.law.finite else np.empty(0)
            at = (substituted(k, self.draw, number(x)) for k in self.surfaces for x in points[:_MOST_KINKS])
            return tuple(distinct(at))[:_MOST_KINKS]
        return meetings(self.surfaces, self.draw)[:_MOST_KINKS]

    def laws(self) -> Iterator[Law]:
        yield self.law
        for f in self.factors:
            yield from f.laws()

    @cached_property
    def _finest(self) -> float:
        """The smallest length over which the integrand changes: the draw itself may be far wider than what it meets."""
        return min(law.scale for law in self.laws() if isinstance(law, Continuous))

    @cached_property
    def _scale(self) -> float:
        assert isinstance(self.law, Continuous)
        return self.law.scale

    def log(self, values: Values) -> Answer:
        scope = sorted(self.scope)
        if not scope:
            out, error = self._rows({}, 1)
            return np.asarray(out[0]), float(np.max(error))
        arrays = np.broadcast_arrays(*(np.asarray(values[v], float) for v in scope))
        flat = {v: a.ravel() for v, a in zip(scope, arrays, strict=True)}
        count, shape = arrays[0].size, arrays[0].shape
        out, errors = np.empty(count), np.empty(count)
        for i in range(0, count, _ROWS):
            part = slice(i, min(i + _ROWS, count))
            out[part], errors[part] = self._rows({v: a[part] for v, a in flat.items()}, part.stop - i)
        return out.reshape(shape), errors.reshape(shape)

    def _rows(self, values: Values, rows: int) -> Answer:
        return self._sum(values, rows) if self.law.discrete else self._integral(values, rows)

    def _integral(self, values: Values, rows: int) -> Answer:
        law = self.law
        assert isinstance(law, Continuous)
        breaks = [np.asarray(k.at(values), float) for k in self._breaks]
        columns = np.stack([np.broadcast_to(b, (rows,)) for b in breaks], axis=1) if breaks else np.zeros((rows, 1))
        first, last = reach(law, columns)
        low = np.maximum(_rowwise([e.at(values) for e in self.lowers], rows, -np.inf, np.maximum), first)
        high = np.minimum(_rowwise([e.at(values) for e in self.uppers], rows, np.inf, np.minimum), last)
        columns = np.clip(columns, low[:, None], np.maximum(low, high)[:, None])
        moved = law if isinstance(law, Moved) and law.peaked and not self._widths else None
        if moved is not None:  # over the value that it is a function of, whose density is bounded
            law = moved.law
            low, high = moved.on_base(low, high)
            columns = moved.back(columns)

        def log_f(row: RowNumbers, x: Floats) -> Answer:
            here = {v: np.asarray(a)[row][:, None] for v, a in values.items()}
            here[self.draw] = x if moved is None else moved.values(x)
            out = law.log_density(x)
            error = np.asarray(law.error + law.noise(x, out))
            with np.errstate(over="ignore"):  # two logarithms near -1e308 add up to that of zero
                for f in self.factors:
                    logs, more = f.log(here)
                    out, error = out + logs, error + more
            return out, error

        sizes = sum((np.abs(np.asarray(x, float)) for x in values.values()), np.zeros(rows))
        found = integrate(log_f, with_tails(columns, low, high, self._finest))
        found = Integrals(found.log_value, found.error + edge_error(columns, log_f, sizes, self._finest))
        found = self._gaps_filled(found, log_f, values, low, rows)
        # What lies beyond the reach: every kink is inside it, so that the integrand only decays there.
        at_ends = log_f(np.arange(rows), np.stack([low, high], axis=1))[0]
        ends = at_ends.max(axis=1) + math.log(self._scale) + 10.0
        beyond = np.minimum(ends, law.log_beyond(LOG_REACH))
        known = np.where(found.log_value > -np.inf, found.log_value, np.inf)
        return found.log_value, found.error + np.exp(np.minimum(beyond - known, 0.0))

    @cached_property
    def _widths(self) -> tuple[Expr, ...]:
        return differences(self.lowers, self.uppers)

    def _gaps_filled(self, found: Integrals, log_f: LogFunction, values: Values, low: Floats, rows: int) -> Integrals:
        """Integrals between bounds that differ by less than quadrature resolves: the integrand times the exact width."""
        if not self._widths:
            return found
        width = _rowwise([e.at(values) for e in self._widths], rows, np.inf, np.minimum)
        narrow = (width > 0) & (width < 1e-12 * np.maximum(np.abs(low), self._finest))
        if not np.any(narrow):
            return Integrals(np.where(width > 0, found.log_value, -np.inf), found.error)
        at = np.flatnonzero(narrow)
        logs, errors = log_f(at, low[at][:, None])
        value, error = found.log_value.copy(), np.array(found.error)
        value[at] = logs[:, 0] + np.log(width[at])
        error[at] = np.broadcast_to(errors, logs.shape)[:, 0] + 4 * width[at] / self._finest + 1e-12
        return Integrals(np.where(width > 0, value, -np.inf), error)

    def _sum(self, values: Values, rows: int) -> Answer:
        law = self.law
        assert isinstance(law, Discrete)
        points = self._points(values, rows)
        spend_steps(points.size // _TERMS_IN_A_STEP)
        here: dict[int, Floats] = {v: np.asarray(a)[:, None] for v, a in values.items()}
        here[self.draw] = points
        first = _rowwise([law.first(e.at(values), False) for e in self.lowers], rows, -np.inf, np.maximum)[:, None]
        last = _rowwise([law.last(e.at(values), False) for e in self.uppers], rows, np.inf, np.minimum)[:, None]
        index = law.first(points, False)
        out = np.where((index >= first) & (index <= last), law.log_density(points), -np.inf)
        error: Floats | float = 0.0
        for f in self.factors:
            more, inner = f.log(here)
            out, error = out + more, error + inner
        total = log_sum(out, axis=1)
        known = np.where(total > -np.inf, total, np.inf)
        shares = np.exp(out - known[:, None])
        # Beyond the window the terms decay at least as fast as the law does.
        left = 0.0 if law.finite else np.maximum(shares[:, 0], shares[:, -1]) * law.tail_terms
        return total, (shares * error).sum(axis=1) + left

    def _points(self, values: Values, rows: int) -> Floats:
        """The points to sum over, one row each: all of a finite law, else windows around every place where factors peak."""
        law = self.law
        assert isinstance(law, Discrete)
        window = law.window(LOG_WINDOW)[0]
        if law.finite:
            return np.broadcast_to(window, (rows, len(window)))
        centres = [np.broadcast_to(np.asarray(e.at(values), float), (rows,)) for e in self._centres]
        table = np.round(np.stack([np.zeros(rows), *centres], axis=1))
        span = int((table.max(axis=1) - table.min(axis=1)).max())
        if span > _MOST_TERMS:
            raise BudgetExceeded(f"a sum over {span} whole numbers; at most {_MOST_TERMS} are added up")
        steps = np.arange(window[0], window[-1] + span + 1)
        return np.asarray(table.min(axis=1)[:, None] + steps[None, :])

    @cached_property
    def _centres(self) -> list[Expr]:
        """The draw's values at which a factor peaks or turns."""
        out: list[Expr] = []
        for f in self.factors:
            match f:
                case Density(place=place):
                    out.append(place)
                case Between(lowers=lowers, uppers=uppers):
                    out.extend(lowers + uppers)
                case _:
                    out.extend(f.kinks)
        return [solved(e, self.draw) for e in out if e.coefficient(self.draw)]


def depth(factor: Factor) -> int:
    """How many integrals are nested in a factor."""
    return 1 + max(map(depth, factor.factors), default=0) if isinstance(factor, Integral) else 0


def reach(law: Continuous, breaks: Floats) -> tuple[Floats, Floats]:
    """How far an integral goes: as far as the law reaches, and well beyond every kink where the law goes on."""
    low, high = law.reach(LOG_REACH)
    support = law.support
    margin = 1000.0 * law.scale
    first = np.minimum(low, breaks.min(axis=1) - margin) if math.isinf(support[0]) else np.full(len(breaks), low)
    last = np.maximum(high, breaks.max(axis=1) + margin) if math.isinf(support[1]) else np.full(len(breaks), high)
    return first, last


def _largest(parts: list[Floats]) -> Floats | float:
    out: Floats | float = parts[0] if parts else -math.inf
    for p in parts[1:]:
        out = np.maximum(out, p)
    return out


def _smallest(parts: list[Floats]) -> Floats | float:
    out: Floats | float = parts[0] if parts else math.inf
    for p in parts[1:]:
        out = np.minimum(out, p)
    return out


def _rowwise(parts: list[Floats], rows: int, empty: float, pick: np.ufunc) -> Floats:
    out = np.full(rows, empty)
    for p in parts:
        out = pick(out, p)
    return np.asarray(out)

"""The privacy loss of a pair as a value: delta(epsilon) and everything that follows from it, each with its bracket."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.curves import orders
from dpest.curves.cells import single
from dpest.curves.root import smallest_epsilon
from dpest.curves.sums import TOLERANCE
from dpest.curves.tree import Fixed, Leaf, swapped
from dpest.curves.way import Way, bracketed, larger
from dpest.errors import InvalidInput
from dpest.numerics.bracket import Bracketed
from dpest.upward import upward

_ROUGH = 0.01  # relative width of a rough look


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """The privacy losses of one or several pairs of inputs, in both directions, run once or composed.

    Answers are the largest over the pairs and directions. Each is a float that carries `lower` and `upper`.
    """

    ways: tuple[Way, ...]
    tolerance: float = TOLERANCE  # relative width of delta(epsilon) that a composition aims at
    _known: dict[float, Bracketed] = field(default_factory=dict, repr=False)

    # -- making one ------------------------------------------------------------------------------------------------

    @staticmethod
    def gaussian(mu: float) -> Curve:
        """Gaussian noise: a release whose mean moves by mu standard deviations."""
        if not 0 <= mu < math.inf:
            raise InvalidInput(f"mu must be a finite number >= 0 (the shift in standard deviations), got {mu!r}")
        return Curve(tuple(Way(None, d, (), mu_squared=float(mu) ** 2, mu_error=3e-16) for d in ("D over D'", "D' over D")))

    @staticmethod
    def pure(epsilon: float) -> Curve:
        """Pure differential privacy: the two coins that dominate every mechanism of this epsilon."""
        if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number) or not 0 <= epsilon < math.inf:
            raise InvalidInput(f"epsilon must be a finite number >= 0, got {epsilon!r}")
        e = float(epsilon)
        likely = -math.log1p(math.exp(-e))
        logs = np.array([likely, likely - e])
        tree = Leaf(Fixed(single(logs, logs[::-1], 4.5e-16 * (1 + e))))
        ends = (e * (1 - 4e-16), e * (1 + 4e-16))
        return Curve(tuple(Way(None, d, ((tree, 1),), pure=ends) for d in ("D over D'", "D' over D")))

    @staticmethod
    def discrete(p: npt.ArrayLike, q: npt.ArrayLike) -> Curve:
        """Finitely many outcomes with probabilities p under D and q under D'."""
        left, right = (np.atleast_1d(np.asarray(x, float)) for x in (p, q))
        if left.shape != right.shape or left.ndim != 1:
            raise InvalidInput(f"p and q must be lists of one length, got shapes {left.shape} and {right.shape}")
        for name, x in (("p", left), ("q", right)):
            if not (x >= 0).all() or not abs(float(x.sum()) - 1) < 1e-9:
                raise InvalidInput(f"{name} must be probabilities that add up to 1, got a sum of {float(x.sum())!r}")
        with np.errstate(divide="ignore"):
            tree = Leaf(Fixed(single(np.log(left), np.log(right), 2.3e-16)))  # the numbers themselves may be rounded
        return Curve((Way(None, "D over D'", ((tree, 1),)), Way(None, "D' over D", ((swapped(tree), 1),))))

    # -- questions -------------------------------------------------------------------------------------------------

    @property
    def epsilon(self) -> Bracketed:
        """The largest loss: pure differential privacy, infinite where there is none."""
        return self._largest([bracketed(w.largest) for w in self.ways])

    def delta(self, epsilon: float) -> Bracketed:
        """The smallest delta at which the pair is (epsilon, delta)-close, in the worse direction."""
        if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number) or not epsilon >= 0:
            raise InvalidInput(f"epsilon must be a number >= 0, got {epsilon!r}")
        key = float(epsilon)
        if key == math.inf:
            return self._infinite()
        if key not in self._known:
            self._known[key] = self._largest_delta(key)
        return self._known[key]

    def _largest_delta(self, epsilon: float) -> Bracketed:
        """delta of the most promising way, and of others where a rough look does not rule them out."""
        order = sorted(self.ways, key=lambda w: -w.rough_log_delta(epsilon)) if len(self.ways) > 1 else list(self.ways)
        best = bracketed(order[0].delta(epsilon, self.tolerance))
        for way in order[1:]:
            if way.delta(epsilon, max(self.tolerance, _ROUGH))[1] > best.lower:
                best = larger(best, bracketed(way.delta(epsilon, self.tolerance)))
        return best

    def epsilon_at(self, delta: float) -> Bracketed:
        """The smallest epsilon at which the pair is (epsilon, delta)-close."""
        if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0 <= delta <= 1:
            raise InvalidInput(f"delta must lie in [0, 1], got {delta!r}")
        if delta == 0:
            return self.epsilon
        endless, most = self._infinite(), self.epsilon.upper
        if endless.lower > delta:
            return Bracketed(math.inf, math.inf, math.inf)
        if len(self.ways) > 2:
            return self._one_by_one(float(delta))
        start, slope = max(w.guess(float(delta)) for w in self.ways)
        return smallest_epsilon(self.delta, float(delta), (start, slope), min(most, 1e9))

    def _one_by_one(self, delta: float) -> Bracketed:
        """As `epsilon_at`, most promising way first; others where a rough look says that they go further."""
        guesses = sorted(((w.guess(delta), k) for k, w in enumerate(self.ways)), reverse=True)
        best = Bracketed(0.0, 0.0, 0.0)
        for guess, k in guesses:
            way = self.ways[k]
            if way.delta(best.lower, max(self.tolerance, _ROUGH))[1] > delta:
                alone = Curve((way,), self.tolerance)
                best = larger(best, smallest_epsilon(alone.delta, delta, guess, min(alone.epsilon.upper, 1e9)))
        return best

    get_delta_for_epsilon = delta
    get_epsilon_for_delta = epsilon_at

    def renyi(self, alpha: float) -> Bracketed:
        """The Renyi divergence of order alpha > 1, the larger of both directions; alpha = inf is the largest loss."""
        return orders.renyi(self.ways, alpha)

    def rho(self) -> Bracketed:
        """The smallest rho of zero-concentrated privacy: the largest Renyi divergence of order alpha over alpha."""
        return orders.rho(self.ways)

    def expected_loss(self) -> Bracketed:
        """The expected privacy loss (Kullback-Leibler divergence), the larger of both directions."""
        return self._largest([bracketed(w.mean()) for w in self.ways])

    def total_variation(self) -> Bracketed:
        """The total variation distance: delta(0)."""
        return self.delta(0.0)

    def tradeoff(self, alpha: float) -> Bracketed:
        """The smallest type II error of any test with type I error alpha, of D against D' or the other way round."""
        return orders.tradeoff(self.delta, alpha, self.epsilon.upper)

    def gdp_mu(self) -> Bracketed:
        """The smallest mu for which the curve is that of mu-Gaussian differential privacy or below it."""
        return orders.gdp_mu(self.delta, self.ways, self.epsilon.upper)

    # -- composition -----------------------------------------------------------------------------------------------

    def compose(self, k: int = 1, *, tolerance: float | None = None) -> Curve:
        """k independent runs, one after the other, of what this curve is about."""
        return composed([(self, k)], tolerance)

    # -- data ------------------------------------------------------------------------------------------------------

    def points(self, epsilons: Sequence[float] | None = None) -> list[tuple[float, Bracketed]]:
        """delta at some epsilons; by default from 0 to where delta is 1e-12 or the largest loss is reached."""
        chosen = self.grid() if epsilons is None else [float(e) for e in epsilons]
        return [(e, self.delta(e)) for e in chosen]

    def grid(self, count: int = 33, least: float = 1e-12) -> list[float]:
        """Epsilons that show the whole curve down to a small delta."""
        end = self.epsilon.upper
        if self._infinite().upper < least:
            end = min(end, float(self.epsilon_at(least)))
        end = end if math.isfinite(end) else 10.0
        return [end * i / (count - 1) for i in range(count)]

    def to_dict(self, epsilons: Sequence[float] | None = None) -> dict[str, Any]:
        """Points of the curve as plain data; infinities are strings."""
        rows = [{"epsilon": e, "delta": float(d), "lower": d.lower, "upper": d.upper} for e, d in self.points(epsilons)]
        top = self.epsilon
        ends = {"epsilon": _plain(top), "lower": _plain(top.lower), "upper": _plain(top.upper)}
        return {**ends, "points": rows}

    def to_json(self, epsilons: Sequence[float] | None = None, indent: int | None = None) -> str:
        """Points of the curve as JSON."""
        return json.dumps(self.to_dict(epsilons), indent=indent, allow_nan=False)

    def to_csv(self, epsilons: Sequence[float] | None = None) -> str:
        """Points of the curve as comma separated text: epsilon, delta, lower, upper."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["epsilon", "delta", "lower", "upper"])
        writer.writerows([e, float(d), d.lower, d.upper] for e, d in self.points(epsilons))
        return out.getvalue()

    def to_dp_accounting(self, interval: float = 1e-4) -> Any:
        """A PrivacyLossDistribution of dp_accounting that dominates this curve, on a grid of its own."""
        from dpest.curves.accounting import to_dp_accounting

        return to_dp_accounting(self.ways, interval)

    @staticmethod
    def from_dp_accounting(distribution: Any) -> Curve:
        """The curve of a PrivacyLossDistribution of dp_accounting, taken at its word."""
        from dpest.curves.accounting import from_dp_accounting

        return Curve(from_dp_accounting(distribution))

    def plot(self) -> Any:
        """delta(epsilon) on a logarithmic axis with its bracket as a band: a matplotlib figure."""
        return upward("plot_curve")(self)

    def __str__(self) -> str:
        return str(upward("curve_text")(self))

    def __repr__(self) -> str:
        pairs = len({w.pair for w in self.ways})
        way = self.ways[0]
        runs = max((k for _, k in way.parts), default=0)
        parts = [f"{runs} run{'s' if runs != 1 else ''}"] if runs else []
        parts += [f"Gaussian noise at mu = {math.sqrt(way.mu_squared):.6g}"] if way.mu_squared else []
        return f"<{type(self).__name__} of {' and '.join(parts) or 'nothing'}, {pairs} pair{'s' if pairs != 1 else ''}>"

    def _repr_html_(self) -> str:
        return str(upward("curve_html")(self))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _infinite(self) -> Bracketed:
        return self._largest([bracketed(w.infinite) for w in self.ways])

    @staticmethod
    def _largest(values: list[Bracketed]) -> Bracketed:
        out = values[0]
        for value in values[1:]:
            out = larger(out, value)
        return out


def composed(items: Sequence[tuple[Curve, int]], tolerance: float | None = None) -> Curve:
    """Independent runs of what several curves are about, each as often as its count says."""
    for _, k in items:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise InvalidInput(f"a composition needs a whole number of runs >= 1, got {k!r}")
    if not items:
        raise InvalidInput("nothing to compose: give at least one result or curve, as in compose(a, (b, 50))")
    number = isinstance(tolerance, int | float | np.number) and not isinstance(tolerance, bool)
    if tolerance is not None and not (number and 0 < tolerance < 1):
        raise InvalidInput(f"tolerance must lie strictly between 0 and 1, such as 1e-6, got {tolerance!r}")
    first = items[0][0]
    rows = [_matched(first, curve) for curve, _ in items]
    counts = [int(k) for _, k in items]
    ways = tuple(_composed_way([row[i] for row in rows], counts) for i in range(len(first.ways)))
    return Curve(ways, min(c.tolerance for c, _ in items) if tolerance is None else tolerance)


def _matched(first: Curve, other: Curve) -> tuple[Way, ...]:
    """The ways of a curve in the order of the first one's; refused where they are about other pairs."""
    out = []
    for way in first.ways:
        same = [w for w in other.ways if w.direction == way.direction and (w.pair == way.pair or None in (w.pair, way.pair))]
        if not same or (len(first.ways) != len(other.ways) and None not in (same[0].pair, way.pair)):
            mine, theirs = (sorted({w.pair or "any pair" for w in c.ways}) for c in (first, other))
            raise InvalidInput(
                f"these are about different pairs of inputs: {'; '.join(mine)} and {'; '.join(theirs)}; "
                "compose results of one pair"
            )
        out.append(same[0])
    return tuple(out)


def _composed_way(ways: list[Way], counts: list[int]) -> Way:
    parts = tuple((tree, n * k) for w, k in zip(ways, counts, strict=True) for tree, n in w.parts)
    pure = None
    if all(w.pure is not None or not w.parts for w in ways):
        ends = [(w.pure or (0.0, 0.0), k) for w, k in zip(ways, counts, strict=True)]
        pure = (sum(k * e[0] for e, k in ends) * (1 - 1e-15), sum(k * e[1] for e, k in ends) * (1 + 1e-15))
    names = [w.pair for w in ways if w.pair is not None]
    mu_squared = math.fsum(k * w.mu_squared for w, k in zip(ways, counts, strict=True))
    error = max(w.mu_error for w in ways) + 4e-16
    return Way(names[0] if names else None, ways[0].direction, parts, mu_squared, error, pure)


def _plain(x: float) -> float | str:
    return float(x) if math.isfinite(x) else str(float(x))

"""The noise behind the best of a random number of noisy scores: private selection that stops at random.

In each round a score is drawn, and the largest so far is kept. Where the number of rounds T does not depend on the scores,
the kept score is below s with probability G(S(s)): S is the distribution function of one score, and G(u) = E[u^T | T >= 1].
So the density of a score is multiplied by G'(S), which grows from E[T = 1 alone] to E[T].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.laws.asymptote import Asymptote
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic
from dpest.laws.law import Continuous, Law, Rng
from dpest.laws.panels import NEGLIGIBLE, Panels, tabulate
from dpest.laws.round_counts import RoundCount
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import with_tails

_ROUND = 4e-16  # relative: of a product and a sum of doubles, each rounded once
# Families whose log density comes to its asymptote from below, or lies on it: what multiplies it grows too.
_FROM_BELOW = (Laplace, Exponential, Gaussian, Gumbel, Logistic)
_ON_IT = (Laplace, Exponential, Gaussian)  # those that lie on it, on either side


@dataclass(frozen=True)
class Rival:
    """A score that a round may have: its chance, its noise, and the noise at which it is as good as one with noise z."""

    weight: float
    law: Continuous
    slope: float  # at slope * z + offset it is as good
    offset: float
    falls: bool = False  # whether more of its noise makes it worse

    def at(self, z: Floats) -> Floats:
        """Its noise where it is as good as one with noise z."""
        return np.asarray(self.slope * z + self.offset)

    def log_worse(self, z: Floats) -> Floats:
        """ln of the chance that it is worse than one with noise z."""
        return self.law.log_sf(self.at(z)) if self.falls else self.law.log_cdf(self.at(z))

    def log_better(self, z: Floats) -> Floats:
        """ln of the chance that it is better."""
        return self.law.log_cdf(self.at(z)) if self.falls else self.law.log_sf(self.at(z))

    def most(self, low: Floats, high: Floats, grows: float = 1.0) -> tuple[Floats, Floats]:
        """Bounds on how fast its chance to be worse changes on an interval, and on the second derivative of that chance.

        `grows` is 1 where the score grows with z, and -1 where it falls.
        """
        a, b = self.at(low), self.at(high)
        first, last = np.minimum(a, b), np.maximum(a, b)
        mode = self.law.mode
        assert mode is not None
        inside = np.exp(self.law.log_density(np.clip(mode, first, last)))
        steep = np.maximum(self.law.slope(first), self.law.slope(last))
        # Beyond the mode, as the score grows, the density falls: the chance is concave there.
        concave = first >= mode if grows * self.slope > 0 else last <= mode
        size = abs(self.slope)
        return size * inside, np.where(concave, 0.0, size * size * inside * steep)


@dataclass(frozen=True)
class BestOf(Continuous):
    """The noise of a score, given that it is the best of all rounds."""

    law: Continuous
    rivals: tuple[Rival, ...]  # all scores that a round may have, this one among them; their chances add up to 1
    rounds: RoundCount
    falls: bool = False  # whether more noise makes the score worse
    log_whole: float = field(default=0.0, compare=False)  # ln of the chance that such a score is the best, for each that is drawn
    off: float = field(default=0.0, compare=False)  # the relative error of that

    def _rest(self, z: Floats) -> Floats:
        """The chance that another score is better than this one."""
        return np.asarray(sum(r.weight * np.exp(r.log_better(z)) for r in self.rivals))

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        return np.asarray(self.law.log_density(x) + self.rounds.log_growth(self._rest(x)) - self.log_whole)

    @property
    def error(self) -> float:
        return self.law.error + self.off

    def noise(self, x: npt.ArrayLike, log_value: Floats) -> Floats | float:
        """The rounding of the chance of a better score; next to its noise, a density times the place is less than 1."""
        x = np.asarray(x, float)
        moved = sum(r.weight * (1.0 + abs(r.offset) * np.exp(r.law.log_density(r.at(x)))) for r in self.rivals)
        rest = self._rest(x)
        return self.law.noise(x, log_value) + _ROUND * (2.0 + self.rounds.slope(rest, rest) * moved)

    @property
    def support(self) -> tuple[float, float]:
        return self.law.support

    @property
    def scale(self) -> float:
        return min((self.law.scale, *(r.law.scale / abs(r.slope) for r in self.rivals)))

    @cached_property
    def kinks(self) -> tuple[float, ...]:
        low, high = self.support
        theirs = {(k - r.offset) / r.slope for r in self.rivals for k in r.law.kinks}
        return tuple(sorted({*self.law.kinks, *(k for k in theirs if low < k < high)}))

    def reach(self, log_mass: float) -> tuple[float, float]:
        return self.law.reach(log_mass - self._most)

    @property
    def _most(self) -> float:
        """ln of the most that the density is multiplied by."""
        return float(self.rounds.log_growth(np.zeros(()))) - self.log_whole

    def slope(self, x: Floats) -> Floats:
        x = np.asarray(x, float)
        grows = sum(r.weight * r.most(x, x)[0] for r in self.rivals)
        rest = self._rest(x)
        return np.asarray(self.law.slope(x) + self.rounds.slope(rest, rest) * grows)

    def curvature(self, low: Floats, high: Floats) -> Floats:
        """(ln G'(S))'' = slope * S'' + bend * S'^2."""
        low, high = np.asarray(low, float), np.asarray(high, float)
        better, worse = map(self._rest, (low, high) if self.falls else (high, low))
        bounds = [(r.weight, r.most(low, high, -1.0 if self.falls else 1.0)) for r in self.rivals]
        first, second = (np.asarray(sum(w * b[k] for w, b in bounds)) for k in (0, 1))
        grown: Floats = self.rounds.slope(better, worse) * second + self.rounds.bend(better, worse) * first * first
        return self.law.curvature(low, high) + grown

    def asymptote(self, side: int) -> Asymptote | None:
        better = (side > 0) is not self.falls
        own = self.law.asymptote(side)
        if own is None or not isinstance(self.law, _FROM_BELOW if better else _ON_IT):
            return None
        there = self.rounds.log_growth(np.asarray(0.0 if better else 1.0))
        return Asymptote(own.constant + float(there) - self.log_whole, own.rate, own.power, own.square, own.bursts)

    @property
    def _alone(self) -> bool:
        """Whether there is one kind of score: then everything is in closed form."""
        return len(self.rivals) == 1

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        if not self._alone:
            return np.asarray(self.table.log_cdf(x) - self.table.log_mass)
        if self.falls:
            return self.rounds.log_above(self.law.log_cdf(x))
        return self.rounds.log_below(self.law.log_cdf(x))

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        if not self._alone:
            return np.asarray(self.table.log_sf(x) - self.table.log_mass)
        if self.falls:
            return self.rounds.log_below(self.law.log_sf(x))
        return self.rounds.log_above(self.law.log_sf(x))

    @cached_property
    def table(self) -> Panels:
        """The density on panels, which knows its integrals."""
        low, high = (np.array([e]) for e in self.reach(-NEGLIGIBLE))
        edges = np.unique(np.clip(with_tails(np.array([self.kinks]), low, high, self.scale)[0], *self.support))
        return tabulate(self._known_to, edges, self.kinks, self.scale, self.words())

    def _known_to(self, z: Floats) -> tuple[Floats, Floats | float]:
        values = self.log_density(z)
        return values, self.noise(z, values)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        goal = np.log(rng.random(size))
        low, high = (np.full(size, e) for e in self.reach(-50.0))
        for _ in range(80):  # halvings: as many as a double has digits, and some
            middle = 0.5 * (low + high)
            under = self.log_cdf(middle) < goal
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return np.asarray(0.5 * (low + high))

    def words(self) -> str:
        return f"the noise of the best of several, {self.law.words()}"


def is_of_a_score(law: Law) -> bool:
    """Whether the best of several scores with this noise has a law here."""
    return type(law) in _FROM_BELOW

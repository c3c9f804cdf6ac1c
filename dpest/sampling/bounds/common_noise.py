"""Common noise: both inputs run on the same streams, so that what the noise does to both counts cancels in their ratio.

Blocks of m runs of each input share a stream; A and B are the hits of an event in one block.  If the loss is at most ln r, the
mean of A - r B is at most 0 whatever the two have to do with each other, and distinct blocks are independent.  For a stake s
fixed beforehand, x = s (A - r B) and g(x) = x - x^2/2 + x^3/3 - 1.16 x^4,

    exp(g(x)) <= 1 + x  where x >= -0.9,   exp(g(x)) <= 0.1  elsewhere,   so that   E exp(g(x)) <= 1 + E max(-x - 0.9, 0),

and the product of exp(g) over blocks, divided by as many factors of the right-hand side, is a supermartingale: it ever exceeds
1 / alpha with probability at most alpha (Ville).  The bound on ln r is the largest for which it does: g rises up to some x and
may be held constant from there on, which makes the evidence fall with r and leaves both inequalities true.  The bound needs
the sums of A^i B^j alone.  The right-hand side needs how far A and B may stray, which follows from their binomial laws and bounds
on the two probabilities.

Where runs of one block may depend on each other (`Unit.BLOCKS`), A and B have no known law.  The stake is then so small that
x >= -0.9 always, the right-hand side is 1, and the bound needs independent blocks and nothing else; it ends at the ratio up to
which the stake is small enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from dpest.numerics.binomial import confidence_sequence
from dpest.sampling.bounds.dependence import Unit

Polynomial = list[Fraction]

_POWERS = tuple((total - j, j) for total in range(1, 5) for j in range(total + 1))
_SERIES = (Fraction(1), Fraction(-1, 2), Fraction(1, 3), Fraction(-116, 100))
_FLOOR = 0.9  # the series above is a lower bound of ln(1 + x) down to x = -0.9
_FOR_SHARES = 0.01  # the part of alpha that each of the two probabilities' bounds takes
_STAKES = 0.9 ** np.arange(24)
_SMALL_STAKES = 0.85 ** np.arange(100)
_ROOM = 1.1  # a stake against a claim must allow for bounds a little above it
FEWEST_BLOCKS = 128


@dataclass(frozen=True)
class Blocks:
    """Sums over blocks of products of the hits under both inputs: of A^i B^j for all 1 <= i + j <= 4."""

    size: int
    number: int
    sums: tuple[int, ...]

    @classmethod
    def of(cls, size: int, left: NDArray[np.int64], right: NDArray[np.int64]) -> Blocks:
        """The sums of some blocks, from their hits."""
        a, b = ([int(x) for x in side] for side in (left, right))
        return cls(size, len(a), tuple(sum(x**i * y**j for x, y in zip(a, b, strict=True)) for i, j in _POWERS))

    def __add__(self, other: Blocks) -> Blocks:
        assert self.size == other.size
        return Blocks(self.size, self.number + other.number, tuple(map(sum, zip(self.sums, other.sums, strict=True))))

    def swapped(self) -> Blocks:
        """The same with the inputs exchanged."""
        by_power = dict(zip(_POWERS, self.sums, strict=True))
        return Blocks(self.size, self.number, tuple(by_power[j, i] for i, j in _POWERS))

    @property
    def hits(self) -> tuple[int, int]:
        """The hits under both inputs."""
        return self.sums[0], self.sums[1]

    @property
    def possible(self) -> bool:
        """Whether so many blocks of this size can have such sums."""
        whole = all(isinstance(x, int) and x >= 0 for x in (self.size, self.number, *self.sums))
        if not whole or len(self.sums) != len(_POWERS):
            return False
        return all(x <= self.number * self.size ** (i + j) for x, (i, j) in zip(self.sums, _POWERS, strict=True))

    def moment(self, power: int, shift: Fraction) -> Polynomial:
        """The sum of (A - shift - r B)^power, as the coefficients of a polynomial in r."""
        sums = {(0, 0): self.number, **dict(zip(_POWERS, self.sums, strict=True))}
        coefficients = []
        for j in range(power + 1):
            i = power - j
            inner = sum(math.comb(i, k) * (-shift) ** (i - k) * sums[k, j] for k in range(i + 1))
            coefficients.append(Fraction(math.comb(power, j) * (-1) ** j * inner))
        return coefficients


def epsilon_lower_common(
    blocks: Blocks, stake: float, alpha: float, delta: float = 0.0, unit: Unit = Unit.RUNS
) -> float:
    """A lower bound on epsilon at this delta for the event that A and B count; valid whenever one stops."""
    k1, k2 = blocks.hits
    if not k1 or not stake > 0:
        return 0.0
    most = k1 / max(k2, 0.5)
    if unit is Unit.BLOCKS:
        most = min(most, largest_ratio(blocks.size, stake, delta))
    if most <= 1:
        return 0.0
    evidence = _evidence(blocks, stake, delta)
    evidence[0] -= Fraction(_due(blocks, stake, alpha, delta, most, unit))
    if _value(evidence, Fraction(most)) >= 0:
        return math.log(most) - 1e-12
    enough = (r for r in _roots(evidence, most) if _value(evidence, Fraction(r)) >= 0)
    return max([0.0, *(math.log(r) - 1e-12 for r in enough)])


def _roots(polynomial: Polynomial, most: float) -> list[float]:
    """Ratios between 1 and the largest, about where a polynomial is 0, each with some a little to the left.

    Its terms nearly cancel where events are almost certain: it is moved to the largest ratio exactly before floats take over.
    """
    moved = _moved(polynomial, Fraction(most))
    scaled = [float(c * Fraction(most - 1) ** k) for k, c in enumerate(moved)]
    found = np.polynomial.polynomial.polyroots(scaled)
    places = found.real[np.abs(found.imag) <= 1e-6 * np.abs(found)]
    near = np.concatenate([places - back * np.abs(places) for back in (0, 1e-12, 1e-9, 1e-6)])
    return [most + float(x) * (most - 1) for x in near if -1 < x <= 0]


def _moved(polynomial: Polynomial, centre: Fraction) -> Polynomial:
    """The coefficients in r - centre."""
    degrees = range(len(polynomial))
    return [sum((polynomial[k] * math.comb(k, j) * centre ** (k - j) for k in degrees[j:]), Fraction(0)) for j in degrees]


def _value(polynomial: Polynomial, r: Fraction) -> Fraction:
    return sum((c * r**k for k, c in enumerate(polynomial)), Fraction(0))


def largest_ratio(size: int, stake: float, delta: float) -> float:
    """The ratio up to which a stake loses at most nine tenths in any block of this size."""
    return (_FLOOR / stake - delta * size) / size


def p_value_common(
    blocks: Blocks, stake: float, alpha: float, claim: float, delta: float = 0.0, unit: Unit = Unit.RUNS
) -> float:
    """A p-value of "the mechanism is claim-DP" from the same evidence."""
    ratio = math.exp(min(claim, 700.0))
    if unit is Unit.BLOCKS and ratio > largest_ratio(blocks.size, stake, delta):
        return 1.0
    due = _due(blocks, stake, alpha, delta, ratio, unit) + math.log(_level(alpha, unit))
    evidence = float(max(_value(_evidence(blocks, stake, delta), Fraction(ratio)), Fraction(-700))) - due
    shares = 0.0 if unit is Unit.BLOCKS else 2 * _FOR_SHARES * alpha
    return min(1.0, math.exp(-max(evidence, -700.0)) + shares)


def _evidence(blocks: Blocks, stake: float, delta: float) -> Polynomial:
    """The sum of g over blocks as a polynomial in r, exactly."""
    total = [Fraction(0)] * 5
    for power, factor in enumerate(_SERIES, start=1):
        for j, coefficient in enumerate(blocks.moment(power, Fraction(delta) * blocks.size)):
            total[j] += factor * Fraction(stake) ** power * coefficient
    return total


def _level(alpha: float, unit: Unit = Unit.RUNS) -> float:
    return alpha if unit is Unit.BLOCKS else alpha * (1 - 2 * _FOR_SHARES)


def _due(blocks: Blocks, stake: float, alpha: float, delta: float, ratio: float, unit: Unit) -> float:
    """What the evidence must exceed for all ratios up to this one."""
    if unit is Unit.BLOCKS:
        return -math.log(alpha)
    k1, k2 = blocks.hits
    trials = blocks.size * blocks.number
    low = float(confidence_sequence(k1, trials, _FOR_SHARES * alpha)[0])
    high = float(confidence_sequence(k2, trials, _FOR_SHARES * alpha)[1])
    return -math.log(_level(alpha)) + blocks.number * math.log1p(strays(blocks.size, stake, ratio, low, high, delta))


def strays(size: int, stake: float, ratio: float, p: float, other: float, delta: float = 0.0) -> float:
    """At least E max(s (r B + delta m - A) - 0.9, 0) for binomial A and B, whatever their dependence.

    r B - A exceeds a + b no more than r B exceeds a and -A exceeds b together; the room is shared by their standard deviations.
    """
    mean, mean_other = size * p, ratio * size * other
    spread, spread_other = math.sqrt(mean + 1), ratio * math.sqrt(size * other + 1)
    room = _FLOOR / stake - delta * size - (mean_other - mean)
    above = mean_other + room * spread_other / (spread + spread_other)
    below = mean - room * spread / (spread + spread_other)
    return stake * (ratio * _excess(size, other, above / ratio) + _excess(size, 1 - p, size - below))


def _excess(n: int, p: float, k: float) -> float:
    """E max(X - k, 0) for X binomial(n, p)."""
    if k < 0:
        return n * p - k
    j = math.floor(k) + 1
    if j > n:
        return 0.0
    first = p if j == 1 else p * float(betainc(j - 1, n - j + 1, p))
    exact = n * first - k * float(betainc(j, n - j + 1, p))
    return max(exact, 0.0) + 1e-12 * n * first


@dataclass(frozen=True)
class Prospect:
    """What is expected of one event in the final samples: shares under both inputs, and the variance of A - r B per block."""

    size: int
    number: int
    p: float
    other: float
    variance: float
    delta: float = 0.0
    unit: Unit = Unit.RUNS

    @classmethod
    def of(cls, blocks: Blocks, size: int, number: int, delta: float, unit: Unit = Unit.RUNS) -> Prospect:
        """What samples in other blocks will show if these are typical."""
        k1, k2 = blocks.hits
        trials = blocks.size * blocks.number
        p, other = (k1 + 0.5) / (trials + 1), (k2 + 0.5) / (trials + 1)
        ratio = Fraction((p - delta) / other)
        mean, square = (_value(blocks.moment(k, Fraction(delta) * blocks.size), ratio) / blocks.number for k in (1, 2))
        variance = max(float(square - mean**2), 1e-12)
        return cls(size, number, p, other, variance * size / blocks.size, delta, unit)

    @property
    def ratio(self) -> float:
        """exp(epsilon) of the event at this delta."""
        return (self.p - self.delta) / self.other

    def stake(self, alpha: float) -> tuple[float, float]:
        """The stake whose bound is expected to be largest, and how far below the truth it is expected to lie."""
        due = -math.log(_level(alpha, self.unit))
        if self.unit is Unit.BLOCKS:
            stakes = _FLOOR / self.size * _SMALL_STAKES
            bounds = [self._log_bound(s, due) for s in stakes]
            best = int(np.argmax(bounds))
            return float(stakes[best]), math.log(max(self.ratio, 1e-300)) - bounds[best]
        usual = math.sqrt(2 * due / (self.number * self.variance))
        return min(((s, self._gap(s, due)) for s in usual * _STAKES), key=lambda found: found[1])

    def _log_bound(self, stake: float, due: float) -> float:
        """The bound that independent blocks of any law are expected to give."""
        cost = due / self.number - 3 * float(_SERIES[3]) * (stake**2 * self.variance) ** 2
        shown = (self.p - self.delta - (cost / stake + stake * self.variance / 2) / self.size) / self.other
        return math.log(max(min(shown, largest_ratio(self.size, stake, self.delta)), 1e-300))

    def _gap(self, stake: float, due: float) -> float:
        # A fourth moment as a normal law's.
        cost = due / self.number + self._strays(stake) - 3 * float(_SERIES[3]) * (stake**2 * self.variance) ** 2
        return (cost / stake + stake * self.variance / 2) / (self.size * max(self.p - self.delta, 1e-300))

    def _strays(self, stake: float) -> float:
        if self.unit is Unit.BLOCKS:
            return 0.0
        return strays(self.size, stake, self.ratio, self.p, self.other, self.delta)

    def stake_against(self, claim: float, alpha: float, caution: float) -> float:
        """The stake whose evidence against a claim grows fastest, or the one for the final bound if that claim may hold."""
        drift = self.size * (self.p - self.delta - math.exp(claim) * self.other) - caution
        usual = self.stake(alpha)[0]
        if drift <= 0:
            return usual
        fastest = drift / (self.variance + drift**2)
        if self.unit is Unit.BLOCKS:
            fastest = min(fastest, _FLOOR / (self.size * (_ROOM * math.exp(claim) + self.delta)))
        growth = [(s * drift - s * s * (self.variance + drift**2) / 2 - self._strays(s), s) for s in fastest * _STAKES]
        rate, stake = max(growth)
        return float(stake) if rate * self.number > -2 * math.log(_level(alpha, self.unit)) else usual


@cache
def normal_equivalent(alpha: float) -> float:
    """How many standard errors such a bound gives away: sqrt(2 ln 1 / alpha)."""
    return math.sqrt(-2 * math.log(_level(alpha)))

"""The loss of each of the 21 algorithms for one pair of inputs: (D over D', D' over D)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mmh3

from tests.oracles import sparse_vector as svt
from tests.oracles.exponentials import (
    CONTEXT,
    Pieces,
    exponential_cdf,
    exponential_pdf,
    laplace_cdf,
    laplace_pdf,
    log_ratio_supremum,
    product,
)
from tests.oracles.max_sum import max_sum_loss
from tests.oracles.patterns import Vector, l1, patterns

Both = tuple[float, float]
EPS = Fraction(1, 10)


def laplace_release(left: Vector, right: Vector, scale: float = 10.0, copies: int = 1) -> Both:
    """Independent Laplace noise on every coordinate: the L1 distance over the scale."""
    loss = copies * sum(abs(a - b) for a, b in zip(left, right, strict=True)) / scale
    return loss, loss


@cache
def _winner(values: Vector, i: int, scale: Fraction, pdf: Callable[..., Pieces], cdf: Callable[..., Pieces]) -> Pieces:
    """The density, at z, of coordinate i being the largest and equal to z."""
    others = [cdf(Fraction(x), scale) for j, x in enumerate(values) if j != i]
    return product([pdf(Fraction(values[i]), scale), *others])


def argmax_loss(left: Vector, right: Vector, scale: Fraction, pdf: Callable[..., Pieces], cdf: Callable[..., Pieces]) -> Both:
    """The loss of releasing which noisy value is largest."""
    losses = []
    for i in range(len(left)):
        p, q = (_winner(x, i, scale, pdf, cdf).integral() for x in (left, right))
        losses.append(float(CONTEXT.log(p / q)))
    return max(losses), -min(losses)


@cache
def max_density(values: Vector, scale: Fraction, pdf: Callable[..., Pieces], cdf: Callable[..., Pieces]) -> Pieces:
    """The density of the largest noisy value."""
    terms = [_winner(values, i, scale, pdf, cdf) for i in range(len(values))]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def laplace_max_loss(left: Vector, right: Vector, scale: Fraction) -> Both:
    """The loss of releasing the largest value with Laplace noise."""
    p, q = (max_density(x, scale, laplace_pdf, laplace_cdf) for x in (left, right))
    return log_ratio_supremum(p, q), log_ratio_supremum(q, p)


def exponential_max_loss(left: Vector, right: Vector, scale: Fraction) -> Both:
    """The loss of releasing the largest value with exponential noise: supports start at the largest input."""
    return _exponential_one_way(left, right, scale), _exponential_one_way(right, left, scale)


def _exponential_one_way(left: Vector, right: Vector, scale: Fraction) -> float:
    top, other = max(left), max(right)
    if top < other:
        return math.inf  # values between the two maxima are possible on the left alone
    # Just above its start a density is of the order (z - start)^(k - 1), k inputs being the largest.
    if top == other and left.count(top) < right.count(other):
        return math.inf
    p, q = (max_density(x, scale, exponential_pdf, exponential_cdf) for x in (left, right))
    # Where the left density starts from 0 the ratio does too (top > other, or 0/0 of a higher order): stay off the 0/0.
    start = Fraction(top) if left.count(top) == 1 else top + Fraction(1, 10)
    return log_ratio_supremum(p, q, low=start)


def svt5_loss(left: Vector, right: Vector, t: Fraction = Fraction(1), scale: Fraction = 2 / EPS) -> Both:
    """No query noise: an output is an interval of thresholds, possible under one input or under both."""
    p, q = (_threshold_intervals(x, t, scale) for x in (left, right))
    return _finite_loss(p, q), _finite_loss(q, p)


def _threshold_intervals(queries: Vector, t: Fraction, scale: Fraction) -> dict[tuple[bool, ...], Any]:
    cdf = laplace_cdf(t, scale)
    cuts = sorted(set(queries))
    steps = [CONTEXT.mpf(0), *(cdf(Fraction(c)) for c in cuts), CONTEXT.mpf(1)]
    mass = [b - a for a, b in itertools.pairwise(steps)]
    return {tuple(q >= z for q in queries): m for z, m in zip([*cuts, math.inf], mass, strict=True)}


def _finite_loss(p: dict[Any, Any], q: dict[Any, Any]) -> float:
    """The largest log ratio of two laws on finitely many outputs."""
    if any(key not in q for key, mass in p.items() if mass):
        return math.inf
    return max(float(CONTEXT.log(mass / q[key])) for key, mass in p.items() if mass)


def bloom_bits(value: int, hashes: int = 4, size: int = 20) -> set[int]:
    """The bits that a value sets."""
    return {mmh3.hash(str(value), seed) % size for seed in range(hashes)}


def rappor_loss(left: Vector, right: Vector, if_set: Fraction, if_clear: Fraction) -> Both:
    """Independent bits: every bit that differs adds its own largest log ratio."""
    here, there = bloom_bits(left[0]), bloom_bits(right[0])
    ratios = [math.log(if_set / if_clear), math.log((1 - if_set) / (1 - if_clear))]
    set_first, set_second = max(ratios), -min(ratios)
    gained, lost = len(here - there), len(there - here)
    return gained * set_first + lost * set_second, gained * set_second + lost * set_first


def geometric_law(count: int, n: int = 5, eps: float = 0.1) -> list[Fraction]:
    """The law of the truncated geometric sampler on 0..n, from its integer distribution function."""
    k = math.ceil(math.log(2 / eps))
    base, total = 2**k, (2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1)

    def at_most(z: int) -> int:
        if z < count:
            return base ** (count - z) * (base + 1) ** (n - (count - z))
        return total - base ** (z - count + 1) * (base + 1) ** (n - 1 - (z - count)) if z < n else total

    steps = [0, *(at_most(z) for z in range(n + 1))]
    return [Fraction(b - a, total) for a, b in itertools.pairwise(steps)]


def geometric_loss(left: int, right: int) -> Both:
    """Exact rationals, and one logarithm."""
    ratios = [p / q for p, q in zip(geometric_law(left), geometric_law(right), strict=True)]
    return math.log(max(ratios)), -math.log(min(ratios))


def _svt(t: Fraction, threshold: Fraction, query: Fraction) -> svt.Noise:
    return svt.Noise(t, threshold / EPS, query / EPS)


def _released_and_answers(left: Vector, right: Vector) -> Both:
    """Two mechanisms side by side with noise of their own: their losses add per direction."""
    first = svt.released_value_loss(left, right, _svt(Fraction(1), Fraction(2), Fraction(4)), 2)
    second = svt.answer_loss(left, right, _svt(Fraction(1), Fraction(4), Fraction(4, 3)), 2)
    return first[0] + second[0], first[1] + second[1]


ONE, TWO = Fraction(1), 2 / EPS
LOSS: dict[str, Callable[[Any, Any], Both]] = {
    "LaplaceMechanism": laplace_release,
    "LaplaceParallel": lambda a, b: laplace_release(a, b, 200.0, 20),
    "NoisyHist1": laplace_release,
    "NoisyHist2": lambda a, b: laplace_release(a, b, 0.1),
    "ReportNoisyMax1": lambda a, b: argmax_loss(a, b, TWO, laplace_pdf, laplace_cdf),
    "ReportNoisyMax2": lambda a, b: argmax_loss(a, b, TWO, exponential_pdf, exponential_cdf),
    "ReportNoisyMax3": lambda a, b: laplace_max_loss(a, b, TWO),
    "ReportNoisyMax4": lambda a, b: exponential_max_loss(a, b, TWO),
    "SVT1": lambda a, b: svt.answer_loss(a, b, _svt(Fraction(1, 2), Fraction(2), Fraction(4)), 1),
    "SVT2": lambda a, b: svt.answer_loss(a, b, _svt(ONE, Fraction(2), Fraction(4)), 1, svt.redrawn_probability),
    "SVT3": lambda a, b: svt.released_value_loss(a, b, _svt(ONE, Fraction(2), Fraction(2)), 1),
    "SVT4": lambda a, b: svt.answer_loss(a, b, _svt(ONE, Fraction(4), Fraction(4, 3)), 1),
    "SVT5": svt5_loss,
    "SVT6": lambda a, b: svt.answer_loss(a, b, _svt(ONE, Fraction(2), Fraction(2)), None),
    "NumericalSVT": lambda a, b: svt.answer_loss(a, b, _svt(ONE, Fraction(3), Fraction(12)), 2, fresh=60.0),
    "SVT34Parallel": _released_and_answers,
    "PrefixSum": laplace_release,
    "OneTimeRAPPOR": lambda a, b: rappor_loss(a, b, Fraction(21, 40), Fraction(19, 40)),
    "RAPPOR": lambda a, b: rappor_loss(a, b, Fraction(41, 80), Fraction(39, 80)),
    "TruncatedGeometric": geometric_loss,
    "NoisyMaxSum": max_sum_loss,
}

SIZE = {"LaplaceMechanism": 1, "LaplaceParallel": 1, "OneTimeRAPPOR": 1, "RAPPOR": 1, "NoisyMaxSum": 20}
FIVE = ("NoisyHist1", "NoisyHist2", "ReportNoisyMax1", "ReportNoisyMax2", "ReportNoisyMax3", "ReportNoisyMax4")
ONE_CHANGES = ("LaplaceMechanism", "LaplaceParallel", "NoisyHist1", "NoisyHist2", "OneTimeRAPPOR", "RAPPOR")


def pairs(name: str) -> dict[str, tuple[Any, Any]]:
    """The pairs at which an algorithm is looked at, by pattern."""
    if name == "TruncatedGeometric":
        return {f"{c + 1} and {c}": (c + 1, c) for c in range(5)}
    n = SIZE.get(name, 5 if name in FIVE else 10)
    return dict(l1(n) if name in ONE_CHANGES else patterns(n))


@cache
def losses(name: str) -> dict[str, Both]:
    """Pattern -> the loss in both directions."""
    return {pattern: LOSS[name](*pair) for pattern, pair in pairs(name).items()}


def largest(name: str, only: Sequence[str] | None = None) -> float:
    """The largest loss over the patterns."""
    return max(max(both) for pattern, both in losses(name).items() if only is None or pattern in only)

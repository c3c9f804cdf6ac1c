"""The sparse vector technique in its variants: output probabilities and densities in closed form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tests.oracles.exponentials import CONTEXT, Pieces, laplace_cdf, laplace_pdf, largest_between, product
from tests.oracles.patterns import Vector

Both = tuple[float, float]


@dataclass(frozen=True)
class Noise:
    """The threshold and the scales of one variant."""

    t: Fraction
    threshold: Fraction
    query: Fraction


@cache
def _cdf_power(q: int, scale: Fraction, k: int, passing: bool) -> Pieces:
    """P(q + noise < z)^k, or P(q + noise >= z)^k."""
    one = laplace_cdf(Fraction(q), scale)
    one = one.complement() if passing else one
    return one if k == 1 else _cdf_power(q, scale, k - 1, passing) * one


@cache
def _factor(noise: Noise, counts: tuple[tuple[int, bool, int], ...]) -> Pieces:
    """The threshold's density at z times the probability of these comparisons against z."""
    density = laplace_pdf(noise.t, noise.threshold)
    return product([density, *(_cdf_power(q, noise.query, k, passing) for q, passing, k in counts)])


@cache
def _weight(noise: Noise, counts: tuple[tuple[int, bool, int], ...]) -> Any:
    return _factor(noise, counts).integral()


@cache
def _below(noise: Noise, counts: tuple[tuple[int, bool, int], ...]) -> Pieces:
    return _factor(noise, counts).cumulative()


def _counts(queries: Sequence[int], bits: Sequence[bool]) -> tuple[tuple[int, bool, int], ...]:
    """Equal queries with equal answers are exchangeable: how many of each kind."""
    kinds: dict[tuple[int, bool], int] = {}
    for kind in zip(queries, bits, strict=False):
        kinds[kind] = kinds.get(kind, 0) + 1
    return tuple((q, bit, k) for (q, bit), k in sorted(kinds.items()))


def answers(n: int, cutoff: int | None) -> Iterator[tuple[bool, ...]]:
    """All sequences of answers; the last of `cutoff` passes ends one."""
    prefixes: list[tuple[bool, ...]] = [()]
    for _ in range(n):
        grown = [(*bits, bit) for bits in prefixes for bit in (False, True)]
        yield from (bits for bits in grown if cutoff is not None and sum(bits) == cutoff)
        prefixes = [bits for bits in grown if cutoff is None or sum(bits) < cutoff]
    yield from prefixes


def probability(noise: Noise, queries: Sequence[int], bits: Sequence[bool]) -> Any:
    """The probability of one sequence of answers, one threshold throughout."""
    return _weight(noise, _counts(queries, bits))


def redrawn_probability(noise: Noise, queries: Sequence[int], bits: Sequence[bool]) -> Any:
    """The same with a fresh threshold after each pass: a product over the segments that end with a pass."""
    result, start = CONTEXT.mpf(1), 0
    ends = [i + 1 for i, bit in enumerate(bits) if bit]
    for end in [*ends, *([len(bits)] if len(bits) not in ends else [])]:
        result *= probability(noise, queries[start:end], bits[start:end])
        start = end
    return result


def answer_loss(
    left: Vector, right: Vector, noise: Noise, cutoff: int | None, law: Any = probability, fresh: float = math.inf
) -> Both:
    """The loss of releasing the answers; each pass may also release its query with `fresh` Laplace noise of its own."""
    forward = backward = -math.inf
    for bits in _distinct(left, right, cutoff):
        loss = float(CONTEXT.log(law(noise, left, bits) / law(noise, right, bits)))
        released = sum(abs(a - b) for a, b, bit in zip(left, right, bits, strict=False) if bit) / fresh
        forward, backward = max(forward, loss + released), max(backward, released - loss)
    return forward, backward


def _distinct(left: Vector, right: Vector, cutoff: int | None) -> list[tuple[bool, ...]]:
    """One sequence of answers per class: with no cutoff only the counts of each kind of query matter."""
    sequences = answers(len(left), cutoff)
    if cutoff is not None:
        return list(sequences)
    return list({_counts(list(zip(left, right, strict=True)), bits): bits for bits in sequences}.values())  # type: ignore[arg-type]


def released_value_loss(left: Vector, right: Vector, noise: Noise, cutoff: int) -> Both:
    """The loss of releasing the noisy values that passed: the supremum over their values too."""
    return _one_way(left, right, noise, cutoff), _one_way(right, left, noise, cutoff)


def _one_way(p: Vector, q: Vector, noise: Noise, cutoff: int) -> float:
    """A density is prod f(v_k - q_k) times the integral up to the smallest v_k of the factor of the failures."""
    best = -math.inf
    seen: dict[Any, float] = {}
    for bits in answers(len(p), cutoff):
        passed = [(a, b) for a, b, bit in zip(p, q, bits, strict=False) if bit]
        failed = [[x for x, bit in zip(side, bits, strict=False) if not bit] for side in (p, q)]
        key = (_counts(failed[0], [False] * 99), _counts(failed[1], [False] * 99), tuple(sorted(passed)))
        if key not in seen:
            seen[key] = _stratum(noise, key)
        best = max(best, seen[key])
    return best


def _stratum(noise: Noise, key: Any) -> float:
    counts_p, counts_q, passed = key
    if not passed:
        return float(CONTEXT.log(_weight(noise, counts_p) / _weight(noise, counts_q)))
    return max(_smallest_is(noise, counts_p, counts_q, [passed[k], *passed[:k], *passed[k + 1 :]]) for k in range(len(passed)))


def _smallest_is(noise: Noise, counts_p: Any, counts_q: Any, passed: list[tuple[int, int]]) -> float:
    """The supremum over m = the value of the first of `passed`, the others being free above it."""
    below_p, below_q = _below(noise, counts_p), _below(noise, counts_q)
    scale = float(noise.query)

    def loss(m: Any) -> Any:
        result = np.log(below_p.sample(m)) - np.log(below_q.sample(m)) + _gap(m, *passed[0]) / scale
        for a, b in passed[1:]:  # |v - b| - |v - a| is monotone in v: largest at infinity or at m
            result = result + (_gap(m, a, b) if a < b else a - b) / scale
        return result

    breaks = sorted({*map(float, below_p.breaks), *map(float, below_q.breaks), *(float(x) for pair in passed for x in pair)})
    far = 40 * max(scale, float(noise.threshold))
    # Below every break all is exponential with one rate: the loss is constant there, and one point stands for all.
    edges = [breaks[0] - 1.0, *breaks, breaks[-1] + far]
    at_infinity = loss(np.array([breaks[-1] + 60 * far], dtype=np.longdouble))
    return max(float(at_infinity[0]), *(largest_between(loss, a, b) for a, b in itertools.pairwise(edges)))


def _gap(v: Any, a: int, b: int) -> Any:
    return np.abs(v - b) - np.abs(v - a)

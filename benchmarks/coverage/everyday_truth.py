"""The true losses of the mechanisms of a third list: sums, closed forms, a search over the kinks of piecewise linear losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from benchmarks.coverage.reference import laplace_cdf, laplace_pdf, largest, mp, softmax, winners


def around(x: float, period: float, density: Callable[[float], float], turns: int) -> Callable[[float], float]:
    """ln of a density that goes around a circle, not normalised."""
    return lambda y: math.log(math.fsum(density(y - x + period * k) for k in range(-turns, turns + 1)))


def residues(x: int, m: int, mass: Callable[[int], float], reach: int = 300) -> list[float]:
    """The masses of the remainders of x + k."""
    out = [0.0] * m
    for k in range(-reach, reach + 1):
        out[(x + k) % m] += mass(k)
    return out


def two_geometrics(k: int, a: float = math.exp(-0.5)) -> float:
    """The sum of two independent two-sided geometric values, not normalised: (|k| + (1 + a^2) / (1 - a^2)) a^|k|."""
    return (abs(k) + (1 + a * a) / (1 - a * a)) * a ** abs(k)


def rappor_loss() -> float:
    """Two bits of a report change, by one ratio each in the worst direction."""
    on, off = 0.75 * 0.75 + 0.25 * 0.5, 0.25 * 0.75 + 0.75 * 0.5
    return math.log(on * (1 - off) / (off * (1 - on)))


def one_uniform(x: int) -> dict[int, float]:
    """The law of value + sign * floor(-ln |u|), u uniform between -(1 + a) / 2 and (1 + a) / 2, around both values."""
    a = math.exp(-1)
    half = (1 + a) / 2
    out: dict[int, float] = {}
    for sign, k in itertools.product((1, -1), range(40)):
        share = (min(half, a**k) - min(half, a ** (k + 1))) / half / 2
        out[x + sign * k] = out.get(x + sign * k, 0.0) + share
    return {k: out[k] for k in range(-25, 36)}


def two_gradients() -> float:
    """In y = -2 w the steps release g(0) + Lap(2) and g(w) + Lap(2): the largest loss over w at quarters, where all kinks are."""

    def g(data: Sequence[float], w: float) -> float:
        return sum(min(1.0, max(-1.0, w - x)) for x in data)

    pair, best = ([1.0, -2.0], [1.0, 0.5]), 0.0
    for sign in (1, -1):
        for w in [k / 4 for k in range(-200, 201)]:
            first = sign * (abs(-2 * w - g(pair[1], 0)) - abs(-2 * w - g(pair[0], 0))) / 2
            best = max(best, first + abs(g(pair[0], w) - g(pair[1], w)) / 2)
    return best


def above_mean() -> float:
    """The largest loss over the released mean, on either side of every value."""
    pair, best = ([0.0, 1.0, 5.0], [0.0, 1.0, 2.0]), 0.0
    for sign in (1, -1):
        for m in [k / 12 + 1e-13 for k in range(-240, 241)]:
            first = sign * (abs(m - 1.0) - abs(m - 2.0))
            best = max(best, first + abs(sum(x > m for x in pair[0]) - sum(x > m for x in pair[1])))
    return best


def top_word() -> float:
    """The winner's odds, and what its fresh count adds."""
    first, second = (winners(c, lambda y: laplace_pdf(y, 2), lambda y: laplace_cdf(y, 2)) for c in ((2, 1, 0), (1, 2, 0)))
    return float(max(abs(mp.log(p / q)) + s for p, q, s in zip(first, second, (0.5, 0.5, 0.0), strict=True)))


def tries_again() -> float:
    """The last of four tries, or a failure of all of them."""
    fails = [float(laplace_cdf(-x, 2)) for x in (0, 1)]
    made = [math.log((1 - q**4) / (1 - q)) for q in fails]
    inside = max(abs(made[0] - made[1] + (abs(y - 1) - abs(y)) / 2) for y in (0.0, 1.0))
    return max(inside, 4 * abs(math.log(fails[0] / fails[1])))


def log_middle(y: float, centres: Sequence[float]) -> float:
    """ln of the density of the middle one of three Laplace values."""
    total = mp.mpf(0)
    for i in range(3):
        a, b = (c for j, c in enumerate(centres) if j != i)
        sides = laplace_cdf(y - a) * (1 - laplace_cdf(y - b)) + laplace_cdf(y - b) * (1 - laplace_cdf(y - a))
        total += laplace_pdf(y - centres[i]) * sides
    return float(mp.log(total))


def joint(data: Sequence[int]) -> list[float]:
    """The exponential mechanism over pairs of candidates."""
    scores = []
    for a, b in itertools.combinations_with_replacement(range(5), 2):
        counts = sum(x < a for x in data), sum(a <= x < b for x in data), sum(x >= b for x in data)
        scores.append(-sum(abs(c - len(data) / 3) for c in counts) / 4)
    return softmax(scores)


def angle() -> float:
    """At the kinks, where a piecewise convex or concave log ratio is largest."""
    logs = [around(x, 1.0, lambda d: math.exp(-abs(d) / 0.5), 60) for x in (0.3, 0.9)]
    return max(abs(logs[0](y) - logs[1](y)) for y in (0.0, 0.3, 0.4, 0.8, 0.9))


def bearing() -> float:
    """The largest log ratio of two wrapped Gaussian densities."""
    logs = [around(x, 360.0, lambda d: math.exp(-((d / 60) ** 2) / 2), 6) for x in (0.0, 30.0)]
    return largest(lambda y: logs[0](y) - logs[1](y), 180.0, 360.0)

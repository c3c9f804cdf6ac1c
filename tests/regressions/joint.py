"""Wrong answers on several continuous draws: cycles of comparisons, kinks, slow limits, sums of noise."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from mpmath import mp, mpf

from tests.oracles import families
from tests.oracles.truth import Truth, at_most, between, real
from tests.regressions.case import Case, Refusal
from tests.regressions.discrete import formula

Mechanism = Callable[[Any, Any], Any]


def cases() -> Iterator[Case]:
    """All of them."""
    yield from cycles()
    yield from kinks()
    yield from slow_limits()
    yield from sums()


def _pairwise(x: Any, d: Any, scale: Any) -> Any:
    a, b, c = (v + d.laplace(scale) for v in x)
    return (a > b, b > c, a > c)


def _pairwise_strings(x: Any, d: Any, scale: Any) -> Any:
    a, b, c = (v + d.laplace(scale) for v in x)
    out = ""
    out += "ab" if a > b else "ba"
    out += "bc" if b >= c else "cb"
    out += "ca" if c > a else "ac"
    return out


def _sorted(x: Any, d: Any, scale: Any) -> Any:
    noisy = [v + d.laplace(scale) for v in x]
    return tuple(sorted(range(len(x)), key=lambda i: noisy[i]))


def order_probability(values: Sequence[Any], scale: Any, order: Sequence[int]) -> Any:
    """P(the noisy values come in this order, smallest first): one integral over the middle one of three."""
    noise = families.laplace(scale)
    low, middle, high = (real(values[i]) for i in order)
    breaks = sorted({low, middle, high})
    far = 120 * real(scale)

    def inner(t: Any) -> Any:
        return noise.density(t - middle) * noise.below(t - low) * noise.above(t - high)

    return mp.quad(inner, [breaks[0] - far, *breaks, breaks[-1] + far])


def orders_truth(pair: tuple[Any, Any], scale: Any) -> Truth:
    """The loss of releasing the order of three noisy values."""
    with mp.workdps(30):
        ratios = []
        for order in itertools.permutations(range(3)):
            p, q = (order_probability(x, scale, order) for x in pair)
            ratios.append(abs(mp.log(p / q)))
        best = max(ratios)
    return between(best - mpf("1e-18"), best + mpf("1e-18"), "integral at 30 digits")


def cycles() -> Iterator[Case]:
    for shape in (_pairwise, _pairwise_strings, _sorted):
        for scale, pair in [
            (1, ([0.2, 0.8, 0.6], [0.3, 0.8, 0.6])),
            (1, ([0.1, 0.7, 0.4], [0.1, 0.8, 0.4])),
            (0.1, ([0.02, 0.08, 0.06], [0.03, 0.08, 0.06])),
            (2, ([0.3, 0.9, 1.1], [0.3, 0.9, 1.2])),
            (1, ([1.2, 1.8, 1.6], [1.3, 1.9, 1.7])),
        ]:
            yield Case(
                f"three compared pairwise, {shape.__name__[1:]}, {pair}",
                partial(shape, scale=scale),
                pair,
                partial(orders_truth, pair, scale),
            )


def _larger(x: Any, d: Any, wide: Any, narrow: Any) -> Any:
    z, w = x + d.laplace(wide), d.laplace(narrow)
    if z < abs(d.laplace(narrow)):
        return None
    return d.maximum(z, w)


def _larger_mirrored(x: Any, d: Any, wide: Any, narrow: Any) -> Any:
    z, w = -x + d.laplace(wide), d.laplace(narrow)
    if z <= abs(d.laplace(narrow)):
        return "none"
    return d.max(w, z)


def kinks() -> Iterator[Case]:
    for wide, narrow, pair in [(20, 2, (-1, 0)), (2, 0.2, (-0.1, 0)), (10, 1, (0, 1)), (5, 2, (-1, 0.5))]:
        # Post-processing of x + laplace(wide), and far out the output is that value.
        value = abs(real(pair[1]) - real(pair[0])) / real(wide)
        yield formula(f"maximum behind a kink, laplace({wide}), {pair}", partial(_larger, wide=wide, narrow=narrow), pair, value)
        mirrored = partial(_larger_mirrored, wide=wide, narrow=narrow)
        yield formula(f"maximum behind a kink, mirrored, laplace({wide}), {pair}", mirrored, pair, value)


# Integrals of integrals: too many evaluations for an exact answer within the limit count as refused.
SLOW: dict[str, Any] = {"narrow": 1e-3, "refusal": Refusal.ALLOWED}


def _top_two_gap(x: Any, d: Any, scale: Any) -> Any:
    noisy = [v + d.laplace(scale) for v in x]
    order = sorted(range(len(x)), key=lambda i: noisy[i], reverse=True)
    return order[0], order[1], noisy[order[1]] - noisy[order[2]]


def _two_queries(x: Any, d: Any, scale: Any) -> Any:
    n = [v + d.laplace(scale) for v in x]
    return n[0] + n[1], n[2] + n[3]


def _overlapping(x: Any, d: Any, scale: Any) -> Any:
    n = [v + d.laplace(scale) for v in x]
    return n[0] + n[1] + n[2], n[2] + n[3]


def _difference(x: Any, d: Any, scale: Any) -> Any:
    return (x[0] + d.laplace(scale)) - (x[1] + d.laplace(scale))


def slow_limits() -> Iterator[Case]:
    """Limits that are approached like 1 / R: the sum of two Laplace draws has the density (1 + |s|) exp(-|s|) / 4."""
    for scale, pair in [
        (1, ([1, 1, 1, 1], [2, 1, 1, 1])),
        (2, ([0, 0, 1, 2], [1, 0, 1, 2])),
        (0.1, ([0.1, 0.1, 0.1, 0.1], [0.2, 0.1, 0.1, 0.1])),
    ]:
        value = sum(abs(real(b) - real(a)) for a, b in zip(*pair, strict=True)) / real(scale)
        # Post-processing of four noisy values gives the upper side, a large gap with the changed value in it the lower.
        yield formula(f"top 2 of 4 with gap, scale {scale}, {pair}", partial(_top_two_gap, scale=scale), pair, value, **SLOW)
        yield formula(
            f"two sums of four noisy counts, scale {scale}", partial(_two_queries, scale=scale), pair, value, narrow=1e-5
        )
        # Two coordinates: alignments close the bracket from above, a search along 1 / R comes to within 1e-3 from below.
        yield formula(f"two overlapping sums, scale {scale}", partial(_overlapping, scale=scale), pair, value, narrow=1e-3)
        yield formula(
            f"difference of two noisy counts, scale {scale}", partial(_difference, scale=scale), pair, value, narrow=1e-5
        )


def _laplace_logistic(x: Any, d: Any, b: Any, s: Any) -> Any:
    return x + d.laplace(b) + d.logistic(s)


def _laplace_logistic_if(x: Any, d: Any, b: Any, s: Any) -> Any:
    y = x + d.laplace(b) + d.logistic(s)
    if y > x:
        pass
    return y


def _sum_or_word(x: Any, d: Any, b: Any, s: Any) -> Any:
    y = x + d.laplace(b) + d.logistic(s)
    return y if y > 0.3 * b else "e"


def _clipped_sum(x: Any, d: Any, b: Any, s: Any) -> Any:
    return d.clip(x + d.laplace(b) + d.logistic(s), -b, 3 * b)


def sum_truth(pair: tuple[Any, Any], b: Any, s: Any) -> Truth:
    """Lower side: the densities at a point far out, as an integral; upper side: post-processing of one noise alone."""
    noise, other = families.laplace(b), families.logistic(s)
    shift = abs(real(pair[1]) - real(pair[0]))
    at = 30 * max(real(b), real(s))

    def density(y: Any) -> Any:
        far = 60 * max(real(b), real(s))
        return mp.quad(lambda t: noise.density(y - t) * other.density(t), [-far, 0, y, y + far])

    with mp.workdps(30):
        lower = mp.log(density(at) / density(at + shift))
    return between(lower, shift / max(real(b), real(s)), "integral, post-processing")


def sums() -> Iterator[Case]:
    for b, s, pair in [(1, 1, (0, 2)), (0.1, 0.1, (0, 0.2)), (0.1, 0.1, (0.3, 0.5)), (2, 1, (0, 1)), (0.2, 0.3, (0.1, 0.4))]:
        for shape in (_laplace_logistic, _laplace_logistic_if):
            run = partial(shape, b=b, s=s)
            yield Case(f"{shape.__name__[1:]}({b}, {s}), {pair}", run, pair, partial(sum_truth, pair, b, s), narrow=None)
    for b, s, pair in [(1, 1, (0, 1)), (0.1, 0.1, (0, 0.1)), (0.3, 0.3, (0, 0.6)), (1, 1, (0, 2)), (0.1, 0.1, (0.2, 0.4))]:
        bound = abs(real(pair[1]) - real(pair[0])) / max(real(b), real(s))
        for other in (_sum_or_word, _clipped_sum):
            name = f"{other.__name__[1:]}({b}, {s}), {pair}"
            yield Case(name, partial(other, b=b, s=s), pair, lambda v=bound: at_most(v, "post-processing"), narrow=None)

"""Wrong answers on discrete draws: strictness, division, rounding, neutral conditions, loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from mpmath import mp, mpf

from tests.oracles.losses import sweep_truth
from tests.oracles.truth import Truth, between, exactly
from tests.regressions.case import Case, Refusal

Mechanism = Callable[[Any, Any], Any]


def enumerated(name: str, mechanism: Mechanism, pair: tuple[Any, Any], **options: Any) -> Case:
    """A case whose truth is the enumeration of the program itself; its outputs are a few values."""
    return Case(name, mechanism, pair, partial(sweep_truth, mechanism, pair, closed=True, source="enumeration"), **options)


def formula(name: str, mechanism: Mechanism, pair: tuple[Any, Any], value: Any, **options: Any) -> Case:
    """A case whose truth is a closed form."""
    return Case(name, mechanism, pair, lambda: exactly(value, "closed form"), **options)


def shifted(name: str, mechanism: Mechanism, pair: tuple[Any, Any], value: Any, **options: Any) -> Case:
    """A case whose truth is a closed form that the enumeration must reach from below."""

    def truth() -> Truth:
        return exactly(value, "closed form").meet(sweep_truth(mechanism, pair, closed=False, source="enumeration"))

    return Case(name, mechanism, pair, truth, **options)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from strictness()
    yield from categories()
    yield from divisions()
    yield from remainders()
    yield from neutral_conditions()
    yield from keys()
    yield from loops()
    yield from crossing_bounds()


def _three_ways(x: Any, d: Any, low: Any, high: Any, bound: Any, unit: Any) -> Any:
    k = unit * d.integers(low, high) + x
    if k <= bound:
        return "two" if k >= bound else "low"
    return "high"


def _three_ways_strict(x: Any, d: Any, low: Any, high: Any, bound: Any, unit: Any) -> Any:
    k = unit * d.integers(low, high) + x
    if not k < bound:
        return "above" if k > bound else "at"
    return "below"


def _three_ways_negative(x: Any, d: Any, low: Any, high: Any, bound: Any, unit: Any) -> Any:
    k = x - unit * d.integers(low, high)
    if k >= bound:
        return "at" if k <= bound else "above"
    return "below"


def _geometric_ways(x: Any, d: Any, scale: Any) -> Any:
    k = d.geometric(scale) + x
    if k > 1:
        return "c"
    if k == 1:
        return "b"
    return "a"


def strictness() -> Iterator[Case]:
    shapes = {"<=": _three_ways, "<": _three_ways_strict, "negative": _three_ways_negative}
    for label, shape in shapes.items():
        for low, high, bound, unit, pair in [
            (0, 9, 2, 1, (0, 1)),
            (0, 9, 0.2, 0.1, (0, 0.1)),
            (-4, 4, -2, 1, (0, -1)),
            (0, 9, 2_000_002, 1, (2_000_000, 2_000_001)),
            (0, 5, 1.5, 0.5, (0.5, 1.0)),
        ]:
            run = partial(shape, low=low, high=high, bound=bound, unit=unit)
            yield enumerated(f"strictness {label} of {unit} * integers({low}, {high}) at {bound}", run, pair)
    for scale in (1, 2, 0.5):
        yield enumerated(f"strictness of geometric({scale})", partial(_geometric_ways, scale=scale), (0, 1))


def _category(x: Any, d: Any, table: Any, at: int) -> Any:
    k = d.categorical(table[x])
    if k > at:
        return "c"
    if k == at:
        return "b"
    return "a"


def _category_mirrored(x: Any, d: Any, table: Any, at: int) -> Any:
    k = -1 * d.categorical(table[x])
    if k < -at:
        return "c"
    if k != -at:
        return "a"
    return "b"


def categories() -> Iterator[Case]:
    tables = [
        ([0.5, 0.3, 0.2], [0.1, 0.5, 0.4], 1),
        ([0.25, 0.25, 0.5], [0.5, 0.125, 0.375], 1),
        ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], 2),
        ([0.7, 0.2, 0.1], [0.6, 0.1, 0.3], 0),
    ]
    for table in tables:
        for shape in (_category, _category_mirrored):
            run = partial(shape, table=table[:2], at=table[2])
            yield enumerated(f"categories {shape.__name__} {table[0]} against {table[1]}", run, (0, 1))


def _mean_at_least(xs: Any, d: Any, share: float, scale: float) -> Any:
    return (sum(xs) + d.geometric(scale)) / len(xs) >= share


def _decade(x: Any, d: Any, scale: float, width: Any) -> Any:
    return (x + d.geometric(scale)) // width


def _floored(x: Any, d: Any, scale: float, width: Any) -> Any:
    return math.floor((x + d.geometric(scale)) / width)


def _ceiled(x: Any, d: Any, scale: float, width: Any) -> Any:
    return math.ceil((x + d.geometric(scale)) / width)


def _tenth_at_most(x: Any, d: Any, bound: float) -> Any:
    return (x + d.integers(-4, 4)) / 10 <= bound


def divisions() -> Iterator[Case]:
    ones = [1] * 6 + [0] * 4
    for share, scale in [(0.5, 1), (0.1, 1), (0.3, 2), (0.7, 0.5), (0.6, 1)]:
        less = [0, *ones[1:]]
        yield enumerated(
            f"mean of ten >= {share}, geometric({scale})", partial(_mean_at_least, share=share, scale=scale), (less, ones)
        )
    for shape in (_decade, _floored, _ceiled):
        for width, pair, scale in [
            (10, (19, 20), 1),
            (3, (2, 3), 1),
            (7, (2_000_006, 2_000_007), 1),
            (5, (-5, -4), 2),
            (4, (3, 5), 1),
        ]:
            run = partial(shape, scale=scale, width=width)
            value = mpf(abs(pair[1] - pair[0])) / scale
            yield shifted(f"{shape.__name__[1:]} by {width} of geometric({scale}), {pair}", run, pair, value)
    for bound in (0.3, 0.1, 0.7, -0.2):
        yield enumerated(f"(x + integers) / 10 <= {bound}", partial(_tenth_at_most, bound=bound), (0, 1))


def _clipped_parity(x: Any, d: Any, low: Any, high: Any, top: Any, modulus: Any) -> Any:
    return d.clip(x + d.integers(low, high), 0, top) % modulus


def _quarters(x: Any, d: Any, low: int, high: int, bound: int, divisor: int) -> Any:
    return round(d.clip(x + d.integers(low, high), -bound, bound) / divisor)


def remainders() -> Iterator[Case]:
    for low, high, top, modulus, pair in [
        (-3, 3, 10, 2, (-1, 0)),
        (-3, 3, 10, 3, (-1, 0)),
        (-2, 5, 6, 2, (0, 1)),
        (0, 4, 3, 2, (0, 1)),
    ]:
        run = partial(_clipped_parity, low=low, high=high, top=top, modulus=modulus)
        yield enumerated(f"clip(x + integers({low}, {high}), 0, {top}) % {modulus}", run, pair)
    for low, high, bound, divisor, pair in [
        (-3, 3, 6, 4, (0, 1)),
        (-3, 3, 6, 4, (0, 2)),
        (-5, 2, 3, 2, (0, 1)),
        (0, 9, 7, 3, (1, 0)),
    ]:
        run = partial(_quarters, low=low, high=high, bound=bound, divisor=divisor)
        yield enumerated(f"round(clip(x + integers({low}, {high}), -{bound}, {bound}) / {divisor}), {pair}", run, pair)


P1, P2 = [0.1, 0.2, 0.3, 0.4], [0.35, 0.15, 0.25, 0.25]


def _neutral(x: Any, d: Any, neutral: int, unit: Any) -> Any:
    y, w = unit * (x + d.categorical(P1)), unit * d.categorical(P2)
    if neutral == 0 and round(y / 3) <= 9:
        pass
    if neutral == 1 and y // 2 <= 1 * unit:
        pass
    if neutral == 2 and (w % 2 == 1 or y <= 2 * unit):
        pass
    if neutral == 3 and abs(y - w) > 2 * unit:
        pass
    if neutral == 4 and math.ceil(w / 2) >= 1:
        pass
    if neutral == 5 and not (y < w and round(w / 2) == 1):
        pass
    return "more" if y > w else ("less" if y < w else "same")


FIVE = [0.05, 0.15, 0.2, 0.25, 0.35]


def _three_neutral(x: Any, d: Any, unit: Any) -> Any:
    y, w = unit * (x + d.categorical(FIVE)), unit * d.categorical(FIVE)
    if y > 2 * unit:
        pass
    if y // (2 * unit) >= 1:
        pass
    if abs(y - w) > unit:
        pass
    return "a" if y > w else "b"


def _two_neutral(x: Any, d: Any, unit: Any) -> Any:
    y, w = unit * (x + d.categorical([0.1, 0.5, 0.4])), unit * d.categorical(P1)
    if y > 2 * unit:
        pass
    if round(y / (3 * unit)) >= 1:
        pass
    return "a" if y - w != w else "b"


def neutral_conditions() -> Iterator[Case]:
    for shape in (_three_neutral, _two_neutral):
        for unit, pair in [(1, (0, 1)), (1, (0, 2)), (0.5, (0, 1)), (4, (1, 0))]:
            yield enumerated(f"{shape.__name__[1:]}, unit {unit}, {pair}", partial(shape, unit=unit), pair)
    for unit in (1, 0.5, 3):
        for neutral in range(6):
            yield enumerated(f"neutral condition {neutral}, unit {unit}", partial(_neutral, neutral=neutral, unit=unit), (0, 1))


def _looked_up(x: Any, d: Any, table: Any, shift: int) -> Any:
    return table.get(shift + d.categorical([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]][x]), "d")


def _member(x: Any, d: Any) -> Any:
    return d.categorical([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]][x]) in {0, 2}


def _indexed(x: Any, d: Any) -> Any:
    return {0: "a", 1: "b", 2: "c"}[d.categorical([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]][x])]


def _listed(x: Any, d: Any) -> Any:
    return ["a", "b", "c"][d.categorical([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]][x])]


def _set_of(x: Any, d: Any) -> Any:
    return len({d.categorical([0.5, 0.5]), d.categorical([[0.5, 0.5], [0.2, 0.8]][x])})


def keys() -> Iterator[Case]:
    may = Refusal.ALLOWED
    for table, shift in [({0: "a", 1: "b"}, 0), ({1: "a", 2: "b", 3: "c"}, 1), ({0.0: "a", 2.0: "b"}, 0)]:
        yield enumerated(f"{table}.get of a random key", partial(_looked_up, table=table, shift=shift), (0, 1), refusal=may)
    for shape in (_member, _indexed, _listed, _set_of):
        yield enumerated(f"a random value as a key: {shape.__name__[1:]}", shape, (0, 1), refusal=may)


def _counted_past(x: Any, d: Any, p: float) -> Any:
    k = 0
    while d.bernoulli(p):
        k += 1
    return k > x


def _counter(x: Any, d: Any, p: float) -> Any:
    k = 0
    while d.bernoulli(p):
        k += 1
    return x + k


def _two_counters(x: Any, d: Any, p: float, q: float) -> Any:
    k = x
    while d.bernoulli(p):
        k += 1
    j = 0
    while d.bernoulli(q):
        j += 1
    return k > j


def _walked(x: Any, d: Any, scale: float, at: int) -> Any:
    z = d.geometric(scale)
    k = 0
    while z > k:
        k += 1
    return x if k == at else -1


def _walked_to(x: Any, d: Any, scale: float, at: int) -> Any:
    z = d.geometric(scale)
    k = 0
    while z >= k:
        k += 1
    return x if k == at else -1


def loops() -> Iterator[Case]:
    for p in (0.02, 0.01, 0.001, 0.5, 0.9):
        # P(k > x) = p^(x + 1)
        value = max(-mp.log(mpf(p)), mp.log((1 - mpf(p) ** 2) / (1 - mpf(p))))
        yield formula(f"while bernoulli({p}), then k > x", partial(_counted_past, p=p), (0, 1), value)
    # The smallest count is possible under one input only, and that is not proved: the other input may have it on a path that was
    # not explored. What is left unexplored weighs at most e^-45, and P(k = 0) = 1 - p.
    for p, pair, least in [(0.5, (0, 1), 43), (0.02, (0, 1), 43), (0.25, (3, 5), 43), (0.5, (1, 0), 43)]:
        run = partial(_counter, p=p)
        yield formula(f"x + counter of while bernoulli({p}), {pair}", run, pair, mp.inf, narrow=None, reaches=least)
    for p, q in [(0.5, 0.5), (0.25, 0.5), (0.5, 0.1)]:
        yield formula(f"two counters, bernoulli({p}) and bernoulli({q})", partial(_two_counters, p=p, q=q), (0, 1), _two(p, q))
    # As with the counters; the weight of the one path that returns x, beside what was not explored, is all that is known.
    for shape, extra in ((_walked, 0), (_walked_to, 1)):
        for scale, at, least in [(100, 300, 0.8), (10, 40, 37), (3, 30, 33), (1, 5, 57)]:
            yield formula(
                f"{shape.__name__[1:]} to {at} with geometric({scale})",
                partial(shape, scale=scale, at=at + extra),
                (0, 1),
                mp.inf,
                narrow=None,
                reaches=least,
                refusal=Refusal.ALLOWED,
            )


def _two(p: float, q: float) -> Any:
    """P(K + x > J) = 1 - sum_k P(K = k) P(J >= k + x) = 1 - (1 - p) q^x / (1 - p q), for geometric counters."""
    a, b = mpf(p), mpf(q)
    more = [1 - (1 - a) * b**x / (1 - a * b) for x in (0, 1)]
    return max(abs(mp.log(more[1] / more[0])), abs(mp.log((1 - more[1]) / (1 - more[0]))))


def _clipped(x: Any, d: Any, unit: Any) -> Any:
    low, high = unit * d.integers(-1, 2), unit * d.integers(-2, 1)
    return d.clip(unit * x, low, high)


def _listed_bounds(x: Any, d: Any) -> Any:
    low, high = d.integers(-1, 2), d.integers(-2, 1)
    values = [x, x + 1]
    if type(low) is int:
        return [min(max(v, low), high) for v in values]
    return np.minimum(np.maximum(values, low), high)


def crossing_bounds() -> Iterator[Case]:
    for unit in (1, 0.5, 10):
        yield enumerated(f"clip with crossing random bounds, unit {unit}", partial(_clipped, unit=unit), (0, 1))
    yield enumerated("np.minimum(np.maximum(list, lo), hi) with random bounds", _listed_bounds, (0, 1), refusal=Refusal.ALLOWED)


def sampled_remainder() -> tuple[Mechanism, tuple[int, int], Truth]:
    """With sampling, (x + geometric(1)) % 3 came back infinite with the impossible output 3.

    With r = 1/e, P(0) : P(1) : P(2) = 1 + r^3 : r + r^2 : r + r^2, by geometric series.
    """
    r = mp.exp(-1)
    value = mp.log((1 + r**3) / (r + r**2))
    return (lambda x, d: (x + d.geometric(1)) % 3), (0, 1), between(value, value, "closed form")

"""Wrong answers on continuous draws: grids of roundings, limits, kinks, tails, tenths, large offsets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mpmath import mp, mpf
from scipy import stats

from tests.oracles import families, losses
from tests.oracles.truth import Truth, between, exactly, real
from tests.regressions.case import Case, Refusal
from tests.regressions.discrete import formula

Mechanism = Callable[[Any, Any], Any]


def swept(name: str, mechanism: Mechanism, pair: tuple[Any, Any], closed: bool = False, **options: Any) -> Case:
    """A case whose truth comes from sweeping its one continuous draw."""
    return Case(name, mechanism, pair, partial(losses.sweep_truth, mechanism, pair, closed=closed), **options)


def both(name: str, mechanism: Mechanism, pair: tuple[Any, Any], value: Any, closed: bool = False, **options: Any) -> Case:
    """A case with a closed form that the sweep must not contradict."""

    def truth() -> Truth:
        return exactly(value, "closed form").meet(losses.sweep_truth(mechanism, pair, closed=closed))

    return Case(name, mechanism, pair, truth, **options)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from grids()
    yield from tenths()
    yield from clipped_floors()
    yield from tiny_differences()
    yield from gumbel_tails()
    yield from heavy_tails()
    yield from steps()
    yield from mixtures()
    yield from large_offsets()
    yield from rejections()


def _floor_released(x: Any, d: Any, unit: Any, scale: Any) -> Any:
    return x + unit * math.floor(d.laplace(scale))


def _round_released(x: Any, d: Any, unit: Any, scale: Any) -> Any:
    return unit * round(d.laplace(scale)) + x


def _two_grids(x: Any, d: Any, unit: Any) -> Any:
    z = d.laplace(1)
    return unit * math.floor(z) if z > x else 2 * unit * math.floor(z)


def _two_grids_mirrored(x: Any, d: Any, unit: Any) -> Any:
    z = d.laplace(1)
    return unit * math.ceil(z) if z < x else 2 * unit * math.ceil(z)


def grids() -> Iterator[Case]:
    one = ((0.0, lambda: exactly(1, "disjoint")), (1.0, lambda: exactly(1, "disjoint")))
    for pair, unit in [((0, 0.5), 1), ((0, 0.25), 1), ((0.5, 1.25), 0.5), ((0, 3), 2), ((2_000_000, 2_000_000.5), 1)]:
        for shape in (_floor_released, _round_released):
            run = partial(shape, unit=unit, scale=1)
            yield formula(f"{shape.__name__[1:]}, unit {unit}, {pair}", run, pair, mp.inf, deltas=one)
    for pair, unit, scale in [((0, 1), 1, 1), ((0, 1), 0.5, 1), ((0, 2), 1, 4), ((2_000_000, 2_000_001), 1, 1)]:
        value = real(abs(pair[1] - pair[0])) / real(unit) / scale
        run = partial(_floor_released, unit=unit, scale=scale)
        yield both(f"floor released on one grid, unit {unit}, scale {scale}, {pair}", run, pair, value)
    for unit in (1, 0.5, 3):
        yield both(f"two grids, equal laws, unit {unit}", partial(_two_grids, unit=unit), (0, 1), 0)
        yield both(f"two grids mirrored, equal laws, unit {unit}", partial(_two_grids_mirrored, unit=unit), (0, -1), 0)
        yield both(f"two grids, half a step, unit {unit}", partial(_two_grids, unit=unit), (0, 0.5), 0)
        yield formula(f"two grids, an output of one input only, unit {unit}", partial(_two_grids, unit=unit), (0, 2), mp.inf)


def _released_above(x: Any, d: Any, bound: Any, scale: Any) -> Any:
    y = x + d.laplace(scale)
    if y <= bound:
        return "e"
    return y


def _released_below(x: Any, d: Any, bound: Any, scale: Any) -> Any:
    y = x + d.laplace(scale)
    if not y < bound:
        return None
    return (y, 3 * y)


def tenths() -> Iterator[Case]:
    for shape in (_released_above, _released_below):
        for bound, scale, pair in [
            (0.3, 2, (0, 1.5)),
            (0.7, 2, (0.1, 0.4)),
            (0.1, 0.2, (0, 0.15)),
            (1.1, 1, (1, 1.3)),
            (2_000_000.3, 2, (2_000_000, 2_000_001.5)),
            (0.3, 2, (0.3, 0.1)),
        ]:
            value = abs(real(pair[1]) - real(pair[0])) / real(scale)
            run = partial(shape, bound=bound, scale=scale)
            yield both(f"{shape.__name__[1:]} {bound}, laplace({scale}), {pair}", run, pair, value)


def _clipped_floor(x: Any, d: Any, scale: Any, bound: Any, step: Any) -> Any:
    return d.clip(x + d.laplace(scale), -bound, bound) // step


def _clipped_third(x: Any, d: Any, scale: Any, bound: Any, step: Any) -> Any:
    return math.floor(d.clip(x / 3 + d.laplace(scale), -bound, bound) / step)


def clipped_floors() -> Iterator[Case]:
    for scale, bound, step, pair in [
        (0.3, 3, 1, (1 / 3, 2 / 3)),
        (0.3, 3, 1, (-1 / 3, 0)),
        (1, 2, 0.5, (0.1, 0.2)),
        (0.7, 4, 2, (5 / 3, 4 / 3)),
    ]:
        yield swept(
            f"clip(y, -{bound}, {bound}) // {step}, {pair}",
            partial(_clipped_floor, scale=scale, bound=bound, step=step),
            pair,
            True,
        )
        thirds = (pair[0] * 3, pair[1] * 3)
        run = partial(_clipped_third, scale=scale, bound=bound, step=step)
        yield swept(f"floor(clip(x / 3 + noise, -{bound}, {bound}) / {step}), {thirds}", run, thirds, True)


def _twice(x: Any, d: Any, scale: Any) -> Any:
    z = d.laplace(scale)
    return (x[0] + z, x[1] + z)


def _doubled(x: Any, d: Any, scale: Any) -> Any:
    z = d.laplace(scale)
    return (x[0] + z, x[1] + 2 * z)


def tiny_differences() -> Iterator[Case]:
    for shift in (1e-12, 1e-9, 2**-52, 0.1, 1e-15):
        for shape in (_twice, _doubled):
            yield formula(
                f"shared noise {shape.__name__[1:]}, difference {shift}",
                partial(shape, scale=1),
                ([1, 1], [1 + shift, 1]),
                mp.inf,
            )
    yield formula("shared noise, both moved", partial(_twice, scale=2), ([1, 1], [1.5, 1.5]), mpf("0.25"))
    yield formula(
        "shared noise, both moved by 1e-12", partial(_twice, scale=1), ([0, 0], [1e-12, 1e-12]), real(1e-12), narrow=1e-12
    )


def _gumbel_if(x: Any, d: Any, scale: Any, sign: Any) -> Any:
    y = x + sign * d.gumbel(scale)
    if y > 1.5:
        pass
    return y


def _gumbel_twice(x: Any, d: Any, scale: Any, sign: Any) -> Any:
    y = x + sign * d.gumbel(scale)
    if y > 0 and y < 2:
        return y
    return y


def gumbel_tails() -> Iterator[Case]:
    for shape in (_gumbel_if, _gumbel_twice):
        for scale, sign, pair in [(0.5, 1, (2, 1)), (2, 1, (0, 1)), (0.5, -1, (2, 1)), (0.05, 1, (0.2, 0.1))]:
            yield formula(
                f"{shape.__name__[1:]}({scale}), sign {sign}, {pair}", partial(shape, scale=scale, sign=sign), pair, mp.inf
            )


def _moved(x: Any, d: Any, degrees: Any) -> Any:
    return x[0] + x[1] * d.from_scipy(stats.t(degrees))


def _scaled(x: Any, d: Any, degrees: Any) -> Any:
    return x * d.from_scipy(stats.t(degrees))


def _cauchy_pair(x: Any, d: Any, scale: Any) -> Any:
    return x + d.from_scipy(stats.cauchy(scale=scale)) > d.from_scipy(stats.cauchy(scale=scale))


def _cauchy_rounded(x: Any, d: Any, scale: Any, bound: Any) -> Any:
    return round(d.clip(x + d.from_scipy(stats.cauchy(scale=scale)), -bound, bound))


def _between_cauchys(pair: tuple[Any, Any], scale: Any) -> Any:
    """The difference of two Cauchy draws is a Cauchy draw of twice the scale."""
    law = families.cauchy(2 * real(scale))
    return max(abs(mp.log(tail(-real(pair[0])) / tail(-real(pair[1])))) for tail in (law.above, law.below))


def _rounded_cells(pair: tuple[Any, Any], scale: Any, bound: int) -> Truth:
    """Cells of width 1 next to the data, the two end cells, and 0 as the limit far away."""
    law = families.cauchy(scale)
    half = mpf(1) / 2
    near = range(-min(bound, 3000) + 1, min(bound, 3000))
    edges = [(k - half, k + half) for k in near] + [(mp.ninf, -bound + half), (bound - half, mp.inf)]
    masses = [[law.mass(a - real(x), b - real(x)) for a, b in edges] for x in pair]
    best = max(abs(mp.log(p / q)) for p, q in zip(*masses, strict=True))
    return between(best, best * (1 + mpf("1e-15")), "cells of the Cauchy law")


def heavy_tails() -> Iterator[Case]:
    for degrees, pair in [(2, ((0, 10), (1, 12))), (2, ((0, 1), (0.1, 1.2))), (5, ((0, 10), (-1, 12))), (3, ((0, 10), (0, 12)))]:
        yield swept(f"moved and scaled t({degrees}), {pair}", partial(_moved, degrees=degrees), pair, narrow=None)
    for degrees, pair in [(3, (30, 36)), (3, (3, 3.6)), (2, (36, 30)), (5, (1, 1.2))]:
        # Tails have the power -degrees - 1, so that their ratio tends to (s'/s)^degrees; the middle has ratio s'/s.
        value = degrees * abs(mp.log(real(pair[1]) / real(pair[0])))
        yield both(f"scaled t({degrees}), {pair}", partial(_scaled, degrees=degrees), pair, value, narrow=1e-6)
    for scale, pair in [(1, (0, 1)), (0.1, (0, 0.1)), (2, (1, -1))]:
        yield formula(
            f"comparison of two cauchy({scale}), {pair}", partial(_cauchy_pair, scale=scale), pair, _between_cauchys(pair, scale)
        )
    for scale, bound, pair in [(1, 10**9, (0, 1)), (1, 20, (0, 1)), (2, 10**6, (0, -1)), (1, 10**12, (0.5, 1))]:
        run = partial(_cauchy_rounded, scale=scale, bound=bound)
        truth = partial(_rounded_cells, pair, scale, bound)
        narrow = 1e-9 if bound < 1000 else None  # of more points than are listed, some give a lower end
        yield Case(f"round(clip(cauchy({scale}), {bound})), {pair}", run, pair, truth, narrow, Refusal.ALLOWED)


def _stepped(x: Any, d: Any, scale: Any, width: Any) -> Any:
    return x + width * d.geometric(scale) + d.uniform(-width / 2, width / 2)


def steps() -> Iterator[Case]:
    for scale, width, pair in [
        (1, 1, (0, 0.3)),
        (1, 1, (0, 0.7)),
        (2, 1, (0, 1.3)),
        (1, 0.5, (0.25, 0)),
        (1, 1, (0, 1)),
        (1, 1, (0.1, 0.4)),
    ]:
        value = mpf(math.ceil(abs(pair[1] - pair[0]) / width)) / scale
        none = ((float(value) + 0.2, lambda: exactly(0, "beyond the loss")),)
        run = partial(_stepped, scale=scale, width=width)
        yield formula(f"geometric({scale}) plus uniform, width {width}, {pair}", run, pair, value, deltas=none)


def _mixture(x: Any, d: Any, share: Any, centre: Any, slope: Any, narrow: Any, wide: Any, other: Any) -> Any:
    if d.bernoulli(share):
        return centre - slope * x + narrow * d.gaussian(1)
    return other + wide * d.gaussian(1)


def _mixture_where(x: Any, d: Any, **numbers: Any) -> Any:
    share, z = numbers["share"], d.gaussian(1)
    near = numbers["centre"] - numbers["slope"] * x + numbers["narrow"] * z
    return d.where(d.bernoulli(share) == 1, near, numbers["other"] + numbers["wide"] * z)


def _two_gaussians(x: Any, d: Any, share: Any, centre: Any, slope: Any, narrow: Any, wide: Any, other: Any) -> Any:
    if d.bernoulli(share):
        return centre - slope * x + d.gaussian(narrow)
    return other + d.gaussian(wide)


def mixtures() -> Iterator[Case]:
    base = {"share": 0.94, "centre": 9.33, "slope": 0.2, "narrow": 0.4, "wide": 49.28, "other": 0.26}
    changes: list[dict[str, Any]] = [
        {},
        {"wide": 5.0},
        {"share": 0.5, "narrow": 0.1, "slope": 0.05},
        {"centre": -3.0, "other": 2.0, "wide": 20.0},
    ]
    for change in changes:
        numbers = {**base, **change}
        run = partial(_mixture, **numbers)
        truth = partial(losses.sweep_truth, run, (0, 1), closed=True)
        for shape in (_two_gaussians, _mixture_where):
            yield Case(f"{shape.__name__[1:]} {change}", partial(shape, **numbers), (0, 1), truth, narrow=1e-6)


def _rounded_tenths(x: Any, d: Any, scale: Any, sign: Any) -> Any:
    return round(sign * (x + d.laplace(scale)), 1)


def _tenth_cells(pair: tuple[Any, Any], scale: Any, epsilon: float) -> Truth:
    """delta(epsilon) over the cells ((k - 1/2) / 10, (k + 1/2) / 10) of Laplace noise."""
    noise = families.laplace(scale)
    centre = round(pair[0] * 10)
    far = int(800 * scale) + 100
    factor = mp.exp(real(epsilon))
    edges = [(mpf(2 * k + 1) / 20) for k in range(centre - far, centre + far + 1)]
    masses = [[noise.mass(a - real(x), b - real(x)) for a, b in zip(edges, edges[1:], strict=False)] for x in pair]
    ways = [sum((max(mpf(0), p - factor * q) for p, q in zip(a, b, strict=True)), mpf(0)) for a, b in (masses, masses[::-1])]
    best = max(ways)
    return between(best - mpf("1e-17"), best + mpf("1e-17") + mp.exp(-80), "cells of the Laplace law")


def large_offsets() -> Iterator[Case]:
    for pair, scale, sign in [
        ((2_000_000, 2_000_000.25), 1, -1),
        ((2_000_000.3, 2_000_000.7), 1, -1),
        ((0.3, 0.7), 1, -1),
        ((-2_000_000, -2_000_000.5), 0.5, 1),
        ((20_000.05, 20_000.3), 1, -1),
    ]:
        run = partial(_rounded_tenths, scale=scale, sign=sign)
        deltas = tuple((e, partial(_tenth_cells, pair, scale, e)) for e in (0.0, 0.05))
        value = abs(real(pair[1]) - real(pair[0])) / real(scale)
        # The tail cells have the ratio of the densities.
        yield Case(f"round({sign} * y, 1), {pair}", run, pair, lambda v=value: exactly(v, "closed form"), deltas=deltas)


def _rejected(x: Any, d: Any, bound: Any, at: Any) -> Any:
    while abs(z := d.laplace(1)) > bound:
        pass
    return x + z > at


def _rejected_released(x: Any, d: Any, bound: Any) -> Any:
    while abs(z := d.laplace(1)) > bound:
        pass
    return x + z


def _truncated(pair: tuple[Any, Any], bound: Any, at: Any) -> Any:
    law = families.laplace(1)
    up = [law.mass(max(-bound, min(bound, real(at) - real(x))), bound) for x in pair]
    down = [law.mass(-bound, max(-bound, min(bound, real(at) - real(x)))) for x in pair]
    return max(mp.inf if not min(p) else abs(mp.log(p[0] / p[1])) for p in (up, down))


def rejections() -> Iterator[Case]:
    for bound, at, pair in [(3, 1.5, (0, 1)), (1, 0.5, (0, 0.25)), (10, 0, (0, 1)), (3, 3.5, (0, 1))]:
        value = _truncated(pair, mpf(bound), at)
        yield formula(f"truncated by rejection at {bound}, > {at}, {pair}", partial(_rejected, bound=bound, at=at), pair, value)
    for bound in (3, 1, 8):
        yield formula(f"truncated by rejection at {bound}, released", partial(_rejected_released, bound=bound), (0, 1), mp.inf)
    yield formula("truncated by rejection, the same input", partial(_rejected, bound=3, at=1), (1, 1), 0)

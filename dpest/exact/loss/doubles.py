"""Outputs on lattices: whether outputs that are equal in rationals are equal numbers of the program, and no others.

Lattices are compared in rationals. Where the program rounds, x / 10 + 0.1 * k leaves some points equal under both inputs and
others next to each other, so that its loss is another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import Affine, Constant, Floor, LeafValue
from dpest.exact.inference.computed import Computed
from dpest.exact.inference.lattice import WINDOW, Lattice, floor_ends, spanned
from dpest.lang.nodes import Draw
from dpest.lang.signature import as_written
from dpest.laws.law import Discrete
from dpest.numerics.rationals import Rational, common_measure, exact, is_number

_MOST_POINTS = 5_000  # of one output, each computed as the program does: some hundredths of a second
_APART = 2.0**-50  # relative: points that are further apart are different doubles


def check_doubles(values: Sequence[LeafValue]) -> None:
    """Raises where the program tells points of one output apart in another way than rationals do."""
    made = [v.computed if isinstance(v, Affine | Floor) else None for v in values]
    if not any(made) or (_are_alike(made) and _are_apart(values, max(m.steps.off for m in made if m and m.steps))):
        return
    doubles: dict[Rational, float] = {}
    rationals: dict[float, Rational] = {}
    left = _MOST_POINTS
    for value in _different(values):
        for rational, double in _points(value):
            left -= 1
            if not left or doubles.setdefault(rational, double) != double or rationals.setdefault(double, rational) != rational:
                raise ExactRefused(
                    "an output on a lattice whose points the program rounds, such as 0.1 * x + 0.1 * k: doubles are equal at "
                    "other points than real numbers are; work in whole numbers, and divide at the end: (x + k) / 10"
                )


def _are_alike(made: Sequence[Computed | None]) -> bool:
    """Whether the doubles of all values are the same function of rationals, so that equal rationals are equal doubles."""
    if any(m is not None and m.steps is None for m in made):
        return False
    return len({m.steps.done if m and m.steps else () for m in made}) == 1


def _are_apart(values: Sequence[LeafValue], off: float) -> bool:
    """Whether no two points are so close to each other that they may be one double, each as far off as doubles may be."""
    lattices, size = [], 0.0
    for value in values:
        lattice, reach = _lattice(value)
        lattices.append(lattice)
        size = max(size, reach)
    return float(spanned(lattices).step) > max(_APART * size, 4 * off)


def _lattice(value: LeafValue) -> tuple[Lattice, float]:
    """Where a value lies, and how far from zero."""
    match value:
        case Floor(scale=scale, offset=offset):
            return Lattice(offset, abs(scale)), max(abs(float(scale * exact(k) + offset)) for k in floor_ends(value))
        case Affine(value=linear):
            size = abs(float(linear.constant)) + sum(abs(float(c)) * max(map(abs, _window(n))) for n, c in linear.terms)
            return Lattice(linear.constant, common_measure(c for _, c in linear.terms)), size
        case Constant(value=number) if is_number(number):
            return Lattice(exact(number), exact(0)), abs(float(number))
    return Lattice(exact(0), exact(0)), 0.0


def _different(values: Sequence[LeafValue]) -> Iterator[LeafValue]:
    """The values without those that are written alike."""
    seen: set[Any] = set()
    for value in values:
        key: Any = id(value)
        if isinstance(value, Affine) and value.computed is not None:
            terms = tuple((n.law, c) for n, c in value.value.terms if isinstance(n, Draw))
            key = as_written(value.computed.node, set()), terms, value.value.constant
        if key not in seen:
            seen.add(key)
            yield value


def _points(value: LeafValue) -> Iterator[tuple[Rational, float]]:
    match value:
        case Constant(value=number) if is_number(number):
            yield exact(number), float(number)
        case Affine(value=linear, computed=made):
            windows = [_window(n) for n, _ in linear.terms]
            if made is not None:
                yield from made.points(windows)
            else:
                yield from ((x, float(x)) for x in _sums(linear.constant, [c for _, c in linear.terms], windows))
        case Floor(scale=scale, offset=offset, computed=made):
            low, high = floor_ends(value)
            steps = range(math.floor(low) - 1, math.ceil(high) + 2)
            if made is not None:
                yield from made.points([steps if made.terms[0][1] * scale > 0 else [-k for k in steps]])
            else:
                yield from ((x, float(x)) for x in (scale * k + offset for k in steps))


def _sums(constant: Rational, factors: Sequence[Rational], windows: Sequence[Sequence[float]]) -> Iterator[Rational]:
    if not factors:
        yield constant
        return
    for k in windows[0]:
        yield from _sums(constant + factors[0] * int(k), factors[1:], windows[1:])


def _window(draw: Any) -> Sequence[float]:
    assert isinstance(draw.law, Discrete)
    points: list[float] = draw.law.window(WINDOW)[0].tolist()
    return points

"""Ranges of rational numbers: intervals whose ends may be missing, and arithmetic that encloses every value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from dpest.numerics.rationals import ZERO, Rational, exact

RangeEnd: TypeAlias = Rational | None  # None: no bound on this side
Range: TypeAlias = tuple[RangeEnd, RangeEnd]

NOTHING: Range = (ZERO, ZERO)
ANYTHING: Range = (None, None)


def ends(low: float, high: float) -> Range:
    """A range from floats; infinite ends are none."""
    return (exact(low) if math.isfinite(low) else None), (exact(high) if math.isfinite(high) else None)


def floats(within: Range) -> tuple[float, float]:
    """Floats that enclose a range."""
    low, high = within
    below = -math.inf if low is None else float(low)
    above = math.inf if high is None else float(high)
    if low is not None and exact(below) > low:
        below = math.nextafter(below, -math.inf)
    if high is not None and exact(above) < high:
        above = math.nextafter(above, math.inf)
    return below, above


def total(parts: Iterable[tuple[Range, Rational]], constant: Rational) -> Range:
    """The range of constant + the sum of coefficient * value, each value in its own range."""
    low: RangeEnd = constant
    high: RangeEnd = constant
    for within, c in parts:
        below, above = within if c > 0 else within[::-1]
        low = None if low is None or below is None else low + c * below
        high = None if high is None or above is None else high + c * above
    return low, high


def product(left: Range, right: Range) -> Range:
    """The range of a product."""
    sides = [(-math.inf if low is None else low, math.inf if high is None else high) for low, high in (left, right)]
    corners = [a * b if a and b else ZERO for a in sides[0] for b in sides[1]]
    low, high = min(corners), max(corners)
    return (None if math.isinf(low) else low), (None if math.isinf(high) else high)


def largest_of(ranges: Sequence[Range]) -> Range:
    """The range of the largest of several values."""
    return max((low for low, _ in ranges if low is not None), default=None), _most([high for _, high in ranges])


def smallest_of(ranges: Sequence[Range]) -> Range:
    """The range of the smallest of several values."""
    return _least([low for low, _ in ranges]), min((high for _, high in ranges if high is not None), default=None)


def hull(ranges: Sequence[Range]) -> Range:
    """A range that holds all of them."""
    return _least([low for low, _ in ranges]), _most([high for _, high in ranges])


def both(a: Range, b: Range) -> Range | None:
    """What two ranges have in common; None where that is nothing."""
    low, high = largest_of([a, b])[0], smallest_of([a, b])[1]
    return None if low is not None and high is not None and low > high else (low, high)


def _most(numbers: Sequence[RangeEnd]) -> RangeEnd:
    """The largest; None where one of them is unbounded or there are none."""
    known = [x for x in numbers if x is not None]
    return max(known) if known and len(known) == len(numbers) else None


def _least(numbers: Sequence[RangeEnd]) -> RangeEnd:
    known = [x for x in numbers if x is not None]
    return min(known) if known and len(known) == len(numbers) else None

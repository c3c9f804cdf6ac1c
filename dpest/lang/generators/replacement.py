"""Values that are taken one after the other, none of them twice: places that are drawn, or an order that is left open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpest.errors import InvalidInput, UnsupportedOperation
from dpest.lang import noise
from dpest.lang.dist import RUN, Dist
from dpest.lang.generators.equals import is_value, place_of_one, some_are_equal
from dpest.lang.plain_numbers import bare
from dpest.lang.shuffled import in_open_order, left_open
from dpest.laws.discrete import MOST_EXACT


def plain(x: Any) -> Any:
    """A number that the program needs now: a random one forks the run where it has listed points."""
    if isinstance(x, Dist):
        number = x._point()
        if number is None:
            raise UnsupportedOperation("a parameter of a draw must be a plain number, got a random value without listed points")
        return number
    return bare(x)


def a_place(n: int, weights: Sequence[float] | None = None) -> int:
    """A random place, as a plain number: the run forks."""
    if n == 1:
        return 0
    return int(plain(noise.integers(0, n - 1) if weights is None else noise.categorical(weights)))


def without_replacement(items: list[Any], n: int, weights: list[float] | None) -> list[Any]:
    """n of the values, in an order that is left open where it can be."""
    if n > len(items):
        raise InvalidInput(f"cannot take {n} of {len(items)} values without replacement")
    if n > 1 and weights is None and left_open() and RUN.get() is not None and all(map(is_value, items)):
        if n == len(items):
            return in_open_order(items)
        if math.comb(len(items), n) <= MOST_EXACT and not some_are_equal(items):
            return in_open_order(_some(items, n))
    return one_by_one(items, n, weights)


def _some(items: Sequence[Any], n: int) -> list[Any]:
    """n of the values in their own order, all sets of them equally likely: the run forks on the place of each."""
    taken: list[Any] = []
    first = 0
    for needed in range(n, 0, -1):
        first += _first_place(len(items) - first, needed) + 1
        taken.append(items[first - 1])
    return taken


def _first_place(left: int, needed: int) -> int:
    """The first of some places, all sets of which are equally likely."""
    sets = math.comb(left, needed)
    if sets == 1:
        return 0
    draw, low, high = noise.integers(0, sets - 1), 0, left - needed
    for _ in range(left.bit_length()):  # not `while`: this is no loop of the author's
        if low == high:
            break
        middle = (low + high) // 2
        if draw < sets - math.comb(left - middle - 1, needed):  # all sets but those behind the middle
            high = middle
        else:
            low = middle + 1
    return low


def one_by_one(items: Sequence[Any], n: int, weights: list[float] | None) -> list[Any]:
    """n of the values, each at the place that was drawn, the first of equals: the run forks."""
    left, chances, taken = list(items), weights, []
    alike = weights is None and some_are_equal(items)
    for _ in range(n):
        total = None if chances is None else math.fsum(chances)
        shares = None if not chances or not total else [q / total for q in chances]
        k = place_of_one(left) if alike else a_place(len(left), shares)
        taken.append(left.pop(k))
        chances = None if chances is None else [q for i, q in enumerate(chances) if i != k]
    return taken

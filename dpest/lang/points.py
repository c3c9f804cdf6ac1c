"""The plain number that a random value with countably many points has on the path of a run: the run forks on it."""

from __future__ import annotations

import math
import operator
from itertools import count, product
from typing import Any

from dpest.lang.extent import extent, is_rounded
from dpest.lang.nodes import (
    TRUTHS,
    All,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Linear,
    Not,
    Ranked,
    Rounded,
    Where,
    children,
    draws_of,
    is_integral,
    is_node,
    plain_number,
)
from dpest.lang.plain import Undetermined, evaluate
from dpest.lang.run import RUN
from dpest.lang.spans import reach
from dpest.laws.discrete import Atoms, Whole
from dpest.laws.law import Discrete
from dpest.numerics.effort import spend_steps
from dpest.numerics.rationals import Rational, exact, is_number

_MOST = 4096  # points that are listed: more ways than that are too many paths anyhow
_OF_INTS = (operator.add, operator.sub, operator.mul, operator.mod, operator.floordiv)  # give an int for two of them
_POINT_STEPS = 25  # of ten microseconds: what a number takes with the code around it that asks for it: samplers on fractions


def plain_point(value: Any) -> Any:
    """The value's number on this path, forking the run; None where it has no list of points and is no whole number."""
    points = listed_points(value.node)
    if points is not None:
        number = _computed(value) if is_rounded(value.node) else None
        return _among(value, sorted(points)) if number is None else number
    return _whole(value) if is_integral(value.node) else None


def number_at_points(value: Any) -> Any:
    """A value made of a few whole numbers as the program's own on this path, which forks on each of them; others as they are."""
    draws = draws_of(value.node)
    if not draws or not all(is_integral(d) and has_listed_points(d) for d in draws):
        return value
    spend_steps(_POINT_STEPS)
    try:
        return evaluate(value.node, {id(d): type(value)(d)._point() for d in draws})
    except (Undetermined, ArithmeticError):
        return value


def has_listed_points(node: Any) -> bool:
    """Whether a value can be one of a few listed numbers only."""
    return listed_points(node) is not None


def number_with_text(value: Any) -> int | float | None:
    """The value's number on this path with its type, forking the run; None where points or type are not known.

    What was computed from whole numbers alone is an int, what can never be whole is a float: 1, 1.0 and True have different
    texts, and `1 ^ (u < p)` may be either of two.
    """
    if not has_text(value):
        return None
    return int(value._point()) if of_whole_numbers(value.node) else float(value._point())


def has_text(value: Any, on_path: bool = True) -> bool:
    """Whether the points and the type of a value are known, `on_path` also by the conditions of the path of this run."""
    node = value.node
    points = listed_points(node)
    if not is_node(node) or _is_truth(node) or (points is None and not _is_short(node, on_path)):
        return False
    if of_whole_numbers(node):
        return True
    single = isinstance(node, Draw) or (isinstance(node, Linear) and len(node.terms) == 1 and isinstance(node.terms[0][0], Draw))
    return points is not None and single and not any(x.denominator == 1 for x in points)


def _is_short(node: Any, on_path: bool) -> bool:
    """Whether a value lies between two whole numbers that are not far apart, and is one itself."""
    if not of_whole_numbers(node):
        return False
    low, high = reach(node)
    within = getattr(RUN.get(), "within", None) if on_path else None  # what the conditions of a path say of it
    return high - low <= _MOST or (within is not None and bool(within(node, _MOST)))


def of_whole_numbers(node: Any, known: frozenset[int] = frozenset()) -> bool:
    """Whether a value was computed from whole numbers of type int and truth values alone; `known` are ids of such values."""
    if id(node) in known:
        return True
    match node:
        case Draw(law=Atoms(counts=counts)):
            return counts
        case Draw(law=law):
            return isinstance(law, Discrete) and law.integral
        case ArgExtreme() | Compare() | Not() | All() | Ranked(place=True):
            return True
        case Where(yes=yes, no=no):
            return all(of_whole_numbers(x, known) and not _is_truth(x) for x in (yes, no))
        case Extreme(values=values) | Ranked(values=values):
            return all(of_whole_numbers(x, known) and not _is_truth(x) for x in values)
        case Linear(written=(operation, operands)) | Rounded(written=(operation, operands)):
            return operation in _OF_INTS and all(of_whole_numbers(x, known) for x in operands)
    return not is_node(node) and isinstance(node, int)


def _is_truth(node: Any) -> bool:
    return isinstance(node, (bool, *TRUTHS))


def _among(value: Any, points: list[Any]) -> Any:
    low, high = 0, len(points) - 1
    for _ in range(len(points).bit_length() + 1):  # not `while`: this is no loop of the author's
        if low == high:
            break
        middle = (low + high) // 2
        # Halfway to the next point: a point itself may be rounded as a float.
        if value > float((points[middle] + points[middle + 1]) / 2):
            low = middle + 1
        else:
            high = middle
    return plain_number(exact(points[low]))


def _computed(value: Any) -> int | float | None:
    """The number as the program computes it from the exact values that it is made of; None where those are not known.

    3 * (0.1 * 3) is not the double next to nine tenths.
    """
    made, known = type(value), {}
    stack = [value.node]
    while stack:
        node = stack.pop()
        if not is_node(node) or id(node) in known:
            continue
        if isinstance(node, TRUTHS):
            known[id(node)] = bool(made(node))
        elif isinstance(node, Where):
            known[id(node)] = side = node.yes if made(node.condition) else node.no
            stack.append(side)
        elif isinstance(node, Draw) or extent(node).exact:
            if has_listed_points(node):
                known[id(node)] = made(node)._point()
        else:
            written = getattr(node, "written", None)
            stack.extend(reversed(children(node) if written is None else written[1]))
    try:
        number = evaluate(value.node, known)
    except (Undetermined, ArithmeticError):
        return None
    return int(number) if number == int(number) else float(number)


def _whole(value: Any) -> int:
    """A whole number without a bound: one step after another away from zero, so that far ones weigh too little to follow.

    One that cannot be near zero is looked for from where it can be.
    """
    sign = 1 if value >= 0 else -1
    size = value if sign > 0 else -value
    low, high = reach(value.node)
    least = low if sign > 0 else -high
    first = max(0, math.floor(least - 1 - 1e-9 * abs(least))) if math.isfinite(least) else 0  # its rounding is far below that
    return next(sign * k for k in count(first) if not size > k)


def listed_points(node: Any) -> set[Rational] | None:
    """Every number that a value can be, where they are few."""
    if not is_node(node):
        return {exact(node)} if is_number(node) else None
    match node:
        case Draw(law=Whole(low=low, high=high)):
            return set(map(exact, range(low, high + 1))) if high - low < _MOST else None
        case Draw(law=Atoms() as law):
            return set(map(exact, law.points)) if len(law.points) <= _MOST else None
        case Compare() | Not() | All():
            return {exact(0), exact(1)}
        case ArgExtreme(values=values) | Ranked(values=values, place=True):
            return set(map(exact, range(len(values))))
        case Where(yes=yes, no=no):
            sides = listed_points(yes), listed_points(no)
            return None if sides[0] is None or sides[1] is None else sides[0] | sides[1]
        case Extreme(values=values) | Ranked(values=values):
            parts = [listed_points(v) for v in values]
            return None if any(p is None for p in parts) else set().union(*(p for p in parts if p is not None))
        case Linear():
            return _sums(node)
    return None


def _sums(node: Linear) -> set[Rational] | None:
    """The numbers that a sum can be."""
    found = {node.constant}
    for part, factor in node.terms:
        points = listed_points(part)
        if points is None or len(points) * len(found) > _MOST:
            return None
        found = {x + factor * y for x, y in product(found, points)}
    return found

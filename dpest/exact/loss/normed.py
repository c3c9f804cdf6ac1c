"""Vectors divided by their norm: w / |w| tells the ray through w, and so do the sign of a coordinate and the quotients by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.lang.nodes import (
    Compare,
    Extreme,
    Function,
    Pick,
    Product,
    Quotient,
    Relation,
    Where,
    combine,
    draws_of,
    is_node,
    linear,
)
from dpest.lang.spans import is_absolute
from dpest.numerics.elementary import SQUARE, Kind
from dpest.numerics.rationals import ONE, Rational

_NormForm = tuple[str, tuple[Rational, ...]]  # the norm, and what each coordinate is multiplied by
_NORMS: dict[str, Callable[[Sequence[float]], float]] = {
    "euclidean": lambda v: math.hypot(*v),
    "largest": lambda v: max(map(abs, v)),
    "sum": lambda v: sum(map(abs, v)),
}


@dataclass(frozen=True)
class Normed:
    """factor * (one coordinate of a vector divided by its norm); quotients by the last coordinate and its sign tell them all."""

    norm: str
    factor: Rational
    place: int
    count: int
    since: tuple[tuple[int, int], ...]
    apart: bool = False

    def words(self, inner: str, outputs: Callable[[int], str]) -> str:
        """The coordinate in words; `outputs` are the quotients, and the sign."""
        seen = [inner if i == self.place else outputs(i) for i in range(self.count)]
        ray = ", ".join([*seen[:-1], "1"])
        return f"coordinate {self.place + 1} of {seen[-1]} * ({ray}) over its norm"

    def value(self, x: float, outputs: Callable[[int], float]) -> float:
        """The coordinate."""
        seen = [x if i == self.place else outputs(i) for i in range(self.count)]
        ray = [*seen[:-1], 1.0]
        return float(self.factor) * seen[-1] * ray[self.place] / _NORMS[self.norm](ray)


def in_directions(rows: list[list[Any]]) -> tuple[list[list[Any]], list[Normed]]:
    """The rows with quotients by the last coordinate, and with its sign, where all of them are vectors divided by one norm."""
    found = [_divided(row) for row in rows]
    known = [x for x in found if x is not None]
    if len(known) < len(rows) or len({form for form, _ in known}) > 1:
        return rows, []
    (norm, factors), _ = known[0]
    places = range(len(factors))
    layers = [Normed(norm, c, i, len(factors), tuple((j, 1) for j in places if j != i)) for i, c in enumerate(factors)]
    return [[*(Quotient(w, last) for w in others), _sign(last)] for _, (*others, last) in known], layers


def _sign(node: Any) -> Where:
    """1 or -1, for continuous noise."""
    return Where(Compare(Relation.GT, linear(node)), 1, -1)


def _divided(row: Sequence[Any]) -> tuple[_NormForm, list[Any]] | None:
    """The norm and the coordinates of a vector that is divided by it; None for other outputs."""
    terms = [linear(x).terms[0] for x in row if is_node(x) and len(linear(x).terms) == 1 and not linear(x).constant]
    quotients = [n for n, _ in terms if isinstance(n, Quotient)]
    if len(row) < 2 or len(quotients) < len(row) or any(n.right is not quotients[0].right for n in quotients):
        return None
    values = [n.left for n in quotients]
    norm = _parts(quotients[0].right)
    if norm is None or not all(map(_is_continuous, values)) or len(norm[1]) != len(values):
        return None
    left, vector, factors = list(norm[1]), [], []
    for value, (_, c) in zip(values, terms, strict=True):
        times = [_times(part, value) for part in left]
        place = next((i for i, k in enumerate(times) if k is not None), None)
        if place is None:
            return None
        vector.append(left.pop(place))
        factors.append(c * times[place])
    return (norm[0], tuple(factors)), vector


def _parts(norm: Any) -> tuple[str, list[Any]] | None:
    """The name of a norm, and the coordinates in it; None for other nodes."""
    if isinstance(norm, Function) and norm.function.kind is Kind.POWER and norm.function.parameter == ONE / 2:
        inner = linear(norm.value)
        roots = [_root(n) for n, c in inner.terms if c == 1]
        return ("euclidean", roots) if not inner.constant and len(roots) == len(inner.terms) and None not in roots else None
    if isinstance(norm, Extreme) and norm.pick is Pick.MAX and len(norm.values) > 2:
        return _sizes(norm.values)
    inner = linear(norm)
    if inner.constant or not all(c == 1 and _is_size(n) for n, c in inner.terms):
        return None
    return "sum", [n.values[0] for n, _ in inner.terms if isinstance(n, Extreme)]


def _sizes(values: Sequence[Any]) -> tuple[str, list[Any]] | None:
    """The largest of absolute values, which is the largest of the values and their negatives."""
    left, parts = [x for v in values for x in (v.values if _is_size(v) else [v])], []
    while left:
        parts.append(left.pop())
        place = next((i for i, v in enumerate(left) if _times(parts[-1], v) == -1), None)
        if place is None:
            return None
        del left[place]
    return "largest", parts


def _root(node: Any) -> Any:
    """x for x * x."""
    if isinstance(node, Function) and node.function == SQUARE:
        return node.value.values[0] if isinstance(node.value, Extreme) and is_absolute(node.value) else node.value
    return node.left if isinstance(node, Product) and _times(node.left, node.right) == 1 else None


def _is_size(node: Any) -> bool:
    return isinstance(node, Extreme) and is_absolute(node)


def _times(part: Any, value: Any) -> Rational | None:
    """k for a value that is k times a part; None for others."""
    one, other = linear(part), linear(value)
    own = {id(n): c for n, c in one.terms}
    k = next((c / own[id(n)] for n, c in other.terms if id(n) in own), None)
    gap = None if k is None else combine(other, one, -k)
    return k if gap is not None and not gap.terms and not gap.constant else None


def _is_continuous(x: Any) -> bool:
    return is_node(x) and bool(draws_of(x)) and not any(d.law.discrete for d in draws_of(x))

"""Generators of pairs to search over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dpest.errors import InvalidInput, InvalidPair
from dpest.inputs.pairs import Pair, pattern_pairs
from dpest.inputs.question import check_adjacency, check_pairs


def all_pairs(domain: Sequence[Any]) -> list[Pair]:
    """All pairs of different values of a small domain, each once (both directions are always looked at)."""
    values = list(domain)
    pairs = [Pair("", a, b) for i, a in enumerate(values) for b in values[i + 1 :] if not _same(a, b)]
    if not pairs:
        raise InvalidPair(f"the domain {values!r} has no two different values")
    return pairs


def neighbouring_pairs(domain: Sequence[float], distance: float = 1.0) -> list[Pair]:
    """The pairs of a numeric domain that differ by at most `distance`."""
    pairs = [p for p in all_pairs(domain) if abs(p.left - p.right) <= distance * (1 + 1e-12)]
    if not pairs:
        raise InvalidPair(f"no two values of the domain differ by at most {distance:g}")
    return pairs


def scaled_patterns(n: int, low: float, high: float, adjacency: str = "linf", sensitivity: float | None = None) -> list[Pair]:
    """The seven patterns moved into [low, high]: 0, 1 and 2 become low, the middle and high, or steps of `sensitivity` from low.

    What lies outside is clipped, and pairs that come out equal are dropped.
    """
    if not low < high:
        raise InvalidInput(f"the domain must have low < high, got low = {low!r} and high = {high!r}")
    step = (high - low) / 2 if sensitivity is None else sensitivity
    moved = (Pair(p.name, _moved(p.left, low, high, step), _moved(p.right, low, high, step)) for p in pattern_pairs(n, adjacency))
    return [p for p in moved if not _same(p.left, p.right)]


def _moved(data: Sequence[float], low: float, high: float, step: float) -> list[float]:
    return [float(min(max(low + step * x, low), high)) for x in data]


def resolve_pairs(pairs: Any, n: int | None, adjacency: str | None) -> list[Pair]:
    """What the caller gave as pairs: some, an iterable of some, or the patterns for n; equal inputs are kept, doubles dropped."""
    given = check_pairs(pairs, n, adjacency or "linf", "audit")
    if pairs is None:
        return given
    found: list[Pair] = []
    for pair in given:
        _must_be(pair, adjacency)
        if not any(_same(pair.left, p.left) and _same(pair.right, p.right) for p in found):
            found.append(pair)
    return found


def _must_be(pair: Pair, adjacency: str | None) -> None:
    """A claim about replacement is not held against pairs of another length, and the other way round."""
    if adjacency is None:
        return
    check_adjacency(adjacency)
    is_said = relation(pair)
    if is_said != "equal inputs" and (adjacency == "add_remove") != (is_said == "add_remove"):
        raise InvalidPair(f'the pair {pair} is no pair of adjacency="{adjacency}": its inputs differ so: {is_said}')


def distinct_inputs(pairs: Iterable[Pair]) -> tuple[list[Any], list[tuple[int, int]]]:
    """The inputs without repetition, and for each pair the places of its two; the two of one pair are never one place."""
    inputs: list[Any] = []
    places = []
    for pair in pairs:
        left = _place(inputs, pair.left, None)
        places.append((left, _place(inputs, pair.right, left)))
    return inputs, places


def _place(inputs: list[Any], data: Any, taken: int | None) -> int:
    for i, known in enumerate(inputs):
        if i != taken and _same(known, data):
            return i
    inputs.append(data)
    return len(inputs) - 1


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and bool(np.all(a == b))
    try:
        return bool(a == b)
    except ValueError:  # tables compare cell by cell
        return bool(a.equals(b)) if hasattr(a, "equals") else a is b


def relation(pair: Pair) -> str:
    """How the two inputs of a pair differ, in words: "add_remove", "replace" of one row, or so many coordinates by so much."""
    left, right = _rows(pair.left), _rows(pair.right)
    if left is None or right is None:
        return _moved_by([pair.left], [pair.right])
    if len(left) != len(right):
        return "add_remove" if _one_row_apart(left, right) else f"{abs(len(left) - len(right))} rows more or less"
    return _moved_by(left, right)


def _rows(data: Any) -> list[Any] | None:
    if isinstance(data, list | tuple):
        return list(data)
    return list(data) if isinstance(data, np.ndarray) and data.ndim > 0 else None


def _one_row_apart(left: list[Any], right: list[Any]) -> bool:
    short, long = sorted((left, right), key=len)
    at = next((i for i, row in enumerate(short) if not _same(row, long[i])), len(short))
    return len(long) == len(short) + 1 and all(_same(a, b) for a, b in zip(short[at:], long[at + 1 :], strict=True))


def _moved_by(left: list[Any], right: list[Any]) -> str:
    different = [(a, b) for a, b in zip(left, right, strict=True) if not _same(a, b)]
    if not different:
        return "equal inputs"
    numbers = all(isinstance(x, int | float | np.number) and not isinstance(x, bool) for pair in different for x in pair)
    by = f" by at most {max(abs(float(a) - float(b)) for a, b in different):g}" if numbers else ""
    if len(different) == 1:
        return f"replace (one value{by})"
    return f"{len(different)} of {len(left)} values changed{by}"

"""Shares of exponentials in terms of differences: exp(a) / (exp(a) + exp(b) + exp(c)) and its like tell b - a and c - a.

Each share is the first one times exp of a difference, and the first one is 1 / (1 + the exponentials of the differences): both
are written that way, so that functions and other outputs can be taken off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpest.exact.loss.same_value import ValueNumbers
from dpest.lang.nodes import Function, Linear, Product, Quotient, combine, is_node, linear, simplified
from dpest.numerics.elementary import Kind
from dpest.numerics.rationals import ONE, ZERO

_NOTHING = Linear((), ZERO)  # the exponent of 1


@dataclass(frozen=True)
class _Share:
    """One output: which of the exponentials in its denominator it is the share of."""

    place: int
    own: int


def in_differences(row: Sequence[Any]) -> list[Any]:
    """The outputs of one path, with all shares of one sum of exponentials written in differences of the exponents."""
    out = list(row)
    groups: dict[int, list[_Share]] = {}
    numbers = ValueNumbers()
    for place, x in enumerate(row):
        share = _share(place, x, numbers)
        if share is not None:
            groups.setdefault(numbers.of(x.right), []).append(share)
    for shares in groups.values():
        _, exponents = _exponents(linear(row[shares[0].place].right))
        if len({s.own for s in shares}) == len(shares) >= len(exponents) - 1:  # together, all shares are 1
            for place, value in _written(row, shares):
                out[place] = value
    return out


def _share(place: int, x: Any, numbers: ValueNumbers) -> _Share | None:
    if not isinstance(x, Quotient):
        return None
    below, top = linear(x.right), linear(x.left)
    function, exponents = _exponents(below)
    if function is None or len(exponents) < 2:
        return None
    if len(top.terms) != 1 or top.constant or top.terms[0][1] != 1:
        return None
    own = numbers.of(top.terms[0][0])
    found = [i for i, (node, _) in enumerate(below.terms) if numbers.of(node) == own]
    return _Share(place, found[0]) if found else None


def _exponents(below: Linear) -> tuple[Function | None, list[Linear]]:
    """An exponential, and the exponents of all that are added up; none where something else is added."""
    nodes = [node for node, _ in below.terms]
    if not all(isinstance(n, Function) and n.function.kind is Kind.EXP for n in nodes) or below.constant not in (ZERO, ONE):
        return None, []
    functions = [n for n in nodes if isinstance(n, Function)]
    if not functions or any(c != 1 for _, c in below.terms) or len({n.function for n in functions}) > 1:
        return None, []
    return functions[0], [linear(n.value) for n in functions] + ([_NOTHING] if below.constant else [])


def _written(row: Sequence[Any], shares: Sequence[_Share]) -> list[tuple[int, Any]]:
    """Each share in differences from the exponent of the first one, which is the last to be taken apart."""
    base = shares[0]
    first, exponents = _exponents(linear(row[base.place].right))
    assert first is not None
    powers: dict[int, Any] = {}
    for i, exponent in enumerate(exponents):
        if i != base.own:
            gap = simplified(combine(exponent, exponents[base.own], -1))
            if not is_node(gap):
                return []
            powers[i] = Function(first.function, gap, first.call)
    rest = Quotient(1.0, Linear(tuple((p, ONE) for p in powers.values()), ONE))
    return [(base.place, rest), *((s.place, Product(powers[s.own], rest)) for s in shares[1:])]

"""Outputs that tell nothing which another output does not tell: a rounding of a value that is released as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpest.inputs.shown import affine_text
from dpest.lang.nodes import Draw, Linear, Rounded, Rounding, combine, is_node, is_whole_as_written, linear
from dpest.numerics.rationals import ZERO, Rational
from dpest.trace.explore import Path
from dpest.trace.turns import in_whole_numbers


@dataclass(frozen=True)
class Told:
    """Stands for an output that another one tells: factor * rounding(slope * other + shift) + offset."""

    place: int  # of the other one
    rounding: Rounding
    factor: Rational
    offset: Rational
    slope: Rational
    shift: Rational

    def words(self, other: str) -> str:
        """The output in terms of the other one."""
        inside = affine_text([(self.slope, other)], self.shift, "*")
        return affine_text([(self.factor, f"{self.rounding.value}({inside})")], self.offset, "*")

    def __repr__(self) -> str:
        return "..."


def redundant(paths: Sequence[Path], positions: Sequence[int]) -> dict[int, Told]:
    """Positions whose value is the same function of another released value on every path, under both inputs."""
    out: dict[int, Told] = {}
    for i in positions:
        ways = {_function_of(path.output.leaves, i, positions) for path in paths}
        way = ways.pop() if len(ways) == 1 else None
        if way is not None:
            out[i] = way
    return out


def _function_of(leaves: Sequence[Any], i: int, positions: Sequence[int]) -> Told | None:
    """How leaf i follows from another one; None where it does not."""
    if not is_node(leaves[i]):
        return None
    value = linear(leaves[i])
    node, factor = value.terms[0] if len(value.terms) == 1 else (None, ZERO)
    if not isinstance(node, Rounded):
        return None
    inner = linear(node.value)
    for j in positions:
        if j == i or not is_node(leaves[j]):
            continue
        other = linear(leaves[j])
        slope = dict(inner.terms).get(other.terms[0][0], ZERO) / other.terms[0][1] if other.terms else ZERO
        gap = combine(inner, other, -slope)
        if slope and not gap.terms and (surely_real(other) or (in_whole_numbers(node) and _is_whole(other))):
            return Told(j, node.rounding, factor, value.constant, slope, gap.constant)
    return None


def _is_whole(x: Linear) -> bool:
    """Whether a released value is a whole number plus or minus a number, without a fraction."""
    return all(abs(c) == 1 and is_whole_as_written(n) for n, c in x.terms) and x.constant.denominator == 1


def surely_real(x: Any) -> bool:
    """Whether a value is an affine expression of draws that has a density."""
    nodes = [n for n, _ in x.terms] if isinstance(x, Linear) else [x]
    draws = [n for n in nodes if isinstance(n, Draw)]
    return len(draws) == len(nodes) and any(not d.law.discrete for d in draws)

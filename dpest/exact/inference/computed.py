"""How the program computes an output on a lattice, where its arithmetic rounds: 0.1 * 2 + 0.1 is not the double 0.3."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from dpest.lang.extent import extent
from dpest.lang.nodes import Linear, Rounded, is_node
from dpest.lang.plain import Undetermined, evaluate
from dpest.numerics.rationals import Rational

_ROUNDED_ONCE = (operator.add, operator.sub, operator.mul, operator.truediv, math.fsum)  # of exact numbers: the nearest double
# Stands for what noise is rounded to: as large as any that is looked at, and a multiple of no power of two.
_LARGE = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Computed:
    """The author's expression, what is known on its path, and the random whole numbers in it by their ids."""

    node: Any
    known: Mapping[int, Any]
    terms: tuple[tuple[int, Rational], ...]
    constant: Rational
    once: bool  # whether it is the double nearest to the rational

    def points(self, values: Sequence[Sequence[float]]) -> Iterator[tuple[Rational, float]]:
        """The rational and the double at every combination of the random numbers; nothing where they are not determined."""
        for numbers in product(*values):
            at = {i: int(k) for (i, _), k in zip(self.terms, numbers, strict=True)}
            try:
                double = float(evaluate(self.node, {**self.known, **at}))
            except (Undetermined, ArithmeticError):
                continue
            yield sum((c * at[i] for i, c in self.terms), self.constant), double


def computed(x: Any, value: Linear, known: Mapping[int, Any], constant: Rational) -> Computed | None:
    """How a value of whole-number draws, or of one rounding, comes about; None where no step on the way is rounded."""
    whole = {id(n): _LARGE for n, _ in value.terms if isinstance(n, Rounded)}
    at = {**known, **whole}
    if extent(x, at).exact:
        return None
    return Computed(x, dict(known), tuple((id(n), c) for n, c in value.terms), constant, _once(x, at))


def _once(x: Any, known: Mapping[int, Any]) -> bool:
    """Whether the last step alone is rounded."""
    x = known.get(id(x), x)
    written = getattr(x, "written", None)
    if written is None:
        return False
    function, operands = written
    if function is operator.neg:
        return _once(operands[0], known)
    return function in _ROUNDED_ONCE and all(extent(y, known).exact for y in operands if is_node(y))

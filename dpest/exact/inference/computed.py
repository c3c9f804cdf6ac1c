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
_HALF_ULP = 2.0**-53  # relative


@dataclass(frozen=True)
class RoundedSteps:
    """An exact value that is rounded to the nearest double, and what is done to this double: (k / 12 - 0.25) / 0.5."""

    done: tuple[Any, ...]  # after the first rounding; values with the same steps are one function of what was exact
    size: float  # of the largest number
    off: float  # how far the double is from the rational at most

    def then(self, step: Any, slope: float, added: float, *, exact: bool = False) -> RoundedSteps:
        """One step more: what it gets is stretched, and rounded where the step is not exact."""
        size = slope * self.size + added
        return RoundedSteps((*self.done, step), size, slope * self.off + (0.0 if exact else _HALF_ULP * size))


@dataclass(frozen=True, eq=False)
class Computed:
    """The author's expression, what is known on its path, and the random whole numbers in it by their ids."""

    node: Any
    known: Mapping[int, Any]
    terms: tuple[tuple[int, Rational], ...]
    constant: Rational
    steps: RoundedSteps | None  # where its double is one function of one rational

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
    return Computed(x, dict(known), tuple((id(n), c) for n, c in value.terms), constant, _steps(x, at))


def _steps(x: Any, known: Mapping[int, Any]) -> RoundedSteps | None:
    """How a value comes from one exact value by rounded steps with constants; None where it does not."""
    x = known.get(id(x), x)
    written = getattr(x, "written", None)
    if written is None:
        return None
    function, operands = written
    random = [y for y in operands if is_node(y)]
    if function is round and isinstance(x, Linear):  # to digits: the double that is nearest to a decimal fraction
        return _rounded_to(_LARGE * float(sum(abs(c) for _, c in x.terms)) + abs(float(x.constant)))
    if function in _ROUNDED_ONCE and all(extent(y, known).exact for y in random):
        return _rounded_to(extent(x, known).size)
    before = _steps(random[0], known) if len(random) == 1 else None
    if before is None or function is operator.neg:
        return before and before.then(function, 1.0, 0.0, exact=True)
    slope = _slope(function, operands) if function in _ROUNDED_ONCE else None
    if slope is None:
        return None
    constants = [y for y in operands if not is_node(y)]
    added = abs(float(constants[0])) if function in (operator.add, operator.sub) else 0.0
    return before.then((function, tuple(None if is_node(y) else y for y in operands)), slope, added)


def _rounded_to(size: float) -> RoundedSteps:
    return RoundedSteps((), size, _HALF_ULP * size)


def _slope(function: Any, operands: Sequence[Any]) -> float | None:
    """How much a step with a constant stretches what it gets; None for steps of another form."""
    constants = [abs(float(y)) for y in operands if not is_node(y)]
    if len(constants) != 1:
        return None
    if function in (operator.add, operator.sub):
        return 1.0
    if function is operator.mul:
        return constants[0]
    return 1.0 / constants[0] if function is operator.truediv and is_node(operands[0]) and constants[0] else None

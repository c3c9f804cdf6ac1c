"""Products of two noisy values next to zero, where both factors vanish together.

The density of A B at z is the integral of f_A(t) f_B(z / t) / |t|. For z to 0 it grows like f_A(0) f_B(0) ln(1 / |z|) on each
side on which the factors may lie, since between |z| and 1 both arguments are small on a logarithmic scale. What both densities
grow by cancels in their ratio, which tends to that of f_A(0) f_B(0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpest.lang.nodes import Draw, Linear, Product, is_node, linear
from dpest.laws.continuous import Gaussian, Laplace, Logistic
from dpest.numerics.rationals import Rational
from dpest.trace.explore import Path, Trace

_SMOOTH = (Laplace, Gaussian, Logistic)  # bounded densities, positive and continuous everywhere


@dataclass(frozen=True)
class VanishingProduct:
    """The number that a product is added to, its factor, where its factors may lie, and ln of f_A(0) f_B(0)."""

    at: Rational
    factor: Rational
    quadrants: frozenset[tuple[bool, ...]]  # whether each condition says that the first factor, or the second, is positive
    log_density: float

    def against(self, other: VanishingProduct) -> float | None:
        """What the log ratio tends to; None where the two are not put together alike."""
        alike = (self.at, self.factor, self.quadrants) == (other.at, other.factor, other.quadrants)
        return self.log_density - other.log_density if alike else None


def crossing(traced: Trace) -> VanishingProduct | None:
    """Where the one output of a program is a product of two noisy values, or else a plain number; None for others."""
    open_paths = [path for path in traced.paths if any(map(is_node, path.output.leaves))]
    if len(open_paths) != 1 or any(len(p.output.leaves) != 1 for p in traced.paths) or traced.cycles or traced.error:
        return None
    return _product(open_paths[0])


def _product(path: Path) -> VanishingProduct | None:
    whole = linear(path.output.leaves[0])
    if len(whole.terms) != 1 or path.loops:
        return None
    ((node, factor),) = whole.terms
    if not isinstance(node, Product):
        return None
    left, right = _noise(node.left), _noise(node.right)
    if left is None or right is None or left[0] is right[0]:
        return None
    quadrants = set()
    for literal in path.conditions:  # of either factor, that it is positive or negative; nothing else
        sides = [_sign(literal, noise) for noise in (left, right)]
        if len(literal.terms) != 1 or sides == [None, None]:
            return None
        quadrants.add(tuple(s is not None for s in sides) + tuple(s is True for s in sides))
    return VanishingProduct(whole.constant, factor, frozenset(quadrants), _log_at_zero(left) + _log_at_zero(right))


_Noise = tuple[Draw, Rational, Rational]  # a draw, its coefficient, and what is added


def _noise(x: Any) -> _Noise | None:
    value: Linear = linear(x)
    if len(value.terms) != 1:
        return None
    ((draw, c),) = value.terms
    return (draw, c, value.constant) if isinstance(draw, Draw) and isinstance(draw.law, _SMOOTH) else None


def _sign(literal: Any, noise: _Noise) -> bool | None:
    """Whether a condition says that a factor is positive, or negative; None where it says something else."""
    ((draw, c),) = literal.terms[:1]
    if draw is not noise[0] or literal.constant * noise[1] != c * noise[2]:
        return None
    return bool((c > 0) == (noise[1] > 0))


def _log_at_zero(noise: _Noise) -> float:
    """ln of the density of a factor at zero."""
    draw, c, constant = noise
    assert isinstance(draw.law, _SMOOTH)
    return float(draw.law.log_density(float(-constant / c))) - math.log(abs(float(c)))

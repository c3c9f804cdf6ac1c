"""Places next to which all that an output is made of vanishes, and the ratio of two densities there.

The density of A B at z is the integral of f_A(t) f_B(z / t) / |t|. For z to 0 it grows like f_A(0) f_B(0) ln(1 / |z|) on each
side on which the factors may lie, since between |z| and 1 both arguments are small on a logarithmic scale; with n factors it
grows like the product of their densities at 0 times the power n - 1 of that. Divided by another value C the density at z is
the mean of |C| f(z C), and f grows too slowly for z C to differ from z: what is left of C is the mean of |C|. A quotient is
large where its bottom vanishes. A sum of n squares with weights c is next to 0 with a density like z^(n / 2 - 1) times the
densities of the values at 0 over the roots of their weights. What the densities grow by cancels in their ratio.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.lang.nodes import Draw, Function, Linear, Product, Quotient, is_node, linear
from dpest.lang.spans import is_absolute
from dpest.laws.continuous import Gaussian, Laplace, Logistic
from dpest.numerics.elementary import SQUARE, Elementary
from dpest.numerics.rationals import ONE, Rational
from dpest.trace.explore import Path, Trace

_SMOOTH = (Laplace, Gaussian, Logistic)  # bounded densities, positive and continuous everywhere


@dataclass(frozen=True)
class Vanishing:
    """The event, what two outputs must have in common to be compared there, and ln of what their densities differ by."""

    event: str
    shape: tuple[Any, ...]
    log_density: float

    def against(self, other: Vanishing) -> float | None:
        """What the log ratio tends to; None where the two are not put together alike."""
        return self.log_density - other.log_density if self.shape == other.shape else None


def vanishings(traced: Trace) -> list[Vanishing]:
    """Such places of a program whose one output is put together in one of these ways, or else a plain number."""
    open_paths = [path for path in traced.paths if any(map(is_node, path.output.leaves))]
    if len(open_paths) != 1 or any(len(p.output.leaves) != 1 for p in traced.paths) or traced.cycles or traced.error:
        return []
    return [] if open_paths[0].loops else list(_found(open_paths[0]))


def _found(path: Path) -> Iterator[Vanishing]:
    value: Any = path.output.leaves[0]
    functions: list[Elementary] = []
    while isinstance(value, Function) and value.function != SQUARE:  # a rising or falling function: densities keep their ratio
        functions, value = [value.function, *functions], value.value
    whole = linear(value)
    next_to = f"output next to {_through(functions, float(whole.constant)):g}"
    if not path.conditions and len(whole.terms) > 1:
        yield from _squares(whole, next_to)
    if len(whole.terms) != 1:
        return
    ((node, factor),) = whole.terms
    top, bottom = _factors(node)
    noises = [_noise(x) for x in (*top, *bottom)]
    known = [x for x in noises if x is not None]
    if len(known) < len(noises) or len({id(d) for d, _, _ in known}) < len(known):
        return
    over, under = known[: len(top)], known[len(top) :]
    if len(known) == 2 and not under:
        yield from _product(path, over, factor, whole.constant, next_to)
    elif not path.conditions and len(known) > 1:
        for own, others, event in ((over, under, next_to), (under, over, "large quotient")):
            if own:
                logs = [*map(_log_at_zero, own), *(math.log(_mean_size(x)) for x in others)]
                shape = event, len(own), whole.constant, factor
                what = "all factors vanish" if own is over else "all that it is divided by vanishes"
                yield Vanishing(f"{event}, where {what}", shape, math.fsum(logs))


def _through(functions: Sequence[Elementary], x: float) -> float:
    """The number that functions, the innermost first, make of a number."""
    for function in functions:
        x = float(function.values(x))
    return x


_Noise = tuple[Draw, Rational, Rational]  # a draw, its coefficient, and what is added


def _product(path: Path, noises: list[_Noise], factor: Rational, at: Rational, next_to: str) -> Iterator[Vanishing]:
    """Two factors, of either of which conditions may say that it is positive or negative; and nothing else."""
    quadrants = set()
    for literal in path.conditions:
        sides = [_sign(literal, noise) for noise in noises]
        if len(literal.terms) != 1 or sides == [None, None]:
            return
        quadrants.add(tuple(s is not None for s in sides) + tuple(s is True for s in sides))
    event = f"{next_to}, where both factors vanish"
    yield Vanishing(event, (at, factor, frozenset(quadrants)), math.fsum(map(_log_at_zero, noises)))


def _squares(whole: Linear, next_to: str) -> Iterator[Vanishing]:
    """A sum of squares of values with noise of their own, all with weights of one sign."""
    noises = [_squared(n) for n, _ in whole.terms]
    known = [x for x in noises if x is not None]
    weights = [c for _, c in whole.terms]
    if len(known) < len(noises) or len({id(d) for d, _, _ in known}) < len(known) or min(weights) < 0 < max(weights):
        return
    logs = [_log_at_zero(x) - 0.5 * math.log(abs(c)) for x, c in zip(known, weights, strict=True)]
    event = f"{next_to}, where all squares vanish"
    yield Vanishing(event, (whole.constant, len(known), weights[0] > 0), math.fsum(logs))


def _squared(node: Any) -> _Noise | None:
    if isinstance(node, Product) and node.left is node.right:
        return _noise(node.left)
    if not isinstance(node, Function) or node.function != SQUARE:
        return None
    value: Any = node.value
    return _noise(value.values[0] if is_absolute(value) else value)


def _factors(node: Any) -> tuple[list[Any], list[Any]]:
    """What is multiplied, and what that is divided by; numbers are factors of neither."""
    match node:
        case Product(left=left, right=right):
            (a, b), (c, d) = _factors(left), _factors(right)
            return a + c, b + d
        case Quotient(left=left, right=right):
            (a, b), (c, d) = _factors(left), _factors(right)
            return a + d, b + c
    value = linear(node) if is_node(node) else None
    if value is not None and len(value.terms) == 1 and not value.constant and value.terms[0][1] == ONE:
        inner = value.terms[0][0]
        if inner is not node and isinstance(inner, Product | Quotient):
            return _factors(inner)
    return [node], []


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
    """ln of the density of a value at zero."""
    draw, c, constant = noise
    assert isinstance(draw.law, _SMOOTH)
    return float(draw.law.log_density(float(-constant / c))) - math.log(abs(float(c)))


def _mean_size(noise: _Noise) -> float:
    """The mean of a value's size."""
    draw, c, constant = noise
    k, size = abs(float(constant)), abs(float(c))
    match draw.law:
        case Laplace(b=b):
            return k + b * size * math.exp(-k / (b * size))
        case Logistic(b=b):
            return k + 2 * b * size * math.log1p(math.exp(-k / (b * size)))
        case Gaussian(sigma=sigma):
            s = sigma * size
            return s * math.sqrt(2 / math.pi) * math.exp(-((k / s) ** 2) / 2) + k * math.erf(k / (s * math.sqrt(2)))
    raise AssertionError(draw.law)

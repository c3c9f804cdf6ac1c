"""Released functions undone: exp(z) tells what z tells, so that z is compared in its place.

A function that every random output at one place goes through, under both inputs, and that never gives two values the
same image, changes no loss. It is taken off, layer by layer; the outputs are shown with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpest.lang.nodes import Extreme, Function, Linear, Pick, Quotient, Where, is_node, linear, scaled
from dpest.lang.spans import is_smooth
from dpest.numerics.elementary import RECIPROCAL, Elementary, Kind
from dpest.numerics.rationals import Rational
from dpest.trace.explore import Path, Trace
from dpest.trace.outputs import Flat


@dataclass(frozen=True)
class Layer:
    """What was taken off: an elementary function of `sign * value`, or factor * value + constant."""

    function: Elementary | None
    factor: Rational
    constant: Rational

    def words(self, inner: str) -> str:
        """The layer around a text."""
        if self.function is not None:
            p = self.function.parameter
            name = self.function.kind.value
            text = {
                Kind.RECIPROCAL: f"1/{inner}",
                Kind.EXP: f"exp({inner})" if p is None else f"{float(p):g}**{inner}",
                Kind.POWER: f"{inner}**{float(p or 0):g}",
                Kind.ODD: f"{inner}**{float(p or 0):g}",
            }.get(self.function.kind, f"{name}({inner})" if p is None else f"{name}{float(p):g}({inner})")
            return f"-{text}" if self.factor < 0 else text
        text = inner if self.factor == 1 else f"{float(self.factor):g}*{inner}"
        return f"({text} + {float(self.constant):g})" if self.constant else text

    def value(self, x: float) -> float:
        """The layer's value at a number."""
        if self.function is not None:
            return float(self.function.values(x)) * float(self.factor)
        return float(self.factor) * x + float(self.constant)


Layers = dict[tuple[Any, int], tuple[Layer, ...]]  # by structure and position, the outermost first


def undone(left: Trace, right: Trace) -> tuple[Trace, Trace, Layers]:
    """Both traces without the functions that change no loss, and those functions."""
    paths = (*left.paths, *right.paths)
    if not any(_has_layer(x) for p in paths for x in p.output.leaves):
        return left, right, {}
    columns: dict[tuple[Any, int], list[Any]] = {}
    for p in paths:
        for i, x in enumerate(p.output.leaves):
            columns.setdefault((p.output.structure, i), []).append(x)
    layers: Layers = {}
    for place, leaves in columns.items():
        found, columns[place] = _peeled(leaves)
        if found:
            layers[place] = found
    if not layers:
        return left, right, {}
    rest = {place: iter(leaves) for place, leaves in columns.items()}
    return _rebuilt(left, rest), _rebuilt(right, rest), layers


def _rebuilt(trace: Trace, rest: dict[tuple[Any, int], Iterator[Any]]) -> Trace:
    """The trace with its leaves replaced, in the order in which they were listed."""
    paths: list[Path] = []
    for p in trace.paths:
        structure = p.output.structure
        leaves = tuple(next(rest[structure, i]) for i in range(len(p.output.leaves)))
        same = all(x is y for x, y in zip(leaves, p.output.leaves, strict=True))
        paths.append(p if same else replace(p, output=Flat(structure, leaves)))
    return replace(trace, paths=tuple(paths))


def _peeled(leaves: list[Any]) -> tuple[tuple[Layer, ...], list[Any]]:
    """The layers that all leaves share, and what is inside."""
    found: list[Layer] = []
    for _ in range(64):  # deeper towers of functions are nobody's
        layers = {_layer(x) for leaf in leaves for x in _branches(leaf) if is_node(x)}
        layer = layers.pop() if len(layers) == 1 else None
        if layer is None or not _safe(leaves):
            break
        found.append(layer)
        leaves = [_each(leaf, _inner) for leaf in leaves]
    return tuple(found), leaves


def _has_layer(x: Any) -> bool:
    return is_node(x) and any(_layer(b) is not None for b in _branches(x) if is_node(b))


def _branches(x: Any) -> Iterator[Any]:
    """What stands at the ends of case distinctions."""
    if isinstance(x, Where):
        yield from _branches(x.yes)
        yield from _branches(x.no)
    else:
        yield x


def _each(x: Any, change: Callable[[Any], Any]) -> Any:
    """The value with every random end of its case distinctions changed."""
    if isinstance(x, Where):
        return Where(x.condition, _each(x.yes, change), _each(x.no, change))
    return change(x) if is_node(x) else x


def _safe(leaves: Sequence[Any]) -> bool:
    """Whether no constant at the place can be mistaken for a value of what is inside the layer."""
    ends = [x for leaf in leaves for x in _branches(leaf)]
    numbers = any(_number(x) for x in ends)
    return not numbers or all(is_smooth(_inner(x)) for x in ends if is_node(x))


def _layer(x: Any) -> Layer | None:
    """The outermost layer of a random value; None where it has none that can be taken off."""
    one = _one_term(x)
    if one is None:
        return None
    node, c, k = one
    match node:
        case Function(function=function) if _folds(function) and not k:
            return Layer(function, _sign(c), 0 * c)
        case Function(function=function) if c == 1 and not k:
            return Layer(function, c, k)
        case Quotient(left=left, right=right) if not k and _number(left) and left and is_smooth(right):
            return Layer(RECIPROCAL, c / c, k)
        case Function() | Quotient() | Where() if c != 1 or k:
            return Layer(None, c, k)
    return None


def _inner(x: Any) -> Any:
    """What is inside the outermost layer."""
    one = _one_term(x)
    assert one is not None
    node, c, k = one
    match node:
        case Function(function=function, value=value) if _folds(function) and not k:
            return _absorbed(function, value, abs(c))
        case Function(value=value) if c == 1 and not k:
            return value
        case Quotient(left=left, right=right) if not k and _number(left) and left and is_smooth(right):
            return scaled(linear(right), 1 / (c * linear(left).constant))
    return node


def _one_term(x: Any) -> tuple[Any, Rational, Rational] | None:
    value = linear(x) if is_node(x) else None
    if value is None or len(value.terms) != 1:
        return None
    return _pulled_out(value.terms[0][0]), value.terms[0][1], value.constant


def _pulled_out(node: Any) -> Any:
    """The largest of exp(a), exp(b), ... as exp of the largest."""
    if not isinstance(node, Extreme) or not all(isinstance(v, Function) for v in node.values):
        return node
    first, pick = node.values[0], node.pick
    if first.function.kind is Kind.RECIPROCAL or any(v.function != first.function for v in node.values):
        return node
    if not first.function.rising:
        pick = Pick.MIN if pick is Pick.MAX else Pick.MAX
    return Function(first.function, Extreme(pick, tuple(v.value for v in node.values)), first.call)


def _folds(function: Elementary) -> bool:
    """Whether a positive factor goes into the function: c * e^v = e^(v + ln c), c * v^p = (c^(1/p) v)^p."""
    return function.kind in (Kind.EXP, Kind.POWER, Kind.ODD)


def _absorbed(function: Elementary, value: Any, factor: Rational) -> Any:
    inner = linear(value)
    if factor == 1:
        return value
    if function.kind is Kind.EXP:
        return Linear(inner.terms, inner.constant + function.inverse().at(factor))
    return scaled(inner, Elementary(Kind.POWER, function.inverse().parameter).at(factor))


def _sign(c: Rational) -> Rational:
    return c / abs(c)


def _number(x: Any) -> bool:
    return isinstance(x, int | float) and math.isfinite(x)


def shown(layers: Sequence[Layer], inner: str) -> str:
    """The layers around a text."""
    for layer in reversed(layers):
        inner = layer.words(inner)
    return inner


def evaluated(layers: Sequence[Layer], x: float) -> float:
    """The layers' value at a number."""
    for layer in reversed(layers):
        x = layer.value(x)
    return x

"""Released functions undone: exp(z) tells what z tells, so that z is compared in its place.

A function that every random output at one place goes through, under both inputs, and that never gives two values the
same image, changes no loss. It is taken off, layer by layer; the outputs are shown with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from dpest.exact.loss.beside import Beside, never_zero, others_in, undone_beside
from dpest.exact.loss.exponential_shares import in_differences
from dpest.exact.loss.normed import Normed, in_directions
from dpest.exact.loss.same_value import written_once
from dpest.exact.loss.squares import in_squares_of_outputs
from dpest.inputs.shown import show
from dpest.lang.extent import is_rounded
from dpest.lang.nodes import Extreme, Function, Linear, Pick, Product, Quotient, Rounded, Where, is_node, linear, scaled
from dpest.lang.spans import is_smooth
from dpest.numerics.elementary import RECIPROCAL, Elementary, Kind
from dpest.numerics.rationals import Rational, is_number
from dpest.trace.explore import Path, Trace
from dpest.trace.outputs import Flat

T = TypeVar("T")


@dataclass(frozen=True)
class Layer:
    """What was taken off: an elementary function of `sign * value`, or factor * value + constant."""

    function: Elementary | None
    factor: Rational
    constant: Rational
    apart: bool = False  # whether numbers at the place are outputs as they are: the layer is not around them

    def words(self, inner: str) -> str:
        """The layer around a text."""
        if self.function is not None:
            text = self.function.words(inner)
            return f"-{text}" if self.factor < 0 else text
        text = inner if self.factor == 1 else f"{float(self.factor):g}*{inner}"
        return f"({text} + {float(self.constant):g})" if self.constant else text

    def value(self, x: float) -> float:
        """The layer's value at a number."""
        if self.function is not None:
            return float(self.function.values(x)) * float(self.factor)
        return float(self.factor) * x + float(self.constant)


Taken: TypeAlias = tuple[Layer | Beside | Normed, ...]  # the outermost first
Layers: TypeAlias = dict[tuple[Any, int], Taken]  # by structure and position


def undone(left: Trace, right: Trace) -> tuple[Trace, Trace, Layers]:
    """Both traces without the functions that change no loss, and those functions."""
    paths = (*left.paths, *right.paths)
    if not any(_may_be_undone(x) for p in paths for x in p.output.leaves):
        return left, right, {}
    rows: dict[Any, list[list[Any]]] = {}
    for p in paths:
        rows.setdefault(p.output.structure, []).append(list(p.output.leaves))
    layers: Layers = {}
    for structure, outputs in rows.items():
        for place, taken in _all_taken(outputs).items():
            layers[structure, place] = taken
    if not layers:
        return left, right, {}
    rest = {structure: iter(outputs) for structure, outputs in rows.items()}
    return _rebuilt(left, rest), _rebuilt(right, rest), layers


def _all_taken(rows: list[list[Any]]) -> dict[int, Taken]:
    """What is taken off the outputs of one structure, by place; the rows are what is left then.

    The last output comes first: it may be made of those before it.
    """
    out: dict[int, Taken] = {}

    def replaced(place: int, found: Taken, column: list[Any]) -> None:
        for row, x in zip(rows, column, strict=True):
            row[place] = x
        if found:
            out[place] = (*out.get(place, ()), *found)

    places = range(len(rows[0]))
    rows[:], norms = in_directions([in_differences(row) for row in rows])
    out.update((i, (layer,)) for i, layer in enumerate(norms))
    for place in places:
        replaced(place, *_peeled([row[place] for row in rows]))
    if len(places) > 1:
        rows[:] = [in_squares_of_outputs(written_once(row)) for row in rows]
    waiting = [place for place in reversed(places) if len(places) > 1 and any(_depends(row[place]) for row in rows)]
    waiting = [place for place in waiting if not any(_rounds_apart(row[place]) for row in rows)]
    while waiting:
        place, found = next(((i, found) for i in waiting if (found := undone_beside(rows, i)) is not None), (0, None))
        if found is None:
            break
        since = tuple((j, len(out.get(j, ()))) for j in sorted(others_in(found[0].by)))
        apart = _numbers([row[place] for row in rows])
        replaced(place, (replace(found[0], since=since, apart=apart),), found[1])
        replaced(place, *_peeled([row[place] for row in rows]))
    return out


def _depends(x: Any) -> bool:
    """Whether a value is a product or a quotient, or a sum with one: other outputs may take it apart."""
    return is_node(x) and any(isinstance(n, Product | Quotient | Function | Rounded) for n, _ in linear(x).terms)


def _rounds_apart(x: Any) -> bool:
    """Whether a discrete value is rounded, so that what is left when another output is taken off does not tell it."""
    return any(is_rounded(b) for b in _branches(x))


def _rebuilt(trace: Trace, rest: dict[Any, Iterator[list[Any]]]) -> Trace:
    """The trace with its leaves replaced, in the order in which they were listed."""
    paths: list[Path] = []
    for p in trace.paths:
        leaves = tuple(next(rest[p.output.structure]))
        same = all(x is y for x, y in zip(leaves, p.output.leaves, strict=True))
        paths.append(p if same else replace(p, output=Flat(p.output.structure, leaves)))
    return replace(trace, paths=tuple(paths))


def _peeled(leaves: list[Any]) -> tuple[tuple[Layer, ...], list[Any]]:
    """The layers that all leaves share, and what is inside."""
    found: list[Layer] = []
    for _ in range(64):  # deeper towers of functions are nobody's
        layers = {_layer(x) for leaf in leaves for x in _branches(leaf) if is_node(x)}
        layer = layers.pop() if len(layers) == 1 else None
        if layer is None or not _safe(leaves) or _hides_rounding(layer, leaves):
            break
        found.append(replace(layer, apart=_numbers(leaves)))
        leaves = [_each(leaf, _inner) for leaf in leaves]
    return tuple(found), leaves


def _may_be_undone(x: Any) -> bool:
    return is_node(x) and (_depends(x) or any(_layer(b) is not None for b in _branches(x) if is_node(b)))


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
    return not _numbers(leaves) or all(is_smooth(_inner(x)) for x in ends if is_node(x))


def _hides_rounding(layer: Layer, leaves: Sequence[Any]) -> bool:
    """Whether discrete values are rounded where a layer ends: equal values inside it need not be equal outputs then."""
    ends = [x for leaf in leaves for x in _branches(leaf) if is_node(x)]
    return any(is_rounded(x if layer.function is None else _inner(x)) for x in ends)


def _numbers(leaves: Sequence[Any]) -> bool:
    return any(is_number(x) for leaf in leaves for x in _branches(leaf))


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
        case Quotient(left=left, right=right) if not k and is_number(left) and left and never_zero(right):
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
        case Quotient(left=left, right=right) if not k and is_number(left) and left and never_zero(right):
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


@dataclass(frozen=True)
class Dressed:
    """Outputs with what was taken off them, by place: texts of the ones that are open, numbers of the others."""

    layers: Mapping[int, Taken]
    inside: Sequence[Any]  # a text for each output that is open, else its value

    def text(self, place: int, since: int = 0) -> str:
        """An output as a text, or what was left of it after some layers had been taken off."""
        x = self.inside[place]
        text = x if isinstance(x, str) else show(x)
        for layer in self._around(place, since):
            if isinstance(layer, Beside | Normed):
                text = layer.words(text, partial(self._seen, dict(layer.since), self.text))
            else:
                text = layer.words(text)
        return text

    def value(self, place: int, since: int = 0) -> float:
        """An output as a number; not a number where it is none, or open."""
        x = self.inside[place]
        value = float(x) if is_number(x) else math.nan
        for layer in self._around(place, since):
            if isinstance(layer, Beside | Normed):
                value = layer.value(value, partial(self._seen, dict(layer.since), self.value))
            else:
                value = layer.value(value)
        return value

    def _around(self, place: int, since: int) -> Iterator[Layer | Beside | Normed]:
        """The layers around what is inside, the innermost first."""
        number = not isinstance(self.inside[place], str)
        return (x for x in reversed(self.layers.get(place, ())[since:]) if not (number and x.apart))

    @staticmethod
    def _seen(since: Mapping[int, int], what: Callable[[int, int], T], place: int) -> T:
        """Another output as it was when a layer was taken off."""
        return what(place, since[place])

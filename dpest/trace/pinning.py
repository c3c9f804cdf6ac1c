"""Values with finitely many points: the plain number that each of them is on a path, as the program computes it."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.extent import extent
from dpest.lang.nodes import Draw, Linear, Node, Rounded, linear
from dpest.lang.plain import Undetermined, evaluate, rests_on
from dpest.lang.spans import reach
from dpest.trace.atomic import Ask, Became, has_finitely_many_points, is_listed, point
from dpest.trace.resolve import affine, decide
from dpest.trace.rests import note_truths
from dpest.trace.roundings import reaches, short


class Here:
    """What functions, products and quotients ask of the path that they are on."""

    def __init__(self, ask: Ask, became: Became) -> None:
        self.ask, self.became = ask, became

    def affine(self, x: Any) -> Linear:
        """A value as an affine expression."""
        return affine(x, self.ask, self.became)

    def decide(self, condition: Any) -> bool:
        """Which way a condition goes."""
        return decide(condition, self.ask)

    def pinned(self, x: Any, what: str) -> int | float:
        """The number that a value with listed points has."""
        return pinned(x, self.ask, what, self.became)


def pinned(x: Any, ask: Ask, what: str, became: Became | None = None) -> int | float:
    """The plain number that a value with finitely many points has on this path, as the program computes it."""
    became = {} if became is None else became
    value = affine(x, ask, became)
    if isinstance(x, Rounded) and short(x) and not has_finitely_many_points(value):
        return _step(x, ask)
    if not is_listed(value, ask) and not all(_is_few(n, ask, became) for n, _ in value.terms):
        raise ExactRefused(f"{what} that does not have finitely many points")
    _pin(value, ask, became)
    note_truths(x, became, partial(affine, ask=ask, became=became))
    missing, _ = rests_on(x, became)
    few = [d for d in missing if has_finitely_many_points(linear(d))]
    rounded = bool(missing) and not extent(x, became).exact
    if rounded and len(few) < len(missing) and all(d.law.discrete for d in missing):
        raise ExactRefused(f"{what} in which a value without finitely many points cancels, and leaves its rounding")
    with suppress(Undetermined):
        if not rounded:
            return _computed(x, became)
    became |= {id(d): point(d, ask) for d in few}  # that cancel in rationals alone
    with suppress(Undetermined):
        return _computed(x, became)
    return _computed(value, became)  # zero times a value that nobody asked for


def _is_few(node: Node, ask: Ask, became: Became) -> bool:
    """Whether a part of a value has finitely many points; what is rounded may do so once the truths in it are decided."""
    if not isinstance(node, Rounded) or has_finitely_many_points(linear(node)):
        return has_finitely_many_points(linear(node))
    return all(_is_few(n, ask, became) for n, _ in affine(node.value, ask, became).terms)


def _computed(x: Any, became: Became) -> int | float:
    number: int | float = evaluate(x, became)
    return number


def _step(node: Rounded, ask: Ask) -> int:
    """The whole number that a rounding is on this path, from its smallest on."""
    low, high = (math.ceil(x) for x in reach(node))
    return next((k for k in range(low, high) if not decide(reaches(node, k + 1), ask)), high)


def _pin(value: Linear, ask: Ask, became: Became) -> None:
    """Notes the point of every draw that a value is made of."""
    for node, _ in value.terms:
        if id(node) in became:
            continue
        if isinstance(node, Draw):
            became[id(node)] = point(node, ask)
        else:
            assert isinstance(node, Rounded)
            _pin(affine(node.value, ask, became), ask, became)

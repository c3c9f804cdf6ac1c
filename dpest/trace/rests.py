"""Truths that cancel in rationals: with a bit b made of uniform noise, (0.1 * b + 0.3) - 0.1 * b is 0.3, and not so in doubles.

Where the program rounds, all that it computes with has to be known, whether it is left in the rational value or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpest.lang.extent import compared, extent
from dpest.lang.nodes import Draw, Linear, Node
from dpest.lang.plain import rests_on
from dpest.trace.atomic import Became
from dpest.trace.whole import AsWritten, Uneven

Note = Callable[[Node], Any]  # decides a truth or a place, and notes what it is


def note_truths(x: Any, became: Became, note: Note) -> None:
    """Notes the truths and places that a value is computed from, where the program's arithmetic rounds."""
    if rests_on(x, became)[1] and not extent(x, became).exact:
        _note_all(x, became, note)


def as_computed(program: AsWritten, value: Linear, became: Became, note: Note | None) -> AsWritten:
    """The comparison of discrete values, with the truths and places that its sides are computed from where they are rounded."""
    if any(isinstance(n, Draw) and not n.law.discrete for n, _ in value.terms) or not rests_on(program.condition, became)[1]:
        return program
    if compared(program.condition, became).exact:  # not the program's own, which is kept: roundings are still to be replaced
        return program
    if note is None:
        raise Uneven("a comparison of values with truths in them that cancel: rounding decides it")
    _note_all(program.condition, became, note)
    return AsWritten(program.condition, became)


def _note_all(x: Any, became: Became, note: Note) -> None:
    while open_ones := rests_on(x, became)[1]:
        for node in open_ones:
            note(node)

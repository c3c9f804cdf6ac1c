"""The program once more on Python's own numbers: a mechanism that asks for exact types tells them from ours.

A plain run hands out numbers of classes below int and float, which `isinstance` takes for what they are and `type(x) is int`
does not. Neither do stand-ins pass for an int, so that trace and plain run would agree on the branch that no real run takes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from dpest.errors import TraceMismatch
from dpest.lang.plain_numbers import PlainFloat, bare, size_of
from dpest.laws.law import Law
from dpest.trace.outputs import Flat
from dpest.trace.plain_run import NumberSource, PlainRun, draws_in_words, shown_output

RunProgram = Callable[[Any], Flat]
_TYPES = frozenset(("type", "__class__"))  # names by which a program learns an exact type
_CLOSE = 1e-9  # relative: arrays of floats are added up in another order; another branch differs by far more


class _OwnNumbers(PlainRun):
    """The numbers of an earlier run, as Python's own."""

    def draw(self, law: Law) -> Any:
        """The number that the earlier run drew here."""
        return bare(super().draw(law))


def check_own_numbers(program: RunProgram, run: PlainRun, output: Flat, source: NumberSource) -> None:
    """Raises `TraceMismatch` where the program asks for exact types, and does something else on Python's own numbers.

    Without such a question a difference is no lie: `~` stands for `not` with NumPy's truth values and ours, not with Python's.
    """

    def again() -> PlainRun:
        return _OwnNumbers(source, script=run.drawn, together=run.together)

    own = again()
    try:
        with np.errstate(all="ignore"):
            found = program(own)
        if _same(own, found, run, output) or not _asks_for_types(program, again()):
            return
    except Exception:  # functions of NumPy that arrays of objects know in our numbers alone: nothing to compare
        return
    raise TraceMismatch(
        f"the mechanism on Python's own numbers does not do what it does on dpest's. With the draws {draws_in_words(run.drawn)} "
        f"it returned {shown_output(own, found)} and {shown_output(run, output)}. Ask for types with isinstance(x, int), "
        "not with `type(x) is int`"
    )


def _asks_for_types(program: RunProgram, run: PlainRun) -> bool:
    """Whether a function of the program, other than dpest's own, uses a name by which exact types are learnt."""
    names: set[str] = set()

    def called(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and not str(frame.f_globals.get("__name__")).startswith("dpest."):
            names.update(frame.f_code.co_names)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        program(run)
    finally:
        sys.setprofile(before)
    return bool(_TYPES & names)


def _same(own: PlainRun, found: Flat, run: PlainRun, output: Flat) -> bool:
    if found.structure != output.structure:
        return False
    pairs = zip(found.leaves, output.leaves, strict=True)
    return all(_agree(own.number(a), run.number(b), size_of(b) if isinstance(b, PlainFloat) else 0.0) for a, b in pairs)


def _agree(a: Any, b: Any, size: float) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        if not (math.isfinite(a) and math.isfinite(b)):
            return a == b or (math.isnan(a) and math.isnan(b))
        return abs(a - b) <= _CLOSE * max(size, abs(a), abs(b))
    return bool(a == b)

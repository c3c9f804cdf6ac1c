"""Code that asks what a value is rather than how large: `(u < p) is True`, `match u < p: case True`, `type(z) is float`.

A random value is no bool and no float while it is traced, and nothing can tell that it was asked for. Where the author's code
asks in this way, the program is run on Python's own numbers beside the ones that the trace stands on.
"""

from __future__ import annotations

import dis
import math
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dpest.errors import DpestError, UnsupportedOperation
from dpest.lang.generators.places import codes, is_authors, is_filled, names_in
from dpest.lang.plain_numbers import Own, own_numbers
from dpest.lang.shuffled import OrderMatters
from dpest.run.streams import stream
from dpest.trace.outputs import Flat
from dpest.trace.plain_run import SEED, Aim, NumberSource, PlainRun

_MOST_LOOKED_AT = 500  # functions and classes that the mechanism leads to
_RUNS = 16  # as many as notice a coin that comes up one time in four, but for one time in a hundred
_MANY_DRAWS = 500  # of a run, which then takes as long as the few runs of a short program: one is enough
_CLOSE = 1e-6  # of noise in float32
_AIMED_RUNS = 12  # more of them: beside a bound on a whole number, three in four show what happens at one point
_FEW_RUNS = 4  # where no code asks, and NumPy's arithmetic alone may differ: each costs two runs of the program


def check_identity(
    mechanism: Any, program: Callable[[Any], Flat], together: bool, first: bool = True, aims: dict[int, list[Aim]] | None = None
) -> None:
    """Raises where the program does something else on Python's and NumPy's own numbers than on those of the trace.

    Arithmetic is the same for all inputs of a question: after the `first` pair one run is enough. Some runs aim at the
    bounds of conditions: what the program does where they rarely hold is seen too.
    """
    asks = any(map(_asks, codes_of(mechanism)))
    source = NumberSource(stream(SEED))
    whose = [Own.PYTHON] if asks else [Own.PYTHON, Own.NUMPY]
    runs = _RUNS if asks else _FEW_RUNS if first else 1
    for k in range(runs + (_AIMED_RUNS if aims and first else 0)):
        run = PlainRun(source, aims if k >= runs else None, together=together)
        with np.errstate(all="ignore"):
            output = program(run)
        # Truth values of Python count, those of NumPy are logical: a program is right with one of them, which is the author's.
        if not any(alike_on(own, run, output, program) for own in whose):
            raise UnsupportedOperation(_ASKS if asks else _OTHERWISE)
        if len(run.drawn) > _MANY_DRAWS and not asks:
            return


def alike_on(own: Own, run: PlainRun, output: Flat, program: Callable[[Any], Flat]) -> bool:
    """Whether the same draws lead to the same output on numbers of this kind; an error of the program's counts as none."""
    again = PlainRun(NumberSource(stream(SEED)), script=run.drawn, together=run.together)
    again.outside = run.outside
    try:
        with own_numbers(own), np.errstate(all="ignore"):
            second = program(again)
    except OrderMatters:  # an order that is left open: only arrays that hold random values can be without one
        return True
    except DpestError:
        return False
    if output.structure != second.structure:
        return False
    return all(map(_alike, _numbers(run, output), _numbers(again, second)))


_ASKS = (
    "the mechanism asks whether a random truth value `is True` (or matches it with `case True`), or what type a "
    "random value has, which no trace sees: write `if condition:` or `isinstance` instead"
)
_OTHERWISE = (
    "the mechanism does something else on NumPy's own numbers than on Python's: arithmetic that wraps around or rounds to few "
    "bits (uint8, int64, float32), a fraction that is written into an array of whole numbers, truth values that are added (`+` "
    "of two of NumPy's is `or`), or a sum whose last digit decides. Write it with numbers of Python's: int(x), float(x), "
    "int(a > b)"
)


def _numbers(run: PlainRun, output: Flat) -> list[Any]:
    return [run.number(x) for x in output.leaves]


def _alike(a: Any, b: Any) -> bool:
    """Whether two outputs are the same but for rounding: NumPy adds up its own floats in another order."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE) or (math.isnan(a) and math.isnan(b))
    return repr(a) == repr(b) or (isinstance(a, int | float) and isinstance(b, int | float) and a == b)


def codes_of(mechanism: Any) -> Iterator[CodeType]:
    """The code of the author's functions: the mechanism, and what it calls by a global name, from a closure, or as a method."""
    todo: list[Any] = [mechanism]
    seen: set[int] = set()
    while todo and len(seen) < _MOST_LOOKED_AT:
        x = todo.pop()
        if id(x) in seen or not (is_authors(x) or isinstance(x, partial)):
            continue
        seen.add(id(x))
        match x:
            case FunctionType():
                yield from codes(x.__code__)
                todo += [x.__globals__[name] for name in names_in(x.__code__) if name in x.__globals__]
                todo += [cell.cell_contents for cell in x.__closure__ or () if is_filled(cell)]
            case MethodType():
                todo += [x.__func__, type(x.__self__)]
            case type():
                todo += [getattr(f, "__func__", f) for f in vars(x).values()]
            case ModuleType():
                todo += [f for f in vars(x).values() if isinstance(f, FunctionType)]
            case partial():
                todo += [x.func, *x.args]
            case _:
                todo.append(type(x))


@lru_cache(maxsize=1024)
def _asks(code: CodeType) -> bool:
    """Whether the code compares something with True or False by identity, or asks for a type."""
    if {"type", "__class__"}.intersection(code.co_names):
        return True
    steps = list(dis.get_instructions(code))
    asked = (a.argval for a, b in zip(steps, steps[1:], strict=False) if b.opname == "IS_OP")
    return any(x is True or x is False for x in asked)

"""What a function stands for when rewritten code calls it: the author's own rewritten, those that compare values traced."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import secrets
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from dpest.lang import ordering
from dpest.lang.buffers import BUFFERS
from dpest.lang.generators.arrays import ARRAYS
from dpest.lang.generators.conversions import CALLED_NUMBERS, CONVERSIONS
from dpest.lang.generators.factories import FACTORIES
from dpest.lang.generators.mathematics import MATHEMATICS
from dpest.lang.generators.places import is_authors
from dpest.lang.generators.questions import QUESTIONS
from dpest.lang.generators.standins import StandIn
from dpest.lang.text import TEXTS, as_int, as_text, filled, formatted, joined
from dpest.trace import source

_CHANGES = frozenset({"shuffle", "seed", "setstate", "set_state"})  # methods of generators that do more than draw
_OF_DPEST = (
    *("dpest.lang.noise", "dpest.lang.functions", "dpest.lang.verbs", "dpest.lang.text"),
    *("dpest.lang.generators.arrays", "dpest.lang.generators.open_arrays"),
)
_HARMLESS_BUILTINS = (
    abs,
    bool,
    divmod,
    enumerate,
    float,
    int,
    len,
    list,
    max,
    min,
    pow,
    range,
    round,
    sorted,
    str,
    sum,
    tuple,
    zip,
)
_HARMLESS_OF_NUMPY = (
    *(
        "array",
        "asarray",
        "zeros",
        "ones",
        "full",
        "zeros_like",
        "ones_like",
        "where",
        "clip",
        "sum",
        "mean",
        "prod",
        "dot",
        "inner",
    ),
    *("cumsum", "argmax", "argmin", "max", "min", "amax", "amin", "sort", "argsort", "median", "round", "abs", "concatenate"),
)
_CHANGE_OPERANDS = ("setitem", "delitem", "call", *(name for name in vars(operator) if name.startswith("i")))
STANDING = {**CONVERSIONS, **MATHEMATICS}
_HARMLESS = frozenset(
    {id(f) for f in _HARMLESS_BUILTINS}
    | {id(getattr(np, name)) for name in _HARMLESS_OF_NUMPY}
    | {id(f) for f in vars(math).values() if isinstance(f, BuiltinFunctionType)}
    | {id(f) for f in (secrets.randbelow, secrets.randbits, secrets.choice)}  # they call a generator that is stood in for
    # What stands for functions while a trace runs.
    | {id(f) for f in FACTORIES.values() if f.__name__ == "SystemRandom"}  # which takes no seed
    | {id(f) for table in (QUESTIONS, ARRAYS, CONVERSIONS, MATHEMATICS) for f in table.values()}
    | {id(f) for f in vars(operator).values() if isinstance(f, BuiltinFunctionType) and f.__name__ not in _CHANGE_OPERANDS}
)


_RUN_CODE = frozenset({"join", "format", "format_map", "translate"})  # methods of strings that ask their arguments for more
_OF_STRINGS = {"join": joined, "format": filled}


def call(function: Any) -> Any:
    """What stands for the function in a run on stand-ins."""
    kind = type(function)
    known = _known().get(id(function))
    if known is not None:
        return known
    if kind is FunctionType:
        return _of_author(function)
    if kind is MethodType:
        inner = function.__func__
        changed = _of_author(inner) if type(inner) is FunctionType else inner
        return function if changed is inner else MethodType(changed, function.__self__)
    if kind is BuiltinFunctionType and type(function.__self__) is str and function.__name__ in _OF_STRINGS:
        return _OF_STRINGS[function.__name__](function.__self__)
    if kind is BuiltinFunctionType and isinstance(function.__self__, ordering.OWNERS):
        return ordering.method(function)
    if kind is functools.partial:
        return functools.partial(call(function.func), *function.args, **function.keywords)
    own = next((vars(c)["__call__"] for c in kind.__mro__ if "__call__" in vars(c)), None)
    return MethodType(_of_author(own), function) if type(own) is FunctionType and is_authors(own) else function


def harmless(function: Any) -> bool:
    """Whether a function does nothing but return a value, draws included."""
    if id(function) in _HARMLESS or isinstance(function, np.ufunc):
        return True
    if isinstance(function, MethodType):
        owner = function.__self__
        # A generator that the run seeded itself has a state, which moves with every number.
        return isinstance(owner, StandIn) and function.__name__ not in _CHANGES and not owner.is_seeded()
    if type(function) is BuiltinFunctionType and type(function.__self__) is str:
        return function.__name__ not in _RUN_CODE
    module = getattr(function, "__module__", None)
    return isinstance(function, FunctionType) and module is not None and module.startswith(_OF_DPEST)


def _of_author(function: FunctionType) -> FunctionType:
    if not is_authors(function):
        return function
    from dpest.trace import together

    return source.together(function, together)


def _with_key(traced: Callable[..., Any]) -> Callable[..., Any]:
    """The key function of an ordering is the author's, and called here."""

    def called(*values: Any, key: Any = None, **options: Any) -> Any:
        return traced(*values, key=None if key is None else call(key), **options)

    return called


@functools.cache
def _known() -> dict[int, Callable[..., Any]]:
    """By the id of a function that stays: what stands for it."""
    known = ordering.functions()
    for function in (max, min, sorted):
        known[id(function)] = _with_key(known[id(function)])
    return {
        **known,
        **TEXTS,
        **BUFFERS,
        **CALLED_NUMBERS,
        **{id(f): as_int(known.get(id(f), f)) for f in (int, round)},
        **{id(x): as_int(x) for f in (int, math.floor, math.ceil, math.trunc) if (x := STANDING.get(id(f))) is not None},
        **{id(f): as_int(f) for f in (math.floor, math.ceil, math.trunc)},
        id(builtins.str): as_text,
        id(builtins.format): formatted,
        id(builtins.map): lambda f, *values: map(call(f), *values),
        id(builtins.filter): lambda f, values: filter(call(f), values),
        id(functools.reduce): lambda f, *values: functools.reduce(call(f), *values),
    }

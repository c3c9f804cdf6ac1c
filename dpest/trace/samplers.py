"""Functions that sample by a loop: called with plain arguments, such a function is one draw.

`bernoulli_exp(x)` tosses coins until one fails, and returns whether their number is odd: without end, in as many ways as there
are numbers of tosses, and called again and again. Where a function of the author's sees nothing that can change, and its draws
are its own, what it returns depends on its arguments alone: it is followed by itself, once for each set of arguments, and its
law stands for it.
"""

from __future__ import annotations

import dis
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dpest.errors import DpestError
from dpest.lang.dist import RUN, Dist, fresh
from dpest.lang.generators.conversions import CONVERSIONS
from dpest.lang.generators.places import codes, is_authors, names_in
from dpest.lang.generators.seeds import seeded
from dpest.lang.generators.standins import StandIn
from dpest.lang.plain_numbers import bare
from dpest.lang.points import number_at_points
from dpest.laws.discrete import Atoms
from dpest.trace.against_program import CHECKS
from dpest.trace.chain import ChainLimits, OutputChances
from dpest.trace.chained import chained
from dpest.trace.execute import Abandoned, returned
from dpest.trace.frames import has_while
from dpest.trace.limits import Limits
from dpest.trace.outcomes import outcomes
from dpest.trace.outputs import Flat, flatten
from dpest.trace.replay import Replay
from dpest.trace.source import as_written
from dpest.trace.syntax import RUNTIME

_VALUES = (bool, int, float, str, bytes, Fraction, type(None))
_MODULES = frozenset({"random", "secrets", "math", "numpy", "fractions", "operator", "itertools", "statistics"})
_REACH_OUT = frozenset({"open", "print", "input", "exec", "eval", "setattr", "delattr", "globals", "vars", "locals", "id"})
_CHANGES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "YIELD_VALUE", "SEND"})
_MOST_FUNCTIONS = 32  # that one leads to
_MOST_POINTS = 256  # of a law that stands for a function
# Of a function that is called inside a run. Tossing coins until one fails, with chances 1 / k, takes 22 states.
_ALONE, _LIMITS = ChainLimits(states=1_000, work=100_000, little=1e-17), Limits(forks=0)
_LITTLE = -30.0  # ln of the most that may be left out of a law; it counts as unexplored


@dataclass(frozen=True)
class OneDraw:
    """What a function returns: the law of a number, whether it is a truth value, ln of what is left out, and if it is a tail."""

    law: Atoms
    truth: bool
    log_left_out: float
    has_tail: bool

    def drawn(self) -> Any:
        """One value."""
        if len(self.law.points) == 1:
            return bool(self.law.points[0]) if self.truth else int(self.law.points[0])
        value = fresh(self.law)
        return value == 1 if self.truth else value


@dataclass(frozen=True)
class _Call:
    """A function of the author's with its arguments, and what its law depends on, by which calls are compared."""

    function: Any = field(compare=False)
    values: tuple[Any, ...] = field(compare=False)
    depends_on: tuple[Any, ...]


def sampled(function: Any, rewritten: Any) -> Any:
    """The function or method as rewritten code calls it: one draw where its arguments are plain, and else what it was."""
    asked = function
    if type(function) is MethodType:  # what is called by name is the function of its class
        function = function.__func__
    if type(function) is not FunctionType or not is_authors(function) or not _has_loop(function):
        return rewritten
    if RUNTIME in function.__code__.co_freevars:  # one inside a function, which was rewritten with it
        asked = as_written(function) if asked is function else None
        if asked is None or not _has_loop(asked):  # its loop was made of recursion, which stands for itself
            return rewritten

    def called(*args: Any, **keywords: Any) -> Any:
        if not keywords and any(isinstance(x, Dist) for x in args) and sees_only_values(asked):
            args = tuple(number_at_points(x) if isinstance(x, Dist) else x for x in args)
        found = None if keywords else _found(asked, args)
        if found is None:
            return rewritten(*args, **keywords)
        run: Any = RUN.get()
        if isinstance(run, Replay):
            run.counted = True
            before = getattr(run, "log_mass", 0.0)  # of the path so far, or more
            run.log_left_out = float(np.logaddexp(run.log_left_out, before + found.log_left_out))
        return found.drawn()

    return called


def applied(function: Any) -> Callable[[tuple[Any, ...]], Any]:
    """The function of a tuple of arguments."""
    return lambda args: function(*args)


def _found(function: Any, args: tuple[Any, ...]) -> OneDraw | None:
    args = tuple(map(bare, args))
    run: Any = RUN.get()
    if not all(map(is_value, args)) or run is None or not _asks_for_laws(run) or seeded():
        return None
    on = _depends_on(function)
    found = None if on is None else _law(_Call(function, args, (on, tuple(map(_content, args)))))
    return None if found is None or (found.has_tail and not getattr(run, "by_states", False)) else found


def _depends_on(function: Any) -> tuple[Any, ...] | None:
    """What the law of a function depends on beside its arguments; None where that can change."""
    if type(function) is MethodType:
        owner = function.__self__
        seen = _seen_by_methods(function) if _has_values_only(owner) else None
        return None if seen is None else (function.__func__, type(owner), _content(tuple(vars(owner).items())), seen)
    known: dict[int, Any] = {}
    seen = _seen(function, known)
    return None if seen is None else (tuple(f.__code__ for f in known.values()), seen)


def _content(x: Any) -> Any:
    """A value as a part of a key: 1, 1.0 and True are three, and all generators of a kind one."""
    if isinstance(x, StandIn):
        return type(x)
    if isinstance(x, MethodType | BuiltinFunctionType) and isinstance(x.__self__, StandIn):
        return type(x.__self__), x.__name__
    return (tuple, tuple(map(_content, x))) if type(x) is tuple else (type(x), x)


def _asks_for_laws(run: Any) -> bool:
    """Whether a run is to have fewer paths."""
    return getattr(run, "together", True) or getattr(run, "by_states", False)


# -- what a function sees ----------------------------------------------------------------------------------------------


def is_value(x: Any) -> bool:
    """Whether a value never changes; generators only give fresh draws, and so do the modules of theirs."""
    if type(x) is tuple:
        return all(map(is_value, x))
    return type(x) in _VALUES or isinstance(x, StandIn) or (isinstance(x, ModuleType) and _is_fixed(x))


def sees_only_values(function: Any) -> bool:
    """Whether what a function of the author's returns depends on its arguments and its own draws alone."""
    if type(function) is MethodType:
        return not seeded() and _has_values_only(function.__self__) and _seen_by_methods(function) is not None
    return type(function) is FunctionType and is_authors(function) and not seeded() and _seen(function, {}) is not None


def _has_values_only(owner: Any) -> bool:
    """Whether an object of the author's holds values, and shows them as they are."""
    kinds = type(owner).__mro__[:-1]
    looked_up = any(name in vars(c) for c in kinds for name in ("__getattr__", "__getattribute__", "__slots__"))
    return (
        all(map(is_authors, kinds)) and not looked_up and all(map(is_value, getattr(owner, "__dict__", {None: owner}).values()))
    )


def _seen_by_methods(method: MethodType) -> tuple[Any, ...] | None:
    """What a method, and those of its object that it may call, see beside the object; None where that can change."""
    kind, todo, found = type(method.__self__), [method.__func__], {}
    while todo:
        function = todo.pop()
        if function in found:
            continue
        if type(function) is not FunctionType or not is_authors(function):
            return None
        known: dict[int, Any] = {}
        seen = _seen(function, known)
        named = [inspect.getattr_static(kind, name, None) for name in sorted(names_in(function.__code__))]
        held = [x for x in named if not isinstance(x, FunctionType | staticmethod)]
        if seen is None or not all(map(is_value, held)):  # a property, or what a class keeps
            return None
        todo += [getattr(x, "__func__", x) for x in named if isinstance(x, FunctionType | staticmethod)]
        found[function] = tuple(f.__code__ for f in known.values()), seen, tuple(map(_content, held))
    return tuple(found.values())


def _seen(function: FunctionType, known: dict[int, Any]) -> tuple[Any, ...] | None:
    """Every value beside its arguments that a function and those it calls can see; None where one of them can change."""
    known[id(function)] = function
    code = function.__code__
    if len(known) > _MOST_FUNCTIONS or any(map(_changes, codes(code))) or _REACH_OUT & names_in(code) or _rebinds(code):
        return None
    if vars(function):  # attributes of a function are variables too
        return None
    found: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    try:
        found += [c.cell_contents for c in function.__closure__ or () if c.cell_contents is not function]
    except ValueError:  # a variable that has no value yet
        return None
    found += [function.__globals__[name] for name in sorted(names_in(code)) if name in function.__globals__]
    values: list[Any] = []
    for x in found:
        if type(x) is FunctionType and is_authors(x):
            inner = () if id(x) in known else _seen(x, known)
            if inner is None:
                return None
            values += [list(known).index(id(x)), *inner]
        elif is_value(x) or _is_fixed(x):
            values.append(_content(x))
        else:
            return None
    return tuple(values)


def _is_fixed(x: Any) -> bool:
    """Whether something that is called or looked into is the same at all times."""
    if isinstance(x, ModuleType):
        return x.__name__.partition(".")[0] in {*_MODULES, "dpest"}  # code that was rewritten sees ours
    if isinstance(x, MethodType | BuiltinFunctionType):
        return isinstance(x.__self__, StandIn | ModuleType)
    if isinstance(x, FunctionType):
        return (x.__module__ or "").partition(".")[0] in {*_MODULES, "dpest"}
    return x in (int, float, bool, str, Fraction) or any(x is c for c in CONVERSIONS.values()) or isinstance(x, np.ufunc)


@lru_cache(maxsize=512)
def _changes(code: CodeType) -> bool:
    return any(i.opname in _CHANGES for i in dis.get_instructions(code))


@lru_cache(maxsize=512)
def _rebinds(code: CodeType) -> bool:
    """Whether a function gives a variable of a function around it another value."""
    steps = (i for c in codes(code) for i in dis.get_instructions(c))
    return any(i.opname in ("STORE_DEREF", "DELETE_DEREF") and i.argval in code.co_freevars for i in steps)


@lru_cache(maxsize=512)
def _has_loop(function: FunctionType) -> bool:
    """Whether a function, or one that it calls by name, has a `while` loop."""
    todo, seen = [function], set()
    while todo:
        x = todo.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if has_while(x.__code__):
            return True
        held = [x.__globals__.get(name) for name in names_in(x.__code__)]
        todo += [y for y in held if type(y) is FunctionType and is_authors(y)][:_MOST_FUNCTIONS]
    return False


# -- what it returns ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _law(asked: _Call) -> OneDraw | None:
    """The law of what a function returns; None where it is not found."""
    from dpest.trace import steps_between  # which leads here by the code that it runs

    function, values = asked.function, asked.values
    asking, possible = steps_between.followed(function), outcomes(function, values)

    def program(run: Any) -> Flat:
        try:
            return returned(run, applied(asking if getattr(run, "by_states", False) else function), values, {})
        except Abandoned:
            return flatten(None)

    try:
        found = chained(program, _ALONE, _LIMITS, CHECKS, possible)
    except (DpestError, RecursionError):
        return None
    return None if seeded() else _as_law(found, possible)


def _as_law(found: OutputChances, possible: frozenset[Any] | None) -> OneDraw | None:
    """The law of the outputs; where no others are possible, what is left out lies on them."""
    weights = {}
    for output, log_p in found.outputs:
        if output.structure is not None or type(output.leaves[0]) not in (bool, int):
            return None
        weights[int(output.leaves[0])] = log_p
    kinds = {type(output.leaves[0]) for output, _ in found.outputs}
    if len(kinds) != 1 or len(weights) > _MOST_POINTS or found.log_left_out > _LITTLE:
        return None
    total = math.fsum(map(math.exp, weights.values()))
    if abs(total - 1.0) > 1e-12:  # an output that was weighed wrongly
        return None
    points = sorted(weights)
    logs = tuple(weights[x] - math.log(total) for x in points)
    off = found.error + abs(math.log(total))
    if possible is not None and possible <= {*points}:
        law = Atoms(tuple(map(float, points)), logs, off=off + math.exp(found.log_left_out - min(logs)))
        return OneDraw(law, kinds == {bool}, -math.inf, False)
    law = Atoms(tuple(map(float, points)), logs, off=off)
    return OneDraw(law, kinds == {bool}, found.log_left_out, found.has_tail)

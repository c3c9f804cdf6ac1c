"""Functions that sample by a loop: called with plain arguments, such a function is one draw.

`bernoulli_exp(x)` tosses coins until one fails, and returns whether their number is odd: without end, in as many ways as there
are numbers of tosses, and called again and again. Where a function of the author's sees nothing that can change, and its draws
are its own, what it returns depends on its arguments alone: it is traced by itself, once for each set of arguments, and its
law stands for it.
"""

from __future__ import annotations

import dis
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dpest.errors import DpestError
from dpest.lang.dist import RUN, Dist, fresh
from dpest.lang.generators.conversions import CONVERSIONS
from dpest.lang.generators.places import codes, is_authors, names_in
from dpest.lang.generators.standins import StandIn, seeded
from dpest.lang.nodes import is_node
from dpest.lang.plain_numbers import bare
from dpest.lang.points import number_at_points
from dpest.laws.discrete import Atoms, atoms
from dpest.numerics.logspace import log_sum
from dpest.trace.literal import Literal, log_weight, narrowed
from dpest.trace.replay import Replay
from dpest.trace.rounds import Loop, Step, has_while

_VALUES = (bool, int, float, str, bytes, Fraction, type(None))
_MODULES = frozenset({"random", "secrets", "math", "numpy", "fractions", "operator", "itertools", "statistics"})
_REACH_OUT = frozenset({"open", "print", "input", "exec", "eval", "setattr", "delattr", "globals", "vars", "locals", "id"})
_CHANGES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "YIELD_VALUE", "SEND"})
_MOST_FUNCTIONS = 32  # that one leads to
_MOST_POINTS = 256  # of a law that stands for a function
_LITTLE = -30.0  # ln of the most that may be left out of a law; it counts as unexplored


@dataclass(frozen=True)
class OneDraw:
    """What a function returns: the law of a number, whether it is a truth value, and ln of what is left out."""

    law: Atoms
    truth: bool
    log_left_out: float

    def drawn(self) -> Any:
        """One value."""
        if len(self.law.points) == 1:
            return bool(self.law.points[0]) if self.truth else int(self.law.points[0])
        value = fresh(self.law)
        return value == 1 if self.truth else value


Arguments = tuple[tuple[type, Any], ...]


def sampled(function: Any, rewritten: Any) -> Any:
    """The function as rewritten code calls it: one draw where its arguments are plain, and else what it was."""
    if type(function) is not FunctionType or not is_authors(function) or not _has_loop(function):
        return rewritten

    def called(*args: Any, **keywords: Any) -> Any:
        if not keywords and any(isinstance(x, Dist) for x in args) and sees_only_values(function):
            args = tuple(number_at_points(x) if isinstance(x, Dist) else x for x in args)
        found = None if keywords else _found(function, args)
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


def _found(function: FunctionType, args: tuple[Any, ...]) -> OneDraw | None:
    args = tuple(map(bare, args))
    run: Any = RUN.get()
    if not all(map(is_value, args)) or run is None or not getattr(run, "together", True) or seeded():
        return None
    seen = _seen(function, {})
    return None if seen is None else _law(function, tuple((type(x), x) for x in args), seen)


# -- what a function sees ----------------------------------------------------------------------------------------------


def is_value(x: Any) -> bool:
    """Whether a value never changes; generators only give fresh draws."""
    return type(x) in _VALUES or isinstance(x, StandIn) or (type(x) is tuple and all(map(is_value, x)))


def sees_only_values(function: Any) -> bool:
    """Whether what a function of the author's returns depends on its arguments and its own draws alone."""
    return type(function) is FunctionType and is_authors(function) and not seeded() and _seen(function, {}) is not None


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
            values += inner
        elif is_value(x):
            values.append((type(x), x))
        elif not _is_fixed(x):
            return None
    return tuple(values)


def _is_fixed(x: Any) -> bool:
    """Whether something that is called or looked into is the same at all times."""
    if isinstance(x, ModuleType):
        return x.__name__.partition(".")[0] in _MODULES
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


@lru_cache(maxsize=256)
def _law(function: FunctionType, args: Arguments, seen: tuple[Any, ...]) -> OneDraw | None:
    """The law of what a function returns; None where it is not found. `seen` are the values that it depends on."""
    from dpest.trace.explore import traced_alone  # which leads here by the code that it runs

    try:
        found = traced_alone(function, tuple(x for _, x in args), _log_weight_of)
    except (DpestError, RecursionError):
        return None
    if seeded():
        return None
    outcomes: dict[Any, list[float]] = {}
    for path in found.paths:
        if len(path.output.leaves) != 1 or path.output.structure != found.paths[0].output.structure:
            return None
        leaf, weight = path.output.leaves[0], _log_probability(path.steps, path.loops)
        if is_node(leaf) or type(leaf) not in (bool, int) or weight is None:
            return None
        outcomes.setdefault((type(leaf), leaf), []).append(weight)
    return _as_law(outcomes, found.log_unexplored)


def _as_law(outcomes: Mapping[Any, Sequence[float]], log_unexplored: float) -> OneDraw | None:
    kinds = {kind for kind, _ in outcomes}
    weights = {int(x): float(log_sum(np.array(w))) for (_, x), w in outcomes.items()}
    if len(kinds) != 1 or not 0 < len(weights) <= _MOST_POINTS or log_unexplored > _LITTLE:
        return None
    total = math.fsum(map(math.exp, weights.values()))
    if abs(total - 1.0) > 1e-12:  # a path that was weighed wrongly
        return None
    return OneDraw(atoms({x: math.exp(w) / total for x, w in weights.items()}), kinds == {bool}, log_unexplored)


def _log_probability(steps: Sequence[Step], loops: Sequence[Loop]) -> float | None:
    """ln of the probability of a path with all rounds of its loops; None where a condition compares several draws."""
    total = _log_weight([x for step in steps for x in step])
    if total is None:
        return None
    for loop in loops:
        rounds = _log_rounds(loop)
        if rounds is None:
            return None
        total += rounds
    return total


def _log_weight_of(loop: Loop) -> float:
    found = _log_rounds(loop)
    return math.inf if found is None else found


def _log_rounds(loop: Loop) -> float | None:
    """ln of what all rounds of a loop multiply the weight of the first by."""
    rounds = [_log_probability((cycle.literals,), cycle.loops) for cycle in loop.cycles]
    again = math.fsum(math.exp(r) for r in rounds if r is not None)
    return None if None in rounds or again >= 1.0 else -math.log1p(-again)


def _log_weight(literals: Sequence[Literal]) -> float | None:
    total, bounds = 0.0, narrowed({}, ())
    for literal in literals:
        if len(literal.terms) != 1:
            return None
        total += log_weight((literal,), bounds)
        bounds = narrowed(bounds, (literal,))
    return total

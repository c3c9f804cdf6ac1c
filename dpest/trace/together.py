"""What rewritten code calls: both sides of a condition, worked out and put together as one random value.

A side that is worked out without being taken must do nothing: calls, attributes and containers are checked as they are met,
and whatever is not known to be harmless, or raises, is left to a fork, as the program was written.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from dpest.lang.chosen import chosen, is_text
from dpest.lang.dist import RUN, Dist, conjunction, negate, truth, unwrap, wrap
from dpest.lang.generators.standins import StandIn
from dpest.lang.generators.sums import SUMS
from dpest.lang.nodes import TRUTHS, Node, is_node
from dpest.lang.points import listed_points
from dpest.lang.text import percent, text
from dpest.lang.ufuncs import OPERATORS, boxed
from dpest.numerics.rationals import Rational
from dpest.trace import calls
from dpest.trace.calls import harmless
from dpest.trace.loops import best_kept, climbed, counted_from, counted_rounds, counted_steps, larger, largest
from dpest.trace.masked import put_at, taken_at
from dpest.trace.replay import UNBOUND, Replay, Unusual, unless_unbound
from dpest.trace.samplers import is_value, sampled, sees_only_values
from dpest.trace.standing import same_place

__all__ = [
    "UNBOUND", "added_at", "append", "attribute", "best_kept", "both", "both_inside", "call", "calls_itself", "climbed",
    "compared", "condition", "container", "counted_from", "counted_rounds", "counted_steps", "every", "every_inside",
    "larger", "largest", "negated", "one", "one_inside", "only_sum", "percent", "pure", "put_at", "some", "some_inside",
    "taken_at", "text", "unaffected", "values",
]  # fmt: skip

Thunk = Callable[[], Any]
_LAST: ContextVar[tuple[Any, Any]] = ContextVar("dpest_last_if")  # what it asked, and what its sides gave together
_NUMBERS = (int, float, np.number, np.bool_)
_CONTAINERS = (list, tuple, dict, str, range, np.ndarray, zip, enumerate)
_VALUES = (
    *_NUMBERS, str, bytes, type(None), Dist, list, tuple, dict, set, frozenset, range, np.ndarray, StandIn, ModuleType, type,
    FunctionType, BuiltinFunctionType, MethodType,
)  # fmt: skip


# -- statements --------------------------------------------------------------------------------------------------------


def both(
    test: Any,
    yes: Callable[..., Any],
    no: Callable[..., Any],
    held: Sequence[Thunk],
    changed: str,
    containers: Thunk,
    reads: Thunk,
) -> bool:
    """Whether both sides of an `if` come together: `values` then has what they give, and else `condition` what was asked."""
    if not isinstance(test, Dist):
        _LAST.set((test, None))
        return False
    run = _run()

    def sides() -> tuple[Any, ...]:
        _check_containers(containers())
        _check_values(reads())
        now = [unless_unbound(x) for x in held]
        _check_values(x for x in now if x is not UNBOUND)
        found = _both(run, truth(test.node), lambda: yes(*now), lambda: no(*now))
        return tuple(_put(*x) for x in zip(now, found, changed, strict=True))

    found = run.attempt(sides)
    _LAST.set((test, found))
    return found is not None


def call(function: Any) -> Any:
    """What stands for a function that rewritten code calls."""
    return sampled(function, calls.call(function))


def calls_itself(owner: Any, name: str) -> bool:
    """Whether a method that names itself on its object means itself, and not one of a derived class."""
    named = inspect.getattr_static(owner, name, None)
    code = sys._getframe(1).f_code
    return type(named) is FunctionType and same_place(named.__code__, code)


def values() -> Any:
    """What the sides of the last `if` gave."""
    return _LAST.get()[1]


def condition() -> Any:
    """What the last `if` asked."""
    return _LAST.get()[0]


def append(items: list[Any], value: Any) -> None:
    """The value that a side appended, if it did."""
    if value is not UNBOUND:
        items.append(value)


def added_at(items: Any, place: Any, step: Any) -> None:
    """items[place] += step; at a random place every one that it may be gets the step if it is that one."""
    points = listed_points(place.node) if isinstance(place, Dist) else None
    if points is None or not _has_all(items, points):
        items[place] += step
        return
    for k in map(int, sorted(points)):
        items[k] = items[k] + one(place == k, lambda: step, lambda: 0, lambda: step, lambda: 0, lambda: ())


def _has_all(items: Any, points: Iterable[Rational]) -> bool:
    """Whether a list, a dict or an open array has a number at each of these places."""
    if type(items) is dict:
        return all(k.denominator == 1 and int(k) in items for k in points)
    held = type(items) is list or (isinstance(items, np.ndarray) and items.dtype == object and items.ndim == 1)
    return held and all(k.denominator == 1 and 0 <= k < len(items) for k in points)


def _put(now: Any, found: Any, changed: str) -> Any:
    """What a place gets; what `+=` changes in place stays the object that it was."""
    if found is UNBOUND and changed != "a":
        raise Unusual  # neither side gave it a value
    if changed != "+" or isinstance(now, (*_NUMBERS, Dist, str, tuple)):
        return found
    if not isinstance(now, np.ndarray) or now.dtype != object or np.shape(found) != now.shape:
        raise Unusual
    now[...] = found
    return now


def _check_values(read: Any) -> None:
    if not all(isinstance(x, _VALUES) or callable(x) for x in read):
        raise Unusual


def _check_containers(found: Any) -> None:
    for x in found:
        if type(x) not in (list, dict) and not (type(x) is np.ndarray and x.dtype == object):
            raise Unusual


# -- expressions -------------------------------------------------------------------------------------------------------


def one(test: Any, yes: Thunk, no: Thunk, as_written_yes: Thunk, as_written_no: Thunk, reads: Thunk) -> Any:
    """`yes if test else no`."""
    if isinstance(test, Dist):
        run = _run()
        found = run.attempt(lambda: _checked(reads, lambda: (_both(run, truth(test.node), yes, no),)))
        if found is not None:
            return found[0]
    return as_written_yes() if test else as_written_no()


def _checked(reads: Thunk, sides: Thunk) -> Any:
    _check_values(reads())
    return sides()


def every(first: Any, *others: tuple[Thunk, Thunk, Thunk]) -> Any:
    """`first and ...`."""
    return _joined(first, others, True)


def some(first: Any, *others: tuple[Thunk, Thunk, Thunk]) -> Any:
    """`first or ...`."""
    return _joined(first, others, False)


def _joined(value: Any, others: Sequence[tuple[Thunk, Thunk, Thunk]], goes_on: bool) -> Any:
    for reads, pure_thunk, as_written in others:
        if isinstance(value, Dist):
            run = _run()
            found = run.attempt(partial(_checked, reads, partial(_following, run, value, pure_thunk, goes_on)))
            if found is not None:
                value = found[0]
                continue
        if bool(value) is not goes_on:
            return value
        value = as_written()
    return value


def _following(run: Replay, value: Dist, thunk: Thunk, goes_on: bool) -> tuple[Any]:
    return (_next(run, value, thunk, goes_on),)


def _next(run: Replay, value: Dist, thunk: Thunk, goes_on: bool) -> Any:
    """`value and thunk()` (or `or`), where the value is random."""
    return _both(run, truth(value.node), thunk, lambda: value) if goes_on else _both(run, truth(value.node), lambda: value, thunk)


def compared(name: str, left: Any, right: Any) -> Any:
    """`left < right` and the like; arrays that hold random values element by element."""
    operation = OPERATORS[name]
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        sides = [x for x in (left, right) if isinstance(x, np.ndarray)]
        if any(x.dtype == object for x in sides) or isinstance(left, Dist) or isinstance(right, Dist):
            return np.frompyfunc(operation, 2, 1)(boxed(left), boxed(right))
    return operation(left, right)


def negated(value: Any) -> Any:
    """`not value`."""
    return wrap(negate(truth(value.node))) if isinstance(value, Dist) else not value


def only_sum(function: Any) -> Any:
    """Python's own `sum`, which this place was rewritten for, or what stands for it."""
    if function not in (builtins.sum, SUMS.get(id(builtins.sum))):
        raise Unusual
    return function


# -- inside a side that may not be taken -------------------------------------------------------------------------------


def both_inside(test: Any, yes: Callable[..., Any], no: Callable[..., Any], held: tuple[Any, ...]) -> Any:
    """The values that the sides of an inner `if` give."""
    if not isinstance(test, Dist):
        return yes(*held) if test else no(*held)
    return _both(_run(), truth(test.node), lambda: yes(*held), lambda: no(*held))


def one_inside(test: Any, yes: Thunk, no: Thunk) -> Any:
    """An inner `yes if test else no`."""
    if not isinstance(test, Dist):
        return yes() if test else no()
    return _both(_run(), truth(test.node), yes, no)


def every_inside(value: Any, *others: Thunk) -> Any:
    """An inner `value and ...`."""
    return _joined_inside(value, others, True)


def some_inside(value: Any, *others: Thunk) -> Any:
    """An inner `value or ...`."""
    return _joined_inside(value, others, False)


def _joined_inside(value: Any, others: Sequence[Thunk], goes_on: bool) -> Any:
    for thunk in others:
        if isinstance(value, Dist):
            value = _next(_run(), value, thunk, goes_on)
        elif bool(value) is not goes_on:
            return value
        else:
            value = thunk()
    return value


def unaffected(test: Any) -> None:
    """An inner `if` whose sides do nothing: its condition was worked out, and changes nothing."""
    if not isinstance(test, Dist):
        bool(test)


def attribute(x: Any, name: str) -> Any:
    """An attribute that is held, and not computed."""
    if isinstance(x, ModuleType) or name in getattr(x, "__dict__", ()):
        found = getattr(x, name)
        _check_values((found,))
        return found
    if any(isinstance(x, kind) and name in names for kind, names in _WORKED_OUT):
        return getattr(x, name)
    raise Unusual


# Attributes of values that never change, or that do nothing but look.
_WORKED_OUT: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (int | float | np.number | Fraction, ("real", "imag", "numerator", "denominator")),
    (np.ndarray, ("shape", "size", "ndim")),
)


def container(x: Any) -> Any:
    """Something that can be looked into without changing it."""
    if type(x) not in _CONTAINERS:
        raise Unusual
    return x


def pure(function: Any) -> Any:
    """A function that does nothing but return a value."""
    if harmless(function):
        return call(function)
    if not sees_only_values(function):
        raise Unusual
    return _of_values(call(function))


def _of_values(function: Any) -> Any:
    """The function where its arguments are values, which it cannot change."""

    def called(*args: Any, **keywords: Any) -> Any:
        if not all(isinstance(x, Dist) or is_value(x) for x in (*args, *keywords.values())):
            raise Unusual
        return function(*args, **keywords)

    return called


def _run() -> Replay:
    """The run on stand-ins that is under way: only there a condition is random."""
    return cast(Replay, RUN.get())


def _both(run: Replay, node: Node, yes: Thunk, no: Thunk) -> Any:
    """What the two sides give, put together; draws in them are made only where their side is taken."""
    if not is_node(node):  # a condition that comes down to a constant
        return yes() if node else no()
    with run.inside(node, True):
        a = yes()
    with run.inside(node, False):
        b = no()
    return _merged(node, a, b)


def _merged(node: Node, a: Any, b: Any) -> Any:
    """One value for two: numbers, texts, and tuples and arrays of them."""
    if a is b:
        return a
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        return tuple(_merged(node, x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
        out = np.empty(a.shape, dtype=object)
        for at in np.ndindex(a.shape):
            out[at] = _merged(node, a[at], b[at])
        return out
    x, y = unwrap(a), unwrap(b)
    if is_text(x) and is_text(y):
        return a if type(a) is type(b) is str and a == b else Dist(chosen(node, x, y))
    if isinstance(node, TRUTHS):  # `a and b` gives a where a does not hold, which is False
        x, y = True if x is node else x, False if y is node else y
    if isinstance(x, TRUTHS) and y is False:
        return wrap(conjunction((node, x)))
    if x is True and isinstance(y, TRUTHS):
        return wrap(negate(conjunction((negate(node), negate(y)))))
    if not all(is_node(v) or isinstance(v, int | float) for v in (x, y)):
        raise Unusual
    if type(x) is type(y) and not is_node(x) and x == y:
        return x
    return wrap(chosen(node, x, y))

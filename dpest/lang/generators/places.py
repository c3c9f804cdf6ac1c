"""Where an author's code holds generators: in its arguments, closures, defaults, objects, classes and modules."""

from __future__ import annotations

import builtins
import dis
import functools
import random as stdlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

GENERATORS = (stdlib.Random, np.random.Generator, np.random.RandomState)
_MOST_ITEMS = 32  # of a container that is looked into; longer ones are data
_MOST_LOOKED_AT = 1000
_BUILT_IN = ("float", "int", "isinstance", "print", "sum")
NOT_THE_AUTHORS = frozenset({"builtins", "numpy", "pandas", "scipy", "dpest", *sys.stdlib_module_names}) - {"__main__"}


@dataclass(frozen=True)
class Place:
    """One place that holds a value, and how another is put there."""

    key: tuple[Any, ...]
    value: Any
    put: Callable[[Any], None]


def places(*roots: Any) -> Iterator[Place]:
    """Every place that the roots lead to."""
    waiting: list[Any] = list(roots)
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_LOOKED_AT:
        x = waiting.pop(0)
        if id(x) in seen or isinstance(x, GENERATORS):
            continue
        seen.add(id(x))
        for place in _inside(x):
            yield place
            waiting.append(place.value)
        waiting.extend(_beside(x))


def _inside(x: Any) -> Iterator[Place]:
    """What a value holds in places that can be changed."""
    if isinstance(x, dict) and len(x) <= _MOST_ITEMS:
        yield from _items(x)
    elif isinstance(x, list) and len(x) <= _MOST_ITEMS:
        yield from (Place((id(x), i), v, functools.partial(x.__setitem__, i)) for i, v in enumerate(x))
    elif isinstance(x, functools.partial):
        yield Place((id(x), "func"), x.func, functools.partial(_put_function, x))
        yield from (Place((id(x), i), v, functools.partial(_put_argument, x, i)) for i, v in enumerate(x.args))
        yield from _items(x.keywords)
    elif isinstance(x, types.FunctionType):
        yield from _of_function(x)
    elif isinstance(x, type):
        yield from _of_class(x)
    elif _authors(type(x)):
        yield from _items(getattr(x, "__dict__", {}))
        yield from _of_slots(x)


def _beside(x: Any) -> Iterator[Any]:
    """What a value leads to without holding it in such a place."""
    if isinstance(x, tuple) and len(x) <= _MOST_ITEMS:
        yield from x
    elif isinstance(x, types.MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, staticmethod | classmethod):
        yield x.__func__
    elif isinstance(x, property):
        yield x.fget
    elif isinstance(x, type):
        yield from (c for c in x.__mro__[1:] if _authors(c))
    elif hasattr(x, "__wrapped__") and not isinstance(x, types.ModuleType):
        yield x.__wrapped__
    if _authors(type(x)):
        yield type(x)


def _items(x: Any) -> Iterator[Place]:
    for k, v in list(x.items()):
        yield Place((id(x), k), v, functools.partial(x.__setitem__, k))


def _put_function(x: Any, value: Any) -> None:
    x.__setstate__((value, x.args, x.keywords, x.__dict__))


def _put_argument(x: Any, i: int, value: Any) -> None:
    args = [*x.args]
    args[i] = value
    x.__setstate__((x.func, tuple(args), x.keywords, x.__dict__))


def _put_default(x: Any, i: int, value: Any) -> None:
    defaults = [*x.__defaults__]
    defaults[i] = value
    x.__defaults__ = tuple(defaults)


def _put_cell(cell: Any, value: Any) -> None:
    cell.cell_contents = value


def _of_function(x: types.FunctionType) -> Iterator[Place]:
    for cell in x.__closure__ or ():
        try:
            yield Place((id(cell),), cell.cell_contents, functools.partial(_put_cell, cell))
        except ValueError:  # not filled yet
            continue
    for i, v in enumerate(x.__defaults__ or ()):
        yield Place((id(x), i), v, functools.partial(_put_default, x, i))
    yield from _items(x.__kwdefaults__ or {})
    if _home(x) not in NOT_THE_AUTHORS:
        yield from _named(x.__globals__, names_in(x.__code__))
        yield from (_shadow(x.__globals__, name) for name in _BUILT_IN if _converts(x, name))
        yield from (_of_numpy(kind.__name__, kind) for kind in NUMPY_NUMBERS if _makes(x.__code__, kind.__name__))


def held_by(function: types.FunctionType) -> Iterator[tuple[str, str, Any]]:
    """What a function takes from its surroundings: kind ("variable", "default" or "global"), name and value."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if is_filled(cell):
            yield "variable", name, cell.cell_contents
    yield from (("default", "", value) for value in function.__defaults__ or ())
    yield from (("default", name, value) for name, value in (function.__kwdefaults__ or {}).items())
    known = function.__globals__
    yield from (("global", name, known[name]) for name in function.__code__.co_names if name in known)


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of those inside it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield from codes(x)


@functools.lru_cache(_MOST_LOOKED_AT)
def names_in(code: types.CodeType) -> frozenset[str]:
    """The names that a function and those inside it use."""
    return frozenset(name for each in codes(code) for name in each.co_names)


_GLOBAL = frozenset({"LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "STORE_NAME"})


@functools.lru_cache(_MOST_LOOKED_AT)
def globals_in(code: types.CodeType) -> frozenset[str]:
    """The names that a function and those inside it look up outside: not those of attributes, as in `rng.laplace`."""
    return frozenset(s.argval for each in codes(code) for s in dis.get_instructions(each) if s.opname in _GLOBAL)


def _converts(x: types.FunctionType, name: str) -> bool:
    """Whether a function calls a built-in type by its name, and does not ask whether something is that very type."""
    held = x.__globals__.get(name)
    own = held is not None and getattr(held, "real", held) is not getattr(builtins, name)
    return not own and name in names_in(x.__code__) and _calls(x.__code__, name)


# Programs that lead to a large library (mpmath, say) lead to thousands of functions, which every trace looks at again.
@functools.lru_cache(_MOST_LOOKED_AT)
def _calls(whole: types.CodeType, name: str) -> bool:
    steps = [step for code in codes(whole) for step in dis.get_instructions(code)]
    uses = [(x, then) for x, then in zip_longest(steps, steps[1:]) if x.opname == "LOAD_GLOBAL" and x.argval == name]
    # The compiler makes room for a call; `int.from_bytes` is one as well.
    called = [x for x, then in uses if (x.arg or 0) & 1 or (then is not None and then.argval == "from_bytes")]
    return bool(called) and (len(called) == len(uses) or not any(step.opname == "IS_OP" for step in steps))


NUMPY_NUMBERS = (np.float64, np.float32, np.int64)  # stood in for only where the author's code makes numbers of them


@functools.lru_cache(_MOST_LOOKED_AT)
def _makes(whole: types.CodeType, name: str) -> bool:
    """Whether a function uses a number type of NumPy's, and does not ask whether something is that very type."""
    return name in names_in(whole) and not any(s.opname == "IS_OP" for code in codes(whole) for s in dis.get_instructions(code))


def _of_numpy(name: str, kind: type) -> Place:
    held = vars(np)
    return Place((id(held), name), kind, functools.partial(held.__setitem__, name))


def _shadow(held: dict[str, Any], name: str) -> Place:
    """A built-in name, in the globals of a module that does not have it."""
    real = getattr(builtins, name)

    def put(value: Any) -> None:
        if value is real:
            held.pop(name, None)
            return
        held[name] = value

    return Place((id(held), name, "built-in"), real, put)


def _named(held: dict[str, Any], names: frozenset[str]) -> Iterator[Place]:
    """The global names of a function, and what it takes from modules of the author's by name."""
    for name in names & held.keys():
        value = held[name]
        yield Place((id(held), name), value, functools.partial(held.__setitem__, name))
        if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] not in NOT_THE_AUTHORS:
            inside = vars(value)
            for inner in names & inside.keys():
                yield Place((id(inside), inner), inside[inner], functools.partial(inside.__setitem__, inner))


def _of_class(x: type) -> Iterator[Place]:
    if _authors(x):
        for name, value in list(vars(x).items()):
            if not (name.startswith("__") and name.endswith("__") and not isinstance(value, types.FunctionType)):
                yield Place((id(x), name), value, functools.partial(type.__setattr__, x, name))


def _of_slots(x: Any) -> Iterator[Place]:
    for cls in type(x).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(x, name):
                yield Place((id(x), name), getattr(x, name), functools.partial(object.__setattr__, x, name))


def is_filled(cell: types.CellType) -> bool:
    """Whether a variable that functions share has a value by now."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def is_authors(x: Any) -> bool:
    """Whether a function, a class or a module is the author's own, and not of Python, NumPy or dpest."""
    return _home(x) not in NOT_THE_AUTHORS


def _home(x: Any) -> str:
    name = x.__name__ if isinstance(x, types.ModuleType) else getattr(x, "__module__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""


def _authors(cls: type) -> bool:
    return _home(cls) not in NOT_THE_AUTHORS and not issubclass(cls, types.ModuleType)

"""Who owns the randomness: generators that a mechanism carries, global state, and whether copies draw alike."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from dpest.lang.generators.places import is_filled

Generators = tuple[np.random.Generator | np.random.RandomState | random.Random, ...]
_DEPTH = 4  # levels of objects inside objects: a generator deeper down is not looked for
_OWNERS_OF_GLOBALS = ("numpy", "random", "scipy", "math", "dpest")  # their generators are seeded as global state

_TURN = threading.RLock()


@contextmanager
def in_turn(shared: bool) -> Iterator[None]:
    """Let one thread at a time seed generators that threads share and draw from them; do nothing where there are none."""
    if not shared:
        yield
        return
    with _TURN:
        yield


@contextmanager
def kept_globals() -> Iterator[None]:
    """Put the state of `random` and `numpy.random` back after the body."""
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)


def seed_all(generators: Generators, rng: np.random.Generator) -> None:
    """Seed global state and a mechanism's own generators from a stream, so that no two streams share their noise."""
    np.random.seed(rng.integers(0, 2**32, 8, dtype=np.uint32))  # noqa: NPY002
    random.seed(int(rng.integers(0, 2**63)))
    for generator in generators:
        if isinstance(generator, random.Random):
            generator.seed(int(rng.integers(0, 2**63)))
        elif isinstance(generator, np.random.RandomState):
            generator.seed(rng.integers(0, 2**32, 8, dtype=np.uint32))
        else:
            kind = type(generator.bit_generator)
            generator.bit_generator.state = kind(int(rng.integers(0, 2**63))).state


def own_generators(mechanism: Callable[..., Any]) -> Generators:
    """The generators that a mechanism carries: in its closure, defaults, attributes, and the globals and modules it names."""
    generators = np.random.Generator | np.random.RandomState | random.Random
    return tuple(thing for thing in _reachable(mechanism) if isinstance(thing, generators))


def own_caches(mechanism: Callable[..., Any]) -> tuple[Any, ...]:
    """The functions with `functools` caches that a mechanism carries: what one run leaves there is no draw of the next."""
    return tuple(thing for thing in _reachable(mechanism) if callable(getattr(thing, "cache_clear", None)))


def _reachable(mechanism: Callable[..., Any]) -> Sequence[Any]:
    found: list[Any] = []
    _collect(mechanism, found, set(), _DEPTH)
    return found


def _collect(thing: Any, found: list[Any], seen: set[int], depth: int) -> None:
    if depth < 0 or id(thing) in seen:
        return
    seen.add(id(thing))
    found.append(thing)
    for part in _parts(thing):
        _collect(part, found, seen, depth - 1)


def _parts(thing: Any) -> Sequence[Any]:
    if isinstance(thing, list | tuple):
        return thing if len(thing) <= 64 else ()
    if isinstance(thing, dict):
        return list(thing.values()) if len(thing) <= 64 else ()
    plain = str | bytes | int | float | np.ndarray | type | ModuleType
    if isinstance(thing, plain | np.random.Generator | np.random.RandomState | random.Random):
        return ()
    parts: list[Any] = [getattr(thing, name, None) for name in ("__self__", "func", "args", "__wrapped__")]
    parts += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or () if is_filled(cell)]
    parts += list(getattr(thing, "__defaults__", None) or ())
    parts += _named(thing)
    parts += list(getattr(thing, "__dict__", {}).values())
    call = vars(type(thing)).get("__call__")
    return parts if call is None else [*parts, *_named(call)]


def _named(function: Any) -> list[Any]:
    """The globals that a function names, and what it takes from the modules among them."""
    names, known = getattr(getattr(function, "__code__", None), "co_names", ()), getattr(function, "__globals__", {})
    used = [known[name] for name in names if name in known]
    modules = [m for m in used if isinstance(m, ModuleType) and m.__name__.split(".")[0] not in _OWNERS_OF_GLOBALS]
    return used + [vars(module)[name] for module in modules for name in names if name in vars(module)]

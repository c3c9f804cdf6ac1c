"""Who owns the randomness: generators that a mechanism carries, global state, and whether copies draw alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

Generators = tuple[np.random.Generator | np.random.RandomState | random.Random, ...]
_DEPTH = 3


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
    """The generators that a mechanism carries: in its closure, defaults, attributes, and the globals it names."""
    found: dict[int, Any] = {}
    _collect(mechanism, found, set(), _DEPTH)
    return tuple(found.values())


def _collect(thing: Any, found: dict[int, Any], seen: set[int], depth: int) -> None:
    if depth < 0 or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.random.Generator | np.random.RandomState | random.Random):
        found[id(thing)] = thing
        return
    for part in _parts(thing):
        _collect(part, found, seen, depth - 1)


def _parts(thing: Any) -> Sequence[Any]:
    if isinstance(thing, list | tuple):
        return thing if len(thing) <= 64 else ()
    if isinstance(thing, dict):
        return list(thing.values()) if len(thing) <= 64 else ()
    if isinstance(thing, str | bytes | int | float | np.ndarray | type) or type(thing).__name__ == "module":
        return ()
    parts: list[Any] = [getattr(thing, "__self__", None), getattr(thing, "func", None), getattr(thing, "args", None)]
    parts += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or () if _filled(cell)]
    parts += list(getattr(thing, "__defaults__", None) or ())
    code = getattr(thing, "__code__", None)
    names = getattr(thing, "__globals__", {})
    parts += [names[n] for n in getattr(code, "co_names", ()) if n in names]
    parts += list(getattr(thing, "__dict__", {}).values())
    return parts


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True

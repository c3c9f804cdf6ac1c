"""Which variable of a mechanism cannot be pickled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle

_DEPTH = 4  # levels of objects inside objects: what a person would find by reading


def unpicklable(mechanism: Callable[..., Any]) -> str | None:
    """The innermost variable that a mechanism holds and that cannot be pickled, in words; None if there is none."""
    return _inside(mechanism, "the mechanism", _DEPTH)


def _inside(thing: Any, name: str, depth: int) -> str | None:
    if depth == 0 or _pickles(thing):
        return None
    for part_name, part in _parts(thing):
        found = _inside(part, part_name, depth - 1)
        if found is not None:
            return found
    return f"{name} ({type(thing).__name__})"


def _pickles(thing: Any) -> bool:
    try:
        cloudpickle.dumps(thing)
    except Exception:  # whatever a foreign object raises when it is pickled
        return False
    return True


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """The named parts of a function or an object."""
    code = getattr(thing, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(thing, "__closure__", None) or (), strict=False):
        try:
            yield f"the variable {name!r}", cell.cell_contents
        except ValueError:  # not filled yet
            continue
    known = getattr(thing, "__globals__", {})
    for name in getattr(code, "co_names", ()):
        if name in known:
            yield f"the global {name!r}", known[name]
    owner = getattr(thing, "__self__", None)
    if owner is not None and code is not None:
        yield "the object of the method", owner
    for name, value in getattr(thing, "__dict__", {}).items():
        yield f"the attribute {name!r}", value

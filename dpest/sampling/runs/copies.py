"""Copies of a mechanism as it was handed over, so that what it keeps between calls can be told from what it draws anew."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType, ModuleType
from typing import Any

import cloudpickle

from dpest.lang.generators.places import held_by
from dpest.lang.installed import is_installed, is_standard

_DEPTH = 4  # levels of objects inside objects: what a person would find by reading
MOST_BYTES = 1 << 24  # larger ones (models, tables) take longer to copy than a check is worth


def snapshot(mechanism: Callable[..., Any]) -> bytes | None:
    """The mechanism as it is now, with the globals that its module's functions use; None where it cannot be copied."""
    try:
        with _by_value(_own_module(mechanism)):
            payload = cloudpickle.dumps(mechanism)
    except Exception:  # whatever a foreign object raises when it is pickled
        return None
    return payload if len(payload) <= MOST_BYTES else None


def restored(payload: bytes) -> Callable[..., Any]:
    """A fresh copy."""
    mechanism: Callable[..., Any] = cloudpickle.loads(payload)
    return mechanism


def reason_against(mechanism: Callable[..., Any]) -> str:
    """Why a mechanism cannot be sent to other processes, naming the variable."""
    try:
        cloudpickle.dumps(mechanism)
    except Exception as error:
        return f"{unpicklable(mechanism) or 'it'} cannot be pickled ({type(error).__name__}: {error})"
    return ""


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
    function = getattr(thing, "__func__", thing)
    if isinstance(function, FunctionType):
        yield from ((f"the {kind} {name!r}", value) for kind, name, value in held_by(function) if kind != "default")
    if isinstance(thing, MethodType):
        yield "the object of the method", thing.__self__
    for name, value in getattr(thing, "__dict__", {}).items():
        yield f"the attribute {name!r}", value


def _own_module(mechanism: Callable[..., Any]) -> ModuleType | None:
    """The module that a mechanism comes from, if it is the author's own rather than an installed library's."""
    inner = getattr(mechanism, "func", mechanism)
    name = getattr(inner, "__module__", None) or type(inner).__module__
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or name == "__main__" or name.split(".")[0] == "dpest":
        return None
    return None if is_installed(file) or is_standard(file) else module


@contextmanager
def _by_value(module: ModuleType | None) -> Iterator[None]:
    if module is None:
        yield
        return
    known = module.__name__ in cloudpickle.list_registry_pickle_by_value()
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        if not known:
            cloudpickle.unregister_pickle_by_value(module)

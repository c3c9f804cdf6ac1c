"""Copies of a mechanism as it was handed over, so that what it keeps between calls can be told from what it draws anew."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import cloudpickle

from dpest.sampling.runs.closures import unpicklable

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


def _own_module(mechanism: Callable[..., Any]) -> ModuleType | None:
    """The module that a mechanism comes from, if it is the author's own rather than an installed library's."""
    inner = getattr(mechanism, "func", mechanism)
    name = getattr(inner, "__module__", None) or type(inner).__module__
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or name == "__main__" or name.split(".")[0] == "dpest":
        return None
    installed = {sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return None if any(file.startswith(folder) for folder in installed if folder) else module


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

"""What a mechanism is, as a short text that stays the same from run to run: the identity of a checkpoint."""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dpest.lang.generators.places import held_by


def fingerprint(mechanism: Any) -> str:
    """A digest of a mechanism's code, defaults, closure and contents; what it imports counts by its name."""
    digest = hashlib.blake2b(digest_size=12)
    for part in _Reader().parts(mechanism):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


class _Reader:
    """Walks a mechanism once; the module of the first function it meets is the one whose functions are read."""

    def __init__(self) -> None:
        self.home: str | None = None
        self.seen: set[int] = set()

    def parts(self, x: Any) -> Iterator[str]:
        match x:
            case types.FunctionType():
                yield from self._function(x)
            case types.CodeType():
                yield from self._code(x)
            case types.MethodType():
                yield from self._each([x.__func__, x.__self__])
            case functools.partial():
                yield from self._each([x.func, x.args, x.keywords])
            case list() | tuple():
                yield type(x).__name__
                yield from self._each(x)
            case set() | frozenset():
                yield from sorted(repr(v) for v in x)
            case dict():
                yield from self._each(part for item in x.items() for part in item)
            case np.ndarray() if x.dtype != object:
                yield f"{x.dtype} {x.shape} {hashlib.blake2b(np.ascontiguousarray(x).tobytes()).hexdigest()}"
            case None | bool() | int() | float() | complex() | str() | bytes():
                yield repr(x)
            case type() | types.ModuleType() | types.BuiltinFunctionType():
                yield f"{getattr(x, '__module__', '')}.{x.__name__}"
            case _:
                yield from self._object(x)

    def _each(self, values: Iterable[Any]) -> Iterator[str]:
        for value in values:
            yield from self.parts(value)

    def _first_time(self, x: Any) -> bool:
        known = id(x) in self.seen
        self.seen.add(id(x))
        return not known

    def _function(self, function: types.FunctionType) -> Iterator[str]:
        self.home = self.home or function.__module__
        yield function.__qualname__
        if function.__module__ != self.home or not self._first_time(function):
            return
        yield from self._code(function.__code__)
        yield from self._each([function.__defaults__, function.__kwdefaults__])
        # Defaults were read above, whole; what is imported counts by its name, which is in the code.
        held = ((kind, x) for kind, _, x in held_by(function) if kind != "default")
        yield from self._each(x for kind, x in held if kind == "variable" or not isinstance(x, types.ModuleType))

    def _code(self, code: types.CodeType) -> Iterator[str]:
        yield code.co_code.hex()
        yield " ".join(code.co_names)
        yield from self._each(code.co_consts)

    def _object(self, x: Any) -> Iterator[str]:
        yield type(x).__qualname__
        if self._first_time(x):
            call = vars(type(x)).get("__call__")
            public = {k: v for k, v in getattr(x, "__dict__", {}).items() if not k.startswith("_")}
            yield from self._each([public, call])

"""Randomness that the trace does not see: generators of `random` and NumPy, and the operating system's random bytes.

A generator whose state moves while the mechanism runs has been drawn from; a read of the operating system's random bytes
is noticed as it happens. Both are certain, while a hidden coin shows in a replay only when it falls otherwise.
"""

from __future__ import annotations

import functools
import os
import pickle
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import NotReplayable
from dpest.lang.dist import RUN
from dpest.lang.generators.places import NOT_THE_AUTHORS, held_by
from dpest.lang.generators.standard import randbytes
from dpest.lang.generators.standins import StandIn

_MOST_ITEMS = 32  # of a container that is looked into; longer ones are data
_MOST_LOOKED_AT = 200  # objects that a mechanism refers to, itself or through functions that it calls


@dataclass(frozen=True)
class Generator:
    """A generator with a state that can be read and set."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], None]
    scramble: Callable[[int], None]  # into a state that belongs to this number

    state: Callable[[], Any]  # what it reads, as something to compare


def _of_random(name: str, generator: Any) -> Generator:
    return Generator(name, generator.getstate, generator.setstate, generator.seed, generator.getstate)


def _of_legacy(name: str, generator: Any) -> Generator:
    def state() -> Any:
        found = generator.get_state()
        return (found[1].tobytes(), found[2:]) if isinstance(found, tuple) else pickle.dumps(found)

    return Generator(name, generator.get_state, generator.set_state, generator.seed, state)


def _of_numpy(name: str, generator: np.random.Generator) -> Generator:
    bits: Any = generator.bit_generator

    def write(state: Any) -> None:
        bits.state = state

    return Generator(
        name, lambda: bits.state, write, lambda seed: write(type(bits)(seed).state), lambda: pickle.dumps(bits.state)
    )


_GLOBAL = (_of_random("random", random), _of_legacy("numpy.random", np.random))


class Watch:
    """Notices which hidden randomness is used between `with` and its end; `probe` runs the mechanism once more, always alike."""

    def __init__(self, mechanism: Any, data: Any, params: Mapping[str, Any], probe: Callable[[], Any]) -> None:
        self._generators = (*_GLOBAL, *_reachable(mechanism, data, params))
        self._probe = probe
        self._bytes_read = False

    def __enter__(self) -> Watch:
        self._before = [g.state() for g in self._generators]
        self._outer = _TAP.open(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        _TAP.close(self._outer)
        if kind is not None and not issubclass(kind, NotReplayable):
            return
        if self._bytes_read:
            raise _hidden("random bytes of the operating system: os.urandom, uuid4, an unseeded generator made elsewhere")
        for generator, before in zip(self._generators, self._before, strict=True):
            if generator.state() != before and not self._seeds_itself(generator):
                raise _hidden(generator.name)

    def notice(self) -> None:
        """Random bytes were read; modules that are imported for the first time may do so, and are not the mechanism."""
        self._bytes_read = self._bytes_read or not _importing()

    def _seeds_itself(self, generator: Generator) -> bool:
        """Whether the mechanism ends in one state of the generator, wherever it began: it set a seed, and is no coin."""
        ends = []
        kept = generator.read()
        try:
            for seed in (1, 2):
                generator.scramble(seed)
                self._probe()
                ends.append(generator.state())
        finally:
            generator.write(kept)
        return bool(ends[0] == ends[1])


class _Tap:
    """Stands before the operating system's random bytes while a watch is open, in whatever thread; each sees its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watches: dict[int, Watch] = {}
        self._originals: tuple[Any, Any] = (None, None)

    def open(self, watch: Watch) -> Watch | None:
        """Let a watch see what its thread reads; returns the one that did before."""
        with self._lock:
            if not self._watches:
                # SystemRandom, secrets and NumPy's seeds read through the first name, uuid4 and others through the second.
                self._originals = random._urandom, os.urandom  # type: ignore[attr-defined]
                random._urandom = self._read  # type: ignore[attr-defined]
                os.urandom = self._read_by_name
            outer = self._watches.get(threading.get_ident())
            self._watches[threading.get_ident()] = watch
            return outer

    def close(self, outer: Watch | None) -> None:
        """Give the thread back to the watch that was there before, and what was replaced to its owner after the last."""
        with self._lock:
            del self._watches[threading.get_ident()]
            if outer is not None:
                self._watches[threading.get_ident()] = outer
            if not self._watches:
                random._urandom, os.urandom = self._originals  # type: ignore[attr-defined]

    def _read_by_name(self, size: int) -> Any:
        """`os.urandom`: in the author's own code a draw, and elsewhere bytes that nobody follows."""
        if RUN.get() is not None and sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] not in NOT_THE_AUTHORS:
            return randbytes(size)
        return self._read(size)

    def _read(self, size: int) -> bytes:
        watch = self._watches.get(threading.get_ident())
        if watch is not None:
            watch.notice()
        return bytes(self._originals[1](size))


_TAP = _Tap()


def _importing() -> bool:
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _hidden(name: str) -> NotReplayable:
    return NotReplayable(
        f"the mechanism has randomness that dpest does not see (it draws from {name}): draw with random, secrets, numpy.random "
        "or dpest, by methods that are called in the mechanism's own code, as in rng.laplace(0, 1), random.random() or "
        "dpest.bernoulli(0.5), so that the law of the output can be worked out; dpest.audit bounds the loss of the program as it "
        "stands, as a black box"
    )


def _reachable(mechanism: Any, data: Any, params: Mapping[str, Any]) -> Iterator[Generator]:
    """The generators that the mechanism can get at by a name: in its arguments, its closure, its object, its module."""
    waiting: list[tuple[str, Any]] = [("", mechanism), ("the input", data), *params.items()]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_LOOKED_AT:
        name, x = waiting.pop(0)
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, StandIn):
            continue
        if isinstance(x, random.Random) and not isinstance(x, random.SystemRandom):
            yield _of_random(f"the random.Random {name}".rstrip(), x)
        elif isinstance(x, np.random.Generator):
            yield _of_numpy(f"the numpy generator {name}".rstrip(), x)
        elif isinstance(x, np.random.RandomState):
            yield _of_legacy(f"the numpy generator {name}".rstrip(), x)
        else:
            waiting.extend(_named(x))


def _named(x: Any) -> Iterator[tuple[str, Any]]:
    """What a function, a partial, a method or an object holds, with its names."""
    if isinstance(x, functools.partial):
        yield from (("", x.func), *(("", a) for a in x.args), *x.keywords.items())
    elif isinstance(x, types.MethodType):
        yield from (("", x.__func__), ("self", x.__self__))
    elif isinstance(x, types.FunctionType):
        ours = (x.__module__ or "").startswith("dpest.")  # functions made by exec have no module
        yield from ((name, value) for kind, name, value in held_by(x) if not (ours and kind == "global"))
    elif isinstance(x, list | tuple) and len(x) <= _MOST_ITEMS:
        yield from (("", v) for v in x)
    elif isinstance(x, dict) and len(x) <= _MOST_ITEMS:
        yield from ((str(k), v) for k, v in x.items())
    elif _of_the_author(x):
        yield from vars(x).items() if hasattr(x, "__dict__") else ()
        call = vars(type(x)).get("__call__")
        yield from (("", call),) if isinstance(call, types.FunctionType) else ()


def _of_the_author(x: Any) -> bool:
    """Whether an object may hold a generator of the author's: data frames, arrays, modules and classes do not."""
    home = (type(x).__module__ or "").partition(".")[0]
    return home not in ("builtins", "numpy", "pandas", "dpest") and not isinstance(x, type | types.ModuleType)

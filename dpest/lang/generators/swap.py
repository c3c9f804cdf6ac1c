"""Puts stand-ins where a mechanism holds or makes generators, while it is traced, and takes them away whatever happens."""

from __future__ import annotations

import collections
import functools
import inspect
import json
import math
import random as stdlib
import re
import secrets
import statistics
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

import numpy as np
from numpy._core import _methods

from dpest.lang.buffers import BUFFERS
from dpest.lang.generators.arrays import ARRAYS
from dpest.lang.generators.clock import CLOCKS
from dpest.lang.generators.conversions import CONVERSIONS
from dpest.lang.generators.counters import COUNTERS
from dpest.lang.generators.distributions import distribution_places
from dpest.lang.generators.factories import FACTORIES
from dpest.lang.generators.mathematics import MATHEMATICS
from dpest.lang.generators.octets import OCTETS
from dpest.lang.generators.pandas_methods import pandas_places
from dpest.lang.generators.places import NUMPY_NUMBERS, Place, is_authors, places
from dpest.lang.generators.quantiles import QUANTILES
from dpest.lang.generators.questions import QUESTIONS
from dpest.lang.generators.scipy_draws import scipy_places
from dpest.lang.generators.seeds import SEEDS, Seeds
from dpest.lang.generators.standard import OF_THE_SYSTEM
from dpest.lang.generators.standins import (
    AnyGenerator,
    LegacyGenerator,
    NumpyGenerator,
    StandardGenerator,
    SystemGenerator,
    stand_in,
)
from dpest.lang.generators.sums import SUMS
from dpest.lang.nodes import Draw
from dpest.lang.text import TEXTS

NAMES = ("rng", "random_state", "generator", "gen")


@dataclass
class Held:
    """A mechanism whose generators are stood in for: the parameters it is called with, and the seeds that were seen."""

    mechanism: Any
    given: Any
    params: dict[str, Any]
    seeded: list[str] = field(default_factory=list)
    secret: list[Draw] = field(default_factory=list)  # draws that have seeded a generator

    def begin(self) -> Any:
        """A run starts: what it seeds itself counts for this run. Returns what `end` wants."""
        return SEEDS.set(Seeds())

    def end(self, before: Any) -> None:
        """The run is over."""
        seeds = SEEDS.get()
        SEEDS.reset(before)
        if seeds is not None:
            self.seeded += [x for x in seeds.said if x not in self.seeded]
            self.secret += seeds.secret


_OPEN: ContextVar[Held | None] = ContextVar("dpest_stood_in_for", default=None)


def stood_in_for(mechanism: Any, params: Mapping[str, Any]) -> Held | None:
    """What stands now, if it is this mechanism's."""
    held = _OPEN.get()
    return held if held is not None and held.mechanism is mechanism and held.given is params else None


@contextmanager
def standing_in(mechanism: Any, data: Any, params: Mapping[str, Any]) -> Iterator[Held]:
    """Stand-ins for every generator of the mechanism; inside itself, it does nothing more."""
    held = stood_in_for(mechanism, params)
    if held is not None:
        yield held
        return
    taken = _SWAPPED.take([mechanism, data])
    token = None
    try:
        held = Held(mechanism, params, {**{k: _SWAPPED.replaced(v) for k, v in params.items()}, **missing(mechanism, params)})
        token = _OPEN.set(held)
        yield held
    finally:
        if token is not None:
            _OPEN.reset(token)
        _SWAPPED.give_back(taken)


def missing(mechanism: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Stand-ins for the generators that the mechanism wants as arguments, and was not given."""
    wanted = [(p, _kind(p)) for p in _not_given(mechanism, params)]
    return {p.name: kind.made() for p, kind in wanted if kind is not None and p.default is p.empty}


def left_at_none(mechanism: Any, params: Mapping[str, Any]) -> list[str]:
    """The generators that the mechanism takes as arguments, and that are None where they are not given."""
    return [p.name for p in _not_given(mechanism, params) if p.default is None and _kind(p) is not None]


def _not_given(mechanism: Any, params: Mapping[str, Any]) -> list[inspect.Parameter]:
    try:
        found = list(inspect.signature(mechanism).parameters.values())[1:]
        # A name alone, `Rng` under `from __future__ import annotations`, may stand for a generator's class.
        if any(isinstance(p.annotation, str) and p.annotation.isidentifier() for p in found):
            with suppress(NameError, AttributeError):
                found = list(inspect.signature(mechanism, eval_str=True).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.name not in params]


_KINDS = (
    (re.compile(r"\bRandomState\b"), LegacyGenerator),
    (re.compile(r"\bSystemRandom\b"), SystemGenerator),
    (re.compile(r"\brandom\.Random\b|^Random\b"), StandardGenerator),
    (re.compile(r"^(?!.*(typing|collections)).*\bGenerator\b(?!\[)"), NumpyGenerator),
)


def _kind(p: inspect.Parameter) -> Any:
    """Which stand-in a parameter wants: its annotation says, or else its name."""
    if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
        return None
    text = "" if p.annotation is p.empty else inspect.formatannotation(p.annotation).strip("'\"")
    for pattern, kind in _KINDS:
        if pattern.search(text):
            return kind
    if p.name not in NAMES or text not in ("", "Any", "typing.Any", "object"):
        return None
    return LegacyGenerator if p.name == "random_state" else AnyGenerator


_STOCK = (stdlib.Random, stdlib.SystemRandom, np.random.Generator, np.random.RandomState)
_MODULES = (
    *(stdlib, np, np.random, np.random.mtrand, secrets, math, statistics, np.linalg, _methods),
    *(time, json, collections, struct),
)
_LEGACY = np.random.mtrand._rand
# By the id of what they stand for.
_TABLES = (
    *(QUESTIONS, ARRAYS, QUANTILES, CONVERSIONS, MATHEMATICS, FACTORIES, SUMS, CLOCKS, TEXTS, BUFFERS),
    *(COUNTERS, OCTETS, OF_THE_SYSTEM),
)
_STAND_INS = {key: new for table in _TABLES for key, new in table.items()}
_BY_NAME = {id(np.random.seed): "seed", id(np.random.sample): "sample", id(np.random.ranf): "ranf"}
_KEPT = {id(_LEGACY), id(stdlib._inst), id(secrets._sysrand)}  # type: ignore[attr-defined]


class _Swapped:
    """The places where stand-ins are now, with how many traces want them there; other threads see the generators as before."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._places: dict[tuple[Any, ...], tuple[int, Place, Any]] = {}
        self._stand_ins: dict[int, tuple[Any, Any]] = {}  # by the generator, which is kept beside its stand-in
        self._modules: list[_Module] = []  # `random`, `numpy.random`, `secrets` and others, once they were looked through
        self._in_modules: set[tuple[Any, ...]] = set()
        self._methods: dict[int, Any] = {}  # what stands for methods of SciPy's distributions, by the id of the function
        self._memories: dict[int, Any] = {}  # what stands for functions that remember their results, by the id of the function
        self._takers = 0

    def take(self, roots: list[Any]) -> list[tuple[Any, ...]]:
        """Put stand-ins into the modules and wherever the roots lead; returns what to give back."""
        taken: list[tuple[Any, ...]] = []
        with self._lock:
            self._takers += 1
            if self._takers == 1:
                self._memories = {}
            try:
                of_classes = (*scipy_places(), *distribution_places(), *pandas_places())
                self._methods = {id(place.value): new for place, new in of_classes}
                found = [(place, self._replacement(place.value)) for place in places(*roots)]
                if self._takers == 1:
                    self._into_modules()
                for place, new in (*found, *of_classes):
                    if self._put(place, new):
                        taken.append(place.key)
            except BaseException:
                self.give_back(taken)
                raise
        return taken

    def give_back(self, keys: list[tuple[Any, ...]]) -> None:
        """Put the generators back where nobody wants a stand-in any more."""
        with self._lock:
            for key in keys:
                count, place, new = self._places.pop(key)
                if count > 1:
                    self._places[key] = count - 1, place, new
                else:
                    place.put(place.value)
            self._takers -= 1
            if not self._takers:
                for module in self._modules:
                    module.names.update(module.own)
                self._stand_ins = {key: x for key, x in self._stand_ins.items() if key in _KEPT}

    def replaced(self, value: Any) -> Any:
        """A generator's stand-in; anything else as it is."""
        new = self._replacement(value)
        return value if new is None else new

    def _put(self, place: Place, new: Any) -> bool:
        if place.key in self._in_modules:
            return False  # it stands there already
        known = self._places.get(place.key)
        if known is not None:
            self._places[place.key] = known[0] + 1, known[1], known[2]
            return True
        if new is None:
            return False
        place.put(new)
        self._places[place.key] = 1, place, new
        return True

    def _replacement(self, value: Any) -> Any:
        if type(value) in _STOCK:  # a class of the author's may draw in its own way: it is watched, not stood in for
            return self._for(value)
        if id(value) in _STAND_INS:
            return _STAND_INS[id(value)]
        if id(value) in _BY_NAME:
            return getattr(self._for(_LEGACY), _BY_NAME[id(value)])
        if isinstance(value, MethodType) and id(value.__func__) in self._methods:  # a name that is bound to one outside
            return MethodType(self._methods[id(value.__func__)], value.__self__)
        if isinstance(value, functools._lru_cache_wrapper) and is_authors(value.__wrapped__):
            return self._remembering(value)
        owner = getattr(value, "__self__", None) if callable(value) and not isinstance(value, type) else None
        if type(owner) in _STOCK:
            return getattr(self._for(owner), value.__name__, None)
        return None

    def _remembering(self, function: Any) -> Any:
        """The function with a memory of this trace alone: what it draws there is no value for the author's."""
        if id(function) not in self._memories:
            self._memories[id(function)] = functools.lru_cache(**function.cache_parameters())(function.__wrapped__)
        return self._memories[id(function)]

    def _for(self, generator: Any) -> Any:
        with self._lock:
            known = self._stand_ins.get(id(generator))
            if known is None:
                known = self._stand_ins[id(generator)] = generator, stand_in(generator)
            return known[1]

    def _into_modules(self) -> None:
        if not self._modules:
            for module in _MODULES:
                names = vars(module)
                # NumPy's own RandomState makes its bits by the second name.
                own = [name for name, v in names.items() if any(v is x for x in NUMPY_NUMBERS) or name == "_MT19937"]
                found = {name: self._replacement(v) for name, v in names.items() if name not in own}
                new = {name: x for name, x in found.items() if x is not None}
                self._modules.append(_Module(names, {name: names[name] for name in new}, new))
                self._in_modules.update((id(names), name) for name in new)
        for m in self._modules:
            m.names.update(m.stand_ins)


@dataclass(frozen=True)
class _Module:
    """The names of a module of the standard library or of NumPy: its own values, and what stands in for some of them."""

    names: dict[str, Any]
    own: dict[str, Any]
    stand_ins: dict[str, Any]


_SWAPPED = _Swapped()

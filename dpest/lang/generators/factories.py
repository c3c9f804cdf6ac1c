"""Stand-ins for what makes generators: `default_rng()` inside a run gives a stand-in, `default_rng(0)` a known sequence."""

from __future__ import annotations

import random as stdlib
from typing import Any

import numpy as np

from dpest.lang.dist import RUN
from dpest.lang.generators.standins import (
    LegacyGenerator,
    NumpyGenerator,
    StandardGenerator,
    StandIn,
    SystemGenerator,
    known_seed,
    note_seed,
    seeded_as,
)

_DEFAULT = np.random.default_rng


def default_rng(seed: Any = None) -> Any:
    """NumPy's `default_rng`."""
    if RUN.get() is None or isinstance(seed, np.random.Generator):
        return seed if isinstance(seed, StandIn) else _DEFAULT(seed)
    if seed is None:
        return NumpyGenerator.made()
    seed = known_seed(seed)
    note_seed(f"default_rng({seed!r})")
    return _DEFAULT(seed)


class _Factory(type):
    """A class of generators by another name: what it makes, and what counts as its own, is as before."""

    real: Any
    stand_in: Any

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        if RUN.get() is None:
            return cls.real(*args, **keywords)
        given = [x for x in (*args, *keywords.values()) if x is not None]
        if not given or cls.real is stdlib.SystemRandom:
            return cls.stand_in.made()
        seed = known_seed(given[0])
        note_seed(f"{cls.__name__}({seed!r})")
        return seeded_as(cls.real, seed)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.real)


def _factory(real: Any, stand_in: Any) -> Any:
    return _Factory(real.__name__, (real,), {"real": real, "stand_in": stand_in, "__module__": real.__module__})


# By what they replace.
FACTORIES: dict[int, Any] = {
    id(_DEFAULT): default_rng,
    id(np.random.RandomState): _factory(np.random.RandomState, LegacyGenerator),
    id(stdlib.Random): _factory(stdlib.Random, StandardGenerator),
    id(stdlib.SystemRandom): _factory(stdlib.SystemRandom, SystemGenerator),
}

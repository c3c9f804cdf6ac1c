"""Stand-ins for what makes generators: `default_rng()` inside a run gives a stand-in, `default_rng(0)` a known sequence."""

from __future__ import annotations

import random as stdlib
from typing import Any

import numpy as np

from dpest.lang.dist import RUN
from dpest.lang.generators.seeds import Unknown, UnknownBits, is_unknown, known_seed, note_seed, seeded
from dpest.lang.generators.standins import (
    LegacyGenerator,
    NumpyGenerator,
    StandardGenerator,
    StandIn,
    SystemGenerator,
    seeded_as,
)

_DEFAULT = np.random.default_rng


def default_rng(seed: Any = None) -> Any:
    """NumPy's `default_rng`."""
    if RUN.get() is None or isinstance(seed, np.random.Generator):
        return seed if isinstance(seed, StandIn) else _DEFAULT(seed)
    if is_unknown(seed) or _is_from_outside(seed):
        return NumpyGenerator.made()
    return _DEFAULT(_noted("default_rng", seed))


def _noted(name: str, seed: Any) -> Any:
    """A seed that everybody knows, as a plain number or what was made of one, which the run remembers."""
    seed = known_seed(seed)
    if not isinstance(seed, np.random.BitGenerator | np.random.SeedSequence):
        note_seed(f"{name}({seed!r})")
    return seed


def _is_from_outside(seed: Any) -> bool:
    """Whether bits come from a source that the mechanism holds and did not seed itself, as generators that it holds do."""
    return isinstance(seed, np.random.BitGenerator) and not seeded()


class _Factory(type):
    """A class of generators by another name: what it makes, and what counts as its own, is as before."""

    real: Any
    stand_in: Any

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        if RUN.get() is None:
            return cls.real(*args, **keywords)
        given = [x for x in (*args, *keywords.values()) if x is not None]
        if not given or cls.stand_in is SystemGenerator or is_unknown(given[0]) or _is_from_outside(given[0]):
            return cls.stand_in.made()
        if cls.stand_in is LegacyGenerator:
            return seeded_as(cls.real, _noted(cls.__name__, given[0]))
        known = {key: _noted(cls.__name__, x) for key, x in keywords.items()}
        return cls.real(*(_noted(cls.__name__, x) for x in args), **known)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.real)


def _factory(real: Any, stand_in: Any) -> Any:
    return _Factory(real.__name__, (real,), {"real": real, "stand_in": stand_in, "__module__": real.__module__})


_BITS = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
# By what they replace.
FACTORIES: dict[int, Any] = {
    id(_DEFAULT): default_rng,
    id(np.random.RandomState): _factory(np.random.RandomState, LegacyGenerator),
    id(stdlib.Random): _factory(stdlib.Random, StandardGenerator),
    id(np.random.Generator): _factory(np.random.Generator, NumpyGenerator),
    id(np.random.SeedSequence): _factory(np.random.SeedSequence, Unknown),
    **{id(bits): _factory(bits, UnknownBits) for bits in _BITS},
    id(stdlib.SystemRandom): _factory(stdlib.SystemRandom, SystemGenerator),
}

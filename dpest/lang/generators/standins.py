"""Stand-ins for generators: inside a run their methods make draws, outside of one they are the generators themselves."""

from __future__ import annotations

import random as stdlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpest.errors import UnsupportedOperation
from dpest.lang.dist import RUN
from dpest.lang.generators import draws, standard
from dpest.lang.generators.seeds import SEEDS, check_no_copy, is_unknown, known_seed, note_seed
from dpest.lang.plain_numbers import on_own_numbers

LawMaker = Callable[..., Any]
_LEGACY = np.random.RandomState  # by these names also while others stand at NumPy's
_PCG64, _MT19937 = np.random.PCG64, np.random.MT19937

_OF_NUMPY = (
    *("laplace", "normal", "standard_normal", "exponential", "standard_exponential", "gumbel", "logistic", "uniform", "random"),
    *("integers", "choice", "binomial", "poisson", "geometric", "standard_cauchy", "standard_t", "permutation", "shuffle"),
    *("gamma", "standard_gamma", "beta", "chisquare", "triangular", "weibull", "negative_binomial", "hypergeometric"),
    *("multinomial", "lognormal", "rayleigh", "pareto", "multivariate_normal", "dirichlet"),
)
_OF_RANDOM = (
    *("random", "uniform", "gauss", "expovariate", "randint", "randrange", "getrandbits", "choice", "choices", "sample"),
    *("randbytes", "shuffle", "triangular", "betavariate", "gammavariate", "lognormvariate", "paretovariate", "weibullvariate"),
    "binomialvariate",
)
NUMPY: dict[str, LawMaker] = {**{name: getattr(draws, name) for name in _OF_NUMPY}, "bytes": standard.randbytes}
LEGACY: dict[str, LawMaker] = {
    **{name: law for name, law in NUMPY.items() if name != "integers"},
    "rand": draws.rand,
    "randn": draws.randn,
    "randint": draws.randint,
    "random_sample": draws.random,
    "sample": draws.random,
    "ranf": draws.random,
}
STANDARD: dict[str, LawMaker] = {
    **{name: getattr(standard, name) for name in _OF_RANDOM},
    "normalvariate": standard.gauss,
    "_randbelow": draws.integers,
}


class StandIn:
    """What the stand-ins share."""

    original: Any
    make: Callable[[], Any]

    def _real(self) -> Any:
        """The generator whose own numbers count now: outside a run the original, inside one only what the run seeded."""
        if RUN.get() is not None:
            seeds = SEEDS.get()
            return None if seeds is None else seeds.real.get(id(self))
        if self.original is None:
            self.original = self.make()  # a generator that was made inside a run, and kept by the author's code
        return self.original

    def is_seeded(self) -> bool:
        """Whether it gives numbers of its own now, from a seed that the run has set."""
        return self._real() is not None

    def __copy__(self) -> Any:
        check_no_copy()
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        check_no_copy()
        return self

    def __reduce__(self) -> Any:
        return _same, (self.original if self.original is not None else self.make(),)


def _same(x: Any) -> Any:
    return x


class GuardedBits(np.random.PCG64):  # which is NumPy's own here, whatever stands at its name in a run
    """The bits of a stand-in: another generator may draw from them in turn, and nobody knows them."""

    def __getattribute__(self, name: str) -> Any:
        if name in _TELLING and RUN.get() is not None:
            raise UnsupportedOperation(
                f"the mechanism asks for `{name}` of the bits of a generator: numbers that come again, or are known, are no "
                "noise; draw from the generator itself"
            )
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__getattribute__(name)
        super().__setattr__(name, value)

    def __copy__(self) -> Any:
        check_no_copy()
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        check_no_copy()
        return self


_TELLING = frozenset({"state", "advance", "random_raw", "ctypes", "cffi", "__reduce__", "__reduce_ex__", "__getstate__"})


_TYPED = ("integers", "choice")  # methods whose single draws are NumPy's numbers; those of others are Python's
_TYPES: dict[type, Any] = {int: np.int64, float: np.float64}


def _method(name: str, law: LawMaker | None, typed: bool = False) -> Any:
    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        real = self._real()
        if real is not None:
            return getattr(real, name)(*args, **keywords)
        if law is None:
            raise draws.no_law(f"the method {name}")
        drawn = law(*args, **keywords)
        make = _TYPES.get(type(drawn)) if typed and on_own_numbers() else None
        return drawn if make is None else make(drawn)

    method.__name__ = name
    return method


def _methods(base: type, laws: Mapping[str, LawMaker]) -> dict[str, Any]:
    """Every public method of a generator's class: as a draw, or refused."""
    names = {name for name in dir(base) if not name.startswith("_") and callable(getattr(base, name))}
    typed = _TYPED if base in (np.random.Generator, _LEGACY) else ()
    return {name: _method(name, laws.get(name), name in typed) for name in (names | set(laws)) - {"seed"}}


def seeded_as(real: Any, seed: Any) -> Any:
    """A generator with this seed; NumPy's older ones read random bytes first, which a run would notice."""
    if real is not _LEGACY or isinstance(seed, np.random.BitGenerator):
        return real(seed)
    out = _LEGACY(_MT19937(0))
    out.seed(seed)
    return out


def _seed(self: Any, *args: Any, **keywords: Any) -> Any:
    """Inside a run, a seed makes the numbers that follow known ones, for this run alone."""
    seeds = SEEDS.get()
    if RUN.get() is None or seeds is None:
        return self._real().seed(*args, **keywords)
    given = [*args, *keywords.values()]
    if not given or is_unknown(given[0]):
        seeds.real.pop(id(self), None)
        return None
    seed = known_seed(given[0])
    seeds.real[id(self)] = seeded_as(type(self).real_class, seed)
    note_seed(f"seed({seed!r})")
    return None


def _spawn(self: Any, n_children: int) -> Any:
    if RUN.get() is None:
        return self._real().spawn(n_children)
    return [type(self).made() for _ in range(n_children)]


def _numpy_made(cls: Any, original: Any = None) -> Any:
    out = cls(GuardedBits(0))  # never drawn from: a state that NumPy wants to see
    out.original = original
    return out


def _legacy_made(cls: Any, original: Any = None) -> Any:
    out = cls(_MT19937(0))
    out.original = original
    return out


def _standard_made(cls: Any, original: Any = None) -> Any:
    out = cls.__new__(cls)
    out.original = original
    return out


def _no_init(self: Any, *args: Any) -> None:
    """A stand-in has no seed."""


def _class(name: str, real: Any, laws: Mapping[str, LawMaker], made: Any, **more: Any) -> Any:
    body = {"real_class": real, "made": classmethod(made), "original": None, "make": staticmethod(real), "seed": _seed}
    return type(name, (StandIn, real), {**_methods(real, laws), **body, **more})


NumpyGenerator = _class(
    "NumpyGenerator", np.random.Generator, NUMPY, _numpy_made, make=staticmethod(np.random.default_rng), spawn=_spawn
)
LegacyGenerator = _class("LegacyGenerator", np.random.RandomState, LEGACY, _legacy_made)
StandardGenerator = _class("StandardGenerator", stdlib.Random, STANDARD, _standard_made, __init__=_no_init)
SystemGenerator = _class("SystemGenerator", stdlib.SystemRandom, STANDARD, _standard_made, __init__=_no_init)


def _either(self: Any, *args: Any, **keywords: Any) -> Any:
    """`randint` of a parameter of which nothing else is known: with two bounds, it means two things."""
    if len(args) == 2 and not keywords:
        raise UnsupportedOperation(
            "randint(a, b) of a generator without an annotation: random.Random includes b, numpy.random.RandomState does not. "
            "Annotate the parameter, as in `rng: random.Random`, or pass one, as in rng=random.Random()"
        )
    return draws.randint(*args, **keywords)


_ONLY_STANDARD = ("gauss", "normalvariate", "expovariate", "randrange", "getrandbits", "choices", "sample")
_NEITHER = {name: _method(name, STANDARD[name]) for name in _ONLY_STANDARD}
AnyGenerator = type("AnyGenerator", (NumpyGenerator,), {**_NEITHER, "randint": _either, "rand": _method("rand", draws.rand)})


def stand_in(generator: Any) -> Any:
    """The stand-in for a generator."""
    if isinstance(generator, StandIn):
        return generator
    if isinstance(generator, np.random.Generator):
        return NumpyGenerator.made(generator)
    if isinstance(generator, np.random.RandomState):
        return LegacyGenerator.made(generator)
    kind = SystemGenerator if isinstance(generator, stdlib.SystemRandom) else StandardGenerator
    return kind.made(generator)

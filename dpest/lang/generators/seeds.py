"""What a run does with seeds: those that are written in the program, which everybody knows, and those that it draws itself."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpest.errors import UnsupportedOperation
from dpest.lang.dist import Dist
from dpest.lang.nodes import Draw, draws_of
from dpest.lang.plain_numbers import bare
from dpest.lang.spans import reach

_MOST_KNOWN = 1_000  # seeds that are computed from drawn numbers: each is a run of its own
_WIDE = 2**30  # values of a seed, too many to be tried one by one; of fewer, each is a path of its own


@dataclass
class Seeds:
    """What one run did: generators with seeds of its own, whole numbers that may be seeds, and what was made of them."""

    real: dict[int, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    wide: dict[Any, Any] = field(default_factory=dict)  # drawn whole numbers of very many values, by what tells them apart
    secret: list[Draw] = field(default_factory=list)  # draws that have seeded a generator


SEEDS: ContextVar[Seeds | None] = ContextVar("dpest_seeds", default=None)


def note_seed(words: str) -> None:
    """Remember that the run made noise from a seed that is written in it."""
    seeds = SEEDS.get()
    if seeds is not None and words not in seeds.said:
        seeds.said.append(words)


def seeded() -> bool:
    """Whether the run has set a seed: what generators give from there on depends on more than its draws."""
    seeds = SEEDS.get()
    return seeds is not None and bool(seeds.said or seeds.secret)


def known_seed(seed: Any) -> Any:
    """A seed as a plain number: one that was drawn among a few forks the run."""
    if isinstance(seed, Dist):
        if any(high - low >= _MOST_KNOWN for low, high in map(reach, (seed.node, *draws_of(seed.node)))):
            raise UnsupportedOperation(
                "a seed is computed from a drawn number of very many values: seed a generator with the number itself, or take "
                "all noise from one generator"
            )
        return seed.__index__()
    return bare(seed)


def remember(number: Any, values: int) -> Any:
    """A drawn whole number, which may be used as a seed."""
    seeds = SEEDS.get()
    if seeds is not None and values >= _WIDE:
        seeds.wide[_key(number)] = number
    return number


def _key(number: Any) -> Any:
    return id(number.node) if isinstance(number, Dist) else int(bare(number))


class Unknown:
    """A seed that the operating system gives, `SeedSequence()`, or bits that follow from one, `PCG64()`."""

    def __init__(self) -> None:
        self.is_used = False

    @classmethod
    def made(cls) -> Unknown:
        """As the stand-ins of generators are made."""
        return cls()

    def spawn(self, n_children: int) -> list[Unknown]:
        """Seeds that are independent of each other."""
        return [Unknown() for _ in range(n_children)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedOperation(f"the mechanism asks for `{name}` of a seed that nobody knows: make one generator from each")

    def __copy__(self) -> Unknown:
        check_no_copy()
        return self

    def __deepcopy__(self, memo: Any) -> Unknown:
        check_no_copy()
        return self


class UnknownBits(Unknown):
    """A source of random bits, which several generators may draw from in turn."""


def is_unknown(seed: Any) -> bool:
    """Whether nobody knows what a generator with this seed gives; two from one seed would give the same."""
    seeds = SEEDS.get()
    if seed is None or isinstance(seed, UnknownBits):
        return True
    if isinstance(seed, Unknown):
        used, seed.is_used = seed.is_used, True
        return not used or _twice()
    number = isinstance(seed, Dist) or isinstance(bare(seed), int | np.integer)
    if seeds is None or not number or _key(seed) not in seeds.wide:
        return False
    if seeds.wide[_key(seed)] is None:
        _twice()
    seeds.wide[_key(seed)] = None
    seeds.secret += draws_of(seed.node) if isinstance(seed, Dist) else ()
    return True


def check_no_copy() -> None:
    """Refuses a copy of a generator inside a run."""
    if SEEDS.get() is not None:
        raise UnsupportedOperation(
            "the mechanism copies a generator, and a copy gives the same numbers again: draw all noise from one generator, or "
            "make children of it (`rng.spawn(2)`)"
        )


def _twice() -> bool:
    raise UnsupportedOperation(
        "two generators are made from one seed, and give the same numbers: make one generator and draw all noise from it, or "
        "give each a seed of its own (`SeedSequence().spawn(2)`)"
    )


def check_unused(secret: list[Draw], used: list[Draw]) -> None:
    """Refuses seeds that the program also does something else with: who learns of them knows the noise."""
    ids = {id(x) for x in secret}
    if any(id(x) in ids for x in used):
        raise UnsupportedOperation(
            "a drawn number is the seed of a generator and is used for something else too: who learns of it knows the noise. "
            "Draw another number for the second use"
        )

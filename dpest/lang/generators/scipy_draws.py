"""`rvs` of SciPy's distributions, stood in for while a mechanism is traced: it makes draws with their laws."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpest.lang.generators import draws
from dpest.lang.generators.places import Place
from dpest.lang.generators.seeds import note_seed
from dpest.lang.generators.standins import StandIn
from dpest.lang.run import RUN


def scipy_places() -> Iterator[tuple[Place, Any]]:
    """The methods `rvs` of SciPy's classes and what goes there, where SciPy's statistics are loaded."""
    inside = sys.modules.get("scipy.stats._distn_infrastructure")
    if inside is None:
        return
    for cls in (inside.rv_generic, inside.rv_discrete, inside.rv_frozen):
        real = vars(cls).get("rvs")
        if real is not None:
            real = getattr(real, "__wrapped__", real)
            new = _frozen(real) if cls is inside.rv_frozen else _of_family(real)
            yield Place((id(cls), "rvs"), real, functools.partial(setattr, cls, "rvs")), new


def _draws(state: Any) -> bool:
    """Whether numbers from this state are noise that the trace sees; those from a seed are known to everybody."""
    if RUN.get() is None:
        return False
    if isinstance(state, int | np.integer):
        note_seed(f"random_state={state!r}")
    return state is None or isinstance(state, StandIn) or state is np.random


@functools.cache
def _of_family(real: Any) -> Any:
    @functools.wraps(real)
    def rvs(self: Any, *args: Any, **keywords: Any) -> Any:
        if not _draws(keywords.get("random_state")):
            return real(self, *args, **keywords)
        keywords.pop("random_state", None)
        shapes, location, scale, size = self._parse_args_rvs(*args, **keywords)

        def one(where: Any, width: Any, *own: Any) -> Any:
            # Moved and scaled afterwards, so that both may be random.
            return where + (width * draws.of_scipy(self, *own) if width != 1 else draws.of_scipy(self, *own))

        return draws.each(one, size or None, location, scale, *shapes)

    return rvs


@functools.cache
def _frozen(real: Any) -> Any:
    @functools.wraps(real)
    def rvs(self: Any, size: Any = None, random_state: Any = None) -> Any:
        state = random_state if random_state is not None else None
        if not _draws(state):
            return real(self, size, random_state)
        return self.dist.rvs(*self.args, **self.kwds, size=size)

    return rvs

"""One draw that says which of several outcomes came, and the conditions under which each did."""

from __future__ import annotations

from collections.abc import Sequence

from dpest.lang.nodes import Draw
from dpest.laws.discrete import Atoms
from dpest.numerics.rationals import ONE, exact
from dpest.trace.literal import Literal


def one_of(logs: Sequence[float], what: str) -> tuple[Draw, list[tuple[Literal, ...]]]:
    """A draw with these logarithms of probabilities, and for each of its points the conditions that say that it came."""
    draw = Draw(Atoms(tuple(map(float, range(len(logs)))), tuple(logs), f"one of {len(logs)} {what}"))
    conditions = []
    for k in range(len(logs)):
        above = (Literal(((draw, ONE),), exact(-k)),) if k else ()
        below = (Literal(((draw, -ONE),), exact(k)),) if k < len(logs) - 1 else ()
        conditions.append((*above, *below))
    return draw, conditions

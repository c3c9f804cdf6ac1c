"""The largest and smallest of several values, with the constants worked out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpest.lang.nodes import Extreme, Pick, is_node
from dpest.lang.spans import is_absolute


def extreme(pick: Pick, values: Sequence[Any]) -> Any:
    """The extreme value as a node, or a plain number where no random value can be it."""
    left = _without_infinite(pick, [y for x in values for y in ranked(pick, x)])
    if any(is_node(v) for v in left):
        return Extreme(pick, tuple(left)) if len(left) > 1 else left[0]
    return max(left) if pick is Pick.MAX else min(left)


def ranked(pick: Pick, known: Any) -> tuple[Any, ...]:
    """The values among which the best one so far was found; an absolute value stays one."""
    best = isinstance(known, Extreme) and known.pick is pick and not is_absolute(known)
    return known.values if best else (known,)


def clipped(x: Any, low: Any, high: Any) -> Any:
    """x, brought to at least `low` and then to at most `high`: where the bounds cross, `high` wins, as in NumPy."""
    return extreme(Pick.MIN, (extreme(Pick.MAX, (x, low)), high))


def _without_infinite(pick: Pick, values: Sequence[Any]) -> list[Any]:
    """The values without those that can never be the extreme one, or the infinite one that always is."""
    always = math.inf if pick is Pick.MAX else -math.inf
    if any(not is_node(v) and v == always for v in values):
        return [always]
    return [v for v in values if is_node(v) or v != -always] or [-always]

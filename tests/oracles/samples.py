"""A loss that samples of the program itself show: counts of its outputs on plain numbers, with exact binomial bounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import betaincinv

from tests.oracles.plain import Sampled
from tests.oracles.truth import Truth

ALPHA = 1e-9  # chance that any of the bounds of one program is wrong
CELLS = 6  # cells for each number that differs from run to run


def outputs(mechanism: Callable[[Any, Any], Any], data: Any, runs: int, seed: int) -> list[Any]:
    """The outputs of many plain runs."""
    names = Sampled(np.random.default_rng(seed))
    return [mechanism(data, names) for _ in range(runs)]


def shown_loss(mechanism: Callable[[Any, Any], Any], pair: tuple[Any, Any], runs: int, seed: int) -> Truth:
    """A lower bound of the loss; cells are chosen on one half of the runs and counted on the other."""
    half = runs // 2
    tables = [outputs(mechanism, x, runs, seed + k) for k, x in enumerate(pair)]
    edges = _edges([flat(o) for t in tables for o in t[:half]])
    counts = [Counter(_cell(flat(o), edges) for o in t[half:]) for t in tables]
    keys = set(counts[0]) | set(counts[1])
    lower = max((_ratio(a[k], b[k], runs - half, len(keys)) for a, b in (counts, counts[::-1]) for k in keys), default=0.0)
    return Truth(max(0.0, lower), math.inf, f"{runs} plain runs")


def _ratio(k: int, other: int, n: int, events: int) -> float:
    """ln of a lower bound of one probability over an upper bound of the other (Clopper and Pearson)."""
    alpha = ALPHA / (4 * max(events, 1))
    if not k:
        return 0.0
    low = betaincinv(k, n - k + 1, alpha)
    high = 1.0 if other == n else betaincinv(other + 1, n - other, 1 - alpha)
    return math.log(low / high)


def flat(output: Any) -> tuple[Any, ...]:
    """The parts of an output in order; containers leave their kind behind."""
    if isinstance(output, dict):
        return ("dict", *(p for k, v in output.items() for p in (k, *flat(v))))
    if isinstance(output, list | tuple):
        return (type(output).__name__, *(p for v in output for p in flat(v)))
    return (output,)


def _is_number(x: Any) -> bool:
    return isinstance(x, float | int | np.number) and not isinstance(x, bool)


def _edges(rows: Sequence[tuple[Any, ...]]) -> dict[Any, list[float]]:
    """Cell edges for the numbers of each shape, where they take many values; few values are cells of their own."""
    columns: dict[Any, list[float]] = {}
    for row in rows:
        shape = _shape(row)
        for i, x in enumerate(row):
            if _is_number(x):
                columns.setdefault((shape, i), []).append(float(x))
    shares = np.linspace(0, 1, CELLS + 1)[1:-1]
    return {at: sorted(set(np.quantile(v, shares).tolist())) for at, v in columns.items() if len(set(v)) > 12}


def _shape(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple("number" if _is_number(x) else x for x in row)


def _cell(row: tuple[Any, ...], edges: dict[Any, list[float]]) -> tuple[Any, ...]:
    shape = _shape(row)

    def part(i: int, x: Any) -> Any:
        cuts = edges.get((shape, i))
        return x if cuts is None or not _is_number(x) else ("cell", int(np.searchsorted(cuts, x)))

    return tuple(part(i, x) for i, x in enumerate(row))

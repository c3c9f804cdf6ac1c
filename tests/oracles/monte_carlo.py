"""A plain Monte-Carlo oracle: the mechanism as it is written, on arrays of NumPy's own random numbers.

Conditions must be written with `m.where`, or be outputs: an `if` has one outcome for the whole array.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Mechanism = Callable[[Any, Any], Any]


class Columns:
    """Draws are arrays of N fresh numbers."""

    def __init__(self, count: int, seed: int) -> None:
        self.count = count
        self.rng = np.random.default_rng(seed)

    def laplace(self, scale: float) -> Any:
        return self.rng.laplace(0.0, scale, self.count)

    def gaussian(self, sigma: float) -> Any:
        return self.rng.normal(0.0, sigma, self.count)

    def exponential(self, scale: float) -> Any:
        return self.rng.exponential(scale, self.count)

    def gumbel(self, scale: float) -> Any:
        return self.rng.gumbel(0.0, scale, self.count)

    def logistic(self, scale: float) -> Any:
        return self.rng.logistic(0.0, scale, self.count)

    def uniform(self, low: float, high: float) -> Any:
        return self.rng.uniform(low, high, self.count)

    def geometric(self, scale: float) -> Any:
        p = -math.expm1(-1 / scale)
        return self.rng.geometric(p, self.count) - self.rng.geometric(p, self.count)

    def bernoulli(self, p: float) -> Any:
        return (self.rng.random(self.count) < p).astype(int)

    def categorical(self, probs: Sequence[float]) -> Any:
        return self.rng.choice(len(probs), self.count, p=probs)

    def integers(self, low: int, high: int) -> Any:
        return self.rng.integers(low, high, self.count, endpoint=True)

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        return np.where(condition, yes, no)

    def max(self, values: Sequence[Any]) -> Any:
        return np.maximum(*values)

    def min(self, values: Sequence[Any]) -> Any:
        return np.minimum(*values)

    def clip(self, x: Any, low: float, high: float) -> Any:
        return np.clip(x, low, high)

    def argmax(self, values: Sequence[Any]) -> Any:
        return np.argmax(np.stack(np.broadcast_arrays(np.zeros(self.count), *values)[1:]), axis=0)


def outcomes(mechanism: Mechanism, data: Any, count: int, seed: int) -> Counter[Any]:
    """How often each output came out of `count` runs."""
    columns = Columns(count, seed)
    output = mechanism(data, columns)
    parts = output if isinstance(output, tuple) else (output,)
    arrays = [np.broadcast_to(np.asarray(x), (count,)).tolist() for x in parts]
    return Counter(zip(*arrays, strict=True)) if isinstance(output, tuple) else Counter(arrays[0])


def values(mechanism: Mechanism, data: Any, count: int, seed: int) -> Any:
    """The outputs of `count` runs as an array, one row for each."""
    output = mechanism(data, Columns(count, seed))
    parts = output if isinstance(output, tuple) else (output,)
    return np.stack([np.broadcast_to(np.asarray(x, float), (count,)) for x in parts], axis=1)


def log_ratio(hits: int, others: int) -> tuple[float, float]:
    """ln of the ratio of two counts out of equally many runs, and its standard error."""
    return math.log(hits / others), math.sqrt(1 / hits + 1 / others)

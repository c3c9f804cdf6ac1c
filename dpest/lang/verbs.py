"""The operations by their older names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.errors import InvalidInput, NotReplayable
from dpest.lang.dist import Dist
from dpest.lang.functions import argmax, cumsum, max, min
from dpest.lang.nodes import Draw
from dpest.laws.empirical import empirical_law


def add(x: Any, y: Any) -> Any:
    """x + y; `add(x, x)` is 2x, for the same value is not drawn twice."""
    return x + y


def affine(x: Any, scale: float = 1.0, shift: float = 0.0) -> Any:
    """scale * x + shift."""
    return scale * x + shift


def mul(x: Any, y: Any) -> Any:
    """x * y."""
    return x * y


def geq(x: Any, y: Any) -> Any:
    """Whether x >= y, as a random truth value (1 or 0)."""
    return x >= y


def max_op(values: Sequence[Any]) -> Any:
    """The largest of the values."""
    return max(values)


def min_op(values: Sequence[Any]) -> Any:
    """The smallest of the values."""
    return min(values)


def vector_add(xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
    """The sums of two lists, place by place."""
    if len(xs) != len(ys):
        raise InvalidInput(f"vector_add(xs, ys) needs two lists of one length, got {len(xs)} and {len(ys)} values")
    return [x + y for x, y in zip(xs, ys, strict=True)]


vector_argmax = argmax
vector_max = max_op
vector_min = min_op


def prefix_sum_distributions(values: Sequence[Any]) -> list[Any]:
    """The running sums of the values; they share noise, and know it."""
    return list(cumsum(values))


class Sampled(Dist):
    """A random value that is known by samples; of several, row i of each belongs to the same run."""

    __slots__ = ("samples",)
    samples: npt.NDArray[np.float64]

    @staticmethod
    def from_samples(samples: npt.ArrayLike) -> Sampled:
        """The value that these numbers are samples of."""
        values = np.asarray(samples)
        if values.dtype == object and any(isinstance(v, Dist) for v in values.ravel()):
            raise NotReplayable(
                "the mechanism samples by itself: from_samples(...) was given random values of the trace, no numbers; return the "
                "random value itself"
            )
        law = empirical_law(samples)
        value = Sampled(Draw(law))
        value.samples = law.samples
        return value

"""The loss between random values that somebody already holds, alone or in lists, and between samples of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.errors import ExactRefused, InvalidInput
from dpest.exact.inference.paths import trace
from dpest.exact.loss.compare import compare
from dpest.lang.verbs import Sampled
from dpest.run.settings import sampling_samples
from dpest.run.streams import stream
from dpest.sampling.by_hand import SampleComparison, compare_samples
from dpest.sampling.runs.joint_samples import joint_samples

SEED = 0  # of the samples that are drawn where a comparison cannot be inferred


def epsilon_from_dist(P: Any, Q: Any) -> float:
    """The privacy loss between two laws: their atoms and their densities, in both directions."""
    return epsilon_from_list([P], [Q])


def epsilon_from_list(Ps: Sequence[Any], Qs: Sequence[Any]) -> float:
    """The loss between two lists of values: what shares noise is joint, and what does not adds, per direction."""
    return epsilon_from_list_joint(Ps, Qs)


def epsilon_from_list_joint(Ps: Sequence[Any], Qs: Sequence[Any], hist_bins: int = 100) -> float:
    """The loss between two lists of values taken together; in bins, from samples, where it cannot be inferred exactly."""
    if len(Ps) != len(Qs):
        raise InvalidInput(f"both lists must have one length, got {len(Ps)} and {len(Qs)}")
    if not len(Ps):
        raise InvalidInput("the lists are empty: give at least one value on each side")
    try:
        found = compare(trace(_returning(Ps), None, {}), trace(_returning(Qs), None, {}))
    except ExactRefused:
        return epsilon_from_mixed_samples(_rows(Ps, 0), _rows(Qs, 1), hist_bins)
    return max(found.forward.value, found.backward.value)


def _returning(values: Sequence[Any]) -> Callable[[Any], list[Any]]:
    return lambda _: list(values)


def _rows(values: Sequence[Any], key: int) -> NDArray[Any]:
    """Joint samples of the values, one row each: their own where they were sampled, else fresh ones."""
    own = [v.samples for v in values if isinstance(v, Sampled)]
    if len(own) == len(values) and len({len(x) for x in own}) == 1:
        return np.stack(own, axis=1)
    return joint_samples(values, sampling_samples(), stream(SEED, key))


def epsilon_from_mixed_samples(P: Any, Q: Any, n_bins: int = 100, verbose: bool = False) -> float:
    """The loss between two samples of outputs (rows, where an output has several coordinates), estimated.

    Values that repeat, NaN, None and strings are outputs of their own; the rest is binned. An output that only one sample
    shows is infinite only where chance cannot explain it.
    """
    found = compare_samples(P, Q, n_bins)
    if verbose:
        for line in _zeros(found):
            print(line)  # noqa: T201  (what verbose asks for)
    return found.epsilon


def _zeros(found: SampleComparison) -> Iterator[str]:
    """The events that only one sample showed."""
    for side in found.conclusion.findings[0].sides:
        hits = found.table.all.hits(side.shown)
        if hits.more and not hits.fewer:
            event, bound = found.table.words(side.shown.cells), math.inf if side.infinite else side.lower
            yield (
                f"{event}: {hits.more} of {hits.of_more} (probability {hits.more / hits.of_more:.4g}) "
                f"against 0 of {hits.of_fewer} (probability 0), {side.shown.direction.value}; establishes a loss of {bound:.4g}"
            )

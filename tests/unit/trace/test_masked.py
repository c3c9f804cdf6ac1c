"""Masks of random truth values that arrays are written and read through. Oracle: enumeration of the draws, and closed forms."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dpest

_RNG = np.random.default_rng()


def _loss_by_enumeration(mechanism: Callable[[Any, Any], Any], pair: Sequence[Any], noise: Sequence[int], n: int) -> float:
    """The largest log ratio of the counts of outputs over all equally likely noise."""
    laws = [Counter(str(mechanism(x, np.array(z))) for z in itertools.product(noise, repeat=n)) for x in pair]
    if laws[0].keys() != laws[1].keys():
        return math.inf
    return max(abs(math.log(laws[0][k] / laws[1][k])) for k in laws[0])


def _clipped(xs: Any, z: Any) -> Any:
    y = np.array(xs) + z
    y[y < 1] = 0
    y[y > 3] = 3
    return y.tolist()


def _either(xs: Any, z: Any) -> Any:
    y = np.array(xs) + z
    mask = (y < 1) | (y > 3)
    y[mask] = -7
    return y.tolist()


def _other(xs: Any, z: Any) -> Any:
    y = np.array(xs) + z
    keep = y.copy()
    keep[y >= 2] = 9
    keep[y < 1] = 8
    return keep.tolist()


def _logical(xs: Any, z: Any) -> Any:
    y = np.array(xs) + z
    y[np.logical_xor(y < 2, y > 0)] = 5
    y[np.logical_and.reduce([y > 1, y < 5])] = 4
    return y.tolist()


def _read(xs: Any, z: Any) -> Any:
    y = np.array(xs) + z
    y[y < 1] = 0
    return int(y[y > 1].size), int(y[0])


@pytest.mark.parametrize("body", [_clipped, _either, _other, _logical, _read])
@pytest.mark.parametrize("pair", [([1, 2, 2], [1, 3, 2]), ([2, 2, 2], [2, 2, 1])])
def test_written_through_masks(body: Callable[[Any, Any], Any], pair: Any) -> None:
    noise = [-2, -1, 0, 1, 2]

    def mechanism(xs: Any) -> Any:
        return body(xs, np.random.default_rng().integers(-2, 3, size=3))

    r = dpest.estimate(mechanism, pair, method="exact", progress=False)
    truth = _loss_by_enumeration(body, pair, noise, 3)
    assert r.lower <= truth + 1e-12
    assert truth - 1e-12 <= r.upper
    assert math.isinf(truth) or r.upper - r.lower < 1e-9


def _negatives_are_zero(counts: Any) -> Any:
    h = np.asarray(counts, dtype=float)
    h = h + _RNG.laplace(0, 2, size=h.shape)
    h[h < 0] = 0
    return h


def _whole_and_not_negative(counts: Any) -> Any:
    h = np.round(np.asarray(counts) + _RNG.laplace(0, 2, size=len(counts))).astype(np.int64)
    h[h < 0] = 0
    return h.tolist()


def _in_place(counts: Any) -> Any:
    h = np.array(counts, dtype=float)
    h += _RNG.laplace(0, 2, size=len(counts))
    h[h < 1.5] = 0
    return h.round(1)


def _by_logical_functions(counts: Any) -> Any:
    h = np.asarray(counts) + _RNG.laplace(0, 2, size=len(counts))
    h[np.logical_and(h > 0, np.logical_not(h >= 1))] = 0
    h[np.logical_or(h < 0, h > 1000)] = -1
    return h


def _into_itself(counts: Any) -> Any:
    h = np.array(counts, dtype=float)
    np.add(h, _RNG.laplace(0, 2, size=len(counts)), out=h)
    np.maximum(h, -3, out=h)
    np.clip(h, 0, None, out=h)
    h.round(1, out=h)
    return h


_LONG = [_negatives_are_zero, _whole_and_not_negative, _in_place, _by_logical_functions, _into_itself]


@pytest.mark.parametrize("mechanism", _LONG)
def test_long_histograms(mechanism: Callable[[Any], Any]) -> None:
    """Twenty masks would be a million paths: 1/2 is reached in the tails."""
    left = [float(i % 4) for i in range(20)]
    right = [x + (i == 5) for i, x in enumerate(left)]
    r = dpest.estimate(mechanism, (left, right), method="exact", progress=False)
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_two_ends_of_a_mask() -> None:
    """P(y < 0) under scale 2 at 1 and 2 against what is kept, which is cut at 1: closed forms of both events."""

    def low_or_middle(counts: Any) -> Any:
        y = np.asarray(counts) + _RNG.laplace(0, 2, size=len(counts))
        y[y < 0] = -1
        y[y >= 0] = 1
        return y

    def below(x: float) -> float:
        return 0.5 * math.exp(-x / 2)

    r = dpest.estimate(low_or_middle, ([1.0, 3.0], [2.0, 3.0]), method="exact", progress=False)
    truth = max(math.log(below(1) / below(2)), math.log((1 - below(2)) / (1 - below(1))))
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9

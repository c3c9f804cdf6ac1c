"""A learned score: the log likelihood ratio of an output, as a sum over its features."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dpest.numerics.threads import one_thread
from dpest.sampling.coding import Codes

Floats = npt.NDArray[np.float64]

_ROUNDS = 9
_SETTLED = 0.02
_LONGEST_STEP = 3.0


@dataclass(frozen=True)
class Score:
    """A weight for each code of each feature; cells are intervals of the sum of weights."""

    weights: tuple[Floats, ...]
    cuts: Floats

    def of(self, codes: Codes) -> Floats:
        """The score of each output."""
        total = np.zeros(codes.shape[1])
        for weight, code in zip(self.weights, codes, strict=True):
            if weight.any():
                total += weight.take(code)
        return total

    def cells(self, codes: Codes) -> npt.NDArray[np.int64]:
        """The cell of each output: 0 for the lowest scores."""
        return np.searchsorted(self.cuts, self.of(codes), side="right")

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.cuts) + 1


def learn_score(left: Codes, right: Codes, sizes: tuple[int, ...], unordered: tuple[int, ...]) -> Score:
    """The score that tells two samples apart, with cells that halve towards both ends of either sample."""
    codes = np.concatenate([left, right], axis=1)
    from_left = np.arange(codes.shape[1]) < left.shape[1]
    bare = Score(fit_weights(codes, from_left * 1.0, ~from_left * 1.0, sizes, unordered), np.empty(0))
    pooled = bare.of(codes)
    even = np.quantile(pooled, _levels(pooled.size), method="nearest")
    return Score(bare.weights, np.unique(np.concatenate([even, _ends(pooled[from_left], pooled[~from_left])])))


def _levels(count: int) -> list[float]:
    """Cells halve towards both ends, down to about fifteen samples, and are even in the middle."""
    tails = [2.0**-k for k in np.arange(3, max(3.5, np.log2(count / 15)), 0.5)]
    return sorted({*tails, *(1 - t for t in tails), *(i / 16 for i in range(2, 15))})


def _ends(left: Floats, right: Floats) -> Floats:
    """From the top, cuts above the 4th, 8th, 16th ... of the rarer scores, those of `right`; from the bottom, of `left`.

    Next to outputs that one input alone shows, the loss rises over few samples of the other: a cell that holds many
    averages it away. Fewer than four say little of where the other input ends.
    """
    places = [2**k - 1 for k in range(2, min(left.size, right.size).bit_length())]
    return np.concatenate([np.nextafter(np.sort(right)[::-1][places], np.inf), np.sort(left)[places]])


def fit_weights(
    codes: Codes, left: Floats, right: Floats, sizes: tuple[int, ...], unordered: tuple[int, ...]
) -> tuple[Floats, ...]:
    """Additive logistic regression; `left` and `right` say how often each column of codes was seen under either input.

    Newton steps on the penalised likelihood; each feature's penalty follows the evidence (MacKay 1992).
    """
    with one_thread():
        return _newton(codes, left, right, sizes, unordered)


def _newton(codes: Codes, left: Floats, right: Floats, sizes: tuple[int, ...], unordered: tuple[int, ...]) -> tuple[Floats, ...]:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = codes.astype(np.int64) + starts[:-1, None]
    base = np.log(left.sum() / right.sum())
    roughness = [_roughness(n, k) for n, k in zip(sizes, unordered, strict=True)]
    strength = np.full(len(sizes), 10.0)
    weights = np.zeros(starts[-1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(base + weights[places].sum(axis=0), -30, 30)))
        penalty = _blocks([s * r for s, r in zip(strength, roughness, strict=True)], starts)
        curvature = _curvature(places, (left + right) * chance * (1 - chance), starts)
        spread = np.asarray(np.linalg.inv(curvature + penalty), float)
        pull = left * (1 - chance) - right * chance
        slope = sum(np.bincount(place, pull, minlength=starts[-1]) for place in places) - penalty @ weights
        step = spread @ slope
        weights = weights + step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        if float(np.abs(step).max()) < _SETTLED:
            break
        strength = _evidence(weights, spread, roughness, strength, starts)
    return tuple(weights[a:b] for a, b in pairwise(starts))


def _roughness(size: int, unordered: int) -> Floats:
    """What is penalised: the weights of unordered codes, and the steps between neighbouring bins."""
    out = np.zeros((size, size))
    out[np.arange(unordered), np.arange(unordered)] = 1.0
    for i in range(unordered, size - 1):
        out[i : i + 2, i : i + 2] += np.array([[1.0, -1.0], [-1.0, 1.0]]) * 5.0
    out[np.arange(unordered, size), np.arange(unordered, size)] += 0.05
    return out


def _blocks(parts: list[Floats], starts: npt.NDArray[np.int64]) -> Floats:
    out = np.zeros((starts[-1], starts[-1]))
    for part, a, b in zip(parts, starts[:-1], starts[1:], strict=True):
        out[a:b, a:b] = part
    return out


def _curvature(codes: npt.NDArray[np.int64], weight: Floats, starts: npt.NDArray[np.int64]) -> Floats:
    """The Hessian: the weighted table of every pair of features."""
    total = starts[-1]
    out = np.zeros((total, total))
    for i, first in enumerate(codes):
        a, b = starts[i], starts[i + 1]
        out[range(a, b), range(a, b)] = np.bincount(first - a, weight, minlength=b - a)
        for j in range(i + 1, len(codes)):
            c, d = starts[j], starts[j + 1]
            table = np.bincount((first - a) * (d - c) + (codes[j] - c), weight, minlength=(b - a) * (d - c))
            out[a:b, c:d] = table.reshape(b - a, d - c)
            out[c:d, a:b] = out[a:b, c:d].T
    return out


def _evidence(
    weights: Floats, spread: Floats, roughness: list[Floats], strength: Floats, starts: npt.NDArray[np.int64]
) -> Floats:
    """The penalty under which the weights found are as rough as expected."""
    out = strength.copy()
    for f, rough in enumerate(roughness):
        a, b = starts[f], starts[f + 1]
        w = weights[a:b]
        well_determined = max((b - a) - strength[f] * float(np.sum(spread[a:b, a:b] * rough)), 1e-3)
        out[f] = np.clip(well_determined / max(float(w @ rough @ w), 1e-9), 1e-2, 1e5)
    return out

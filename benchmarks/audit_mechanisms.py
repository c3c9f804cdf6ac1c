"""The 20 mechanisms of the DP-Sniper evaluation as black boxes: vectorised NumPy functions `mechanism(data, size, rng)`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
EPS = 0.1


def lap(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Matrix:
    """Laplace noise: an exponential with a random sign."""
    noise = rng.standard_exponential(shape)
    count = noise.size
    sign = np.unpackbits(np.frombuffer(rng.bytes((count + 7) // 8), np.uint8), count=count).reshape(shape)
    noise *= scale * (1.0 - 2.0 * sign)
    return noise


def laplace_vec(data: Any, size: int, rng: np.random.Generator) -> Matrix:
    x = np.asarray(data, float)
    return x + lap(rng, 1 / EPS, (size, len(x)))


def laplace_parallel(data: Any, size: int, rng: np.random.Generator) -> Matrix:
    return float(np.asarray(data).ravel()[0]) + lap(rng, 1 / 0.005, (size, 20))


def noisy_hist2(data: Any, size: int, rng: np.random.Generator) -> Matrix:
    x = np.asarray(data, float)
    return x + lap(rng, EPS, (size, len(x)))


def report_noisy_max1(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    x = np.asarray(data, float)
    return np.argmax(x + lap(rng, 2 / EPS, (size, len(x))), axis=1)


def report_noisy_max2(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    x = np.asarray(data, float)
    return np.argmax(x + 2 / EPS * rng.standard_exponential((size, len(x))), axis=1)


def report_noisy_max3(data: Any, size: int, rng: np.random.Generator) -> Matrix:
    x = np.asarray(data, float)
    return np.max(x + lap(rng, 2 / EPS, (size, len(x))), axis=1)


def report_noisy_max4(data: Any, size: int, rng: np.random.Generator) -> Matrix:
    x = np.asarray(data, float)
    return np.max(x + 2 / EPS * rng.standard_exponential((size, len(x))), axis=1)


def _cut(out: Matrix, above: NDArray[np.bool_], c: int) -> Matrix:
    """NaN from the query after the c-th pass on."""
    before = np.cumsum(above, axis=1, dtype=np.int16) - above
    out[before >= c] = np.nan
    return out


def svt1(data: Any, size: int, rng: np.random.Generator, t: float = 0.5, c: int = 1) -> Matrix:
    q = np.asarray(data, float)
    threshold = t + lap(rng, 2 / EPS, (size, 1))
    above = q + lap(rng, 4 * c / EPS, (size, len(q))) >= threshold
    return _cut(above.astype(float), above, c)


def svt1_early(data: Any, size: int, rng: np.random.Generator, t: float = 0.5) -> Matrix:
    """SVT1 with cutoff 1, dropping the runs that have stopped."""
    out = np.full((size, len(data)), np.nan)
    rows = np.arange(size)
    threshold = t + lap(rng, 2 / EPS, (size,))
    for i, q in enumerate(data):
        above = q + lap(rng, 4 / EPS, (len(rows),)) >= threshold
        out[rows, i] = above
        rows, threshold = rows[~above], threshold[~above]
    return out


def svt2(data: Any, size: int, rng: np.random.Generator, t: float = 1.0, c: int = 1) -> Matrix:
    q = np.asarray(data, float)
    threshold = t + lap(rng, 2 * c / EPS, (size,))
    out = np.full((size, len(q)), np.nan)
    left = np.full(size, c)
    for i, query in enumerate(q):
        above = query + lap(rng, 4 * c / EPS, (size,)) >= threshold
        running = left > 0
        out[running, i] = above[running]
        hit = above & running
        left[hit] -= 1
        threshold[hit] = t + lap(rng, 2 * c / EPS, (int(hit.sum()),))
    return out


def svt3(data: Any, size: int, rng: np.random.Generator, t: float = 1.0, c: int = 1) -> Matrix:
    q = np.asarray(data, float)
    threshold = t + lap(rng, 2 / EPS, (size, 1))
    noisy = q + lap(rng, 2 * c / EPS, (size, len(q)))
    above = noisy >= threshold
    return _cut(np.where(above, noisy, -1000.0), above, c)


def svt4(data: Any, size: int, rng: np.random.Generator, t: float = 1.0, c: int = 1) -> Matrix:
    q = np.asarray(data, float)
    threshold = t + lap(rng, 4 / EPS, (size, 1))
    above = q + lap(rng, 4 / (3 * EPS), (size, len(q))) >= threshold
    return _cut(above.astype(float), above, c)


def svt5(data: Any, size: int, rng: np.random.Generator, t: float = 1.0) -> Matrix:
    q = np.asarray(data, float)
    return (q >= t + lap(rng, 2 / EPS, (size, 1))).astype(float)


def svt6(data: Any, size: int, rng: np.random.Generator, t: float = 1.0) -> Matrix:
    q = np.asarray(data, float)
    return (q + lap(rng, 2 / EPS, (size, len(q))) >= t + lap(rng, 2 / EPS, (size, 1))).astype(float)


def numerical_svt(data: Any, size: int, rng: np.random.Generator, t: float = 1.0, c: int = 2) -> Matrix:
    q = np.asarray(data, float)
    threshold = t + lap(rng, 3 / EPS, (size, 1))
    above = q + lap(rng, 6 * c / EPS, (size, len(q))) >= threshold
    return _cut(np.where(above, q + lap(rng, 3 * c / EPS, (size, len(q))), 0.0), above, c)


def svt34_parallel(data: Any, size: int, rng: np.random.Generator) -> Matrix:
    return np.hstack([svt3(data, size, rng, c=2), svt4(data, size, rng, c=2)])


def prefix_sum(data: Any, size: int, rng: np.random.Generator) -> Matrix:
    return np.cumsum(laplace_vec(data, size, rng), axis=1)


def _filter(data: Any, n_hashes: int = 4, filter_size: int = 20) -> NDArray[np.bool_]:
    value = int(np.asarray(data).ravel()[0])
    bits = np.zeros(filter_size, dtype=bool)
    bits[[mmh3.hash(str(value), seed) % filter_size for seed in range(n_hashes)]] = True
    return bits


def _permanent(data: Any, size: int, rng: np.random.Generator, f: float) -> NDArray[np.bool_]:
    bits = _filter(data)
    return rng.random((size, len(bits)), dtype=np.float32) < np.where(bits, 1 - f / 2, f / 2)


def one_time_rappor(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    return _permanent(data, size, rng, 0.95)


def rappor(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    stored = _permanent(data, size, rng, 0.75)
    return rng.random(stored.shape, dtype=np.float32) < np.where(stored, 0.55, 0.45)


def truncated_geometric(data: Any, size: int, rng: np.random.Generator, n: int = 5) -> NDArray[np.int64]:
    """Balcer and Vadhan's GeoSample (2018): a uniform integer on 1..d against an integer cumulative function."""
    c = int(np.asarray(data).ravel()[0])
    k = math.ceil(math.log(2 / EPS))
    d = (2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1)
    cumulative = [
        2 ** (k * (c - z)) * (2**k + 1) ** (n - (c - z))
        if z < c
        else d - 2 ** (k * (z - c + 1)) * (2**k + 1) ** (n - 1 - (z - c))
        for z in range(n)
    ] + [d]
    u = rng.integers(1, d, size, endpoint=True)
    return np.searchsorted(np.array(cumulative), u, side="left")


@dataclass(frozen=True)
class Case:
    """A mechanism, its inputs, its exact loss, and what DP-Sniper reports for it."""

    name: str
    mechanism: Callable[..., Any]
    n: int
    adjacency: str
    exact: float
    published: float
    at_a_tenth: float | None  # with a tenth of its samples, where that was measured
    pairs: tuple[tuple[Any, Any], ...] | None = None

    @property
    def to_beat(self) -> float:
        """DP-Sniper's bound with as many samples, or else its published one."""
        return self.published if self.at_a_tenth is None else self.at_a_tenth


CASES = (
    Case("LaplaceMechanism", laplace_vec, 1, "l1", 0.1, 0.099, 0.089),
    Case("LaplaceParallel", laplace_parallel, 1, "l1", 0.1, 0.035, 0.015),
    Case("NoisyHist1", laplace_vec, 5, "l1", 0.1, 0.098, 0.091),
    Case("NoisyHist2", noisy_hist2, 5, "l1", 10.0, 4.60, None),
    Case("ReportNoisyMax1", report_noisy_max1, 5, "linf", 0.0946149052824522, 0.092, 0.088),
    Case("ReportNoisyMax2", report_noisy_max2, 5, "linf", 0.1, 0.098, 0.093),
    Case("ReportNoisyMax3", report_noisy_max3, 5, "linf", 0.25, 0.249, 0.247),
    Case("ReportNoisyMax4", report_noisy_max4, 5, "linf", math.inf, 0.351, 0.346),
    Case("SVT1", svt1, 10, "linf", 0.0878011042170006, 0.086, 0.063),
    Case("SVT2", svt2, 10, "linf", 0.0874833632081358, 0.086, 0.060),
    Case("SVT3", svt3, 10, "linf", 0.5, 0.174, 0.141),
    Case("SVT4", svt4, 10, "linf", 0.17166388027155, 0.169, 0.165),
    Case("SVT5", svt5, 10, "linf", math.inf, 1.76, 1.759),
    Case("SVT6", svt6, 10, "linf", 0.42003154450669, 0.272, 0.268),
    Case("SVT34Parallel", svt34_parallel, 10, "linf", 0.484348921386717, 0.268, 0.223),
    Case("NumericalSVT", numerical_svt, 10, "linf", 0.0803154596170917, 0.035, 0.030),
    Case("PrefixSum", prefix_sum, 10, "linf", 1.0, 0.503, 0.488),
    Case("OneTimeRAPPOR", one_time_rappor, 1, "l1", 0.600500751341895, 0.600, 0.598),
    Case("RAPPOR", rappor, 1, "l1", 0.300062523447968, 0.299, 0.290),
    Case("TruncatedGeometric", truncated_geometric, 1, "counts", math.log(9 / 8), 0.116, 0.110, ((2, 1), (1, 0))),
)

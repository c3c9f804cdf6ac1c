"""Audits of mechanisms that no setting was chosen on, beside a histogram with Clopper-Pearson bounds on as many samples.

    python benchmarks/audit_outside.py [NAME ...] [--samples 10000 100000 1000000] [--seeds 3] [--page docs/audit_outside.md]
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpest
from dpest.numerics.binomial import ratio_lower_clopper_pearson

Rng = np.random.Generator
ALPHA = 0.05
BINS = 20
FIVE = ([1.0] * 5, [2.0, 0.0, 0.0, 0.0, 0.0])
TEN = ([1.0] * 10, [0.0] * 5 + [2.0] * 5)
HEAD = """# Audits of mechanisms on which nothing was chosen

The median bound of some audits (seeds from {first}, 95 % confidence), beside that of a histogram on as many samples of each
input: outputs that repeat are cells of their own, numbers are cut into {bins} bins of equal weight for each column, each cell is
bounded in both directions by Clopper-Pearson, and the confidence is shared by all cells.
`python benchmarks/audit_outside.py` writes this page.

| mechanism | exact loss | samples of each input | audits | median bound | histogram | bounds above the loss | CPU seconds |
|---|---:|---:|---:|---:|---:|---:|---:|
"""
FOOT = """
Two rows hardly reach 95 % of the loss at a million samples, and no choice of the event makes that sure: where an event has the
probabilities p and q under the two inputs, independent samples bound its log ratio about 1.645 sqrt(1 / (n p) + 1 / (n q)) below
the truth, and the events that carry the whole loss are rare. The best of all events, at its exact probabilities:

| mechanism | 10,000 | 100,000 | 1,000,000 |
|---|---:|---:|---:|
| Laplace, ten of ten columns move (the loss is reached where all ten outputs lie on one side, with probability 1/1024) | {ten} |
| sparse vector, three passes (the loss is reached by one of 176 outcomes, with probability 0.006) | {svt} |

Medians above these come from noise that both inputs share, or from few audits.
"""
TEN_AT_BEST = "0.559 | 0.734 | 0.902"  # twenty million outputs with their exact likelihood ratios, cut where it promises most
SVT_AT_BEST = "0.308 | 0.461 | 0.537"  # all outcomes by a quadrature over the threshold


@dataclass(frozen=True)
class Case:
    """A vectorised mechanism, a pair, and its loss there."""

    name: str
    mechanism: Callable[[Any, int, Rng], Any]
    pair: tuple[Any, Any]
    loss: float


def gap_max(data: Any, size: int, rng: Rng) -> Any:
    noisy = np.asarray(data) + rng.laplace(scale=2.0, size=(size, len(data)))
    ordered = np.sort(noisy, axis=1)
    return np.argmax(noisy, axis=1), ordered[:, -1] - ordered[:, -2]


def staircase(data: Any, size: int, rng: Rng) -> Any:
    """Geng and Viswanath's mechanism for epsilon 1."""
    sign = rng.choice([-1, 1], size)
    steps = rng.geometric(1 - math.exp(-1), size) - 1
    gamma = 1 / (1 + math.exp(0.5))
    low = rng.random(size) < gamma / (gamma + (1 - gamma) * math.exp(-1))
    u = rng.random(size)
    return data[0] + sign * np.where(low, steps + gamma * u, steps + gamma + (1 - gamma) * u)


def svt_three(data: Any, size: int, rng: Rng) -> Any:
    """Sparse vector that stops after three passes; -1 stands for queries that were not asked."""
    above = np.asarray(data) + rng.laplace(scale=12.0, size=(size, len(data))) >= 0.5 + rng.laplace(scale=2.0, size=(size, 1))
    before = np.cumsum(above, axis=1) - above
    return np.where(before >= 3, -1, above)


def conditioned_laplace(data: Any, size: int, rng: Rng) -> Any:
    """Laplace noise of scale 1, drawn again until the output lies in [-1, 2]."""
    out = np.empty(0)
    while len(out) < size:
        more = data[0] + rng.laplace(size=size)
        out = np.concatenate([out, more[(more >= -1) & (more <= 2)]])
    return out[:size]


def response_20(data: Any, size: int, rng: Rng) -> Any:
    keep = math.e / (math.e + 19)
    return np.where(rng.random(size) < keep, data, (data + rng.integers(1, 20, size)) % 20)


def laplace_10(data: Any, size: int, rng: Rng) -> Any:
    return np.asarray(data) + rng.laplace(scale=10.0, size=(size, 10))


def laplace_one_of_10(data: Any, size: int, rng: Rng) -> Any:
    return np.asarray(data) + rng.laplace(size=(size, 10))


def exponential_50(data: Any, size: int, rng: Rng) -> Any:
    return np.argmax(0.5 * np.asarray(data) + rng.gumbel(size=(size, len(data))), axis=1)


def subsampled_sum(data: Any, size: int, rng: Rng) -> Any:
    """The sum of the rows that a fair coin keeps, with Laplace noise of scale 1/2."""
    kept = rng.random((size, len(data))) < 0.5
    return kept @ np.asarray(data, float) + rng.laplace(scale=0.5, size=size)


def _conditioned_loss() -> float:
    """Closed form: the ratio of densities is e at -1, times that of the masses of [-1, 2] under both inputs."""
    at_0 = 1 - (math.exp(-1) + math.exp(-2)) / 2
    at_1 = 1 - (math.exp(-2) + math.exp(-1)) / 2
    return 1 + abs(math.log(at_0 / at_1))


CASES = (
    Case("noisy argmax with gap", gap_max, FIVE, 1.0),
    Case("staircase", staircase, ([0.0], [1.0]), 1.0),
    Case("sparse vector, three passes", svt_three, TEN, 0.5723579506114),
    Case("Laplace conditioned on an interval", conditioned_laplace, ([0.0], [1.0]), _conditioned_loss()),
    Case("randomised response, 20 values", response_20, (0, 1), 1.0),
    Case("Laplace, ten of ten columns move", laplace_10, ([0.0] * 10, [1.0] * 10), 1.0),
    Case("Laplace, one of ten columns moves", laplace_one_of_10, ([0.0] * 10, [1.0] + [0.0] * 9), 1.0),
    Case(
        "exponential mechanism, 50 items",
        exponential_50,
        ([0.0] * 50, [1.0] + [-1.0] * 49),
        0.5 - math.log((math.exp(0.5) + 49 * math.exp(-0.5)) / 50),
    ),
    Case("subsampled sum", subsampled_sum, ([1.0] * 5, [1.0] * 4 + [0.0]), math.log((1 + math.exp(2)) / 2)),
)


def histogram(case: Case, samples: int, seed: int) -> float:
    """The largest Clopper-Pearson bound over the cells of each column, and of whole outputs where they repeat."""
    streams = [np.random.default_rng((seed, side)) for side in (0, 1)]
    drawn = [_matrix(case.mechanism(data, samples, rng), samples) for data, rng in zip(case.pair, streams, strict=True)]
    tables = list(_tables(*drawn))
    alpha = ALPHA / (2 * sum(len(p) for p, _ in tables))
    best = [ratio_lower_clopper_pearson(a, samples, b, samples, alpha).max() for p, q in tables for a, b in ((p, q), (q, p))]
    return float(max(best))


def _matrix(outputs: Any, samples: int) -> NDArray[np.float64]:
    columns = outputs if isinstance(outputs, tuple) else (outputs,)
    return np.column_stack([np.asarray(c, float).reshape(samples, -1) for c in columns])


def _tables(left: NDArray[np.float64], right: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    both = np.concatenate([left, right])
    for column in both.T:
        values, code = np.unique(column, return_inverse=True)
        if len(values) > 1000:
            code = np.searchsorted(np.quantile(column, np.arange(1, BINS) / BINS), column)
        yield _counts(code, len(left))
    rows, code = np.unique(both[:20_000], axis=0, return_inverse=True)
    if left.shape[1] > 1 and len(rows) <= 1000:
        yield _counts(np.unique(both, axis=0, return_inverse=True)[1].ravel(), len(left))


def _counts(code: NDArray[np.int64], middle: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    size = int(code.max()) + 1
    return np.bincount(code[:middle], minlength=size), np.bincount(code[middle:], minlength=size)


def row(case: Case, samples: int, first: int, seeds: int) -> str:
    """One line of the table."""
    start = time.process_time()
    found = [dpest.audit(case.mechanism, case.pair, samples=samples, seed=first + s, progress=quiet).lower for s in range(seeds)]
    seconds = (time.process_time() - start) / seeds
    other = float(np.median([histogram(case, samples, first + s) for s in range(seeds)]))
    above = sum(x > case.loss + 1e-9 for x in found)
    shown = f"{seeds} | {np.median(found):.4f} | {other:.4f} | {above} | {seconds:.1f}"
    line = f"| {case.name} | {case.loss:.4f} | {samples:,} | {shown} |"
    print(line, flush=True)
    return line + "\n"


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar."""


def main() -> None:
    """Write the table line by line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--samples", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=900)
    parser.add_argument("--page", type=Path, default=Path("docs/audit_outside.md"))
    asked = parser.parse_args()
    with asked.page.open("w") as page:
        page.write(HEAD.format(first=asked.first, bins=BINS))
        for case in CASES:
            if not asked.names or case.name in asked.names:
                for samples in asked.samples:
                    page.write(row(case, samples, asked.first, asked.seeds))
                    page.flush()
        page.write(FOOT.format(ten=TEN_AT_BEST, svt=SVT_AT_BEST))


if __name__ == "__main__":
    sys.exit(main())

"""Mechanisms with known losses, and how often the bounds from samples hold for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import dpest
from dpest.inputs.pairs import Pair, pattern_pairs
from dpest.results import Result
from dpest.sampling.answer import estimate_by_sampling
from dpest.sampling.runs.sources import TracedSampler
from tests import mechanisms_for_sampling as known

CONFIDENCE = 0.95
RUNS = 300


@dataclass(frozen=True)
class Case:
    """A question whose exact answer is known."""

    name: str
    kind: str
    mechanism: Callable[..., Any]
    pairs: tuple[Pair, ...]
    truth: float
    samples: int
    many_paths: bool = False  # the ways through the program are then found once for all runs, and no upper bound is asked for

    def runs(self, count: int) -> Iterator[Result]:
        """The answers of so many seeded runs."""
        mechanism = TracedSampler(self.mechanism) if self.many_paths else self.mechanism
        for seed in range(count):
            yield estimate_by_sampling(
                mechanism, self.pairs, samples=self.samples, seed=seed, confidence=CONFIDENCE, executor=1, progress=False
            )


def _pattern(name: str, n: int = 10) -> tuple[Pair, ...]:
    return tuple(p for p in pattern_pairs(n) if p.name == name)


def same_counts(_: float) -> Any:
    """The same law whatever the input: about five hundred whole numbers."""
    return dpest.geometric(60.0)


def same_values(_: float) -> Any:
    """The same law whatever the input: two numbers and, at times, None."""
    x = dpest.laplace(1.0)
    return (x, x + dpest.gaussian(1.0)) if dpest.bernoulli(0.8) else None


def numerical_svt(queries: list[float]) -> Any:
    """With eps = 1, so that fewer samples show something."""
    return known.numerical_svt(queries, eps=1.0)


_BITS = Pair("8 of 20 bits differ", (1,) * 4 + (0,) * 16, (0,) * 4 + (1,) * 4 + (0,) * 12)

CASES = (
    Case("SVT1, seven patterns", "discrete", known.svt1, tuple(pattern_pairs(10)), 0.0878011042170006, 400_000),
    Case("SVT6, half_half", "discrete, 1,024 outcomes", known.svt6, _pattern("half_half"), 0.42003154450669, 100_000, True),
    Case("NumericalSVT, eps = 1, x_shape", "mixed", numerical_svt, _pattern("x_shape"), 0.7955012069, 20_000),
    Case("PrefixSum, n = 10", "continuous", known.prefix_sum, _pattern("all_above_all_below"), 1.0, 20_000),
    Case("RAPPOR", "discrete, 2^20 outcomes", known.permanent_bits, (_BITS,), known.permanent_bits_loss(8), 50_000),
    Case(
        "NoisyHist2 (wrong scale)",
        "continuous, broken",
        known.noisy_histogram_wrong_scale,
        _pattern("one_above", 5),
        10.0,
        20_000,
    ),
    Case("SVT5 (no query noise)", "discrete, broken", known.svt5, _pattern("x_shape"), math.inf, 20_000),
)
EQUAL_LAWS = (
    Case("equal laws", "discrete", same_counts, (Pair("", 0.0, 1.0),), 0.0, 20_000),
    Case("equal laws", "mixed", same_values, (Pair("", 0.0, 1.0),), 0.0, 20_000),
)


def allowed_misses(runs: int) -> int:
    """The largest number of misses that is plausible (at 1 %) when each run misses with probability 1 - confidence."""
    from scipy.stats import binom

    return int(binom.ppf(0.99, runs, 1 - CONFIDENCE))

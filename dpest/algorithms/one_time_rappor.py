"""RAPPOR, the permanent response alone."""

from __future__ import annotations

import math
from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.bloom import bloom_bits
from dpest.lang.functions import where
from dpest.lang.noise import bernoulli


@auto_dist
def one_time_rappor(
    values: Any, eps: float | None = None, n_hashes: int = 4, filter_size: int = 20, f: float = 0.95
) -> list[Any]:
    """The Bloom filter of one value, each bit replaced by a fair coin with probability f."""
    return [where(bernoulli(f), bernoulli(0.5), bit) for bit in bloom_bits(values, n_hashes, filter_size)]


one_time_rappor_dist = one_time_rappor._dist_func

ALGORITHM = Algorithm(
    name="OneTimeRAPPOR",
    function=one_time_rappor,
    paper="Erlingsson, Pihur and Korolova, RAPPOR: randomized aggregatable privacy-preserving ordinal response, CCS 2014",
    adjacency=Adjacency.VALUES,
    n=1,
    claim=2 * 4 * math.log((1 - 0.95 / 2) / (0.95 / 2)),
    claim_true=True,
)

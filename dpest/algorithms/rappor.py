"""RAPPOR, one report."""

from __future__ import annotations

import math
from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.one_time_rappor import one_time_rappor
from dpest.lang.functions import where
from dpest.lang.noise import bernoulli


@auto_dist
def rappor(
    values: Any,
    eps: float | None = None,
    n_hashes: int = 4,
    filter_size: int = 20,
    f: float = 0.75,
    p: float = 0.45,
    q: float = 0.55,
) -> list[Any]:
    """A one-time RAPPOR filter, each bit reported as 1 with probability q where it is set and p where it is not."""
    return [where(bit, bernoulli(q), bernoulli(p)) for bit in one_time_rappor(values, eps, n_hashes, filter_size, f)]


rappor_dist = rappor._dist_func

ALGORITHM = Algorithm(
    name="RAPPOR",
    function=rappor,
    paper="Erlingsson, Pihur and Korolova, RAPPOR: randomized aggregatable privacy-preserving ordinal response, CCS 2014",
    adjacency=Adjacency.VALUES,
    n=1,
    claim=2 * 4 * math.log(0.5125 / 0.4875),
    claim_true=True,
)

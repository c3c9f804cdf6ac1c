"""Prefix sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import cumsum
from dpest.lang.noise import laplace


@auto_dist
def prefix_sum(values: Any, eps: float = 0.1) -> Any:
    """The cumulative sums of the values, each value with Laplace noise of scale 1/eps."""
    return cumsum(np.asarray(values) + laplace(1 / eps, size=len(values)))


prefix_sum_dist = prefix_sum._dist_func

ALGORITHM = Algorithm(
    name="PrefixSum",
    function=prefix_sum,
    paper="Wang, Ding, Wang, Kifer and Zhang, Proving differential privacy with shadow execution, PLDI 2019",
    adjacency=Adjacency.LINF,
    n=10,
    claim=10 * 0.1,
    claim_true=True,
)

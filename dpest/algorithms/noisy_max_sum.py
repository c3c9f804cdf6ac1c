"""The sum of two noisy maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import max as largest
from dpest.lang.noise import laplace


@auto_dist
def noisy_max_sum(values: Any, eps: float = 0.1, split_index: int | None = None) -> Any:
    """The largest of the first half plus the largest of the second half, each value with Laplace noise of scale 1/eps."""
    noisy = np.asarray(values) + laplace(1 / eps, size=len(values))
    middle = len(noisy) // 2 if split_index is None else split_index
    return largest(noisy[:middle]) + largest(noisy[middle:])


noisy_max_sum_dist = noisy_max_sum._dist_func

ALGORITHM = Algorithm(
    name="NoisyMaxSum",
    function=noisy_max_sum,
    paper="Composition of n Laplace releases: Dwork and Roth, The algorithmic foundations of differential privacy, 2014",
    adjacency=Adjacency.LINF,
    n=20,
    claim=20 * 0.1,
    claim_true=True,
)

"""A noisy histogram."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.noise import laplace


@auto_dist
def noisy_hist1(values: Any, eps: float = 0.1) -> Any:
    """A histogram, every count plus Laplace noise of scale 1/eps."""
    return np.asarray(values) + laplace(1 / eps, size=len(values))


noisy_hist1_dist = noisy_hist1._dist_func

ALGORITHM = Algorithm(
    name="NoisyHist1",
    function=noisy_hist1,
    paper="Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy, CCS 2018",
    adjacency=Adjacency.L1,
    n=5,
    claim=0.1,
    claim_true=True,
)

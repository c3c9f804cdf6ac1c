"""A noisy histogram with the wrong scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.noise import laplace


@auto_dist
def noisy_hist2(values: Any, eps: float = 0.1) -> Any:
    """A histogram, every count plus Laplace noise of scale eps, which is the wrong scale."""
    return np.asarray(values) + laplace(eps, size=len(values))


noisy_hist2_dist = noisy_hist2._dist_func

ALGORITHM = Algorithm(
    name="NoisyHist2",
    function=noisy_hist2,
    paper="Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy, CCS 2018",
    adjacency=Adjacency.L1,
    n=5,
    claim=0.1,
    claim_true=False,
    flaw="The scale is eps where it must be 1/eps: the loss is 1/eps.",
)

"""Report noisy max, variant 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import argmax
from dpest.lang.noise import laplace


@auto_dist
def report_noisy_max1(values: Any, eps: float = 0.1) -> Any:
    """Which value is largest after Laplace noise of scale 2/eps."""
    return argmax(np.asarray(values) + laplace(2 / eps, size=len(values)))


report_noisy_max1_dist = report_noisy_max1._dist_func

ALGORITHM = Algorithm(
    name="ReportNoisyMax1",
    function=report_noisy_max1,
    paper="Dwork and Roth, The algorithmic foundations of differential privacy, 2014, section 3.3",
    adjacency=Adjacency.LINF,
    n=5,
    claim=0.1,
    claim_true=True,
)

"""Report noisy max, variant 3."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import max as largest
from dpest.lang.noise import laplace


@auto_dist
def report_noisy_max3(values: Any, eps: float = 0.1) -> Any:
    """The largest value itself after Laplace noise of scale 2/eps."""
    return largest(np.asarray(values) + laplace(2 / eps, size=len(values)))


report_noisy_max3_dist = report_noisy_max3._dist_func

ALGORITHM = Algorithm(
    name="ReportNoisyMax3",
    function=report_noisy_max3,
    paper="Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy, CCS 2018",
    adjacency=Adjacency.LINF,
    n=5,
    claim=0.1,
    claim_true=False,
    flaw="The maximum is released, not its index: in its lower tail all n values show, and the loss is n eps / 2.",
)

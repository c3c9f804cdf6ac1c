"""Report noisy max, variant 4."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import max as largest
from dpest.lang.noise import exponential


@auto_dist
def report_noisy_max4(values: Any, eps: float = 0.1) -> Any:
    """The largest value itself after exponential noise of scale 2/eps."""
    return largest(np.asarray(values) + exponential(2 / eps, size=len(values)))


report_noisy_max4_dist = report_noisy_max4._dist_func

ALGORITHM = Algorithm(
    name="ReportNoisyMax4",
    function=report_noisy_max4,
    paper="Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy, CCS 2018",
    adjacency=Adjacency.LINF,
    n=5,
    claim=0.1,
    claim_true=False,
    flaw="Exponential noise is never negative: a released maximum below the largest input proves that the input was another one.",
)

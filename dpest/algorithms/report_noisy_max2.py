"""Report noisy max, variant 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import argmax
from dpest.lang.noise import exponential


@auto_dist
def report_noisy_max2(values: Any, eps: float = 0.1) -> Any:
    """Which value is largest after exponential noise of scale 2/eps."""
    return argmax(np.asarray(values) + exponential(2 / eps, size=len(values)))


report_noisy_max2_dist = report_noisy_max2._dist_func

ALGORITHM = Algorithm(
    name="ReportNoisyMax2",
    function=report_noisy_max2,
    paper="Dwork and Roth, The algorithmic foundations of differential privacy, 2014, section 3.3",
    adjacency=Adjacency.LINF,
    n=5,
    claim=0.1,
    claim_true=True,
)

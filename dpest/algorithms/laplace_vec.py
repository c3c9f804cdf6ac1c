"""The Laplace mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.noise import laplace


@auto_dist
def laplace_vec(values: Any, eps: float = 0.1) -> Any:
    """Every value plus Laplace noise of scale 1/eps."""
    return np.asarray(values) + laplace(1 / eps, size=len(values))


laplace_vec_dist = laplace_vec._dist_func

ALGORITHM = Algorithm(
    name="LaplaceMechanism",
    function=laplace_vec,
    paper="Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis, TCC 2006",
    adjacency=Adjacency.L1,
    n=1,
    claim=0.1,
    claim_true=True,
)

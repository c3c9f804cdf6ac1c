"""The sparse vector technique with a new threshold after each pass."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.sparse_vector import sparse_vector
from dpest.lang.noise import laplace


@auto_dist
def svt2(queries: Any, eps: float = 0.1, t: float = 1, c: int = 1) -> list[Any]:
    """Which noisy queries reach a noisy threshold that is drawn anew after each one that does, until c have."""
    return sparse_vector(queries, [t + laplace(2 * c / eps) for _ in range(c)], 4 * c / eps)


svt2_dist = svt2._dist_func

ALGORITHM = Algorithm(
    name="SVT2",
    function=svt2,
    paper="Lyu, Su and Li, Understanding the sparse vector technique, VLDB 2017, algorithm 2 (from Dwork and Roth 2014)",
    adjacency=Adjacency.LINF,
    n=10,
    claim=0.1,
    claim_true=True,
)

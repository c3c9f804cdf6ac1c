"""The sparse vector technique, as it should be."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.sparse_vector import sparse_vector
from dpest.lang.noise import laplace


@auto_dist
def svt1(queries: Any, eps: float = 0.1, t: float = 0.5, c: int = 1) -> list[Any]:
    """Which noisy queries reach a noisy threshold, until c have."""
    return sparse_vector(queries, [t + laplace(2 / eps)] * c, 4 * c / eps)


svt1_dist = svt1._dist_func

ALGORITHM = Algorithm(
    name="SVT1",
    function=svt1,
    paper="Lyu, Su and Li, Understanding the sparse vector technique, VLDB 2017, algorithm 1",
    adjacency=Adjacency.LINF,
    n=10,
    claim=0.1,
    claim_true=True,
)

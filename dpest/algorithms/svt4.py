"""Sparse vector with too little query noise."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.sparse_vector import lazy_sparse_vector
from dpest.lang.noise import laplace


@auto_dist
def svt4(queries: Any, eps: float = 0.1, t: float = 1, c: int = 1) -> list[Any]:
    """Which noisy queries reach a noisy threshold, until c have, the noise being too small for c."""
    return lazy_sparse_vector(queries, [t + laplace(4 / eps)] * c, 4 / (3 * eps))


svt4_dist = svt4._dist_func

ALGORITHM = Algorithm(
    name="SVT4",
    function=svt4,
    paper="Lyu, Su and Li, Understanding the sparse vector technique, VLDB 2017, algorithm 4 (from Lee and Clifton 2014)",
    adjacency=Adjacency.LINF,
    n=10,
    claim=0.1,
    claim_true=False,
    flaw="The query noise does not grow with c and is too small even for c = 1: the loss may reach (1 + 6 c) eps / 4.",
)

"""Sparse vector that releases the compared value."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.sparse_vector import lazy_sparse_vector
from dpest.lang.noise import laplace


@auto_dist
def svt3(queries: Any, eps: float = 0.1, t: float = 1, c: int = 1) -> list[Any]:
    """The noisy queries that reach a noisy threshold, with the very values that were compared, until c have."""
    thresholds = [t + laplace(2 / eps)] * c
    return lazy_sparse_vector(queries, thresholds, 2 * c / eps, passed=lambda query, noisy: noisy, failed=-1000)


svt3_dist = svt3._dist_func

ALGORITHM = Algorithm(
    name="SVT3",
    function=svt3,
    paper="Lyu, Su and Li, Understanding the sparse vector technique, VLDB 2017, algorithm 3 (from Roth 2011)",
    adjacency=Adjacency.LINF,
    n=10,
    claim=0.1,
    claim_true=False,
    flaw="The value that passed is released with the noise that it was compared with: a low one shows how low every failure was.",
)

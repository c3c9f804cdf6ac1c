"""Sparse vector without a cutoff."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import where
from dpest.lang.noise import laplace


@auto_dist
def svt6(queries: Any, eps: float = 0.1, t: float = 1) -> list[Any]:
    """Which noisy queries reach a noisy threshold, however many do."""
    threshold = t + laplace(2 / eps)
    return [where(q + laplace(2 / eps) >= threshold, 1, 0) for q in queries]


svt6_dist = svt6._dist_func

ALGORITHM = Algorithm(
    name="SVT6",
    function=svt6,
    paper="Lyu, Su and Li, Understanding the sparse vector technique, VLDB 2017, algorithm 6 (from Chen et al. 2015)",
    adjacency=Adjacency.LINF,
    n=10,
    claim=0.1,
    claim_true=False,
    flaw="There is no cutoff: the loss grows with the number of queries that pass.",
)

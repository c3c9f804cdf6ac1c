"""Sparse vector without query noise."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.lang.functions import where
from dpest.lang.noise import laplace


@auto_dist
def svt5(queries: Any, eps: float = 0.1, t: float = 1) -> list[Any]:
    """Which exact queries reach a noisy threshold."""
    threshold = t + laplace(2 / eps)
    return [where(q >= threshold, 1, 0) for q in queries]


svt5_dist = svt5._dist_func

ALGORITHM = Algorithm(
    name="SVT5",
    function=svt5,
    paper="Lyu, Su and Li, Understanding the sparse vector technique, VLDB 2017, algorithm 5 (from Stoddard et al. 2014)",
    adjacency=Adjacency.LINF,
    n=10,
    claim=0.1,
    claim_true=False,
    flaw="The queries carry no noise: an answer of 1 and one of 0 tell exactly which query is the larger.",
)

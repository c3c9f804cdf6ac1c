"""Sparse vector that releases values with fresh noise."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.sparse_vector import sparse_vector
from dpest.lang.noise import laplace


@auto_dist
def numerical_svt(queries: Any, eps: float = 0.1, t: float = 1, c: int = 2) -> list[Any]:
    """The queries that reach a noisy threshold, released with fresh noise, until c have."""

    def released(query: Any, noisy: Any) -> Any:
        return query + laplace(3 * c / eps)

    return sparse_vector(queries, [t + laplace(3 / eps)] * c, 6 * c / eps, passed=released, failed=0.0)


numerical_svt_dist = numerical_svt._dist_func

ALGORITHM = Algorithm(
    name="NumericalSVT",
    function=numerical_svt,
    paper="Wang, Ding, Wang, Kifer and Zhang, Proving differential privacy with shadow execution, PLDI 2019",
    adjacency=Adjacency.LINF,
    n=10,
    claim=0.1,
    claim_true=True,
)

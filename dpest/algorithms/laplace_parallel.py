"""Many Laplace releases of one value."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist, only_value
from dpest.lang.noise import laplace


@auto_dist
def laplace_parallel(values: Any, eps: float | None = None, eps_each: float = 0.005, n_parallel: int = 20) -> Any:
    """One value released n_parallel times, each with its own Laplace noise of scale 1/eps_each."""
    return only_value(values) + laplace(1 / eps_each, size=n_parallel)


laplace_parallel_dist = laplace_parallel._dist_func

ALGORITHM = Algorithm(
    name="LaplaceParallel",
    function=laplace_parallel,
    paper="Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, IEEE S&P 2021",
    adjacency=Adjacency.L1,
    n=1,
    claim=20 * 0.005,
    claim_true=True,
)

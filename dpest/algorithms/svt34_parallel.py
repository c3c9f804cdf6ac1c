"""SVT3 and SVT4 side by side."""

from __future__ import annotations

from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist
from dpest.algorithms.svt3 import svt3
from dpest.algorithms.svt4 import svt4


@auto_dist
def svt34_parallel(queries: Any, eps: float = 0.1, t: float = 1, c: int = 2) -> list[Any]:
    """SVT3 and SVT4 side by side on the same queries, with noise of their own."""
    return [*svt3(queries, eps, t, c), *svt4(queries, eps, t, c)]


svt34_parallel_dist = svt34_parallel._dist_func

ALGORITHM = Algorithm(
    name="SVT34Parallel",
    function=svt34_parallel,
    paper="Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, IEEE S&P 2021",
    adjacency=Adjacency.LINF,
    n=10,
    claim=2 * 0.1,
    claim_true=False,
    flaw="Both halves lose more than they claim, and their losses add.",
)

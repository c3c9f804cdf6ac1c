"""The truncated geometric mechanism."""

from __future__ import annotations

import math
from typing import Any

from dpest.algorithms.algorithm import Adjacency, Algorithm, auto_dist, only_value
from dpest.errors import InvalidInput
from dpest.lang.noise import integers


@auto_dist
def truncated_geometric(c: Any, eps: float = 0.1, n: int = 5) -> int:
    """A count in 0..n plus geometric noise, truncated to 0..n and drawn with integer arithmetic alone."""
    count = only_value(c)
    if not 0 <= count <= n:
        raise InvalidInput(f"truncated_geometric needs a count in 0..{n}, got {count!r}")
    k = math.ceil(math.log(2 / eps))
    u = integers(1, _total(k, n))
    for z in range(n):
        if u <= _at_most(z, int(count), k, n):
            return z
    return n


truncated_geometric_dist = truncated_geometric._dist_func

ALGORITHM = Algorithm(
    name="TruncatedGeometric",
    function=truncated_geometric,
    paper="Balcer and Vadhan, Differential privacy on finite computers, ITCS 2018 (GeoSample)",
    adjacency=Adjacency.COUNTS,
    n=5,
    claim=0.1,
    claim_true=False,
    flaw="k = ceil(ln(2/eps)), where 2^-k <= eps/2 needs the binary logarithm: at eps = 0.1 the loss is ln(9/8).",
)


def _total(k: int, n: int) -> int:
    return int((2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1))


def _at_most(z: int, count: int, k: int, n: int) -> int:
    """How many of the `_total` equally likely numbers give a result <= z < n."""
    base = 2**k
    if z < count:
        return int(base ** (count - z) * (base + 1) ** (n - (count - z)))
    return _total(k, n) - int(base ** (z - count + 1) * (base + 1) ** (n - 1 - (z - count)))

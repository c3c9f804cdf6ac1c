"""The 21 algorithms: `gallery()` lists them, and each is a function of the name of its module."""

from __future__ import annotations

import difflib

from dpest.algorithms.algorithm import Adjacency, Algorithm, Mechanism, auto_dist
from dpest.algorithms.laplace_parallel import ALGORITHM as LAPLACE_PARALLEL
from dpest.algorithms.laplace_parallel import laplace_parallel, laplace_parallel_dist
from dpest.algorithms.laplace_vec import ALGORITHM as LAPLACE_VEC
from dpest.algorithms.laplace_vec import laplace_vec, laplace_vec_dist
from dpest.algorithms.noisy_hist1 import ALGORITHM as NOISY_HIST1
from dpest.algorithms.noisy_hist1 import noisy_hist1, noisy_hist1_dist
from dpest.algorithms.noisy_hist2 import ALGORITHM as NOISY_HIST2
from dpest.algorithms.noisy_hist2 import noisy_hist2, noisy_hist2_dist
from dpest.algorithms.noisy_max_sum import ALGORITHM as NOISY_MAX_SUM
from dpest.algorithms.noisy_max_sum import noisy_max_sum, noisy_max_sum_dist
from dpest.algorithms.numerical_svt import ALGORITHM as NUMERICAL_SVT
from dpest.algorithms.numerical_svt import numerical_svt, numerical_svt_dist
from dpest.algorithms.one_time_rappor import ALGORITHM as ONE_TIME_RAPPOR
from dpest.algorithms.one_time_rappor import one_time_rappor, one_time_rappor_dist
from dpest.algorithms.prefix_sum import ALGORITHM as PREFIX_SUM
from dpest.algorithms.prefix_sum import prefix_sum, prefix_sum_dist
from dpest.algorithms.rappor import ALGORITHM as RAPPOR
from dpest.algorithms.rappor import rappor, rappor_dist
from dpest.algorithms.report_noisy_max1 import ALGORITHM as REPORT_NOISY_MAX1
from dpest.algorithms.report_noisy_max1 import report_noisy_max1, report_noisy_max1_dist
from dpest.algorithms.report_noisy_max2 import ALGORITHM as REPORT_NOISY_MAX2
from dpest.algorithms.report_noisy_max2 import report_noisy_max2, report_noisy_max2_dist
from dpest.algorithms.report_noisy_max3 import ALGORITHM as REPORT_NOISY_MAX3
from dpest.algorithms.report_noisy_max3 import report_noisy_max3, report_noisy_max3_dist
from dpest.algorithms.report_noisy_max4 import ALGORITHM as REPORT_NOISY_MAX4
from dpest.algorithms.report_noisy_max4 import report_noisy_max4, report_noisy_max4_dist
from dpest.algorithms.svt1 import ALGORITHM as SVT1
from dpest.algorithms.svt1 import svt1, svt1_dist
from dpest.algorithms.svt2 import ALGORITHM as SVT2
from dpest.algorithms.svt2 import svt2, svt2_dist
from dpest.algorithms.svt3 import ALGORITHM as SVT3
from dpest.algorithms.svt3 import svt3, svt3_dist
from dpest.algorithms.svt4 import ALGORITHM as SVT4
from dpest.algorithms.svt4 import svt4, svt4_dist
from dpest.algorithms.svt5 import ALGORITHM as SVT5
from dpest.algorithms.svt5 import svt5, svt5_dist
from dpest.algorithms.svt6 import ALGORITHM as SVT6
from dpest.algorithms.svt6 import svt6, svt6_dist
from dpest.algorithms.svt34_parallel import ALGORITHM as SVT34_PARALLEL
from dpest.algorithms.svt34_parallel import svt34_parallel, svt34_parallel_dist
from dpest.algorithms.truncated_geometric import ALGORITHM as TRUNCATED_GEOMETRIC
from dpest.algorithms.truncated_geometric import truncated_geometric, truncated_geometric_dist
from dpest.errors import UnknownName

_GALLERY = (
    LAPLACE_VEC,
    LAPLACE_PARALLEL,
    NOISY_HIST1,
    NOISY_HIST2,
    REPORT_NOISY_MAX1,
    REPORT_NOISY_MAX2,
    REPORT_NOISY_MAX3,
    REPORT_NOISY_MAX4,
    SVT1,
    SVT2,
    SVT3,
    SVT4,
    SVT5,
    SVT6,
    NUMERICAL_SVT,
    SVT34_PARALLEL,
    PREFIX_SUM,
    ONE_TIME_RAPPOR,
    RAPPOR,
    TRUNCATED_GEOMETRIC,
    NOISY_MAX_SUM,
)


def gallery() -> tuple[Algorithm, ...]:
    """All 21 algorithms, with claim, adjacency and default size."""
    return _GALLERY


def find(name: str) -> Algorithm:
    """The algorithm of that name, by its title ("SVT1") or its function ("svt1"); an unknown name gets the nearest match."""
    known = {key.casefold(): a for a in _GALLERY for key in (a.name, a.function.__name__)}
    if (found := known.get(name.casefold())) is not None:
        return found
    near = difflib.get_close_matches(name.casefold(), known, 1, cutoff=0.0)
    raise UnknownName(
        f"no algorithm is called {name!r}; did you mean {known[near[0]].name}? All: {', '.join(a.name for a in _GALLERY)}"
    )


__all__ = [
    "Adjacency", "Algorithm", "Mechanism", "auto_dist", "find", "gallery",
    "laplace_vec", "laplace_vec_dist",
    "laplace_parallel", "laplace_parallel_dist",
    "noisy_hist1", "noisy_hist1_dist",
    "noisy_hist2", "noisy_hist2_dist",
    "report_noisy_max1", "report_noisy_max1_dist",
    "report_noisy_max2", "report_noisy_max2_dist",
    "report_noisy_max3", "report_noisy_max3_dist",
    "report_noisy_max4", "report_noisy_max4_dist",
    "svt1", "svt1_dist",
    "svt2", "svt2_dist",
    "svt3", "svt3_dist",
    "svt4", "svt4_dist",
    "svt5", "svt5_dist",
    "svt6", "svt6_dist",
    "numerical_svt", "numerical_svt_dist",
    "svt34_parallel", "svt34_parallel_dist",
    "prefix_sum", "prefix_sum_dist",
    "one_time_rappor", "one_time_rappor_dist",
    "rappor", "rappor_dist",
    "truncated_geometric", "truncated_geometric_dist",
    "noisy_max_sum", "noisy_max_sum_dist",
]

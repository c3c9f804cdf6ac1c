"""Python's and NumPy's functions that compare values, on random ones: against enumeration by fractions and closed forms."""

from __future__ import annotations

import heapq
import itertools
import math
import statistics
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.run.settings import Sides, sides_kept
from dpest.trace.explore import trace

# A discrete draw, so that ties have weight: -1, 0 and 1 with probability 1/4, 1/2 and 1/4.
STEPS = {-1: Fraction(1, 4), 0: Fraction(1, 2), 1: Fraction(1, 4)}


def noisy(xs: list[Any]) -> list[Any]:
    return [x + dpest.categorical([0.25, 0.5, 0.25]) - 1 for x in xs]


def law(function: Callable[[list[int]], Any], xs: list[int]) -> dict[Any, Fraction]:
    """The law of the function's result, by going through every outcome of the draws."""
    out: dict[Any, Fraction] = {}
    for steps in itertools.product(STEPS, repeat=len(xs)):
        found = function([x + s for x, s in zip(xs, steps, strict=True)])
        key = tuple(found) if isinstance(found, list | np.ndarray) else found
        out[key] = out.get(key, Fraction(0)) + math.prod(STEPS[s] for s in steps)
    return out


def largest(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> float:
    if p.keys() != q.keys():
        return math.inf
    return max(abs(math.log(p[k] / q[k])) for k in p)


def running_argmax(values):
    best, arg = -math.inf, 0
    for i, v in enumerate(values):
        if v > best:
            best, arg = v, i
    return arg


def running_last_argmax(values):
    best, arg = -math.inf, 0
    for i, v in enumerate(values):
        if v >= best:
            best, arg = v, i
    return arg


def running_argmin(values):
    best, arg = math.inf, 0
    for i, v in enumerate(values):
        if v < best:
            best, arg = v, i
    return arg


functions: dict[str, Callable[[list[Any]], Any]] = {
    "max": lambda v: max(v),
    "max of two": lambda v: max(v[0], v[1]),
    "min": lambda v: min(v),
    "argmax": lambda v: int(np.argmax(v)),
    "argmin": lambda v: int(np.argmin(np.array(v))),
    "method": lambda v: int(np.array(v, dtype=object).argmax()),
    "key": lambda v: max(range(len(v)), key=lambda i: v[i]),
    "min key": lambda v: min(range(len(v)), key=v.__getitem__),
    "names": lambda v: max("abc", key=dict(zip("abc", v, strict=True)).get),
    "numbers": lambda v: max([7, 5, 7], key=lambda n: v[[7, 5, 7].index(n)]),
    "index": lambda v: v.index(max(v)),
    "index of min": lambda v: v.index(min(v)),
    "sorted": lambda v: sorted(v),
    "reversed": lambda v: sorted(v, reverse=True),
    "order": lambda v: sorted(range(len(v)), key=lambda i: v[i]),
    "reversed order": lambda v: sorted(range(len(v)), key=lambda i: v[i], reverse=True),
    "second": lambda v: sorted(v)[1],
    "argsort": lambda v: [int(i) for i in np.argsort(v, kind="stable")],
    "plain argsort": lambda v: [int(i) for i in np.argsort(np.array(v))],
    "sort": lambda v: [int(x) for x in np.sort(v)],
    "median": lambda v: float(np.median(v)),
    "statistics": lambda v: statistics.median(v),
    "low median": lambda v: statistics.median_low(v[:2]),
    "median of two": lambda v: statistics.median(v[:2]),
    "partition": lambda v: int(np.partition(v, 1)[1]),
    "largest": lambda v: heapq.nlargest(2, v),
    "np.max": lambda v: int(np.max(np.array(v))),
    "any": lambda v: any([x > 1 for x in v]),  # noqa: C419
    "all": lambda v: all([x > 0 for x in v]),  # noqa: C419
    "count": lambda v: v.count(1),
    "running argmax": running_argmax,
    "last argmax": running_last_argmax,
    "running argmin": running_argmin,
}


@pytest.mark.parametrize("name", functions)
@pytest.mark.parametrize("pair", [([0, 0, 1], [1, 0, 1]), ([1, 0, 0], [0, 1, 0])])
def test_ties_go_where_python_sends_them(name, pair):
    function = functions[name]
    truth = largest(*(law(function, xs) for xs in pair))
    with sides_kept(Sides.TOGETHER):
        found = dpest.estimate(lambda xs: function(noisy(xs)), pair, method="exact")
    assert found.lower <= truth <= found.upper
    assert truth == math.inf or found.upper - found.lower < 1e-9


FORKING = ("names", "last argmax")  # strings are not one random value; the last of equals is nested choices


@pytest.mark.parametrize("name", [k for k in functions if k not in FORKING])
def test_most_of_them_fork_nothing(name):
    function = functions[name]
    found = trace(lambda xs: function(noisy(xs)), [0, 1, 0], {}, sides=Sides.TOGETHER)
    assert len(found.paths) == 1


TWENTY, CHANGED = [0] * 20, [1] + [0] * 19


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda xs: np.argmax([x + dpest.laplace(1) for x in xs]),
        lambda xs: (np.array(xs) + dpest.laplace(1, size=len(xs))).argmax(),
        lambda xs: max(range(len(xs)), key=lambda i: xs[i] + dpest.laplace(1)),
        lambda xs: (lambda v: v.index(max(v)))([x + dpest.laplace(1) for x in xs]),
        lambda xs: running_argmax([x + dpest.laplace(1) for x in xs]),
        lambda xs: running_last_argmax([x + dpest.laplace(1) for x in xs]),
    ],
)
def test_twenty_noisy_values_by_any_name(mechanism):
    known = dpest.estimate(lambda xs: dpest.argmax([x + dpest.laplace(1) for x in xs]), (TWENTY, CHANGED), method="exact")
    found = dpest.estimate(mechanism, (TWENTY, CHANGED), method="exact")
    assert math.isclose(found.epsilon, known.epsilon, rel_tol=1e-12)


def test_the_largest_of_twenty_noisy_values():
    # Rung: closed form. Far to the right the density of the maximum is that of its terms together: (19 + e) / 20; to the left
    # the ratio of cdfs and densities tends to 1 / e.
    found = dpest.estimate(lambda xs: max(x + dpest.laplace(1) for x in xs), (TWENTY, CHANGED), method="exact")
    assert found.lower <= 1.0 <= found.upper


def test_the_median_of_five_noisy_values():
    # Rung: closed form, and densities by hand. Far out three of five lie beyond y: six of the ten threes hold the changed one.
    def density(y, xs):
        f = [0.5 * math.exp(-abs(y - x)) for x in xs]
        below = [0.5 * math.exp(y - x) if y < x else 1 - 0.5 * math.exp(x - y) for x in xs]
        above = [0.5 * math.exp(x - y) if y > x else 1 - 0.5 * math.exp(y - x) for x in xs]
        total = 0.0
        for i in range(5):
            others = [j for j in range(5) if j != i]
            for low in itertools.combinations(others, 2):
                total += f[i] * math.prod(below[j] if j in low else above[j] for j in others)
        return total

    pair = [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]
    truth = math.log(0.4 + 0.6 * math.e)
    seen = max(abs(math.log(density(y, pair[0]) / density(y, pair[1]))) for y in np.linspace(-30, 30, 601))
    found = dpest.estimate(lambda xs: np.median([x + dpest.laplace(1) for x in xs]), pair, method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-9
    assert seen <= truth + 1e-12


def test_the_three_largest_of_eight():
    # Ordered selection from peeling: method against method, by repeated argmax.
    def peeled(xs):
        left = {i: x + dpest.laplace(1) for i, x in enumerate(xs)}
        out = []
        for _ in range(2):
            best = max(left, key=left.get)
            out.append(best)
            del left[best]
        return out

    def sliced(xs):
        return list(np.argsort([-(x + dpest.laplace(1)) for x in xs])[:2])

    pair = [0] * 6, [1] + [0] * 5
    a, b = (dpest.estimate(m, pair, method="exact") for m in (peeled, sliced))
    assert math.isclose(a.epsilon, b.epsilon, rel_tol=1e-9)


def test_arrays_of_truth_values_stay_random():
    def mechanism(xs):
        above = np.array(xs) + dpest.laplace(1, size=len(xs)) > 0
        return above.astype(int).sum(), np.count_nonzero(above)

    p = 1 - math.exp(-1) / 2
    found = dpest.estimate(mechanism, ([0] * 12, [1] + [0] * 11), method="exact")
    assert found.lower <= math.log(p / 0.5) or found.upper >= math.log(p / 0.5)
    # All below: (1 - p) / (1 / 2) against 1.
    assert found.lower <= 1.0 <= found.upper


def test_roundings_that_do_not_cancel_in_a_difference_are_worked_out() -> None:
    """2 f + u + x >= f + v for the floor f of Laplace noise is f >= v - u - x, at six pairs of u and v."""

    def mechanism(x: int) -> Any:
        f, u, v = np.floor(dpest.laplace(1.0)), dpest.integers(0, 1), dpest.integers(0, 2)
        return dpest.argmax([2 * f + u + x, f + v])

    def first(x: int) -> float:
        least = [v - u - x for u in (0, 1) for v in (0, 1, 2)]
        return sum(0.5 * math.exp(-k) if k > 0 else 1 - 0.5 * math.exp(k) for k in least) / 6

    p, q = first(0), first(1)
    truth = max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-9


def test_a_rounding_that_decides_whether_an_output_can_occur() -> None:
    """2 f + u + 1 > f + v for every f >= 0 and all u, v in (0, 1); 2 f + u > f + v not where f is 0 and v > u."""

    def mechanism(x: int) -> Any:
        f = np.floor(dpest.uniform(0, 3))
        return dpest.argmax([2 * f + dpest.uniform(0, 1) + x, f + dpest.uniform(0, 1)])

    assert dpest.estimate(mechanism, (0, 1), method="exact").lower == math.inf

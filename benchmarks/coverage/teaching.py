"""Mechanisms in the code of courses, notebooks and small libraries: classes with budgets, decorators, generators, exceptions."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import gaussian_delta, integral, laplace_cdf, laplace_pdf, loss

# -- sessions and budgets ----------------------------------------------------------------------------------------------


def ask_until_the_budget_is_spent(data):
    left = 1.0

    def ask(query, eps):
        nonlocal left
        if eps > left:
            raise RuntimeError("budget is spent")
        left -= eps
        return query(data) + np.random.laplace(scale=1 / eps)

    answers = []
    try:
        for threshold in (1, 2, 3, 4):
            answers.append(ask(lambda d, t=threshold: sum(v >= t for v in d), 0.4))
    except RuntimeError:
        pass
    return answers


class Session:
    def __init__(self, data, epsilon):
        self.data, self.left, self.log = data, epsilon, []

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.data = None
        return False

    def count(self, predicate, eps):
        if self.left < eps - 1e-12:
            raise PermissionError(f"only {self.left} left")
        self.left -= eps
        self.log.append(("count", eps))
        return sum(map(predicate, self.data)) + np.random.laplace(scale=1 / eps)


def session_in_a_with_statement(data):
    with Session(data, epsilon=1.0) as s:
        a = s.count(lambda v: v > 2, 0.3)
        b = s.count(lambda v: v > 5, 0.7)
    return {"over 2": a, "over 5": b, "left": s.left, "queries": len(s.log)}


class Server:
    def __init__(self, data, total=1.0):
        self._data, self._left, self._cache = data, total, {}

    def total(self, eps, low=0.0):
        if (eps, low) not in self._cache:
            if eps > self._left:
                raise ValueError("over budget")
            self._left -= eps
            self._cache[eps, low] = math.fsum(v for v in self._data if v > low) + np.random.laplace(0, 1 / eps)
        return self._cache[eps, low]


def adaptive_session(data):
    server = Server(data)
    out = [server.total(0.25) > 2]
    if out[-1]:
        out.append(server.total(0.5, low=0.5) > 1)
    try:
        out.append(server.total(0.5) > 1)
    except ValueError:
        out.append("denied")
    return out, server.total(0.25) > 2  # the second time from the cache


def _above(t, b):
    return float(1 - laplace_cdf(t, b))


def _adaptive(data):
    total, high = math.fsum(data), math.fsum(v for v in data if v > 0.5)
    first, second, third = _above(2 - total, 4), _above(1 - high, 2), _above(1 - total, 2)
    law = {(1, b): first * (second if b else 1 - second) for b in (0, 1)}
    return {**law, **{(0, b): (1 - first) * (third if b else 1 - third) for b in (0, 1)}}


# -- loops that stop ---------------------------------------------------------------------------------------------------


class SparseVector:
    def __init__(self, eps, threshold, hits=1, rng=None):
        self.rng = rng or np.random.default_rng()
        self.eps, self.left = eps / 2, hits
        self._noisy = threshold + self.rng.laplace(scale=2 / eps)

    @property
    def exhausted(self):
        return self.left <= 0

    def query(self, value):
        above = value + self.rng.laplace(scale=2 / self.eps) >= self._noisy
        self.left -= bool(above)
        return bool(above)


def sparse_vector_of_a_class(values):
    svt, replies = SparseVector(1.0, threshold=2.0), []
    while not svt.exhausted and len(replies) < len(values):
        replies.append(svt.query(values[len(replies)]))
    return replies


def _sparse(values):
    cuts = (0.0, *(v - 2.0 for v in values))

    def stopped(i):
        def f(r):
            p = laplace_pdf(r, 2)
            for v in values[:i]:
                p *= laplace_cdf(2 + r - v, 4)
            return p * (1 - laplace_cdf(2 + r - values[i], 4)) if i < len(values) else p

        return f

    return {i: integral(stopped(i), *cuts) for i in range(len(values) + 1)}


class Found(Exception):
    pass


def first_cell_above(grid, t=3.0):
    try:
        for i, row in enumerate(grid):
            for j, v in enumerate(row):
                if v + np.random.laplace(0, 2) > t:
                    raise Found((i, j))
    except Found as found:
        return found.args[0]
    return None


def _first(values, t=3.0, b=2.0):
    law, left = {}, 1.0
    for i, v in enumerate(values):
        law[i] = left * _above(t - v, b)
        left -= law[i]
    return {**law, None: left}


def five_tries(x, rng: np.random.Generator):
    for _ in range(5):
        y = x + rng.laplace(0, 1)
        if 0 <= y <= 10:
            return round(y)
    else:
        return None


def _tries(x):
    def cdf(t):
        return float(laplace_cdf(t - x))

    miss = 1 - (cdf(10) - cdf(0))
    law = {k: (cdf(min(10, k + 0.5)) - cdf(max(0, k - 0.5))) * sum(miss**i for i in range(5)) for k in range(11)}
    return {**law, None: miss**5}


def halving_a_budget(xs, rng: np.random.Generator):
    budget, path, low, width = 1.0, [], 0, 8
    while budget > 0.2 and width > 1:
        eps = budget / 2
        budget -= eps
        middle = low + width // 2
        left = sum(low <= x < middle for x in xs) + rng.laplace(0, 1 / eps) >= len(xs) / 2
        path.append("L" if left else "R")
        low = low if left else middle
        width //= 2
    return "".join(path)


def _halved(xs, budget=1.0, low=0, width=8):
    if not (budget > 0.2 and width > 1):
        return {"": 1.0}
    middle = low + width // 2
    left = _above(len(xs) / 2 - sum(low <= x < middle for x in xs), 2 / budget)
    law = {"L" + k: left * p for k, p in _halved(xs, budget / 2, low, width // 2).items()}
    return {**law, **{"R" + k: (1 - left) * p for k, p in _halved(xs, budget / 2, middle, width // 2).items()}}


# -- pipelines, decorators, generators ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pipeline:
    steps: tuple = ()

    def __or__(self, step):
        return replace(self, steps=(*self.steps, step))

    def __call__(self, value):
        return functools.reduce(lambda v, step: step(v), self.steps, value)


pipeline = Pipeline() | len | float | (lambda c: c + np.random.laplace(0, 3)) | (lambda c: max(c, 0.0)) | round


def running_totals(stream):
    def totals():
        total = 0
        for v in stream:
            total += v + np.random.laplace(0, 1 / 0.3)
            yield total

    return list(totals())


def coroutine_counter(xs):
    def counter():
        total, value = 0.0, (yield)
        while True:
            total += value
            value = yield total + np.random.laplace(0, 2)

    c = counter()
    next(c)
    return [c.send(x) for x in xs]


def by_kind_of_query(rows, query=("sum", "x", (0, 5))):
    match query:
        case ("count", column, *_):
            value, width = sum(r[column] is not None for r in rows), 1
        case ("sum", column, (low, high)):
            value, width = sum(min(max(r[column], low), high) for r in rows), high - low
        case _:
            raise ValueError(query)
    return value + np.random.default_rng().laplace(0, width)


class Noise(Enum):
    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"

    def sample(self, scale, size):
        return (np.random.laplace if self is Noise.LAPLACE else np.random.normal)(0, scale, size)


def noise_by_an_enum(x):
    return np.asarray(x) + Noise.GAUSSIAN.sample(2.0, len(x))


noisy_value = functools.partial(np.random.laplace, scale=4.0)


def partial_of_a_method(values):
    return [noisy_value(loc=v) for v in values]


def _case(name, source, mechanism, pair, truth, reference="closed form", delta_at=None):
    return Case(name, source, mechanism, pair, truth if callable(truth) else lambda: truth, reference, delta_at)


_DWORK, _ROTH = "Dwork et al. 2006", "Dwork and Roth 2014"

CASES = (
    _case("counts until the budget is spent, a closure", _DWORK, ask_until_the_budget_is_spent, ([1, 2, 3], [1, 2, 0]), 0.8),
    _case("a session in a with statement", "McSherry 2009", session_in_a_with_statement, ([1, 3, 6], [1, 3, 1]), 1.0),
    _case(
        "an adaptive session with a budget and a cache",
        "McSherry 2009",
        adaptive_session,
        ([1, 0.25, 1], [1, 0.75, 1]),
        lambda: loss(_adaptive([1, 0.25, 1]), _adaptive([1, 0.75, 1])),
    ),
    _case(
        "sparse vector, a class that is asked",
        "Lyu et al. 2017",
        sparse_vector_of_a_class,
        ([1.0, 3.0, 2.0], [2.0, 2.0, 3.0]),
        lambda: loss(_sparse([1.0, 3.0, 2.0]), _sparse([2.0, 2.0, 3.0])),
        "integral",
    ),
    _case(
        "first cell above a threshold, by an exception",
        _ROTH,
        first_cell_above,
        ([[1, 2], [3, 2]], [[2, 2], [2, 2]]),
        lambda: loss(_first([1, 2, 3, 2]), _first([2, 2, 2, 2])),
    ),
    _case("noise drawn again up to five times", "Holohan et al. 2018", five_tries, (2, 3), lambda: loss(_tries(2), _tries(3))),
    _case(
        "bisection with half of the budget each time",
        "Cormode et al. 2012",
        halving_a_budget,
        ([1, 2, 5], [1, 6, 5]),
        lambda: loss(_halved([1, 2, 5]), _halved([1, 6, 5])),
        "enumeration",
    ),
    _case("a pipeline of functions", "Hay et al. 2020", pipeline, ([1, 2, 3], [1, 2]), 1 / 3),
    _case("running totals from a generator function", "Dwork et al. 2010", running_totals, ([1, 0, 1, 1], [1, 1, 1, 1]), 0.3),
    _case("a counter that values are sent to", "Dwork et al. 2010", coroutine_counter, ([1, 0], [0, 0]), 1.0),
    _case("a query by match", _DWORK, by_kind_of_query, ([{"x": 3}, {"x": 9}], [{"x": 3}, {"x": 1}]), 0.8),
    _case(
        "Gaussian noise by an enum, delta(0.25)",
        "Balle and Wang 2018",
        noise_by_an_enum,
        ([1, 2], [2, 2]),
        lambda: gaussian_delta(0.5, 0.25),
        delta_at=0.25,
    ),
    _case("Laplace, a partial of numpy.random", _DWORK, partial_of_a_method, ([1, 2], [2, 1]), 0.5),
)

"""Mechanisms in the code of courses, notebooks and small libraries: classes with budgets, decorators, generators, exceptions."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import operator
import random
import secrets
import statistics
import zlib
from collections import defaultdict
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from scipy.special import expit, logsumexp

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import integral, laplace_cdf, laplace_pdf, loss

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


# -- seeds of the operating system -------------------------------------------------------------------------------------


def seed_of_secrets(xs):
    rng = np.random.default_rng(secrets.randbits(128))
    return np.sum(xs) + rng.laplace(0, 2)


def children_of_a_seed(xs):
    one, other = (np.random.default_rng(c) for c in np.random.SeedSequence().spawn(2))
    return sum(xs) + one.laplace(0, 2), len(xs) + other.laplace(0, 2)


def bits_of_a_generator(xs):
    rng = np.random.Generator(np.random.PCG64())
    return min(max(np.mean(np.clip(xs, 0, 1)) + rng.laplace(0, 1 / len(xs)), 0), 1)


# -- choices and rankings ----------------------------------------------------------------------------------------------


def two_largest_items(scores):
    noisy = {k: v + np.random.gumbel(scale=2.0) for k, v in scores.items()}
    return [k for k, _ in heapq.nlargest(2, noisy.items(), key=operator.itemgetter(1))]


def ranking(scores):
    return [k for _, k in sorted(((v + np.random.gumbel(scale=2.0), k) for k, v in scores.items()), reverse=True)]


def _ranked(scores, k):
    law = {}
    for names in itertools.permutations(scores, k):
        p, left = 1.0, {name: math.exp(v / 2) for name, v in scores.items()}
        for name in names:
            p *= left[name] / math.fsum(left.values())
            del left[name]
        law[names] = p
    return law


def tournament(scores):
    if len(scores) == 1:
        return scores[0]
    half = len(scores) // 2
    (n1, s1), (n2, s2) = tournament(scores[:half]), tournament(scores[half:])
    return (n1, s1) if s1 + np.random.laplace(0, 2) >= s2 + np.random.laplace(0, 2) else (n2, s2)


def _beats(d):
    p = 0.5 * math.exp(-abs(d) / 2) * (1 + abs(d) / 4)
    return 1 - p if d > 0 else p


def _tournament(a, b, c, d):
    law = defaultdict(float)
    for (i, x, p), (j, y, q) in itertools.product(
        ((0, a, _beats(a - b)), (1, b, 1 - _beats(a - b))), ((2, c, _beats(c - d)), (3, d, 1 - _beats(c - d)))
    ):
        law[i] += p * q * _beats(x - y)
        law[j] += p * q * (1 - _beats(x - y))
    return law


def quantile_by_intervals(xs, low=0.0, high=10.0, eps=1.0):
    z = np.concatenate(([low], np.sort(np.clip(xs, low, high)), [high]))
    widths = np.diff(z)
    with np.errstate(divide="ignore"):
        logs = np.log(widths) - eps / 2 * np.abs(np.arange(len(widths)) - len(xs) / 2)
    i = np.random.choice(len(widths), p=np.exp(logs - logsumexp(logs)))
    return np.random.uniform(z[i], z[i + 1])


def _interval_density(xs, y):
    z = [0.0, *sorted(xs), 10.0]
    heights = [math.exp(-abs(i - len(xs) / 2) / 2) for i in range(len(z) - 1)]
    total = math.fsum(h * (b - a) for h, a, b in zip(heights, z, z[1:], strict=False))
    return heights[max(i for i in range(len(heights)) if z[i] <= y)] / total


def _quantile():
    one, other = [2.0, 3.0, 7.0, 8.0], [2.0, 5.0, 7.0, 8.0]
    cuts = sorted({0.0, 10.0, *one, *other})
    middles = [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
    return max(abs(math.log(_interval_density(one, y) / _interval_density(other, y))) for y in middles)


# -- local protocols and training --------------------------------------------------------------------------------------


def hashed_answer(word, g=4):
    seed = random.getrandbits(3)
    h = zlib.crc32(f"{seed}:{word}".encode()) % g
    if random.random() < math.e / (math.e + g - 1):
        return seed, h
    return seed, random.choice([v for v in range(g) if v != h])


def parity_of_flipped_bits(bits):
    return functools.reduce(operator.xor, (b ^ (secrets.randbelow(10) == 0) for b in bits))


def bagged_total(rows):
    return sum(rows[random.randrange(len(rows))] for _ in range(2)) + np.random.laplace(0, 1)


def logistic_step(batch, w=(0.5, -0.25), clip=1.0, sigma=2.0):
    w = np.array(w)
    total = np.zeros_like(w)
    for x, y in batch:
        g = (expit(w @ np.array(x)) - y) * np.array(x)
        total += g * min(1.0, clip / (np.linalg.norm(g) + 1e-12))
    return w - 0.1 * (total + np.random.normal(0, sigma * clip, w.shape)) / len(batch)


def _logistic():
    p = 1 / (1 + math.exp(-1.25))  # the point (3, 1) changes its label: both gradients are longer than 1, and opposite
    assert min(p, 1 - p) * math.hypot(3, 1) < 1 < max(p, 1 - p) * math.hypot(3, 1)
    return _gaussian_delta((1 + min(p, 1 - p) * math.hypot(3, 1)) / 2, 0.25)


class Momentum:
    def __init__(self, rate, decay, sigma):
        self.rate, self.decay, self.sigma, self.speed = rate, decay, sigma, 0.0

    def step(self, w, gradient):
        self.speed = self.decay * self.speed + gradient + random.gauss(0, self.sigma)
        return w - self.rate * self.speed


def three_steps_with_momentum(xs):
    optimiser, w = Momentum(0.1, 0.9, 2.0), 0.0
    for x in xs:
        w = optimiser.step(w, max(-1.0, min(1.0, x)))
    return w


def _gaussian_delta(mu, eps):
    cdf = statistics.NormalDist().cdf
    return cdf(mu / 2 - eps / mu) - math.exp(eps) * cdf(-mu / 2 - eps / mu)


# -- texts -------------------------------------------------------------------------------------------------------------


def table_of_a_page(counts):
    row = "<td>{name}</td><td>{value:,.1f}</td>"
    return "".join(row.format(name=k, value=v + np.random.laplace()) for k, v in counts.items())


def share_in_percent(bits):
    noisy = sum(bits) + random.choice([-1, 1]) * np.random.exponential(1)
    return f"{min(max(noisy / len(bits), 0), 1):.1%}"


def _case(name, source, mechanism, pair, truth, reference="closed form", delta_at=None):
    return Case(name, source, mechanism, pair, truth if callable(truth) else lambda: truth, reference, delta_at)


_DWORK, _ROTH = "Dwork et al. 2006", "Dwork and Roth 2014"
_SCORES = {"x": 3, "y": 1, "z": 0}, {"x": 2, "y": 2, "z": 1}

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
        lambda: _gaussian_delta(0.5, 0.25),
        delta_at=0.25,
    ),
    _case("Laplace, a partial of numpy.random", _DWORK, partial_of_a_method, ([1, 2], [2, 1]), 0.5),
    _case("Laplace, a seed of secrets", "Garfinkel and Leclerc 2020", seed_of_secrets, ([1, 2], [1, 1]), 0.5),
    _case("Laplace, children of a seed sequence", "Garfinkel and Leclerc 2020", children_of_a_seed, ([1, 2], [1, 1]), 0.5),
    _case("clamped mean, bits of PCG64", _DWORK, bits_of_a_generator, ([0.5, 1.0, 0.0], [0.5, 1.0, 0.6]), 0.6),
    _case(
        "two largest items by heapq",
        "Durfee and Rogers 2019",
        two_largest_items,
        _SCORES,
        lambda: loss(*(_ranked(s, 2) for s in _SCORES)),
    ),
    _case("ranking of names", "Durfee and Rogers 2019", ranking, _SCORES, lambda: loss(*(_ranked(s, 3) for s in _SCORES))),
    _case(
        "noisy tournament, recursive",
        _ROTH,
        lambda scores: tournament(list(enumerate(scores)))[0],
        ([3, 1, 2, 2], [2, 2, 3, 1]),
        lambda: loss(_tournament(3, 1, 2, 2), _tournament(2, 2, 3, 1)),
    ),
    _case("quantile by intervals", "Smith 2011", quantile_by_intervals, ([2.0, 3.0, 7.0, 8.0], [2.0, 5.0, 7.0, 8.0]), _quantile),
    _case("local hashing with crc32", "Wang et al. 2017", hashed_answer, ("dog", "cat"), 1.0),
    _case(
        "parity of flipped bits, reduced",
        "Warner 1965",
        parity_of_flipped_bits,
        ([1, 0, 1], [1, 1, 1]),
        lambda: math.log((1 + 0.8**3) / (1 - 0.8**3)),
    ),
    _case(
        "total of a bootstrap sample, by indices",
        "Balle et al. 2018",
        bagged_total,
        ([0, 0, 0], [0, 1, 0]),
        lambda: 2 * math.log(2 / 3 + math.e / 3),
    ),
    _case(
        "step of a logistic regression, delta(0.25)",
        "Abadi et al. 2016",
        logistic_step,
        ([((1, 2), 1), ((3, 1), 0)], [((1, 2), 1), ((3, 1), 1)]),
        _logistic,
        delta_at=0.25,
    ),
    _case(
        "three steps with momentum, delta(0.1)",
        "Abadi et al. 2016",
        three_steps_with_momentum,
        ([0.5, 2, 0.1], [0.5, 0, 0.1]),
        lambda: _gaussian_delta(1.9 / (2 * math.sqrt(2.71**2 + 1.9**2 + 1)), 0.1),
        delta_at=0.1,
    ),
    _case("a table of a page, with commas", _DWORK, table_of_a_page, ({"a": 1, "b": 2}, {"a": 1, "b": 1}), 1.0),
    _case("a share in percent", _DWORK, share_in_percent, ([1, 0, 1, 0], [1, 1, 1, 0]), 1.0),
)

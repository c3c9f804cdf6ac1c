"""Classes, chains and sessions: mechanisms with a state, validation, budgets and memories, and what they write out."""

from __future__ import annotations

import abc
import bisect
import enum
import functools
import hashlib
import heapq
import itertools
import json
import math
import random
import secrets
from collections import Counter, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real

import mpmath as mp
import numpy as np
import pandas as pd
from scipy import special

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import integral, laplace_cdf, laplace_pdf, loss, of_lists, softmax, winners

# -- classes -----------------------------------------------------------------------------------------------------------


class Exponential:
    """The exponential mechanism as a library has it: utilities, candidates, and what it was given is checked."""

    def __init__(self, *, epsilon, sensitivity, utility, candidates=None, random_state=None):
        if not isinstance(epsilon, Real) or epsilon <= 0:
            raise ValueError(f"epsilon must be positive, got {epsilon}")
        self.scale = epsilon / sensitivity / 2
        self.utility, self.candidates = list(utility), candidates
        self._rng = secrets.SystemRandom() if random_state is None else random_state

    def randomise(self):
        probabilities = np.exp(self.scale * (np.array(self.utility) - max(self.utility)))
        cumulative = np.cumsum(probabilities / probabilities.sum())
        idx = np.argmax(self._rng.random() <= cumulative)
        return self.candidates[idx] if self.candidates else idx


def choice_of_a_colour(counts):
    return Exponential(epsilon=1.0, sensitivity=1, utility=counts, candidates=["red", "green", "blue"]).randomise()


class Answer(enum.Enum):
    YES = "yes"
    NO = "no"


class Mechanism(abc.ABC):
    def __init__(self, epsilon):
        self.epsilon = epsilon

    @property
    def epsilon(self):
        return self._epsilon

    @epsilon.setter
    def epsilon(self, value):
        if value <= 0:
            raise ValueError("epsilon must be positive")
        self._epsilon = value

    @abc.abstractmethod
    def __call__(self, value): ...


class BinaryResponse(Mechanism):
    def __call__(self, value: Answer) -> Answer:
        if random.random() < 1 / (1 + math.exp(-self.epsilon)):
            return value
        return Answer.NO if value is Answer.YES else Answer.YES


@dataclass
class Measurement:
    function: Callable
    stability: Callable

    def __rshift__(self, other):
        return Measurement(lambda x: other.function(self.function(x)), lambda d: other.stability(self.stability(d)))

    def __call__(self, arg):
        return self.function(arg)


def clamp(low, high):
    return Measurement(lambda xs: [min(max(x, low), high) for x in xs], lambda d: d)


def total(width):
    return Measurement(sum, lambda d: d * width)


def discrete_laplace(scale):
    def sample(x):
        alpha, rng = math.exp(-1 / scale), np.random.default_rng()
        if rng.random() < (1 - alpha) / (1 + alpha):
            return x
        size = int(rng.geometric(1 - alpha))
        return x + size if rng.integers(2) else x - size

    return Measurement(sample, lambda d: d / scale)


def chain_of_measurements(xs):
    found = clamp(0, 10) >> total(10) >> discrete_laplace(4.0)
    assert found.stability(1) <= 2.5
    return found(xs)


class OutOfBudgetError(Exception):
    pass


@dataclass
class Session:
    table: pd.DataFrame
    budget: float
    log: list[str] = field(default_factory=list)

    def spend(self, epsilon):
        if epsilon > self.budget + 1e-12:
            raise OutOfBudgetError(f"{epsilon} > {self.budget}")
        self.budget -= epsilon
        self.log.append(f"spent {epsilon}")

    def count(self, epsilon):
        self.spend(epsilon)
        return len(self.table) + np.random.laplace(scale=1 / epsilon)

    def sum(self, column, low, high, epsilon):
        self.spend(epsilon)
        return self.table[column].clip(low, high).sum() + np.random.laplace(scale=(high - low) / epsilon)


def answers_of_a_session(table):
    session = Session(table, budget=1.0)
    count, ages = session.count(0.5), session.sum("age", 0, 80, 0.25)
    try:
        once_more = session.count(0.5)
    except OutOfBudgetError:
        once_more = None
    return {"count": count, "sum": ages, "once more": once_more}


class Client:
    """Permanent responses: a value is answered once, and remembered."""

    def __init__(self):
        self.memory = {}

    def report(self, v):
        if v not in self.memory:
            self.memory[v] = v if random.random() < 0.75 else 1 - v
        return self.memory[v]


def remembered_answers(stream):
    client = Client()
    return [client.report(v) for v in stream]


def cached_noise(xs):
    @functools.cache
    def noisy(v):
        return random.gauss(ord(v), 1)

    return [noisy(v) for v in xs]


# -- local reports -----------------------------------------------------------------------------------------------------


def hashed_with_sha256(item, eps=1.0, g=3):
    seed = np.random.randint(0, 8)
    h = int(hashlib.sha256(f"{seed}-{item}".encode()).hexdigest(), 16) % g
    if np.random.rand() < math.exp(eps) / (math.exp(eps) + g - 1):
        return seed, h
    y = np.random.randint(0, g - 1)
    return seed, y + 1 if y >= h else y


def count_mean_row(d, epsilon=2.0, k=3, m=4):
    j = np.random.randint(k)
    v = -np.ones(m)
    v[(7 * d + 3 * j + j * d) % m] = 1
    b = 2 * np.random.binomial(1, np.exp(epsilon / 2) / (np.exp(epsilon / 2) + 1), size=m) - 1
    return (v * b).astype(int).tolist(), j


def bits_of_some_buckets(v, eps=1.0, k=4, d=2):
    buckets = sorted(np.random.choice(k, size=d, replace=False))
    p = math.exp(eps / 2) / (math.exp(eps / 2) + 1)
    return {int(j): int(random.random() < (p if j == v else 1 - p)) for j in buckets}


def bit_by_weight(v):
    j = random.choices(range(3), weights=[2**j for j in range(3)])[0]
    bit = (v >> j) & 1
    return j, bit if random.random() < 0.75 else bit ^ 1


def _bit(v):
    return {(j, b): (0.75 if v >> j & 1 == b else 0.25) * 2**j / 7 for j in range(3) for b in (0, 1)}


def noisy_graph(edges, n=3, p=0.2):
    adjacent = np.zeros((n, n), dtype=int)
    for i, j in edges:
        adjacent[i, j] = adjacent[j, i] = 1
    noisy = np.triu(adjacent, k=1) ^ np.triu(np.random.rand(n, n) < p, k=1)
    return noisy + noisy.T


# -- selection ---------------------------------------------------------------------------------------------------------


def cut_of_the_cumulative_weights(scores):
    cumulative = list(itertools.accumulate(math.exp(s / 2) for s in scores))
    return bisect.bisect(cumulative, random.random() * cumulative[-1])


def two_largest_of_a_dict(counts):
    noisy = {k: v + np.random.laplace() for k, v in counts.items()}
    return heapq.nlargest(2, noisy, key=noisy.get)


def two_most_common(counts):
    noisy = Counter()
    for k, v in counts.items():
        noisy[k] = v + random.choice([-1, 1]) * random.expovariate(1)
    return [k for k, _ in noisy.most_common(2)]


def _two_largest(counts):
    q = dict(counts)
    out = {}
    for a, b in itertools.permutations(q, 2):
        others = [q[c] for c in q if c not in (a, b)]

        def f(y, a=a, b=b, others=others):
            return laplace_pdf(y - q[b]) * (1 - laplace_cdf(y - q[a])) * mp.fprod(laplace_cdf(y - c) for c in others)

        out[a, b] = float(integral(f, *q.values()))
    return out


def answers_until_two_are_above(queries, most=2):
    threshold = 2 + np.random.laplace(scale=1)
    todo, answers = deque(queries), []
    while todo and sum(answers) < most:
        answers.append(bool(todo.popleft() + np.random.laplace(scale=2) >= threshold))
    return tuple(answers)


def _until_two(queries):
    out = {}
    for bits in itertools.product((False, True), repeat=len(queries)):
        stop = next((i + 1 for i in range(len(bits)) if sum(bits[: i + 1]) == 2), len(bits))

        def f(t, key=bits[:stop]):
            each = (laplace_cdf(q - t, 2) if b else laplace_cdf(t - q, 2) for b, q in zip(key, queries, strict=False))
            return laplace_pdf(t - 2) * mp.fprod(each)

        if bits[:stop] not in out:
            out[bits[:stop]] = float(integral(f, 2, *queries))
    return out


def votes_of_teachers(votes, sigma=2.0):
    counts = np.bincount(np.repeat([0, 1, 2], votes), minlength=3)
    return np.argmax(counts + np.random.normal(0, sigma, counts.shape)).item()


def _votes(votes):
    return [float(x) for x in winners(votes, lambda y: mp.npdf(y, 0, 2), lambda y: mp.ncdf(y / 2))]


# -- what is written out -----------------------------------------------------------------------------------------------


def clamped_json(hist):
    noisy = {k: max(0, round(v + random.choice((-1, 1)) * random.expovariate(1.0), 2)) for k, v in hist.items()}
    return json.dumps(noisy, sort_keys=True)


def rounded_twice(n):
    return f"{round(n + np.random.laplace(), 2):.2f}"


def interval_around(xs):
    interval = namedtuple("Interval", "low mid high")
    mid, half = np.mean(xs) + np.random.laplace(scale=1.0), math.log(20)
    return interval(mid - half, mid, mid + half)


def columns_of_a_frame(counts):
    return (
        pd.DataFrame({"k": list("ab"), "c": counts})
        .assign(noisy=lambda d: d.c + np.random.laplace(size=len(d)))
        .sort_values("k", ascending=False)
        .set_index("k")["noisy"]
        .to_dict()
    )


def first_of_a_sorted_frame(counts):
    table = pd.DataFrame({"k": list("abc"), "c": counts})
    table["noisy"] = table["c"] + np.random.gumbel(scale=2.0, size=3)
    return table.sort_values("noisy", ascending=False)["k"].head(1).iloc[0]


def one_round_of_mwem(hist):
    queries, hist = np.array([[1, 0], [0, 1], [1, 1]]), np.array(hist, dtype=float)
    errors = np.abs(queries @ (hist - np.full(2, hist.sum() / 2)))
    i = np.random.choice(3, p=special.softmax(errors / 2))
    return i, queries[i] @ hist + np.random.laplace(scale=2)


def _case(name, source, mechanism, pair, truth, reference="closed form"):
    return Case(name, source, mechanism, pair, truth if callable(truth) else lambda: truth, reference)


_DWORK, _ROTH = "Dwork et al. 2006", "Dwork and Roth 2014"
_AGES = pd.DataFrame({"age": [30, 50, 95]}), pd.DataFrame({"age": [30, 50]})
_COUNTS = {"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 2, "c": 2}
_ANSWERS, _VOTES = ([1, 3, 2, 0], [2, 2, 1, 1]), ([6, 3, 1], [5, 4, 1])

CASES = (
    _case(
        "exponential mechanism, keyword arguments",
        "Holohan et al. 2019",
        choice_of_a_colour,
        ([3, 1, 2], [2, 2, 2]),
        lambda: of_lists(softmax([1.5, 0.5, 1]), softmax([1, 1, 1])),
    ),
    _case("answers of an enumeration, an abstract class", "Warner 1965", BinaryResponse(1.2), (Answer.YES, Answer.NO), 1.2),
    _case("a chain of measurements", "Gaboardi et al. 2020", chain_of_measurements, ([5, 12, -3], [5, 4, -3]), 1.5),
    _case("a session that runs out of budget", "Berghel et al. 2022", answers_of_a_session, _AGES, 0.75),
    _case("remembered answers", "Erlingsson et al. 2014", remembered_answers, ([1, 1, 1], [0, 0, 0]), math.log(3)),
    _case("remembered answers, two values", "wrong on purpose", remembered_answers, ([1, 0, 1], [0, 0, 0]), math.inf),
    _case("noise of a cache", "wrong on purpose", cached_noise, (["a", "a"], ["a", "b"]), math.inf),
    _case("local hashing with sha256", "Wang et al. 2017", hashed_with_sha256, ("tokyo", "osaka"), 1.0),
    _case("a row of a count mean sketch", "Apple 2017", count_mean_row, (1, 2), 2.0),
    _case("bits of some buckets", "Ding et al. 2017", bits_of_some_buckets, (0, 3), 1.0),
    _case("a bit by its weight", "Cormode and Markov 2021", bit_by_weight, (5, 2), lambda: loss(_bit(5), _bit(2)), "enumeration"),
    _case("edges of a graph", "Qin et al. 2017", noisy_graph, ([(0, 1), (1, 2)], [(0, 1)]), math.log(4)),
    _case(
        "exponential mechanism, bisect",
        "McSherry and Talwar 2007",
        cut_of_the_cumulative_weights,
        ([2, 0, 1], [1, 1, 1]),
        lambda: of_lists(softmax([1, 0, 0.5]), softmax([0.5] * 3)),
    ),
    _case("two largest of a dict", _ROTH, two_largest_of_a_dict, _COUNTS, lambda: loss(*map(_two_largest, _COUNTS)), "integral"),
    _case("two most common of a counter", _ROTH, two_most_common, _COUNTS, lambda: loss(*map(_two_largest, _COUNTS)), "integral"),
    _case(
        "answers until two are above",
        "Lyu et al. 2017",
        answers_until_two_are_above,
        _ANSWERS,
        lambda: loss(*map(_until_two, _ANSWERS)),
        "integral",
    ),
    _case(
        "votes of teachers, normal noise",
        "Papernot et al. 2018",
        votes_of_teachers,
        _VOTES,
        lambda: of_lists(*map(_votes, _VOTES)),
        "integral",
    ),
    _case("clamped and rounded counts as JSON", _DWORK, clamped_json, ({"x": 3, "y": 4}, {"x": 2, "y": 4}), 1.0),
    _case("rounded twice", _DWORK, rounded_twice, (3, 4), 1.0),
    _case("an interval around a noisy mean", _DWORK, interval_around, ([4, 5], [5, 5]), 0.5),
    _case("columns of a frame, assigned", _DWORK, columns_of_a_frame, ([3, 1], [2, 1]), 1.0),
    _case(
        "first row of a sorted frame",
        "McSherry and Talwar 2007",
        first_of_a_sorted_frame,
        ([3, 1, 2], [2, 1, 3]),
        lambda: of_lists(softmax([1.5, 0.5, 1]), softmax([1, 0.5, 1.5])),
    ),
    _case(
        "one round of multiplicative weights",
        "Hardt et al. 2012",
        one_round_of_mwem,
        ([4, 2], [3, 3]),
        lambda: math.log(softmax([0.5, 0.5, 0])[0] * 3) + 0.5,
    ),
)

"""Chains of states: sweeps over a vector, walks on a graph, a reservoir, searches by noisy halves."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss

Law = dict[object, float]


def gibbs_bits(bits, rng: np.random.Generator, sweeps=3):
    state = list(bits)
    n = len(state)
    for _ in range(sweeps):
        for i in range(n):
            near = state[(i - 1) % n] + state[(i + 1) % n] + bits[i]
            state[i] = int(rng.random() < 1 / (1 + math.exp(-(near - 1.5))))
    return state


def _gibbs(bits: list[int]) -> Law:
    law = {tuple(bits): 1.0}
    for i in [*range(len(bits))] * 3:
        after: dict[tuple[int, ...], float] = {}
        for state, p in law.items():
            near = state[i - 1] + state[(i + 1) % len(bits)] + bits[i]
            up = 1 / (1 + math.exp(1.5 - near))
            for bit, q in ((1, up), (0, 1 - up)):
                key = (*state[:i], bit, *state[i + 1 :])
                after[key] = after.get(key, 0.0) + p * q
        law = after
    return dict(law)


def metropolis_bins(scores, steps=12, eps=1.0):
    k = len(scores)
    x = random.randrange(k)
    for _ in range(steps):
        y = (x + random.choice([-1, 1])) % k
        if random.random() < min(1.0, math.exp(eps * (scores[y] - scores[x]) / 2)):
            x = y
    return x


def _metropolis(scores: list[int]) -> Law:
    k = len(scores)
    step = np.zeros((k, k))
    for x, d in itertools.product(range(k), (-1, 1)):
        accepted = min(1.0, math.exp((scores[(x + d) % k] - scores[x]) / 2)) / 2
        step[x, (x + d) % k] += accepted
        step[x, x] += 0.5 - accepted
    return dict(enumerate(np.ones(k) / k @ np.linalg.matrix_power(step, 12)))


def pagerank_walk(graph, alpha=0.15):
    node = 0
    while random.random() > alpha:
        node = random.choice(graph[node])
    return node


def _pagerank(graph: dict[int, list[int]]) -> Law:
    step = np.array([[graph[u].count(v) / len(graph[u]) for v in graph] for u in graph])
    return dict(enumerate(0.15 * np.linalg.inv(np.eye(len(graph)) - 0.85 * step)[0]))


def gossip(values, rounds=4):
    values = list(values)
    for _ in range(rounds):
        i, j = random.sample(range(len(values)), 2)
        values[i] = values[j]
    return values[0]


def _gossip(values: list[int]) -> Law:
    law = {tuple(values): 1.0}
    for _ in range(4):
        after: dict[tuple[int, ...], float] = {}
        for state, p in law.items():
            for i, j in itertools.permutations(range(len(state)), 2):
                key = (*state[:i], state[j], *state[i + 1 :])
                after[key] = after.get(key, 0.0) + p / 6
        law = after
    return {v: math.fsum(p for state, p in law.items() if state[0] == v) for v in (0, 1)}


def noisy_binary_search(rows, rng: np.random.Generator, low=0, high=8, eps=1.0):
    p = 1 - math.exp(-eps / 3)
    while low < high:
        middle = (low + high) // 2
        below = sum(1 for x in rows if x <= middle) + rng.geometric(p) - rng.geometric(p)
        if below >= len(rows) / 2:
            high = middle
        else:
            low = middle + 1
    return low


def _binary_search(rows: list[int]) -> Law:
    a = math.exp(-1 / 3)

    def above(d: int) -> float:
        return a**d / (1 + a) if d > 0 else 1 - a ** (1 - d) / (1 + a)

    def go(low: int, high: int) -> Law:
        if low >= high:
            return {low: 1.0}
        middle = (low + high) // 2
        p = above(math.ceil(len(rows) / 2) - sum(x <= middle for x in rows))
        return {k: p * v for k, v in go(low, middle).items()} | {k: (1 - p) * v for k, v in go(middle + 1, high).items()}

    return go(0, 8)


def blood_groups(answers, rng: np.random.Generator, eps=1.0):
    groups = ["A", "B", "0"]
    p = np.exp(eps) / (np.exp(eps) + len(groups) - 1)
    reports = []
    for answer in answers:
        if rng.random() < p:
            reports.append(answer)
        else:
            reports.append(str(rng.choice([g for g in groups if g != answer])))
    return {g: reports.count(g) for g in groups}


_SCORES = ([3, 1, 0, 2, 1], [2, 1, 1, 2, 1])
_GRAPHS = ({0: [1, 2], 1: [0], 2: [0, 1]}, {0: [1, 2], 1: [0, 2], 2: [0, 1]})
_ROWS = ([1, 3, 4, 6, 7], [1, 3, 5, 6, 7])
_BITS = ([1, 0, 1, 0], [0, 0, 1, 0])
_GROUPS = (["A"] * 3 + ["B"] * 3 + ["0"] * 2, ["B"] + ["A"] * 2 + ["B"] * 3 + ["0"] * 2)

CASES = (
    Case("Gibbs sweeps over bits", "Geman and Geman 1984", gibbs_bits, _BITS, lambda: loss(*map(_gibbs, _BITS)), "enumeration"),
    Case(
        "exponential mechanism by Metropolis steps",
        "Wang et al. 2015",
        metropolis_bins,
        _SCORES,
        lambda: loss(*map(_metropolis, _SCORES)),
        "enumeration",
    ),
    Case(
        "a walk with restarts", "Page et al. 1999", pagerank_walk, _GRAPHS, lambda: loss(*map(_pagerank, _GRAPHS)), "closed form"
    ),
    Case(
        "gossip",
        "Boyd et al. 2006",
        gossip,
        ([1, 0, 1], [0, 0, 1]),
        lambda: loss(_gossip([1, 0, 1]), _gossip([0, 0, 1])),
        "enumeration",
    ),
    Case(
        "median by noisy halves, discrete noise",
        "Blocki et al. 2016",
        noisy_binary_search,
        _ROWS,
        lambda: loss(*map(_binary_search, _ROWS)),
        "enumeration",
    ),
    Case("counts of answers kept in a list", "Kairouz et al. 2016", blood_groups, _GROUPS, lambda: 1.0, "closed form"),
)

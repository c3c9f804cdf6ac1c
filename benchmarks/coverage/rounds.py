"""Mechanisms of a fourth list: samplers by recursion and flags, rounded counts, reports as text, objects made for each call."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import random
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import laplace_cdf, loss, of_lists, softmax

# -- coins until one fails ---------------------------------------------------------------------------------------------


def geometric_by_counting(x, rng: np.random.Generator, eps=1.0):
    def trials():
        for k in itertools.count():
            if rng.random() > math.exp(-eps):
                return k

    return x + trials() - trials()


def geometric_by_recursion(x, eps=1.0):
    def geo():
        return 0 if random.random() > math.exp(-eps) else 1 + geo()

    return x + geo() - geo()


def geometric_with_a_flag(x, rng: np.random.Generator, eps=1.0):
    def sample():
        n, done = 0, False
        while not done:
            done = rng.random() > math.exp(-eps)
            if not done:
                n += 1
        return n

    return x + sample() - sample()


def geometric_with_a_first_toss(x, rng: np.random.Generator, eps=1.0):
    def toss():
        return int(rng.random() < math.exp(-eps))

    n = x
    for sign in (1, -1):
        heads = 0
        up = toss()
        while up:
            heads += 1
            up = toss()
        n += sign * heads
    return n


def no_minus_zero(x, rng: np.random.Generator, eps=1.0):
    def draw():
        sign = 1 if rng.random() < 0.5 else -1
        size = rng.geometric(1 - math.exp(-eps)) - 1
        if sign == -1 and size == 0:
            return draw()
        return sign * size

    return x + draw()


def bounded_walk(x, rng: np.random.Generator, steps=20, wall=3):
    place, made = x, 0
    while abs(place) < wall and made < steps:
        place += rng.choice([-1, 1])
        made += 1
    return place


def walk_law(x: int, steps: int = 20, wall: int = 3) -> dict[int, float]:
    """Where a walk ends: each step carries half of the mass to either side."""
    inside, out = {x: 1.0}, dict[int, float]()
    for _ in range(steps):
        after: dict[int, float] = {}
        for place, p in inside.items():
            for there in (place - 1, place + 1):
                kept = out if abs(there) >= wall else after
                kept[there] = kept.get(there, 0.0) + p / 2
        inside = after
    return {**out, **inside}


# -- rounded counts ----------------------------------------------------------------------------------------------------


def rounded_duel(counts, rng: np.random.Generator):
    a, b = (round(c + rng.laplace(scale=1)) for c in counts)
    return "a" if a > b else "b" if b > a else "tie"


def rounded_remainder(x, rng: np.random.Generator, m=10):
    return np.mod(x + round(rng.laplace(0, 1)), m)


def parity_of_noise(x, rng: np.random.Generator):
    return "even" if int(np.floor(x + rng.laplace(0, 1))) % 2 == 0 else "odd"


def rounded_and_floored_at_zero(counts, rng: np.random.Generator):
    return sum(max(0, round(c + rng.laplace())) for c in counts)


def cell(low: float, high: float) -> float:
    """The probability that Laplace noise of scale 1 lies between two numbers."""
    if low >= 0:  # from the far end, where differences of the distribution function have no digits left
        return (math.exp(-low) - math.exp(-high)) / 2
    return cell(-high, -low) if high <= 0 else float(laplace_cdf(high) - laplace_cdf(low))


def rounded(x: float, shift: float = 0.5) -> dict[int, float]:
    """The law of round(x + noise); with shift 0, of the floor."""
    return {k: cell(k - shift - x, k + 1 - shift - x) for k in range(-40, 41)}


def pushed(function: Any, *laws: dict[int, float]) -> dict[Any, float]:
    """The law of a function of independent values."""
    out: dict[Any, float] = {}
    for values in itertools.product(*(law.items() for law in laws)):
        key = function(*(k for k, _ in values))
        out[key] = out.get(key, 0.0) + math.prod(p for _, p in values)
    return out


def which(a: int, b: int) -> str:
    """The larger of two counts."""
    return "a" if a > b else "b" if b > a else "tie"


# -- reports as text ---------------------------------------------------------------------------------------------------


def flipped_bits_joined(bits):
    return "".join(str(b ^ int(random.random() < 0.25)) for b in bits)


def flipped_bits_as_binary(bits, rng: np.random.Generator):
    value = 0
    for b in bits:
        value = (value << 1) | (b if rng.random() < 0.75 else 1 - b)
    return f"{value:0{len(bits)}b}"


def labelled_index(x, rng: np.random.Generator):
    p = [0.5, 0.3, 0.2] if x else [0.2, 0.3, 0.5]
    return f"bin-{rng.choice(3, p=p):02d}"


def padded_count(x, rng: np.random.Generator):
    n = max(0, min(9, x + int(rng.geometric(0.5)) - int(rng.geometric(0.5))))
    return str(n).zfill(2)


def letters(ch, alphabet="abcde", eps=1.0):
    weights = [math.exp(eps) if c == ch else 1 for c in alphabet]
    return random.choices(alphabet, weights=weights, k=1)[0].upper()


# -- objects, heaps, streams -------------------------------------------------------------------------------------------


@dataclass
class SparseVector:
    """Answers until one query is above the threshold."""

    eps: float
    threshold: float
    rng: Any
    answered: int = 0

    def __post_init__(self) -> None:
        self.noisy = self.threshold + self.rng.laplace(0, 2 / self.eps)

    def ask(self, query: float) -> bool | None:
        if self.answered:
            return None
        if query + self.rng.laplace(0, 4 / self.eps) >= self.noisy:
            self.answered += 1
            return True
        return False


def first_question(queries, rng: np.random.Generator):
    vector = SparseVector(1.0, 2.0, rng)
    return [vector.ask(q) for q in queries]


def laplace_difference_at_least(gap: float, small: float, large: float) -> float:
    """P(Lap(large) - Lap(small) >= gap) for different scales."""
    size, a, b = abs(gap), large * large, small * small
    tail = (a * math.exp(-size / large) - b * math.exp(-size / small)) / (2 * (a - b))
    return tail if gap >= 0 else 1 - tail


def one_answer(query: float) -> dict[bool, float]:
    """The answer to one query."""
    above = laplace_difference_at_least(2.0 - query, 2, 4)
    return {True: above, False: 1 - above}


def peeled_from_a_heap(scores, rng: np.random.Generator):
    heap = [(-(s + rng.gumbel(scale=2)), i) for i, s in enumerate(scores)]
    heapq.heapify(heap)
    return heapq.heappop(heap)[1], heapq.heappop(heap)[1]


def peeled(scores: list[float]) -> dict[tuple[int, int], float]:
    """The exponential mechanism twice, without the first winner the second time."""
    w = [math.exp(s / 2) for s in scores]
    pairs = itertools.permutations(range(len(w)), 2)
    return {(i, j): w[i] / math.fsum(w) * w[j] / (math.fsum(w) - w[i]) for i, j in pairs}


def reduced_to_the_best(scores, rng: np.random.Generator):
    noisy = [(s + rng.gumbel(scale=2), i) for i, s in enumerate(scores)]
    return functools.reduce(lambda a, b: a if a[0] >= b[0] else b, noisy)[1]


def sliding_deque(stream, rng: np.random.Generator, width=2):
    window, out = deque(maxlen=width), []
    for x in stream:
        window.append(x)
        out.append(sum(window) + rng.laplace(scale=2))
    return out


BITS = ([1, 0, 1], [1, 1, 1])
CASES = (
    Case("geometric noise over itertools.count", "Ghosh et al. 2009", geometric_by_counting, (0, 1), lambda: 1.0, "closed form"),
    Case("geometric noise by recursion", "Ghosh et al. 2009", geometric_by_recursion, (0, 1), lambda: 1.0, "closed form"),
    Case("geometric noise with a flag", "Ghosh et al. 2009", geometric_with_a_flag, (0, 1), lambda: 1.0, "closed form"),
    Case(
        "geometric noise, first toss before", "Ghosh et al. 2009", geometric_with_a_first_toss, (0, 1), lambda: 1.0, "closed form"
    ),
    Case("no minus zero, again by recursion", "Canonne et al. 2020", no_minus_zero, (0, 1), lambda: 1.0, "closed form"),
    Case("a walk between two walls", "Feller 1968", bounded_walk, (0, 2), lambda: loss(walk_law(0), walk_law(2)), "enumeration"),
    Case(
        "two rounded counts compared",
        "Balcer and Vadhan 2018",
        rounded_duel,
        ([3, 1], [2, 1]),
        lambda: loss(pushed(which, rounded(3), rounded(1)), pushed(which, rounded(2), rounded(1))),
        "enumeration",
    ),
    Case(
        "rounded noise modulo ten",
        "Balcer and Vadhan 2018",
        rounded_remainder,
        (0, 1),
        lambda: loss(*(pushed(lambda k: k % 10, rounded(x)) for x in (0, 1))),
        "enumeration",
    ),
    Case(
        "parity of rounded noise",
        "Balcer and Vadhan 2018",
        parity_of_noise,
        (0, 0.5),
        lambda: loss(*(pushed(lambda k: k % 2, rounded(x, 0.0)) for x in (0, 0.5))),
        "enumeration",
    ),
    Case("sum of rounded counts", "Dwork et al. 2006", rounded_and_floored_at_zero, ([3, 4], [4, 4]), lambda: 1.0, "closed form"),
    Case("flipped bits joined", "Erlingsson et al. 2014", flipped_bits_joined, BITS, lambda: math.log(3), "closed form"),
    Case(
        "flipped bits as a binary number",
        "Erlingsson et al. 2014",
        flipped_bits_as_binary,
        BITS,
        lambda: math.log(3),
        "closed form",
    ),
    Case("a bin by its label", "McSherry and Talwar 2007", labelled_index, (0, 1), lambda: math.log(2.5), "closed form"),
    Case("a count with leading zeros", "Ghosh et al. 2009", padded_count, (3, 4), lambda: math.log(2), "closed form"),
    Case("letters, weighted", "Kairouz et al. 2016", letters, ("b", "d"), lambda: 1.0, "closed form"),
    Case(
        "sparse vector as an object, one query",
        "Dwork and Roth 2014",
        first_question,
        ([2.5], [1.5]),
        lambda: loss(*map(one_answer, (2.5, 1.5))),
        "closed form",
    ),
    Case(
        "two peeled from a heap",
        "Durfee and Rogers 2019",
        peeled_from_a_heap,
        ([3, 1, 2], [2, 1, 2]),
        lambda: loss(peeled([3, 1, 2]), peeled([2, 1, 2])),
        "closed form",
    ),
    Case(
        "the best by functools.reduce",
        "McSherry and Talwar 2007",
        reduced_to_the_best,
        ([3, 1, 2], [2, 1, 2]),
        lambda: of_lists(softmax([1.5, 0.5, 1.0]), softmax([1.0, 0.5, 1.0])),
        "closed form",
    ),
    Case("a window in a deque", "Dwork et al. 2010", sliding_deque, ([1, 0, 1, 1], [1, 1, 1, 1]), lambda: 1.0, "closed form"),
)

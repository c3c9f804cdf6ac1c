"""Loops that keep the best of a random number of rounds, against densities and sums over the number of rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import dpest
from dpest.laws.best_of import BestOf
from dpest.trace.execute import execute
from dpest.trace.plain_run import NumberSource, PlainRun

STOP = 0.2
SMALL, LARGE = [1, 0, 1], [1, 1, 1]
Number = Callable[[np.ndarray], np.ndarray]


# E[T u^(T - 1)] of a number of rounds T, from its generating function.


def geometric(u: np.ndarray) -> np.ndarray:
    return STOP / (1 - (1 - STOP) * u) ** 2


def poisson(u: np.ndarray) -> np.ndarray:
    return np.asarray(4 * np.exp(4 * (u - 1)))


def failures(u: np.ndarray) -> np.ndarray:
    return np.asarray(2 * 0.7 * 0.3**2 / (1 - 0.7 * u) ** 3)


def test_the_oracle_by_summing_over_the_number_of_rounds() -> None:
    t = np.arange(1, 400)
    laws = {geometric: stats.geom(STOP), poisson: stats.poisson(4), failures: stats.nbinom(2, 0.3)}
    for growth, law in laws.items():
        for u in (0.0, 0.4, 1.0):
            assert growth(np.array(u)) == pytest.approx(float((law.pmf(t) * t * u ** (t - 1.0)).sum()), rel=1e-12)


class Kept:
    """The law of what is kept: (k, v) with density w f(v - c_k) E[T F(v)^(T - 1)]."""

    def __init__(self, scores: list[float], noise: Any, number: Number) -> None:
        self.scores, self.noise, self.number = scores, noise, number

    def density(self, k: int, v: np.ndarray) -> np.ndarray:
        below = np.mean([self.noise.cdf(v - c) for c in self.scores], axis=0)
        return np.asarray(self.noise.pdf(v - self.scores[k]) / len(self.scores) * self.number(below))

    def chance(self, k: int) -> float:
        edges = [-60.0, -8.0, *sorted({*self.scores}), 8.0, 60.0]
        parts = [integrate.quad(lambda v: float(self.density(k, v)), a, b, epsabs=0, epsrel=1e-12) for a, b in pairwise(edges)]
        return math.fsum(x for x, _ in parts)


def largest_ratio(p: Kept, q: Kept, *, outputs: int) -> float:
    """The largest log ratio of densities on a fine grid: a lower end, short of the loss by as much as a grid step may hide."""
    v = np.unique(np.concatenate([np.linspace(-12, 14, 26_001), np.arange(-3.0, 5.0)]))
    ratios = [np.log(p.density(k, v) / q.density(k, v)) for k in range(outputs)]
    return float(np.abs(ratios).max())


def is_known(r: Any, truth: float, *, off: float = 0.0) -> bool:
    """Whether a narrow bracket holds the truth, which an oracle finds to 1e-11, or too small by `off`."""
    return bool(r.lower <= truth + off + 1e-11 and truth - 1e-11 <= r.upper and r.upper - r.lower < 1e-9)


LAPLACE = stats.laplace()


def until_a_coin(xs: list[int], rng: np.random.Generator) -> float:
    best = -math.inf
    while True:
        best = max(best, sum(xs) + rng.laplace(0, 1))
        if rng.random() < STOP:
            return best


def none_at_first(xs: list[int], rng: np.random.Generator) -> float | None:
    best = None
    while True:
        v = sum(xs) + rng.laplace(0, 1)
        if best is None or v > best:
            best = v
        if rng.random() < STOP:
            break
    return best


def as_many_as_drawn(xs: list[int], rng: np.random.Generator) -> float:
    rounds = rng.geometric(STOP)
    best = -math.inf
    for _ in range(rounds):
        v = sum(xs) + rng.laplace(0, 1)
        if v > best:
            best = v
    return best


def the_largest(xs: list[int], rng: np.random.Generator) -> float:
    rounds = rng.geometric(STOP)
    return max(sum(xs) + rng.laplace(0, 1) for _ in range(rounds))


def turned(xs: list[int], rng: np.random.Generator) -> float:
    least = math.inf
    while True:
        v = -sum(xs) - rng.laplace(0, 1)
        if v < least:
            least = v
        if rng.random() < STOP:
            return -least


@pytest.mark.parametrize("mechanism", [until_a_coin, none_at_first, as_many_as_drawn, the_largest, turned])
def test_the_best_of_one_kind_of_score(mechanism: Any) -> None:
    truth = largest_ratio(Kept([2.0], LAPLACE, geometric), Kept([3.0], LAPLACE, geometric), outputs=1)
    assert is_known(dpest.estimate(mechanism, (SMALL, LARGE), method="exact"), truth, off=1e-6)


NOISES = {
    "laplace": (lambda rng: rng.laplace(0, 1), stats.laplace()),
    "logistic": (lambda rng: rng.logistic(0, 0.7), stats.logistic(0, 0.7)),
    "gumbel": (lambda rng: rng.gumbel(0, 1.3), stats.gumbel_r(0, 1.3)),
}


def one_of(draw: Any, rounds: Any) -> Any:
    def mechanism(xs: list[int], rng: np.random.Generator) -> Any:
        best, arg = -math.inf, None
        for _ in range(rounds(rng)):
            k = rng.integers(0, 3)
            v = xs[k] + draw(rng)
            if v > best:
                best, arg = v, int(k)
        return arg

    return mechanism


NUMBERS: dict[str, tuple[Any, Number]] = {
    "geometric": (lambda rng: rng.geometric(STOP), geometric),
    "poisson": (lambda rng: rng.poisson(4), poisson),
    "failures": (lambda rng: rng.negative_binomial(2, 0.3), failures),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("number", NUMBERS)
def test_the_index_of_the_best(noise: str, number: str) -> None:
    draw, law = NOISES[noise]
    p, q = (Kept(list(map(float, xs)), law, NUMBERS[number][1]) for xs in (SMALL, LARGE))
    truth = max(abs(math.log(p.chance(k) / q.chance(k))) for k in range(3))
    r = dpest.estimate(one_of(draw, NUMBERS[number][0]), (SMALL, LARGE), method="exact")
    assert is_known(r, truth)


def test_the_best_with_its_score() -> None:
    def mechanism(xs: list[int], rng: np.random.Generator) -> Any:
        best: Any = None
        while True:
            k = int(rng.integers(0, 3))
            score = xs[k] + rng.laplace(0, 1)
            if best is None or score > best[1]:
                best = (k, score)
            if rng.random() < STOP:
                return best

    p, q = (Kept(list(map(float, xs)), LAPLACE, geometric) for xs in (SMALL, LARGE))
    assert is_known(dpest.estimate(mechanism, (SMALL, LARGE), method="exact"), largest_ratio(p, q, outputs=3), off=1e-6)


def test_an_index_without_a_value_before_the_loop() -> None:
    def mechanism(xs: list[int], rng: np.random.Generator) -> Any:
        best = -math.inf
        while True:
            k = int(rng.integers(0, 3))
            v = xs[k] + rng.laplace(0, 1)
            if v > best:
                best, arg = v, k
            if rng.random() < STOP:
                return arg

    p, q = (Kept(list(map(float, xs)), LAPLACE, geometric) for xs in (SMALL, LARGE))
    truth = max(abs(math.log(p.chance(k) / q.chance(k))) for k in range(3))
    assert is_known(dpest.estimate(mechanism, (SMALL, LARGE), method="exact"), truth)


def test_a_round_in_more_ways_than_are_followed_beside_a_loop_that_counts() -> None:
    """The runs on plain numbers draw the count at once, and follow the other loop as it is."""

    def mechanism(xs: list[int], rng: np.random.Generator) -> Any:
        k = 0
        while rng.random() < 0.5:
            k += 1
        best = -math.inf
        for _ in range(2):
            best = max(best, xs[0] + k)
        while True:
            if sum(xs) + rng.geometric(0.5) > best:
                return min(k, 3)

    assert not is_read(mechanism)


def test_what_is_returned_where_there_is_no_round() -> None:
    """T = 0 has the same probability under both inputs; the best is as likely as E[T F^(T - 1)] says."""

    def mechanism(xs: list[int], rng: np.random.Generator) -> Any:
        mean = 4
        rounds = rng.poisson(mean)
        if rounds == 0:
            return "nothing"
        best, arg = -math.inf, None
        for _ in range(rounds):
            k = int(rng.integers(0, 3))
            v = xs[k] + rng.laplace(0, 1)
            if v > best:
                best, arg = v, k
        return arg

    def largest(xs: list[int], rng: np.random.Generator) -> Any:
        rounds = rng.poisson(4)
        return None if rounds < 1 else max([sum(xs) + rng.laplace(0, 1) for _ in range(rounds)])

    p, q = (Kept(list(map(float, xs)), LAPLACE, poisson) for xs in (SMALL, LARGE))
    truth = max(abs(math.log(p.chance(k) / q.chance(k))) for k in range(3))
    r = dpest.estimate(mechanism, (SMALL, LARGE), method="exact")
    assert is_known(r, truth)
    truth = largest_ratio(Kept([2.0], LAPLACE, poisson), Kept([3.0], LAPLACE, poisson), outputs=1)
    assert is_known(dpest.estimate(largest, (SMALL, LARGE), method="exact"), truth, off=1e-6)


def test_no_round_at_all() -> None:
    """The coin is tossed first: with probability 0.2 nothing is kept."""

    def mechanism(xs: list[int], rng: np.random.Generator) -> Any:
        best = None
        while rng.random() >= STOP:
            v = sum(xs) + rng.laplace(0, 1)
            if best is None or v > best:
                best = v
        return best

    truth = largest_ratio(Kept([2.0], LAPLACE, geometric), Kept([3.0], LAPLACE, geometric), outputs=1)
    assert is_known(dpest.estimate(mechanism, (SMALL, LARGE), method="exact"), truth, off=1e-6)


def test_noise_of_two_scales_by_what_is_drawn() -> None:
    """Candidates with noise of their own scales: rivals whose scores are not the same law moved."""

    def mechanism(xs: list[int], rng: np.random.Generator) -> Any:
        best, arg = -math.inf, None
        while True:
            k = 0 if rng.random() < 0.3 else 1
            v = xs[k] + (1 + k) * rng.laplace(0, 1)
            if v > best:
                best, arg = v, k
            if rng.random() < STOP:
                return arg

    def chances(xs: list[int]) -> list[float]:
        laws = [stats.laplace(xs[0], 1), stats.laplace(xs[1], 2)]

        def density(v: float, k: int) -> float:
            below = 0.3 * laws[0].cdf(v) + 0.7 * laws[1].cdf(v)
            return float((0.3, 0.7)[k] * laws[k].pdf(v) * geometric(below))

        edges = [-80.0, -8.0, 0.0, 1.0, 8.0, 80.0]
        return [
            math.fsum(integrate.quad(density, a, b, (k,), epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(edges)) for k in (0, 1)
        ]

    truth = max(abs(math.log(a / b)) for a, b in zip(chances([1, 0]), chances([0, 1]), strict=True))
    assert is_known(dpest.estimate(mechanism, ([1, 0], [0, 1]), method="exact"), truth)


# -- what is nearly of the form, and is not ------------------------------------------------------------------------------


def not_read() -> Iterator[Any]:
    def stops_at_a_good_one(xs: list[int], rng: np.random.Generator) -> float:
        best = -math.inf
        while True:
            v = sum(xs) + rng.laplace(0, 1)
            best = max(best, v)
            if v > 1:
                return best

    def another_noise_is_kept(xs: list[int], rng: np.random.Generator) -> float:
        best = kept = -math.inf
        while True:
            v = sum(xs) + rng.laplace(0, 1)
            if v > best:
                best, kept = v, sum(xs) + rng.laplace(0, 2)
            if rng.random() < STOP:
                return kept

    def by_a_margin(xs: list[int], rng: np.random.Generator) -> float:
        best = -math.inf
        while True:
            v = sum(xs) + rng.laplace(0, 1)
            if v > best + 1:
                best = v
            if rng.random() < STOP:
                return best

    def a_floor(xs: list[int], rng: np.random.Generator) -> float:
        best = 0.0
        while True:
            v = sum(xs) + rng.laplace(0, 1)
            if v > best:
                best = v
            if rng.random() < STOP:
                return best

    def the_last_index(xs: list[int], rng: np.random.Generator) -> Any:
        best, arg = -math.inf, None
        while True:
            arg = int(rng.integers(0, 3))
            best = max(best, xs[arg] + rng.laplace(0, 1))
            if rng.random() < STOP:
                return arg, best > 2

    def a_coin_that_knows_more(xs: list[int], rng: np.random.Generator) -> Any:
        best, arg = -math.inf, None
        while True:
            k = int(rng.integers(0, 3))
            v = xs[k] + rng.laplace(0, 1)
            if v > best:
                best, arg = v, k
            if rng.random() < (0.2 if k else 0.5):
                return arg

    def a_history(xs: list[int], rng: np.random.Generator) -> Any:
        best, seen = -math.inf, []
        while True:
            v = sum(xs) + rng.laplace(0, 1)
            seen.append(v > 2)
            best = max(best, v)
            if rng.random() < STOP:
                return best, len(seen)

    yield from (stops_at_a_good_one, another_noise_is_kept, by_a_margin, a_floor)
    def a_count_that_is_released(xs: list[int], rng: np.random.Generator) -> Any:
        best, rounds = -math.inf, rng.poisson(4)
        for _ in range(rounds):
            best = max(best, sum(xs) + rng.laplace(0, 1))
        return best, rounds

    def a_count_that_is_looked_at(xs: list[int], rng: np.random.Generator) -> Any:
        best, rounds = -math.inf, rng.poisson(4)
        for _ in range(rounds):
            best = max(best, sum(xs) + rng.laplace(0, 1))
        return best if rounds > 3 else None

    def a_count_that_changes(xs: list[int], rng: np.random.Generator) -> Any:
        best, rounds = -math.inf, rng.poisson(4)
        rounds += 1
        for _ in range(rounds):
            best = max(best, sum(xs) + rng.laplace(0, 1))
        return best

    yield from (a_count_that_is_released, a_count_that_is_looked_at, a_count_that_changes)
    yield from (the_last_index, a_coin_that_knows_more, a_history)


def is_read(mechanism: Any) -> bool:
    """Whether a run draws the noise of the best by itself."""
    run = PlainRun(NumberSource(np.random.default_rng(1)), together=True)
    execute(run, mechanism, SMALL, {})
    return any(isinstance(d.law, BestOf) for d in run.drawn)


@pytest.mark.parametrize("mechanism", list(not_read()), ids=lambda f: f.__name__)
def test_what_is_nearly_of_the_form_is_followed_as_it_is(mechanism: Any) -> None:
    assert not is_read(mechanism)


def test_what_is_of_the_form_is_read() -> None:
    assert all(map(is_read, (until_a_coin, none_at_first, as_many_as_drawn, the_largest, turned)))


def test_the_same_answer_for_pairs_in_either_order() -> None:
    for one, two in permutations((SMALL, LARGE, [0, 0, 2])[:2]):
        r = dpest.estimate(until_a_coin, (one, two), method="exact")
        assert r.lower <= 1.7033038878 + 1e-9
        assert r.upper >= 1.7033038878 - 1e-9

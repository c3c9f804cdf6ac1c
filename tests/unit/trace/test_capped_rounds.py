"""Loops that keep the best of rounds that a coin or a cap ends, against densities that are sums over the number of rounds."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import dpest
from dpest.laws.best_of import BestOf
from dpest.trace.execute import execute
from dpest.trace.plain_run import NumberSource, PlainRun

STOP, CAP = 0.2, 6
NOISE = stats.laplace(scale=2)
SCORES, OTHERS = [1, 2, 3], [2, 1, 3]


def density(k: int, v: np.ndarray, scores: list[int]) -> np.ndarray:
    """Of (k, v) being kept: some round t has it, and all others are below."""
    below = np.mean([NOISE.cdf(v - c) for c in scores], axis=0)
    chances = [STOP * (1 - STOP) ** (t - 1) for t in range(1, CAP)] + [(1 - STOP) ** (CAP - 1)]
    growth = sum(c * t * below ** (t - 1.0) for t, c in enumerate(chances, 1))
    return np.asarray(NOISE.pdf(v - scores[k]) / len(scores) * growth)


def largest_ratio() -> float:
    """On a fine grid: too small by what a grid step may hide."""
    v = np.unique(np.concatenate([np.linspace(-30, 30, 60_001), np.arange(-3.0, 5.0)]))
    return max(float(np.abs(np.log(density(k, v, SCORES) / density(k, v, OTHERS))).max()) for k in range(3))


def chance(k: int, scores: list[int]) -> float:
    edges = [-120.0, -10.0, *sorted(scores), 12.0, 120.0]
    parts = zip(edges, edges[1:], strict=False)
    return math.fsum(integrate.quad(lambda v: float(density(k, v, scores)), a, b, epsrel=1e-12)[0] for a, b in parts)


def kept_both(scores: list[int], rng: np.random.Generator) -> Any:
    best, arg = -math.inf, None
    for _ in range(CAP):
        i = int(rng.integers(len(scores)))
        s = scores[i] + rng.laplace(0, 2)
        if s > best:
            best, arg = s, i
        if rng.random() < STOP:
            break
    return arg, best


class Selection:
    """The cap, the chance and the generator are attributes."""

    def __init__(self, stop: float, tries: int, rng: Any) -> None:
        self.stop, self.tries, self.rng = stop, tries, rng

    def __call__(self, scores: list[int]) -> Any:
        best, arg = -math.inf, None
        for _ in range(self.tries):
            i = random.randrange(len(scores))
            s = scores[i] + self.rng.laplace(0, 2)
            if s > best:
                best = s
                arg = i
            if random.random() < self.stop:
                break
        return arg


def of_a_class(scores: list[int], rng: np.random.Generator) -> Any:
    return Selection(STOP, CAP, rng)(scores)


def asks_first(scores: list[int], rng: np.random.Generator) -> Any:
    """Of no round at all, with the chance STOP; else as many as if it were asked behind."""
    best, arg = -math.inf, 0
    for _ in range(2, 2 + CAP * len(scores), len(scores)):
        if rng.random() < STOP:
            break
        i = int(rng.integers(len(scores)))
        s = scores[i] + rng.laplace(0, 2)
        if s > best:
            best, arg = s, i
    return arg


def test_the_best_with_its_score() -> None:
    r, truth = dpest.estimate(kept_both, (SCORES, OTHERS), method="exact"), largest_ratio()
    assert truth - 1e-9 <= r.upper
    assert r.lower <= truth + 1e-6
    assert r.upper - r.lower < 1e-4


def test_the_best_alone() -> None:
    truth = max(abs(math.log(chance(k, SCORES) / chance(k, OTHERS))) for k in range(3))
    r = dpest.estimate(of_a_class, (SCORES, OTHERS), method="exact")
    assert r.lower - 1e-9 <= truth <= r.upper + 1e-9
    assert r.upper - r.lower < 1e-9


def test_no_round_at_all() -> None:
    """What is kept at first is returned too."""
    p, q = (STOP * np.eye(3)[0] + (1 - STOP) * np.array([chance(k, s) for k in range(3)]) for s in (SCORES, OTHERS))
    r = dpest.estimate(asks_first, (SCORES, OTHERS), method="exact")
    truth = float(np.abs(np.log(p / q)).max())
    assert r.lower - 1e-9 <= truth <= r.upper + 1e-9
    assert r.upper - r.lower < 1e-9


def test_one_round_at_most_is_a_round() -> None:
    def once(x: int, rng: np.random.Generator) -> Any:
        best = -math.inf
        for _ in range(1):
            s = x + rng.laplace(0, 2)
            if s > best:
                best = s
            if rng.random() < STOP:
                break
        return best

    r = dpest.estimate(once, (3, 4), method="exact")
    assert r.lower - 1e-12 <= 0.5 <= r.upper + 1e-12
    assert r.upper - r.lower < 1e-9


def not_read() -> Iterator[Any]:
    """Loops that say more than which score was the best of how many rounds."""

    def the_number_of_rounds(x: int, rng: np.random.Generator) -> Any:
        best, t = -math.inf, 0
        for t in range(5):  # noqa: B007  which is read behind the loop
            best = max(best, x + rng.laplace(0, 1))
            if rng.random() < STOP:
                break
        return best, t

    def the_number_of_drawn_rounds(x: int, rng: np.random.Generator) -> Any:
        best, t = -math.inf, 0
        rounds = rng.geometric(0.3)
        for t in range(rounds):  # noqa: B007  which is read behind the loop
            best = max(best, x + rng.laplace(0, 1))
        return best, t

    def whether_a_coin_ended_it(x: int, rng: np.random.Generator) -> Any:
        best = -math.inf
        for _ in range(5):
            best = max(best, x + rng.laplace(0, 1))
            if rng.random() < STOP:
                return best
        return None

    def an_own_range(x: int, rng: np.random.Generator) -> Any:
        def range(n: int) -> Any:
            return iter((n,) * 3)

        best = -math.inf
        for _ in range(5):
            best = max(best, x + rng.laplace(0, 1))
            if rng.random() < STOP:
                break
        return best

    def no_round(x: int, rng: np.random.Generator) -> Any:
        best = -9.0
        for _ in range(0):
            best = max(best, x + rng.laplace(0, 1))
            if rng.random() < STOP:
                break
        return best

    class Changing:
        """Its chance to stop grows whenever it is asked for something."""

        def __init__(self, rng: Any) -> None:
            self.rng, self.stop = rng, 0.1

        def noise(self) -> Any:
            self.stop += 0.1
            return self.rng.laplace(0, 1)

        @property
        def chance(self) -> float:
            self.stop += 0.1
            return self.stop

    def a_property(x: int, rng: np.random.Generator) -> Any:
        state, best = Changing(rng), -math.inf
        for _ in range(5):
            best = max(best, x + rng.laplace(0, 1))
            if rng.random() < state.chance:
                break
        return best

    def a_method(x: int, rng: np.random.Generator) -> Any:
        state, best = Changing(rng), -math.inf
        for _ in range(5):
            best = max(best, x + state.noise())
            if rng.random() < state.stop:
                break
        return best

    def an_attribute_that_changes(x: int, rng: np.random.Generator) -> Any:
        state, best = Changing(rng), -math.inf
        for _ in range(5):
            best = max(best, x + rng.laplace(0, 1))
            state.stop += 0.1
            if rng.random() < state.stop:
                break
        return best

    yield from (a_property, a_method, an_attribute_that_changes)
    yield from (the_number_of_rounds, the_number_of_drawn_rounds, whether_a_coin_ended_it, an_own_range, no_round)


def is_read(mechanism: Any, x: Any) -> bool:
    """Whether a run draws the noise of the best by itself."""
    run = PlainRun(NumberSource(np.random.default_rng(1)), together=True)
    execute(run, mechanism, x, {})
    return any(isinstance(d.law, BestOf) for d in run.drawn)


@pytest.mark.parametrize("mechanism", list(not_read()), ids=lambda f: f.__name__)
def test_what_is_nearly_of_the_form_is_followed_as_it_is(mechanism: Any) -> None:
    assert not is_read(mechanism, 3)


def test_what_is_of_the_form_is_read() -> None:
    assert all(is_read(f, SCORES) for f in (kept_both, of_a_class, asks_first))


def laplace_by_hand(b: float) -> float:
    u = random.random() - 0.5
    return -b * math.copysign(1, u) * math.log(1 - 2 * abs(u))


def kept_both_by_hand(scores: list[int]) -> Any:
    best, arg = -math.inf, None
    for _ in range(CAP):
        i = random.randrange(len(scores))
        s = scores[i] + laplace_by_hand(2)
        if s > best:
            best, arg = s, i
        if random.random() < STOP:
            break
    return arg, best


def largest_by_hand(x: int, rng: np.random.Generator) -> bool:
    """Exponential noise of a uniform number."""
    best = -math.inf
    while True:
        s = x - 2.0 * math.log(rng.random())
        if s > best:
            best = s
        if rng.random() < STOP:
            return best >= 7


def test_noise_that_is_made_by_hand_in_each_round() -> None:
    r, truth = dpest.estimate(kept_both_by_hand, (SCORES, OTHERS), method="exact"), largest_ratio()
    assert truth - 1e-9 <= r.upper
    assert r.lower <= truth + 1e-6
    assert r.upper - r.lower < 1e-4


def test_one_sided_noise_that_is_made_by_hand() -> None:
    """P(best < 7) = G(F(7 - x)) with G(u) = p u / (1 - q u)."""

    def beyond(x: int) -> float:
        below = 1 - math.exp(-(7 - x) / 2)
        return 1 - STOP * below / (1 - (1 - STOP) * below)

    ratios = beyond(3) / beyond(4), (1 - beyond(3)) / (1 - beyond(4))
    r = dpest.estimate(largest_by_hand, (3, 4), method="exact")
    truth = max(abs(math.log(x)) for x in ratios)
    assert r.lower - 1e-9 <= truth <= r.upper + 1e-9
    assert r.upper - r.lower < 1e-9


def test_noise_that_is_used_in_two_forms_is_followed_as_it_is() -> None:
    def two_forms(x: int, rng: np.random.Generator) -> Any:
        best, kept = -math.inf, 0.0
        while True:
            u = rng.random()
            s = x - math.log(u)
            if s > best:
                best, kept = s, u
            if rng.random() < STOP:
                return best, kept

    assert not is_read(two_forms, 3)

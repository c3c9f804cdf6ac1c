"""Programs that draw in loops as chains of states: against the same programs run on every sequence of draws."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import reduce
from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import BudgetExceeded, ExactRefused
from dpest.trace.absorbing import Chain
from dpest.trace.snapshot import Hidden, Snapshot


class _Uniform:
    """Compares like a number between 0 and 1, both ways."""

    def __init__(self, source: Enumerated) -> None:
        self.source = source

    def __lt__(self, p: float) -> bool:
        return self.source.pick([Fraction(p), 1 - Fraction(p)]) == 0


class Enumerated:
    """A generator that goes through all draws, one sequence after another, until what is left weighs little."""

    def __init__(self, least: Fraction) -> None:
        self.waiting: list[tuple[list[int], Fraction]] = [([], Fraction(1))]
        self.least = least
        self.taken: list[int] = []
        self.weight, self.done = Fraction(1), 0

    def pick(self, chances: list[Fraction]) -> int:
        if self.done == len(self.taken):
            ways = [i for i, p in enumerate(chances) if p > 0]
            self.waiting += [([*self.taken, i], self.weight * chances[i]) for i in ways[1:]]
            self.taken, self.weight = [*self.taken, ways[0]], self.weight * chances[ways[0]]
        self.done += 1
        if self.weight < self.least:
            raise OverflowError
        return self.taken[self.done - 1]

    def random(self) -> _Uniform:
        return _Uniform(self)

    def integers(self, n: int) -> int:
        return self.pick([Fraction(1, n)] * n)


def enumerated(mechanism: Callable[..., Any], x: int, least: Fraction) -> tuple[dict[Any, Fraction], Fraction]:
    """The probability of each output, and of all sequences that were cut off."""
    source = Enumerated(least)
    found: dict[Any, Fraction] = defaultdict(Fraction)
    lost = Fraction(0)
    while source.waiting:
        source.taken, source.weight = source.waiting.pop()
        source.done = 0
        try:
            found[mechanism(x, source)] += source.weight
        except OverflowError:
            lost += source.weight
    return found, lost


def true_bracket(mechanism: Callable[..., Any], least: Fraction) -> tuple[float, float]:
    """The loss between the inputs 0 and 1, from the sequences of draws alone."""
    sides = [enumerated(mechanism, x, least) for x in (0, 1)]
    low = high = 0.0
    for (p, more), (q, others) in (sides, sides[::-1]):
        for key in {*p, *q}:
            a, b = p.get(key, Fraction(0)), q.get(key, Fraction(0))
            low = max(low, math.log(a / (b + others)) if a else 0.0)
            high = max(high, math.log((a + more) / b) if b else math.inf)
    return low, high


def adds_up(x: int, rng: np.random.Generator) -> Any:
    s = x
    while s < 4:
        s += rng.integers(3)
    return s


def counts_modulo(x: int, rng: np.random.Generator) -> Any:
    s = n = 0
    while s < 2 + x:
        s += rng.integers(2)
        n = (n + 1) % 3
    return n


def indexes_a_list(x: int, rng: np.random.Generator) -> Any:
    k = 0
    while True:
        k = [k + 1, k + 2][0 if rng.random() < 0.5 + 0.25 * x else 1]
        if rng.random() < 0.5:
            return min(k, 4)


def holds_a_number(x: int, rng: np.random.Generator) -> Any:
    """While the second coin is tossed, the first is in no variable."""
    while True:
        k = 3 * int(rng.integers(3)) + (1 if rng.random() < 0.5 + 0.25 * x else 2)
        if k >= 3:
            return k


def asks_in_a_row(x: int, rng: np.random.Generator) -> Any:
    n = 0
    while rng.random() < 0.5 and rng.random() < 0.5 + 0.25 * x and rng.random() < 0.75:
        n = (n + 1) % 4
    return n


def hands_on(x: int, rng: np.random.Generator) -> Any:
    def either(u: int, v: int) -> int:
        if rng.random() < 0.5:
            return u
        return v

    s = 0
    while s < 3:
        s = either(s + int(rng.integers(2 + x)), either(s, s + 1))
    return s


def compares_two(x: int, rng: np.random.Generator) -> Any:
    while True:
        a, b = rng.integers(3), rng.integers(3 + x)
        if a < b:
            return int(a)
        if a == b:
            return -1


def rebinds(x: int, rng: np.random.Generator) -> Any:
    """The old number is held while a function gives the variable another one."""
    k = 0

    def step() -> int:
        nonlocal k
        k = int(rng.integers(2))
        return 1 if rng.random() < 0.5 + 0.25 * x else 2

    while True:
        total = 3 * k + step()
        if total >= 3:
            return total


def walks(x: int, rng: np.random.Generator) -> Any:
    k = 0
    while True:
        total = 4 * k + (k := int(rng.integers(2))) + (0 if rng.random() < 0.25 + 0.5 * x else 2)
        if total > 3:
            return total


class Made:
    """Draws when it is made; behind its last loop, only the caller reads what it holds."""

    def __init__(self, rng: np.random.Generator, more: float) -> None:
        self.n = 0
        while rng.random() < more:
            self.n = (self.n + 1) % 3
        while rng.random() < 0.0625:
            pass


def makes_objects(x: int, rng: np.random.Generator) -> Any:
    made = Made(rng, 0.25 + 0.125 * x)
    while rng.random() < 0.0625:
        made = Made(rng, 0.25 + 0.125 * x)
    return made.n


class Kept:
    """A place that belongs to no frame."""

    best: Any = 0


def keeps_in_a_class(x: int, rng: np.random.Generator) -> Any:
    Kept.best = 0
    while True:
        d = rng.integers(3)
        if d > Kept.best:
            Kept.best = d
        if rng.random() < 0.75 + 0.125 * x:
            return int(Kept.best)


def keeps_two(x: int, rng: np.random.Generator) -> Any:
    new = old = 0
    while True:
        old, new = new, rng.integers(3)
        if old == new and rng.random() < 0.5:
            return int(new)
        if rng.random() < 0.75 + 0.125 * x:
            return int(old), int(new)


def keeps_what_a_draw_says(x: int, rng: np.random.Generator) -> Any:
    a = rng.integers(3)
    positive, n = a > 0, 0
    while rng.random() < 0.25 + 0.25 * x:
        n = (n + 1) % 3
        if n == 1 and positive:
            n = 2
    return n, bool(positive)


def handles_errors(x: int, rng: np.random.Generator) -> Any:
    n = 0
    while True:
        try:
            if rng.random() < 0.5:
                raise ValueError(int(rng.integers(2)))
        except ValueError as error:
            while rng.random() < 0.125:
                n = 1 - n
            n = (n + error.args[0]) % 2
        if rng.random() < 0.75 + 0.125 * x:
            return n


def keeps_the_highest_place(x: int, rng: np.random.Generator) -> Any:
    """The comparison inside `max` tells what the loop's own condition asks: the place is known by then."""
    place = highest = 0
    while abs(place) < 2:
        place += 2 * rng.integers(3) - 2
        highest = max(highest, place)
    return (highest // 2 + x * rng.integers(2)) % 2


def test_a_loop_that_keeps_the_largest_draw() -> None:
    """After each draw the loop ends with probability 1/5: the largest is at most k with probability F / (5 - 4 F)."""

    def mechanism(weights: list[float], rng: np.random.Generator) -> int:
        best = -1
        while True:
            score = rng.choice(3, p=weights)
            if score > best:
                best = score
            if rng.random() < 0.2:
                return int(best)

    def law(weights: list[float]) -> list[float]:
        ends = [f / (5 - 4 * f) for f in (0.0, weights[0], weights[0] + weights[1], 1.0)]
        return [b - a for a, b in pairwise(ends)]

    pair = [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]
    truth = max(abs(math.log(p / q)) for p, q in zip(*map(law, pair), strict=True))
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-11


def test_the_highest_place_of_a_walk() -> None:
    """A walk in steps of -1, 1 and 2 until it is 4 away: every step is told by `max`, and there are few places."""

    def law(start: int) -> dict[int, float]:
        masses, ends = {(start, start): 1.0}, dict.fromkeys(range(-4, 6), 0.0)
        for _ in range(2_000):
            following: dict[tuple[int, int], float] = defaultdict(float)
            for (place, highest), mass in masses.items():
                for step in (-1, 1, 2):
                    at = place + step
                    if abs(at) < 4:
                        following[at, max(highest, at)] += mass / 3
                    else:
                        ends[max(highest, at)] += mass / 3
            masses = following
        return ends

    def mechanism(start: int, rng: np.random.Generator) -> int:
        place = highest = start
        while abs(place) < 4:
            place += rng.choice([-1, 1, 2])
            highest = max(highest, place)
        return int(max(highest, 1))

    def joined(ends: dict[int, float]) -> list[float]:
        return [sum(ends[k] for k in range(-4, 2)), *(ends[k] for k in range(2, 6))]

    truth = max(abs(math.log(p / q)) for p, q in zip(joined(law(0)), joined(law(1)), strict=True))
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-9


def test_remainders_of_an_unknown_input_are_not_written_out() -> None:
    """On unknown inputs, c %= 3 uses its parts twice in each round: the line about all inputs is left out."""

    def mechanism(x: int, rng: np.random.Generator) -> Any:
        c = x
        while rng.random() < 0.5:
            c %= 3
        return min(c, 5)

    assert dpest.estimate(mechanism, (0, 1), method="exact").lower == math.inf


LOOPS = [adds_up, counts_modulo, indexes_a_list, holds_a_number, asks_in_a_row, hands_on, compares_two, rebinds, walks]
LOOPS += [makes_objects, keeps_in_a_class, keeps_two, keeps_what_a_draw_says, handles_errors, keeps_the_highest_place]
OPEN = (indexes_a_list, handles_errors)  # what they return after many rounds is not read off their code
LONG = (rebinds, walks, keeps_in_a_class, keeps_two, handles_errors)  # more of their sequences matter


@pytest.mark.parametrize("mechanism", LOOPS)
def test_a_loop_has_the_law_of_all_its_sequences(mechanism: Callable[..., Any]) -> None:
    low, high = true_bracket(mechanism, Fraction(1, 2 ** (19 if mechanism in LONG else 16)))
    assert high - low < 0.05 or high == math.inf
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= high + 1e-12
    assert found.upper >= low - 1e-12
    assert found.epsilon - found.lower < 1e-9 or found.lower > 2
    assert found.upper - found.lower < 1e-9 or found.lower > 2 or (found.upper == math.inf and mechanism in OPEN)


def test_states_that_functions_without_a_frame_hide() -> None:
    def mechanism(x: int, rng: np.random.Generator) -> Any:
        while True:
            total = reduce(lambda a, b: (1 if rng.random() < 0.5 + 0.25 * x else 0) + a, [1, 1], 0)
            if rng.random() < 0.5:
                return total

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= math.log(0.25 / 0.0625) <= found.upper + 1e-12


def test_a_loop_without_an_end_is_refused() -> None:
    def mechanism(x: int, rng: np.random.Generator) -> Any:
        while True:
            if rng.integers(4) == 9:
                return x

    with pytest.raises(ExactRefused, match="comes to an end"):
        dpest.estimate(mechanism, (0, 1), method="exact")


@pytest.mark.parametrize("value", [(i for i in range(2)), count(1), map(abs, (i for i in range(2))), ValueError(1)])
def test_what_a_value_holds_must_be_seen(value: Any) -> None:
    with pytest.raises(Hidden):
        Snapshot({}).of(value)


def test_an_iterator_is_seen_with_what_it_goes_through_and_how_far_it_is() -> None:
    made = [lambda: iter([1, 1]), lambda: zip([1, 2], (3, 4), strict=True), lambda: enumerate("ab"), lambda: iter({1: 2, 3: 4})]
    for make in made:
        first, second = make(), make()
        assert Snapshot({}).of(first) == Snapshot({}).of(second)
        next(first)
        assert Snapshot({}).of(first) != Snapshot({}).of(second)
        assert len(list(second)) == 2


# -- the discrete Gaussian of Canonne, Kamath and Steinke, by coins alone --------------------------------------------------


def coin(p: Fraction) -> int:
    return 1 if random.randrange(p.denominator) < p.numerator else 0


def coin_exp_small(x: Fraction) -> int:
    k = 1
    while coin(x / k) == 1:
        k += 1
    return k % 2


def coin_exp(x: Fraction) -> int:
    while x > 1:
        if coin_exp_small(Fraction(1)) == 0:
            return 0
        x = x - 1
    return coin_exp_small(x)


def geometric_exp(t: int) -> int:
    while True:
        u = random.randrange(t)
        if coin_exp(Fraction(u, t)) == 1:
            break
    v = 0
    while coin_exp(Fraction(1)) == 1:
        v += 1
    return v * t + u


def discrete_laplace(t: int) -> int:
    while True:
        sign, size = coin(Fraction(1, 2)), geometric_exp(t)
        if sign == 0 or size > 0:
            return size * (1 - 2 * sign)


def discrete_gaussian(variance: Fraction, t: int) -> int:
    while True:
        candidate = discrete_laplace(t)
        if coin_exp((abs(candidate) - variance / t) ** 2 / (2 * variance)) == 1:
            return candidate


@pytest.mark.parametrize(("variance", "t"), [(Fraction(1, 4), 1)])
def test_a_clamped_discrete_gaussian(variance: Fraction, t: int) -> None:
    def mechanism(x: int) -> int:
        return min(2, max(0, x + discrete_gaussian(variance, t)))

    def law(x: int) -> list[float]:
        weights = {k: math.exp(-(k**2) / (2 * float(variance))) for k in range(-40, 41)}
        out = [0.0, 0.0, 0.0]
        for k, w in weights.items():
            out[min(2, max(0, x + k))] += w / math.fsum(weights.values())
        return out

    truth = max(abs(math.log(p / q)) for p, q in zip(law(0), law(1), strict=True))
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


# -- elimination ----------------------------------------------------------------------------------------------------------


def test_elimination_keeps_small_probabilities() -> None:
    """A walk from 0 up to 60 with a chance of 1/1000 for each step, and else back to 0 or out: (1/1000)^60 and more."""
    p, out = 1e-3, 1e-3
    chain = Chain()
    for k in range(60):
        ways: dict[Hashable, float] = {k + 1 if k < 59 else "top": p, "out": out, 0: 1 - p - out}
        chain.add(k, {end: (chance, 1e-15) for end, chance in ways.items()})
    found = chain.ends(0)
    ends = {end: math.exp(log_p) for end, log_p in found.logs.items()}
    up = Fraction(p) ** 60
    away = sum((Fraction(p) ** k * Fraction(out) for k in range(60)), Fraction(0))
    assert ends["top"] == pytest.approx(float(up / (up + away)), rel=1e-12)
    assert ends["top"] + ends["out"] == pytest.approx(1.0, rel=1e-12)


def test_a_state_that_leads_nowhere_is_refused() -> None:
    chain = Chain()
    chain.add(0, {1: (0.5, 0.0), "end": (0.5, 0.0)})
    chain.add(1, {1: (1.0, 0.0)})
    with pytest.raises(BudgetExceeded, match="for ever"):
        chain.ends(0)


class _Kept:
    """What a class keeps: an object of its own."""

    box: Any = None


class _Box:
    count = 0


def _counts_in_a_class(p: float) -> int:
    _Kept.box = _Box()
    while True:
        if random.random() < p:
            _Kept.box.count += 1
        if random.random() < 0.4:
            return int(_Kept.box.count % 3)


def test_an_object_that_a_class_keeps_is_state() -> None:
    """It was taken for none: 0.511 for 0.298."""

    def law(p: float) -> list[float]:
        stay = [0.6 * (1 - p), 0.6 * p]  # of the count, before the next coin
        masses, now = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]
        for _ in range(400):
            for k in range(3):
                masses[k] += 0.4 * ((1 - p) * now[k] + p * now[k - 1])
            now = [stay[0] * now[k] + stay[1] * now[k - 1] for k in range(3)]
        return masses

    truth = max(abs(math.log(a / b)) for a, b in zip(law(0.5), law(0.7), strict=True))
    found = dpest.estimate(_counts_in_a_class, (0.5, 0.7), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9

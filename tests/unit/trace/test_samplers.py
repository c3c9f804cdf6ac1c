"""Functions that sample by loops, called with plain arguments: against closed forms."""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.trace.explore import trace
from dpest.trace.liveness import is_live
from dpest.trace.samplers import _is_fixed


def bracket(mechanism: Any, pair: Any, truth: float) -> None:
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-6


def coin(p: Fraction) -> int:
    return 1 if random.randrange(p.denominator) < p.numerator else 0


def coin_exp_small(x: Fraction) -> int:
    k = 1
    while True:
        if coin(x / k) == 1:
            k += 1
        else:
            break
    return k % 2


def coin_exp(x: Fraction) -> int:
    while x > 1:
        if coin_exp_small(Fraction(1)) == 1:
            x = x - 1
        else:
            return 0
    return coin_exp_small(x)


def rounds_exp(x: Fraction) -> int:
    k = 0
    while True:
        if coin_exp(x) == 1:
            k += 1
        else:
            return k


def discrete_laplace(scale: Fraction) -> int:
    t = scale.numerator
    while True:
        u = random.randrange(t)
        if coin_exp(Fraction(u, t)) == 0:
            continue
        v = rounds_exp(Fraction(1))
        size = (v * t + u) // scale.denominator
        sign = coin(Fraction(1, 2))
        if sign == 1 and size == 0:
            continue
        return size * (1 - 2 * sign)


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(1), Fraction(9, 4)])
def test_a_coin_of_an_exponential_chance(x: Fraction) -> None:
    def flipped(bit: int) -> int:
        return bit if coin_exp(x) == 0 else 1 - bit

    p = math.exp(-float(x))
    bracket(flipped, (0, 1), abs(math.log((1 - p) / p)))


def test_discrete_laplace_by_coins_alone() -> None:
    bracket(lambda x: x + discrete_laplace(Fraction(2)), (3, 4), 0.5)


def recursive_coin_exp(g: float) -> bool:
    if g <= 1:
        k = 1
        while random.random() < g / k:
            k += 1
        return k % 2 == 1
    while g > 1:
        if not recursive_coin_exp(1):
            return False
        g -= 1
    return recursive_coin_exp(g)


def with_samplers_inside(x: int) -> int:
    def coin_exp(g: float) -> bool:
        if g <= 1:
            k = 1
            while random.random() < g / k:
                k += 1
            return k % 2 == 1
        return coin_exp(1) and coin_exp(g - 1)

    def discrete_laplace(t: int) -> int:
        while True:
            u = random.randrange(t)
            if not coin_exp(u / t):
                continue
            v = 0
            while coin_exp(1):
                v += 1
            negative = random.random() < 0.5
            if not negative or u + t * v > 0:
                return -u - t * v if negative else u + t * v

    return x + discrete_laplace(2)


def test_samplers_that_call_themselves_or_stand_inside_the_mechanism() -> None:
    p, q = math.exp(-0.3), math.exp(-2.3)
    bracket(lambda x: recursive_coin_exp(0.3 + x), (0, 2), max(math.log(p / q), math.log((1 - q) / (1 - p))))
    bracket(with_samplers_inside, (0, 1), 0.5)


def test_permute_and_flip_with_exact_coins() -> None:
    def chosen(scores: list[int]) -> Any:
        order = list(range(len(scores)))
        random.shuffle(order)
        for i in order:
            if coin_exp(Fraction(max(scores) - scores[i], 2)):
                return i
        return None

    def chances(scores: list[int]) -> list[float]:
        out = [0.0] * len(scores)
        for order in permutations(range(len(scores))):
            left = 1 / math.factorial(len(scores))
            for i in order:
                p = math.exp((scores[i] - max(scores)) / 2)
                out[i] += left * p
                left *= 1 - p
        return out

    pair = [3, 2, 0], [2, 3, 1]
    a, b = map(chances, pair)
    bracket(chosen, pair, max(abs(math.log(p / q)) for p, q in zip(a, b, strict=True)))


TOSSES: list[int] = []
LIMIT = [3]


def counted_coin() -> int:
    TOSSES.append(1)
    while secrets.randbelow(3) == 0:
        TOSSES.append(1)
    return len(TOSSES) % 2


def limited(n: int) -> int:
    k = 0
    while k < LIMIT[0] and secrets.randbelow(n) == 0:
        k += 1
    return k


def test_what_a_function_can_change_or_see_changing_is_no_sampler() -> None:
    from dpest.trace.samplers import sees_only_values

    assert not sees_only_values(counted_coin)
    assert not sees_only_values(limited)
    assert sees_only_values(coin_exp)
    state = 0

    def closing() -> int:
        nonlocal state
        while random.random() < 0.5:
            state += 1
        return state

    assert not sees_only_values(closing)
    assert not sees_only_values(len)


def test_a_generator_as_an_argument() -> None:
    def tosses(p: float, rng: np.random.Generator) -> bool:
        even = True
        while rng.random() < p:
            even = not even
        return even

    def told(bit: int, rng: np.random.Generator) -> list[int]:
        return [bit ^ int(tosses(0.25, rng)) for _ in range(3)]

    even = 1 / (1 + 0.25)  # an even number of successes before the first failure
    bracket(told, (0, 1), 3 * math.log(even / (1 - even)))


def test_draws_of_an_earlier_round_that_nobody_reads() -> None:
    def redrawn(x: float, rng: np.random.Generator) -> Any:
        while True:
            sign = rng.integers(2)
            size = rng.geometric(0.5) - 1
            if sign == 1 and size == 0:
                continue
            return x + size * (1 - 2 * sign)

    bracket(redrawn, (0, 1), math.log(2))
    assert trace(redrawn, 0, {}).cycles


def test_a_variable_that_is_read_in_the_next_round_is_state() -> None:
    def remembering(x: int, rng: np.random.Generator) -> Any:
        last = x
        while True:
            now = int(rng.integers(2))
            if now == 1 and last == 1:
                return "twice"
            if rng.random() < 0.5:
                return "stopped"
            last = now

    # P(twice) after a one is a, after a zero b: a = 1/2 + 1/4 b, b = 1/4 a + 1/4 b.
    b = 0.125 / (0.75 - 0.0625)
    a = 0.5 + b / 4
    bracket(remembering, (0, 1), max(math.log(a / b), math.log((1 - b) / (1 - a))))


def test_which_variables_are_live() -> None:
    def loop(n: int) -> int:
        total = 0
        while n:
            part = n * 2
            n = part - n
            n = abs(n)
        return total

    code = loop.__code__
    import dis

    at = next(i.offset for i in dis.get_instructions(code) if i.opname.startswith("CALL"))
    first = next(i.offset for i in dis.get_instructions(code) if i.opname == "BINARY_OP")
    assert is_live(code, at, "n")
    assert is_live(code, at, "total")
    assert not is_live(code, at, "part")
    held = next(i.offset for i in dis.get_instructions(code) if i.opname == "BINARY_OP" and i.offset > first)
    assert is_live(code, held, "part")  # the expression holds it, though nobody reads it behind


def _flips() -> int:
    k = 0
    while random.random() < _flips.p:  # type: ignore[attr-defined]
        k += 1
    return min(k, 1)


def test_a_function_that_reads_an_attribute_of_itself_is_no_draw_by_its_arguments() -> None:
    def mechanism(x: float) -> int:
        _flips.p = 0.25 + 0.5 * x  # type: ignore[attr-defined]
        return _flips()

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-9 <= math.log(3) <= found.upper + 1e-9


# -- samplers in other places: with a generator that is handed on, as methods, inside a function -------------------------


def coin_of(p: Fraction, rng: Any) -> int:
    return 1 if rng.randrange(p.denominator) < p.numerator else 0


def coin_exp_of(x: Fraction, rng: Any) -> int:
    k = 1
    while coin_of(x / k, rng) == 1:
        k += 1
    return k % 2


def handed_a_module(x: int) -> Any:
    while True:
        size = 0
        while coin_exp_of(Fraction(1, 2), random) == 1:
            size += 1
        negative = coin_of(Fraction(1, 2), random)
        if negative and size == 0:
            continue
        return x - size if negative else x + size


class Sampler:
    """A sampler with methods that call each other."""

    most = 1.0

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.rng = np.random.default_rng()

    def toss(self, chance: float) -> Any:
        return self.rng.random() < min(chance, self.most)

    def coin(self) -> bool:
        k = 1
        while self.toss(1 / self.scale / k):
            k += 1
        return k % 2 == 1

    def sample(self) -> Any:
        while True:
            size = 0
            while self.coin():
                size += 1
            negative = self.rng.random() < 0.5
            if negative and size == 0:
                continue
            return -size if negative else size


def by_methods(x: int) -> Any:
    return x + Sampler(2.0).sample()


def by_functions_inside(x: int, rng: np.random.Generator) -> Any:
    def coin(chance: float) -> bool:
        k = 1
        while rng.random() < chance / k:
            k += 1
        return k % 2 == 1

    def size() -> int:
        k = 0
        while coin(0.5):
            k += 1
        return k

    while True:
        found = size()
        negative = rng.random() < 0.5
        if negative and found == 0:
            continue
        return x - found if negative else x + found


def in_one_function(x: int, t: int = 5) -> Any:
    while True:
        u = random.randrange(t)
        p = math.exp(-u / t)
        if random.random() >= p:
            continue
        v = 0
        while random.random() < math.exp(-1):
            v += 1
        size = u + t * v
        negative = random.random() < 0.5
        if negative and size == 0:
            continue
        return x - size if negative else x + size


PLACES = [(handed_a_module, 0.5), (by_methods, 0.5), (by_functions_inside, 0.5), (in_one_function, 0.2)]


@pytest.mark.parametrize(("mechanism", "loss"), PLACES)
def test_discrete_laplace_noise_wherever_its_coins_are_tossed(mechanism: Any, loss: float) -> None:
    bracket(mechanism, (3, 4), loss)


def test_functions_inside_are_told_apart_by_what_they_see() -> None:
    def flipped(bit: int) -> Any:
        def coin(chance: float) -> Any:
            def toss() -> bool:
                k = 1
                while random.random() < chance / k:
                    k += 1
                return k % 2 == 1

            return toss

        first, second = coin(0.25), coin(0.75)
        return (bit if first() else 1 - bit), (bit if second() else 1 - bit)

    p, q = math.exp(-0.25), math.exp(-0.75)
    bracket(flipped, (0, 1), math.log(p / (1 - p)) + abs(math.log(q / (1 - q))))


def test_functions_that_see_the_same_functions_in_another_order() -> None:
    def often() -> float:
        return 0.75

    def rarely() -> float:
        return 0.25

    def made(a: Any, b: Any, c: Any) -> Any:
        def odd() -> bool:
            k = 1
            while random.random() < (a() + 0 * b() if k == 1 else c()) / k:
                k += 1
            return k % 2 == 1

        return odd

    def flipped(bit: int) -> Any:
        first, second = made(often, rarely, often), made(often, rarely, rarely)
        return (bit if first() else 1 - bit), (bit if second() else 1 - bit)

    def stays_odd(first: float, later: float) -> float:
        total, reached = 0.0, 1.0
        for k in range(1, 40):
            chance = (first if k == 1 else later) / k
            total += reached * (1 - chance) * (k % 2)
            reached *= chance
        return total

    p, q = stays_odd(0.75, 0.75), stays_odd(0.75, 0.25)
    bracket(flipped, (0, 1), abs(math.log(p / (1 - p)) + math.log(q / (1 - q))))


class Counting:
    """Keeps how often it was asked: its method is no function of its arguments."""

    def __init__(self) -> None:
        self.asked = 0

    def odd(self) -> bool:
        self.asked += 1
        k = 1
        while random.random() < 0.5 * self.asked / k:
            k += 1
        return k % 2 == 1


def test_a_method_that_changes_its_object_is_followed() -> None:
    def flipped(bit: int) -> Any:
        held = Counting()
        return (bit if held.odd() else 1 - bit), (bit if held.odd() else 1 - bit)

    p, q = math.exp(-0.5), math.exp(-1.0)
    found = dpest.estimate(flipped, (0, 1), method="exact")
    truth = math.log(p / (1 - p)) + abs(math.log(q / (1 - q)))
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9


def test_what_a_class_holds_is_read_anew() -> None:
    def flipped(bit: int) -> Any:
        return bit if Sampler(2.0).coin() else 1 - bit

    def chance(most: float) -> float:
        odd, reached = 0.0, 1.0
        for k in range(1, 60):
            p = min(0.5 / k, most)
            odd, reached = odd + (reached * (1 - p) if k % 2 else 0.0), reached * p
        return odd

    for most in (1.0, 0.125):
        Sampler.most = most
        try:
            p = chance(most)
            bracket(flipped, (0, 1), abs(math.log(p / (1 - p))))
        finally:
            Sampler.most = 1.0


def test_what_is_the_same_at_all_times() -> None:
    """Modules and functions of Python's and NumPy's own, and types of numbers; not what an author's module holds."""
    for fixed in (math, np, random, math.floor, np.exp, int, Fraction, random.Random.randint):
        assert _is_fixed(fixed)
    for own in (pytest, pytest.raises, test_what_is_the_same_at_all_times, list, object()):
        assert not _is_fixed(own)

"""Ends of Markov chains whose chances are known up to a factor, against linear equations in fractions."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable
from fractions import Fraction

import mpmath
import pytest

from dpest.errors import BudgetExceeded
from dpest.trace.absorbing import Chain

Ways = dict[int, dict[Hashable, Fraction]]


def solved(ways: Ways, end: Hashable) -> Fraction:
    """The probability of an end from state 0: x = P x + r, by elimination in fractions."""
    states = list(ways)
    zero = Fraction(0)
    rows = [[Fraction(int(i == j)) - ways[i].get(j, zero) for j in states] + [ways[i].get(end, zero)] for i in states]
    for i in range(len(states)):
        pivot = next(k for k in range(i, len(states)) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(len(states)):
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return rows[0][-1]


def visits(ways: Ways, state: int) -> Fraction:
    """How often a state is met: the chance to come there, over the chance never to come back."""
    stopped: Ways = {k: {(f"in {e}" if e == state else e): p for e, p in w.items()} for k, w in ways.items()}
    there = Fraction(1) if state == 0 else solved(stopped, f"in {state}")
    order = {state: stopped[state], **{k: w for k, w in stopped.items() if k != state}}
    return there / (1 - solved(order, f"in {state}"))


def random_chain(rng: random.Random) -> Ways:
    n = rng.randint(1, 5)
    out: Ways = {}
    for k in range(n):
        ends: list[Hashable] = [*range(n), "a", "b"]
        weights = {end: Fraction(rng.randint(1, 9)) for end in ends if end in ("a", "b") or rng.random() < 0.6}
        total = sum(weights.values(), Fraction(0))
        out[k] = {end: w / total for end, w in weights.items()}
    return out


def log(x: Fraction) -> mpmath.mpf:
    return mpmath.log(mpmath.mpf(x.numerator) / x.denominator)


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-3, 0.05])
def test_chances_that_are_off_by_a_factor(off: float) -> None:
    """Each chance is multiplied by a factor of its own, up to e^off: the bound holds for the chances as they were."""
    rng = random.Random(5)
    with mpmath.workdps(60):
        for _ in range(60):
            ways = random_chain(rng)
            chain = Chain()
            for k, w in ways.items():
                room = {end: rng.choice([0.0, off]) for end in w}
                moved = {end: float(p) * math.exp(rng.choice([-1, 1]) * 0.999 * room[end]) for end, p in w.items()}
                chain.add(k, {end: (p, room[end] + 4e-16) for end, p in moved.items()})
            found = chain.ends(0)
            for end in ("a", "b"):
                truth = log(solved(ways, end))
                assert abs(mpmath.mpf(found.logs[end]) - truth) <= found.off[end]
                assert found.off[end] <= 2 * len(ways) * (off + 4e-16) + 1e-14


def test_the_bound_follows_the_ways_to_an_end() -> None:
    """Twenty states in a row, each with 1/10 to stay: a way to the end has 20 chances, and 20/9 more on the average."""
    chain, off = Chain(), 1e-4
    for k in range(20):
        chain.add(k, {k: (0.1, off), k + 1 if k < 19 else "end": (0.45, off), "out": (0.45, off)})
    assert 20 * off < chain.ends(0).off["end"] < 23 * off


def test_how_often_states_are_met() -> None:
    rng = random.Random(6)
    for _ in range(30):
        ways = random_chain(rng)
        chain = Chain()
        for k, w in ways.items():
            chain.add(k, {end: (float(p), 0.0) for end, p in w.items()})
        found = chain.ends(0)
        for k in ways:
            assert found.visits[k] == pytest.approx(float(visits(ways, k)), rel=1e-12)


def test_the_logarithm_of_a_rare_end_is_rounded() -> None:
    """Of 10^-70 the logarithm is a double next to -161.2: half of its last digit is more than 1e-14."""
    chain = Chain()
    for k in range(70):
        chain.add(k, {k + 1 if k < 69 else "end": (0.1, 0.0), "out": (0.9, 0.0)})
    found = chain.ends(0)
    with mpmath.workdps(60):
        chances = Fraction(0.1), Fraction(0.9)  # the doubles, whose sum is not quite 1
        p = chances[0] / sum(chances)
        assert abs(mpmath.mpf(found.logs["end"]) - 70 * log(p)) <= found.off["end"]
    assert found.off["end"] < 1e-12


def test_ways_without_a_chance_are_left_out() -> None:
    chain = Chain()
    chain.add(0, {"a": (1.0, 0.0), "b": (0.0, 0.0), 7: (0.0, 0.0)})
    assert chain.ends(0).logs == {"a": 0.0}


def test_a_loop_whose_largest_chances_add_up_to_more_than_one() -> None:
    """0.999 back, known up to 1 percent: the bound by the number of states holds."""
    chain = Chain()
    chain.add(0, {0: (0.999, 0.01), "a": (0.0005, 0.01), "b": (0.0005, 0.01)})
    found = chain.ends(0)
    assert found.logs["a"] == pytest.approx(math.log(0.5), abs=1e-12)
    assert 0.02 <= found.off["a"] < 0.0201
    assert found.visits[0] == pytest.approx(1000, rel=1e-9)


@pytest.mark.parametrize("ways", [{0: (1.0, 0.0)}, {1: (1.0, 0.0)}])
def test_loops_without_an_end(ways: dict[Hashable, tuple[float, float]]) -> None:
    chain = Chain()
    chain.add(0, ways)
    chain.add(1, {0: (1.0, 0.0)})
    with pytest.raises(BudgetExceeded, match="for ever"):
        chain.ends(0)


def test_how_rarely_a_loop_may_be_left() -> None:
    """One way out, however small its chance is: it is taken at last, after 1 / chance rounds, as long as that is a double."""
    back = 1.0 - 2.0**-53
    chain = Chain()
    chain.add(0, {0: (back, 1e-15), "a": (8e-309, 1e-15)})
    found = chain.ends(0)
    assert found.logs == {"a": 0.0}
    assert found.visits[0] == pytest.approx(1.25e308, rel=1e-12)
    chain.add(0, {0: (back, 1e-15), "a": (4e-309, 1e-15)})
    with pytest.raises(BudgetExceeded, match="for ever"):
        chain.ends(0)

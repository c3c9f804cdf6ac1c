"""Chains of states followed by hand: which state comes next, what is left out, and where following them ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import BudgetExceeded, ExactRefused, TraceMismatch
from dpest.lang.generators.swap import standing_in
from dpest.lang.nodes import Draw
from dpest.laws.discrete import Atoms
from dpest.numerics.rationals import ONE, ZERO
from dpest.trace.against_program import CHECKS, Checks
from dpest.trace.chain import ChainLimits, OutputChances, _off, _OpenStates
from dpest.trace.chained import _check, chained
from dpest.trace.execute import execute
from dpest.trace.explore import _PathSearch
from dpest.trace.forks import Branch
from dpest.trace.limits import LIMITS
from dpest.trace.literal import Literal
from dpest.trace.outputs import Flat, flatten

ROOM = ChainLimits(states=100, work=10_000, little=1e-20)


def followed(mechanism: Callable[..., Any], size: ChainLimits = ROOM) -> OutputChances:
    with standing_in(mechanism, 0, {}):
        return chained(lambda run: execute(run, mechanism, 0, {}), size, LIMITS, CHECKS)


def laws(found: OutputChances) -> dict[Any, float]:
    return {flat.leaves[0]: math.exp(log_p) for flat, log_p in found.outputs}



def climbs(x: int, rng: np.random.Generator) -> int:
    """Up with probability 1/2, else the end: k steps with probability 2^-(k + 1), up to 30."""
    k = 0
    while k < 30 and rng.random() < 0.5:
        k += 1
    return k


def test_the_likeliest_state_is_followed_first_with_all_that_leads_to_it() -> None:
    states = _OpenStates()
    branches = [Branch() for _ in range(3)]
    assert states.met("a", 0.2, lambda: branches[0]) == 1
    assert states.met("b", 0.3, lambda: branches[1]) == 2
    assert states.met("a", 0.2, lambda: branches[2]) == 1  # its place is the one where it was met first
    assert states.next(0.25) == (1, pytest.approx(0.4), branches[0])
    assert states.met("a", 0.2, lambda: branches[2]) == 1  # it has been followed, and comes no more
    assert states.next(0.25) == (2, pytest.approx(0.3), branches[1])
    assert states.next(0.25) is None


def test_states_are_followed_until_all_that_are_left_weigh_little_together() -> None:
    states = _OpenStates()
    for name in "abcd":
        states.met(name, 0.1, Branch)  # each of them is below the limit
    assert [states.next(0.25) is None for _ in range(3)] == [False, False, True]


def test_what_is_left_out_is_counted() -> None:
    whole, cut = followed(climbs), followed(climbs, ChainLimits(states=20, work=10_000, little=1e-3))
    truth = {k: 0.5 ** (k + 1) for k in range(30)} | {30: 0.5**30}
    assert whole.log_left_out == -math.inf
    assert laws(whole) == pytest.approx(truth, rel=1e-12)
    kept = laws(cut)
    assert kept == pytest.approx({k: truth[k] for k in kept}, rel=1e-12)
    assert 9 <= len(kept) <= 12
    assert math.exp(cut.log_left_out) == pytest.approx(1 - sum(kept.values()), rel=1e-9)
    assert cut.has_tail
    assert not whole.has_tail


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (ChainLimits(states=10, work=10_000, little=1e-20), "more than 10 states"),
        (ChainLimits(states=100, work=400, little=1e-20), "more than 400 decisions"),
    ],
)
def test_long_chains_are_refused(size: ChainLimits, words: str) -> None:
    with pytest.raises(BudgetExceeded, match=words):
        followed(climbs, size)


def test_many_outputs_are_refused() -> None:
    def mechanism(x: int, rng: np.random.Generator) -> Any:
        while rng.random() < 0.5:
            pass
        return int(rng.integers(50))

    assert len(followed(mechanism).outputs) == 50
    with pytest.raises(BudgetExceeded, match="more than 20 outputs"):
        followed(mechanism, ChainLimits(states=20, work=10_000, little=1e-20))


def test_numbers_beside_draws_in_an_output() -> None:
    def mechanism(x: int, rng: np.random.Generator) -> Any:
        while rng.random() < 0.5:
            pass
        return 7, rng.integers(3)

    found = {flat.leaves: math.exp(log_p) for flat, log_p in followed(mechanism).outputs}
    assert found == pytest.approx({(7, k): 1 / 3 for k in range(3)}, rel=1e-12)


def test_an_output_with_a_density_is_refused() -> None:
    def mechanism(x: int, rng: np.random.Generator) -> Any:
        while rng.random() < 0.5:
            pass
        return rng.laplace()

    with pytest.raises(ExactRefused, match="density"):
        followed(mechanism)


def test_the_first_of_several_that_are_largest() -> None:
    """Two dice of three sides, until the first one wins or ties: 6 of 9 pairs, of which it shows 2 in three."""

    def mechanism(x: int) -> Any:
        while True:
            dice = [dpest.integers(0, 2), dpest.integers(0, 2)]
            if dpest.argmax(dice) == 0:
                return dice[0]

    assert laws(followed(mechanism)) == pytest.approx({0: 1 / 6, 1: 2 / 6, 2: 3 / 6}, rel=1e-12)


def test_outputs_that_are_rare_beside_what_is_left_out_have_a_tail() -> None:
    output: Flat = flatten(1)
    near, far = (OutputChances(((output, math.log(0.5)), (output, log_p)), -40.0, 0.0) for log_p in (-21.0, -19.0))
    assert near.has_tail
    assert not far.has_tail


def test_chances_are_off_by_what_the_laws_say() -> None:
    """Two conditions on one draw, and one on another: each law counts once, and each condition is rounded."""
    laws = [Atoms((0.0, 1.0), (math.log(0.5), math.log(0.5)), off=off) for off in (0.25, 0.5)]
    a, b = (Literal(((Draw(law), ONE),), ZERO) for law in laws)
    assert 0.75 < _off([(a,), (a, b)]) < 0.75 + 1e-13
    assert 0.25 < _off([(a,)]) < 0.25 + 1e-13
    assert 0.0 < _off([]) < 1e-13


# -- what is said is compared with the program --------------------------------------------------------------------------


def compared(said: dict[int, float], log_left_out: float, runs: int = 48) -> None:
    """A coin that shows 1 with probability 1/2, against what is said of it."""

    def coin(x: int, rng: np.random.Generator) -> int:
        return 1 if rng.random() < 0.5 else 0

    found = OutputChances(tuple((flatten(k), math.log(p)) for k, p in said.items()), log_left_out, 0.0)
    with standing_in(coin, 0, {}):
        _check(found, lambda run: execute(run, coin, 0, {}), Checks(seconds=0.0, runs=runs))


def test_a_law_that_is_right_is_not_contradicted() -> None:
    compared({0: 0.5, 1: 0.5}, -math.inf)
    compared({0: 0.5, 1: 0.5, 2: 1e-6}, -math.inf)
    compared({0: 0.4, 1: 0.6}, -math.inf)  # 48 runs do not tell
    compared({0: 0.5}, math.log(0.5))  # the other output was left out


@pytest.mark.parametrize(
    ("said", "log_left_out", "words"),
    [
        ({0: 1.0}, -math.inf, "no path at all"),
        ({0: 1.0}, math.log(1e-12), "a path that was explored"),
        ({0: 0.99, 1: 0.01}, -math.inf, "outputs that are likelier"),
        ({1: 0.05, 2: 0.95, 0: 1e-3}, -math.inf, "outputs that are likelier"),
    ],
)
def test_a_law_that_is_wrong_is_noticed(said: dict[int, float], log_left_out: float, words: str) -> None:
    with pytest.raises(TraceMismatch, match=words):
        compared(said, log_left_out)


def test_as_many_runs_are_compared_as_were_asked_for() -> None:
    counted = 0

    def program(run: Any) -> Flat:
        nonlocal counted
        counted += 1
        return flatten(1)

    _check(OutputChances(((flatten(1), 0.0),), -math.inf, 0.0), program, Checks(seconds=0.0, runs=6))
    assert counted == 6


@pytest.mark.parametrize("loop", [True, False])
def test_a_decision_in_a_for_loop_is_noted(loop: bool) -> None:
    """A decision after the loop leaves the note as it is: the program may then be followed by its states."""

    def mechanism(x: int, rng: np.random.Generator) -> int:
        n = 0
        if loop:
            for _ in range(3):
                if rng.random() < 0.5:
                    n += 1
        if rng.random() < 0.25:
            n += x
        return n

    search = _PathSearch(LIMITS)
    with standing_in(mechanism, 0, {}):
        assert search.explored(lambda run: execute(run, mechanism, 0, {}))
    assert len(search.paths) == (16 if loop else 2)
    assert search.repeats == loop

"""Random programs: no truth outside its bracket, no crash, no hang. Failures are shrunk before they are shown."""

from __future__ import annotations

import warnings

import pytest

from tests.grammar.check import Outcome, check
from tests.grammar.found import FOUND
from tests.grammar.kinds import generate
from tests.grammar.program import Program
from tests.grammar.shrink import shrink

SEED = 2024
# 600 programs in the ordinary run, 12,000 in `make slow`; blocks are the unit that parallel workers share.
SHARES = {
    "discrete": 140, "loops": 20, "tries": 20, "one": 110, "two": 70, "post": 80, "rewritten": 80, "arrays": 60, "tails": 40
}  # fmt: skip
BLOCK = 10
SLOW = 20


def blocks(times: int) -> list[tuple[str, int]]:
    """Each kind and the first seed of each of its blocks."""
    return [(kind, SEED + first) for kind, share in SHARES.items() for first in range(0, share * times, BLOCK)]


def failures(kind: str, first: int) -> list[str]:
    """The programs of a block that fail, made small, each with what was said and what is true."""
    shown = []
    for seed in range(first, first + BLOCK):
        program = generate(kind, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = check(program)
            if outcome.bad:
                shown.append(small(program, outcome))
    return shown


def small(program: Program, outcome: Outcome) -> str:
    """A failure in words, with the smallest program found in half a minute."""

    def fails(p: Program) -> bool:
        return check(p, seconds=10.0).status == outcome.status

    less = shrink(program, fails, seconds=30.0) if outcome.status != "hang" else program
    again = check(less)
    return f"{again.status}: said {again.said}, truth {again.truth} {again.why}\n{less}\n"


@pytest.mark.parametrize(("kind", "first"), blocks(1))
def test_random_programs(kind: str, first: int) -> None:
    found = failures(kind, first)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("program", FOUND, ids=range(len(FOUND)))
def test_programs_that_failed_once(program: Program) -> None:
    outcome = check(program)
    assert outcome.status in ("ok", "refused"), f"{outcome.status}: said {outcome.said}, truth {outcome.truth} {outcome.why}"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "first"), blocks(SLOW))
def test_many_random_programs(kind: str, first: int) -> None:
    found = failures(kind, first + 100_000)
    assert not found, "\n".join(found)

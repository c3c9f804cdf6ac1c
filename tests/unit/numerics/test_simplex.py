"""Small linear programs in rationals (rung: the solver in floating point on the same programs)."""

from __future__ import annotations

import random

import pytest

from dpest.exact.proof import programs
from dpest.exact.proof.programs import Program
from dpest.numerics.rationals import ZERO, Rational, exact


def random_program(rng: random.Random) -> Program:
    program = Program()
    for j in range(rng.randint(1, 7)):
        low = rng.choice([ZERO, ZERO, exact(-2), None])
        program.column(j, cost=ZERO if low is None else exact(rng.randint(0, 4)), low=low, whole=low == 0 and rng.random() < 0.2)
    for _ in range(rng.randint(1, 8)):
        terms = {j: exact(rng.randint(-3, 3)) for j in range(len(program.costs)) if rng.random() < 0.6}
        (program.equal if rng.random() < 0.25 else program.at_least)(terms, exact(rng.randint(-3, 3)))
    return program


def cost(program: Program, point: list[Rational]) -> float:
    return float(sum((c * x for c, x in zip(program.costs, point, strict=True)), ZERO))


def test_the_same_answers_as_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    solved = 0
    for _ in range(250):
        program = random_program(rng)
        mine = program.solve()
        with monkeypatch.context() as patched:
            patched.setattr(programs, "_SMALL", 0)
            theirs = program.solve()
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            solved += 1
            assert program.holds(mine)
            assert cost(program, mine) == pytest.approx(cost(program, theirs), rel=1e-5, abs=1e-5)
    assert solved > 60

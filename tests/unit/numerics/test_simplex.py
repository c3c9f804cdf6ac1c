"""Small linear programs in rationals (rung: the solver in floating point on the same programs)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.optimize import linprog

from dpest.exact.proof import programs
from dpest.exact.proof.programs import Program
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.numerics.simplex import Inequality, Undecided, cheapest, hold_together


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


def test_points_of_least_cost_against_the_solver() -> None:
    rng = np.random.default_rng(1)
    seen = {0: 0, 2: 0, 3: 0}
    for _ in range(300):
        n, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        a, b, costs = rng.integers(-3, 4, (m, n)), rng.integers(-4, 5, m), rng.integers(-2, 4, n)
        lows = [None if x == 3 else int(x) for x in rng.integers(-2, 4, n)]
        equal = rng.random(m) < 0.2
        theirs = linprog(
            costs,
            A_ub=-a[~equal] if (~equal).any() else None,
            b_ub=-b[~equal] if (~equal).any() else None,
            A_eq=a[equal] if equal.any() else None,
            b_eq=b[equal] if equal.any() else None,
            bounds=[(low, None) for low in lows],
        )
        seen[theirs.status] += 1
        rows = [
            ({j: exact(int(x)) for j, x in enumerate(row)}, exact(int(k)), bool(e)) for row, k, e in zip(a, b, equal, strict=True)
        ]
        ask = [exact(int(c)) for c in costs], [None if low is None else exact(low) for low in lows], rows
        if theirs.status == 3:
            with pytest.raises(Undecided):
                cheapest(*ask)
            continue
        mine = cheapest(*ask)
        assert (mine is None) == (theirs.status == 2)
        if mine is not None:
            assert all(low is None or x >= low for x, low in zip(mine, lows, strict=True))
            for terms, bound, is_equal in rows:
                value = sum((c * mine[j] for j, c in terms.items()), ZERO)
                assert value == bound if is_equal else value >= bound
            assert float(sum(c * x for c, x in zip(ask[0], mine, strict=True))) == pytest.approx(theirs.fun, abs=1e-7)
    assert min(seen.values()) > 15


def eliminated(rows: list[Inequality]) -> bool:
    """Whether inequalities hold together, by Fourier-Motzkin elimination: one variable after the other."""
    names = sorted({v for terms, _, _ in rows for v in terms})
    for v in names:
        up = [r for r in rows if r[0].get(v, ZERO) > 0]
        down = [r for r in rows if r[0].get(v, ZERO) < 0]
        rows = [r for r in rows if not r[0].get(v, ZERO)]
        for (a, k, s), (b, n, t) in ((x, y) for x in up for y in down):
            p, q = -b[v], a[v]
            rows.append(({w: p * a.get(w, ZERO) + q * b.get(w, ZERO) for w in names if w != v}, p * k + q * n, s or t))
    return all(constant > 0 or (constant == 0 and not strict) for _, constant, strict in rows)


def test_inequalities_that_hold_together() -> None:
    """Small numbers, so that many systems have a boundary in common and nothing more."""
    rng = random.Random(3)
    answers = []
    for _ in range(400):
        rows: list[Inequality] = []
        for _ in range(rng.randint(3, 7)):
            terms = {v: exact(c) for v in range(3) if (c := rng.randint(-1, 1))}
            rows.append((terms, exact(rng.randint(-2, 1)), rng.random() < 0.5))
        answers.append(hold_together(rows))
        assert answers[-1] == eliminated(rows)
    assert 100 < sum(answers) < 300


def test_one_number_is_enough_where_nothing_is_strict() -> None:
    x = {0: ONE}
    here: list[Inequality] = [(x, -ONE, False), ({0: -ONE}, ONE, False)]  # 1 <= x <= 1
    assert hold_together(here)
    assert not hold_together([*here, (x, -ONE, True)])
    assert hold_together([])
    assert not hold_together([({}, ZERO, True)])

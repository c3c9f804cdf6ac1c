"""What a linear program settles by itself is what the simplex method finds; the oracle is a solver in floating point."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from dpest.exact.proof.presolve import Contradicted, Presolved, completed
from dpest.exact.proof.programs import Program
from dpest.numerics.rationals import ZERO, exact


def rows(*given):
    return [({j: exact(c) for j, c in terms.items()}, exact(bound), equality) for terms, bound, equality in given]


def numbers(*given):
    return [None if x is None else exact(x) for x in given]


def test_a_chain_of_equations_is_solved():
    given = rows(({0: 2}, 6, True), ({0: 1, 1: 1}, 5, True), ({1: 1, 2: -4}, 1, True))
    left = Presolved(numbers(0, 0, 0), numbers(None, None, None), given)
    assert left.fixed == {0: 3, 1: 2, 2: exact(1) / 4}
    assert left.rows == []


def test_a_price_is_as_low_as_its_rows_allow():
    """price >= 2 most, most >= 3, most >= -1: the price is 6."""
    given = rows(({0: 1, 1: -2}, 0, False), ({1: 1}, 3, False), ({1: 1}, -1, False))
    left = Presolved(numbers(1, 0), numbers(0, None), given)
    assert left.fixed == {0: 6, 1: 3}


def test_what_helps_a_row_or_earns_something_is_left():
    given = rows(({0: 1, 1: 1}, 1, False), ({2: -1}, -5, False))
    left = Presolved(numbers(1, 2, -1), numbers(0, 0, 0), given)
    assert left.fixed == {}
    assert len(left.rows) == 2


@pytest.mark.parametrize(
    "given",
    [
        rows(({0: 1}, -1, True)),
        rows(({0: 1}, 1, True), ({0: 1}, 2, True)),
        rows(({0: -1}, 1, False)),
        rows(({0: 1}, 3, False), ({0: 1}, 2, True)),
    ],
)
def test_contradictions_are_seen(given):
    with pytest.raises(Contradicted):
        Presolved(numbers(1), numbers(0), given)


def test_a_point_is_put_together():
    assert completed(3, {1: exact(5)}, [0, 2], numbers(7, 8)) == [7, 5, 8]


def test_random_programs_cost_what_a_solver_says():
    rng = np.random.default_rng(3)
    solved = 0
    for _ in range(300):
        n, m = int(rng.integers(1, 7)), int(rng.integers(1, 9))
        program = Program()
        free = rng.random(n) < 0.3
        for j in range(n):
            cost = ZERO if free[j] else exact(int(rng.integers(0, 4)))
            program.column(j, cost=cost, low=None if free[j] else exact(int(rng.integers(-2, 3))))
        matrix, bounds, equal = np.zeros((m, n)), rng.integers(-4, 5, m), rng.random(m) < 0.3
        for i in range(m):
            for j in rng.choice(n, int(rng.integers(1, min(n, 3) + 1)), replace=False):
                matrix[i, j] = int(rng.integers(-3, 4))
            terms = {j: exact(float(c)) for j, c in enumerate(matrix[i])}
            (program.equal if equal[i] else program.at_least)(terms, exact(int(bounds[i])))
        expected = linprog(
            [float(c) for c in program.costs],
            -matrix[~equal] if np.any(~equal) else None,
            -bounds[~equal] if np.any(~equal) else None,
            matrix[equal] if np.any(equal) else None,
            bounds[equal] if np.any(equal) else None,
            [(None if x is None else float(x), None) for x in program.lows],
        )
        point = program.solve()
        assert (point is None) == (expected.status != 0)
        if point is not None:
            solved += 1
            assert program.holds(point)
            assert float(sum(c * x for c, x in zip(program.costs, point, strict=True))) == pytest.approx(expected.fun, abs=1e-9)
    assert solved > 60

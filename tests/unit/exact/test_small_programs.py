"""Small programs of every shape on finite draws: the exact answer is the enumeration in fractions (rung: exact rationals).

Each takes milliseconds. Loss, delta at two epsilons and both directions are compared, so that a shape that is read wrongly shows.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest
from tests.oracles.enumeration import delta, law, loss

P = ((0.5, 0.25, 0.25), (0.125, 0.5, 0.375))


def cut(x: Any, m: Any) -> Any:
    d = x + m.integers(0, 4)
    return "low" if d < 2 else "two" if d <= 2 else "high"


def strict(x: Any, m: Any) -> Any:
    a, b = x + m.integers(0, 3), m.integers(0, 3)
    return (a > b, a >= b, a == b)


def thirds(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 5)) / 3 >= 1, (x + m.integers(0, 5)) / 10 <= 0.3


def halves(x: Any, m: Any) -> Any:
    return round((x + m.integers(0, 6)) / 2)


def round_compared(x: Any, m: Any) -> Any:
    k = round((x + m.integers(-3, 3)) / 2)
    return k >= 1, k > -1, k == 0


def floors(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 6)) // 3, m.integers(0, 4) // 2


def floor_compared(x: Any, m: Any) -> Any:
    k = (x + m.integers(-4, 4)) // 3
    if k >= 1:
        return "up"
    return "down" if k < 0 else "middle"


def ceil_compared(x: Any, m: Any) -> Any:
    k = -((-(x + m.integers(-4, 4))) // 3)
    return "up" if k > 1 else "down" if k <= 0 else "middle"


def turned_floor(x: Any, m: Any) -> Any:
    return 5 - 2 * ((x + m.integers(0, 5)) // 2) > 1


def two_roundings(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 3)) // 2 + m.integers(0, 3) // 2


def rounding_against_rounding(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 5)) // 2 > m.integers(0, 5) // 3


def remainder(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 6)) % 3


def winner(x: Any, m: Any) -> Any:
    return m.argmax([x + m.integers(0, 2), m.integers(0, 2), 1 + m.integers(0, 1)])


def loser(x: Any, m: Any) -> Any:
    return m.argmin([x + m.integers(0, 2), m.integers(0, 2), 1])


def largest(x: Any, m: Any) -> Any:
    return m.max([x + m.integers(0, 2), 1 + m.integers(0, 1)]), m.min([m.integers(0, 2), x])


def largest_compared(x: Any, m: Any) -> Any:
    a = m.max([x + m.integers(0, 3), m.integers(1, 2)])
    b = m.min([x + m.integers(0, 3), m.integers(1, 2)])
    return a > 2, b >= 1, a == 2


def winner_of_floors(x: Any, m: Any) -> Any:
    return m.argmax([(x + m.integers(0, 5)) // 2, 1])


def branches(x: Any, m: Any) -> Any:
    k = m.categorical(P[x])
    return m.where(k == 0, "a", m.where(k > 1, "c", "b"))


def same_twice(x: Any, m: Any) -> Any:
    k = x + m.integers(0, 3)
    return (k, k)


def shared(x: Any, m: Any) -> Any:
    k = m.integers(0, 2)
    return (x + k, k + m.integers(0, 1))


def product(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 2)) * m.integers(1, 2)


def product_compared(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 2)) * m.integers(-1, 2) >= 2


def clipped(x: Any, m: Any) -> Any:
    return m.clip(x + m.integers(-2, 3), 0, 2)


def neutral(x: Any, m: Any) -> Any:
    k, j = m.categorical(P[x]), m.integers(0, 2)
    if k + j >= 2:
        pass
    if k > j:
        pass
    return k == 1


def exchangeable(x: Any, m: Any) -> Any:
    return [m.bernoulli(0.25), m.bernoulli(0.25), m.bernoulli(0.75 if x else 0.5)]


def lists_of_two_lengths(x: Any, m: Any) -> Any:
    return [x + m.integers(0, 1)] if m.bernoulli(0.25) else [m.integers(0, 1), 0]


def kinds_of_constants(x: Any, m: Any) -> Any:
    k = m.categorical(P[x])
    if k == 0:
        return None
    return 1.0 if k == 1 else "one"


def truth_and_number(x: Any, m: Any) -> Any:
    return True if m.bernoulli(0.25 + 0.25 * x) else 2


def lattices_that_meet(x: Any, m: Any) -> Any:
    return 2 * (x + m.integers(0, 2)) if m.bernoulli(0.5) else 3 * m.integers(0, 2)


def halves_of_a_lattice(x: Any, m: Any) -> Any:
    return (x + m.integers(0, 3)) / 2 if m.bernoulli(0.5) else m.integers(0, 2) + 0.25


def loop(x: Any, m: Any) -> Any:
    k = 0
    while k < 3 and m.bernoulli(0.5 + 0.25 * x):
        k += 1
    return k


def total(x: Any, m: Any) -> Any:
    return sum(m.integers(0, 1) for _ in range(4)) + x


def total_compared(x: Any, m: Any) -> Any:
    return sum(m.integers(0, 1) for _ in range(4)) >= 2 + x


def coefficients(x: Any, m: Any) -> Any:
    a, b = m.integers(-1, 2), m.integers(0, 3)
    return 3 * a - 2 * b + x > 1, 3 * a - 2 * b + x == 0


def pinned_beside(x: Any, m: Any) -> Any:
    a = m.integers(0, 2)
    return a * a + x, a >= 1


def text(x: Any, m: Any) -> Any:
    names = ["a", "b", "c"]
    k = m.categorical(P[x])
    for i in range(3):
        if k == i:
            return names[i]
    return "never"


PROGRAMS = [v for v in list(globals().values()) if callable(v) and getattr(v, "__module__", "") == __name__]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_answer_is_the_enumeration(program: Any) -> None:
    laws = [law(program, x) for x in (0, 1)]
    ways = [loss(laws[0], laws[1]), loss(laws[1], laws[0])]
    found = dpest.estimate(lambda x: program(x, dpest), (0, 1), method="exact")
    truth = max(ways)
    assert found.lower <= truth * (1 + 1e-15) + 1e-300
    assert found.upper >= truth * (1 - 1e-15)
    assert truth == math.inf or found.upper - found.lower <= 1e-12
    for epsilon in (0.0, 0.4):
        worst = max(delta(laws[0], laws[1], epsilon), delta(laws[1], laws[0], epsilon))
        got = found.delta(epsilon)
        assert got.lower <= worst + 1e-15
        assert got.upper >= worst - 1e-15
        assert got.upper - got.lower <= 1e-9


def test_a_randomly_rounded_value_plus_discrete_noise_has_an_upper_end() -> None:
    # Rung: closed form. P(k) is a mixture of two two-sided geometric laws; beyond the four places the ratio is constant.
    def rounded(x: float) -> Any:
        low = math.floor(x)
        return low + dpest.bernoulli(x - low) + dpest.geometric(1.0)

    def weight(x: float, k: int) -> float:
        low = math.floor(x)
        return (x - low) * math.exp(-abs(k - low - 1)) + (1 - x + low) * math.exp(-abs(k - low))

    truth = max(abs(math.log(weight(1.3, k) / weight(2.2, k))) for k in range(-2, 7))
    result = dpest.estimate(rounded, (1.3, 2.2), method="exact")
    assert result.lower <= truth + 1e-12
    assert truth - 1e-12 <= result.upper
    assert result.upper - result.lower < 1e-9

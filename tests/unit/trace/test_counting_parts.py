"""The parts of loops that count: which loops do, where a climb ends, and how likely a round is."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import dpest
from dpest.lang.nodes import Draw, draws_of
from dpest.lang.plain import evaluate
from dpest.trace.counting import Climbing, Counting, climbed, climbing, counting, read_outside, rounds
from dpest.trace.replay import Unusual


def loop(text: str) -> ast.While:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.While)
    return node


def read(text: str, elsewhere: str = "") -> Counting | None:
    return counting(loop(text), lambda name: name in elsewhere)


@pytest.mark.parametrize(
    ("text", "test", "goes_on", "first", "ends"),
    [
        ("while coin(): k += 2", "coin()", True, False, 0),
        ("while coin(): k = k + 2", "coin()", True, False, 0),
        ("while coin(): k = 2 + k", "coin()", True, False, 0),
        ("while True:\n  if coin(): break\n  k += 2", "coin()", False, False, 0),
        ("while 1:\n  if coin(): return k\n  k += 2", "coin()", False, False, 1),
        ("while True:\n  k += 2\n  if coin(): break", "coin()", False, True, 0),
        ("while True:\n  if coin(): k += 2\n  else: break", "coin()", True, False, 0),
        ("while True:\n  if coin(): break\n  else: k += 2", "coin()", False, False, 0),
        ("while True:\n  u = draw()\n  if u > p: break\n  k += 2", "draw() > p", False, False, 0),
        ("while (u := draw()) > p: k += 2", "draw() > p", True, False, 0),
        ("while True:\n  k += 2\n  if (u := draw()) > p: return k", "draw() > p", False, True, 1),
    ],
)
def test_loops_that_count(text: str, test: str, goes_on: bool, first: bool, ends: int) -> None:
    found = read(text)
    assert found is not None
    assert (ast.unparse(found.test), found.goes_on, found.first, len(found.ends)) == (test, goes_on, first, ends)
    assert (found.name, ast.unparse(found.step)) == ("k", "2")


@pytest.mark.parametrize(
    "text",
    [
        "while coin(): k += 2\nelse: k = 0",
        "while coin(k): k += 2",
        "while coin(): k += n",
        "while coin(): k += 'a'",
        "while coin(): k = n + 2",
        "while coin(): a[0] += 2",
        "while coin():\n  k += 2\n  n += 1",
        "while True: k += 2",
        "while coin():\n  if other(): break\n  k += 2",
        "while True:\n  if coin(): break\n  else: pass\n  k += 2",
        "while True:\n  u = draw()\n  if u > u + p: break\n  k += 2",
        "while True:\n  u = draw(u)\n  if u > p: break\n  k += 2",
    ],
)
def test_loops_that_do_more_than_count(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("text", ["while (u := draw()) > p: k += 2", "while True:\n  u = draw()\n  if u > p: break\n  k += 2"])
def test_names_that_are_read_elsewhere_are_kept(text: str) -> None:
    found = read(text, "u")
    assert found is None or "u :=" in ast.unparse(found.test)


def test_a_name_is_read_outside_where_it_is_read_more_often_than_inside() -> None:
    whole = ast.parse("def f():\n  while u > p: u = 1\n  return u, q")
    outside = read_outside(whole, loop("while u > p: u = 1"))
    assert [outside(name) for name in ("u", "p", "q", "r")] == [True, False, True, False]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("while z > k: k += 1", ("k", 1, "z", True)),
        ("while k < z + 2: k = k + 3", ("k", 3, "z + 2", True)),
        ("while z >= k: k += 1", ("k", 1, "z", False)),
        ("while k <= -z: k += 1", ("k", 1, "-z", False)),
    ],
)
def test_loops_that_climb(text: str, found: tuple[Any, ...]) -> None:
    told = climbing(loop(text))
    assert isinstance(told, Climbing)
    assert (told.name, told.step, ast.unparse(told.bound), told.strict) == found


@pytest.mark.parametrize(
    "text",
    [
        "while z < k: k += 1",
        "while z > k: k -= 1",
        "while z > k: k += 0",
        "while z > k: k += 0.5",
        "while z > k: k += True",
        "while z > k: n += 1",
        "while z != k: k += 1",
        "while z > k > 0: k += 1",
        "while z + k > k: k += 1",
        "while draw() > k: k += 1",
        "while z: k += 1",
        "while z > k: k += 1\nelse: k = 0",
    ],
)
def test_loops_that_do_not_climb(text: str) -> None:
    assert climbing(loop(text)) is None


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("law", [lambda: dpest.laplace(2), lambda: dpest.geometric(2), lambda: dpest.geometric(2) / 4])
def test_a_climb_ends_where_the_loop_does(law: Callable[[], Any], step: int, strict: bool) -> None:
    """The program is the oracle: the loop itself, on numbers."""
    noise = law()
    end = climbed(noise, -2, step, strict)
    (draw,) = draws_of(noise.node)
    for number in range(-12, 13):
        bound, k = evaluate(noise.node, {id(draw): number}), -2
        while bound > k or (bound == k and not strict):
            k += step
        assert evaluate(end.node, {id(draw): number}) == k


@pytest.mark.parametrize(
    ("test", "chance"),
    [
        (lambda: dpest.uniform(0, 1) < 0.3, 0.3),
        (lambda: dpest.uniform(0, 1) > 0.3, 0.7),
        (lambda: 2 - dpest.laplace(1) < 1, math.exp(-1) / 2),
        (lambda: ~(dpest.uniform(0, 1) < 0.3), 0.7),
        (lambda: dpest.integers(0, 9) < 3, 0.3),
        (lambda: dpest.integers(0, 9) % 3 == 1, 0.3),
        (lambda: dpest.categorical([0.2, 0.5, 0.3]) == 1, 0.5),
        (lambda: dpest.where(dpest.uniform(0, 1) < 0.3, 1, 0) == 1, 0.3),
        (lambda: dpest.where(dpest.uniform(0, 1) < 0.3, 5, 2) > 4, 0.3),
    ],
)
@pytest.mark.parametrize("goes_on", [True, False])
def test_rounds_are_geometric(test: Callable[[], Any], chance: float, goes_on: bool) -> None:
    found = rounds(test, goes_on)
    (draw,) = draws_of(found.node)
    stay = chance if goes_on else 1 - chance
    law = [math.exp(float(draw.law.log_density(k + 1))) for k in range(4)]
    assert law == pytest.approx([stay**k * (1 - stay) for k in range(4)], rel=1e-12)
    assert [evaluate(found.node, {id(draw): k + 1}) for k in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "test",
    [
        lambda: True,
        lambda: dpest.uniform(0, 1) < dpest.uniform(0, 1),
        lambda: dpest.uniform(0, 1) < 2,
        lambda: dpest.uniform(0, 1) < -2,
        lambda: dpest.uniform(0, 1) == 0.5,
        lambda: dpest.maximum(dpest.laplace(1), 0) > 1,
        lambda: dpest.integers(0, 20_000) < 3,
        lambda: dpest.geometric(1) ** 2 < 3,
        lambda: bool(dpest.uniform(0, 1) < 0.5),
    ],
)
def test_other_tests_are_followed_round_by_round(test: Callable[[], Any]) -> None:
    with pytest.raises(Unusual):
        rounds(test, True)


def test_a_geometric_law_is_taken_only_where_it_keeps_the_chance_to_go_on() -> None:
    """It is told the chance of its end: 1 less that is the chance to go on, known to 1e-16 of 1 (oracle: fractions)."""
    taken = []
    for k in range(1, 60):
        going = k * 3.1e-5
        kept = abs(1 - Fraction(1.0 - going) - Fraction(going)) / Fraction(going) <= Fraction(1e-13)
        taken.append(kept)
        if kept:
            assert rounds(lambda g=going: dpest.uniform(0, 1) < g, True) is not None
        else:
            with pytest.raises(Unusual):
                rounds(lambda g=going: dpest.uniform(0, 1) < g, True)
    assert 5 < sum(taken) < 55


def test_a_value_from_outside_is_no_toss() -> None:
    outside = dpest.Dist(Draw(dpest.laplace(1).node.law))
    with pytest.raises(Unusual):
        rounds(lambda: outside > 0, True)

"""Weights of runs and of their loops have to add up to 1; and which loops a run enters."""

from __future__ import annotations

import math

import pytest

from dpest.errors import ExactRefused
from dpest.lang.nodes import Draw
from dpest.laws.continuous import Uniform
from dpest.numerics.rationals import exact
from dpest.trace.literal import Literal
from dpest.trace.rounds import Cycle, Loop
from dpest.trace.series import Loops, check_weights

Runs = list[tuple[tuple[Literal, ...], tuple[Loop, ...]]]


def at_least(draw: Draw, bound: float) -> Literal:
    return Literal(((draw, exact(1)),), exact(-bound))


def at_most(draw: Draw, bound: float) -> Literal:
    return Literal(((draw, exact(-1)),), exact(bound))


def coin() -> Draw:
    return Draw(Uniform(0.0, 1.0))


def never(_: Loop) -> float:
    return 0.0


def test_runs_that_do_not_add_up_to_one_are_refused() -> None:
    def runs(low: float) -> Runs:
        u = coin()
        return [((at_least(u, low),), ()), ((at_most(u, 0.25),), ())]

    check_weights(runs(0.25), 0.0, never)
    check_weights(runs(0.5), 0.25, never)
    for low, total in ((0.5, r"0\.75"), (0.125, r"1\.125")):
        with pytest.raises(ExactRefused, match=rf"its runs have probability {total} together, not 1"):
            check_weights(runs(low), 0.0, never)
    # What was not explored may be missing, and nothing else may: the runs can weigh less than 1 only by that much.
    with pytest.raises(ExactRefused, match="not 1"):
        check_weights(runs(0.5), 0.125, never)
    with pytest.raises(ExactRefused, match="not 1"):
        check_weights(runs(0.125), 0.125, never)


@pytest.mark.parametrize("off", [1e-8, -1e-8, 1e-10, -1e-10])
def test_how_far_off_the_sum_may_be(off: float) -> None:
    u = coin()
    runs: Runs = [((at_least(u, 0.25),), ()), ((at_most(u, 0.25 + off),), ())]
    if abs(off) < 1e-9:
        check_weights(runs, 0.0, never)
    else:
        with pytest.raises(ExactRefused, match="not 1"):
            check_weights(runs, 0.0, never)


def test_the_rounds_of_a_loop_count() -> None:
    """Rejection above 1/4: the run of one round weighs 1/4, and all rounds together four times that. Two loops multiply."""
    u, v = coin(), coin()
    four, two = Loop((Cycle((at_least(u, 0.25),), ()),)), Loop((Cycle((at_least(v, 0.5),), ()),))
    weights = {id(four): math.log(4), id(two): math.log(2)}
    check_weights([((at_most(u, 0.25),), (four,))], 0.0, lambda loop: weights[id(loop)])
    check_weights([((at_most(u, 0.25), at_most(v, 0.5)), (four, two))], 0.0, lambda loop: weights[id(loop)])
    with pytest.raises(ExactRefused, match=r"probability 0\.5 together"):
        check_weights([((at_most(u, 0.25), at_most(v, 0.5)), (four,))], 0.0, lambda loop: weights[id(loop)])


def test_conditions_on_several_draws_or_on_functions_of_one_are_not_looked_at() -> None:
    """The runs u >= v and u <= v add up to 1, which weights of single draws do not show; nor do those of a function's law."""
    u, v, w = coin(), coin(), coin()
    one = exact(1)
    runs: Runs = [((Literal(((u, sign), (v, -sign)), exact(0)),), ()) for sign in (one, -one)]
    check_weights(runs, 0.0, never)
    check_weights([((at_least(w, 0.25), *literals), ()) for literals, _ in runs], 0.0, never)
    image = Draw(Uniform(0.0, 1.0), origin=Draw(Uniform(0.0, 2.0)))
    check_weights([((at_least(image, 0.5),), ())], 0.0, never)


def test_loops_are_found_by_the_conditions_before_them() -> None:
    """A run that came back after its second condition to where it was after the first: a loop after the first, on any path."""
    u, v, w = coin(), coin(), coin()
    first, second, third, other = ((at_least(d, bound),) for d, bound in ((u, 0.5), (v, 0.5), (w, 0.5), (w, 0.25)))
    loops = Loops([((first, second), 1)])
    assert loops.on(()) == ()
    assert loops.on((other,)) == ()
    assert loops.on((second, first)) == ()
    (loop,) = loops.on((first, third))
    assert [(c.literals, c.loops) for c in loop.cycles] == [(second, ())]
    assert loops.on((first, third)) == loops.on((first,)) == loops.on((first, second, third)) == (loop,)
    assert loops.on((first, third), 1) == (loop,)
    assert loops.on((first, third), 2) == ()
    assert Loops([]).on((first,)) == ()


def test_loops_inside_loops() -> None:
    """One starts at the beginning, the other after the first condition: the second is in a round of the first."""
    u, v, w = coin(), coin(), coin()
    first, again, out = (at_least(u, 0.5),), (at_least(v, 0.5),), (at_most(w, 0.5),)
    loops = Loops([((first, out), 0), ((first, again), 1)])
    outer, inner = loops.on((first, out))
    assert [(c.literals, c.loops) for c in inner.cycles] == [(again, ())]
    assert [(c.literals, c.loops) for c in outer.cycles] == [((*first, *out), (inner,))]

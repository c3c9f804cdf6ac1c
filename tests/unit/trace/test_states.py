"""What a loop's state is made of, and when two visits are alike."""

from __future__ import annotations

from collections.abc import Callable

from dpest.lang.nodes import Draw
from dpest.laws.continuous import Laplace
from dpest.numerics.rationals import ONE, ZERO
from dpest.trace.literal import Literal
from dpest.trace.rounds import Step, Visit, _Snapshot, returns_to
from dpest.trace.series import Loops


def _adding(n: int) -> Callable[[int], int]:
    return lambda x: x + n


def test_functions_are_alike_if_their_code_and_what_they_closed_over_are() -> None:
    assert _Snapshot().of(_adding(1)) == _Snapshot().of(_adding(1))
    assert _Snapshot().of(_adding(1)) != _Snapshot().of(_adding(2))
    assert _Snapshot().of(_adding) == _Snapshot().of(_adding)  # without a closure


def _step(*draws: Draw) -> Step:
    return (Literal(tuple((d, ONE) for d in draws), ZERO),)


def test_a_visit_returns_only_if_nothing_links_its_draws_to_the_past() -> None:
    a, b, c, d = (Draw(Laplace(1.0)) for _ in range(4))
    steps = [_step(a), _step(b)]
    first = Visit("state", (c,), 1)
    assert returns_to(Visit("state", (d,), 2), first, steps)
    assert returns_to(Visit("state", (c,), 2), first, steps)  # the same draw, which no condition looked at
    assert not returns_to(Visit("state", (b,), 2), first, steps)  # looked at on the way
    assert not returns_to(Visit("state", (a,), 2), first, steps)  # looked at before the first visit
    assert not returns_to(Visit("state", (d,), 2), Visit("state", (a,), 1), steps)  # the first visit's was looked at before it
    assert not returns_to(Visit("state", (c, d), 2), Visit("state", (d, c), 1), steps)  # they changed places
    assert not returns_to(Visit("state", (d,), 2), first, [_step(a), _step(a, b)])  # the round looks at what was looked at before


def test_a_path_has_the_loops_that_start_on_its_way() -> None:
    a, b, c = (_step(Draw(Laplace(1.0))) for _ in range(3))
    inner, outer = ((a, b, c), 2), ((a, b, b), 1)
    loops = Loops([inner, outer])
    assert [len(x.cycles) for x in loops.on((a, b))] == [1, 1]
    assert [x.cycles[0].literals for x in loops.on((a,))] == [(*b, *b)]
    assert loops.on((c,)) == ()
    (around,) = loops.on((a,))[0].cycles
    assert [x.cycles[0].literals for x in around.loops] == [c]  # the inner loop starts inside the outer one

"""What a loop's state is made of, and when two visits are alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpest.exact.inference.component import repeated
from dpest.lang.nodes import Draw
from dpest.laws.continuous import Laplace
from dpest.numerics.rationals import ONE, ZERO
from dpest.trace import rounds
from dpest.trace.literal import Literal
from dpest.trace.rounds import Step, Visit, returns_to, visit
from dpest.trace.series import Loops
from dpest.trace.snapshot import Snapshot


def _adding(n: int) -> Callable[[int], int]:
    return lambda x: x + n


def test_functions_are_alike_if_their_code_and_what_they_closed_over_are() -> None:
    assert Snapshot({}).of(_adding(1)) == Snapshot({}).of(_adding(1))
    assert Snapshot({}).of(_adding(1)) != Snapshot({}).of(_adding(2))
    assert Snapshot({}).of(_adding) == Snapshot({}).of(_adding)  # without a closure


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


def _seen() -> Visit | None:
    return visit(Draw(Laplace(1.0)), 3, _run.__code__, {})


def _run() -> Visit | None:
    return _looping()


def _looping() -> Visit | None:
    found, left = None, 2
    while left:
        left -= 1
        found = _seen()
    return found


@pytest.mark.parametrize("seeded", [False, True])
def test_a_state_is_seen_in_a_while_loop_of_a_run_that_set_no_seed(seeded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "seeded", lambda: seeded)
    monkeypatch.setattr(rounds, "is_shown", lambda *_: True)  # this test asks by itself
    found = _run()
    assert (found is None) == seeded
    assert _seen() is None  # outside of loops


def test_the_weight_of_a_loop_has_no_outputs() -> None:
    placed = repeated(frozenset())
    assert (placed.outputs, placed.component.outputs, placed.component.laws) == ((), 0, ())

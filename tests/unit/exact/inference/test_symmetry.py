"""Outputs that can be exchanged, and cases that differ in the names of their draws alone."""

from __future__ import annotations

import itertools

from dpest.exact.inference.cases import Affine, Constant, Expansion, _in_order
from dpest.exact.inference.symmetry import canonical, classes, signatures
from dpest.lang.nodes import Draw, Linear, draws_of
from dpest.laws.continuous import Laplace
from dpest.numerics.rationals import exact
from dpest.trace.literal import Literal


def total(*draws: Draw, constant: float = 0.0) -> Linear:
    return Linear(tuple((d, exact(1)) for d in draws), exact(constant))


def positive(*draws: Draw, constant: float = 0.0) -> Literal:
    return Literal(tuple((d, exact(1)) for d in draws), exact(constant))


def told(leaves: list[Linear], literals: tuple[Literal, ...]) -> list[object]:
    return signatures(leaves, [draws_of(x) for x in leaves], literals)


A, B, C, D, E = (Draw(Laplace(1.0)) for _ in range(5))
WIDE = Draw(Laplace(2.0))


def test_leaves_that_differ_in_private_draws_alone_have_one_signature() -> None:
    a, b, wide, moved = told([total(A), total(B), total(WIDE), total(C, constant=1.0)], ())
    assert a == b
    assert len({a, wide, moved}) == 3


def test_a_draw_that_several_leaves_share_is_told_apart() -> None:
    """A + C and B + C share C; D + E has its own."""
    first, second, third = told([total(A, C), total(B, C), total(D, E)], ())
    assert first == second
    assert first != third
    same, again, other = told([total(A), total(A), total(B)], ())
    assert same == again
    assert same != other


def test_a_draw_that_a_condition_looks_at_is_told_apart() -> None:
    a, b, c = told([total(A), total(B), total(C)], (positive(A),))
    assert a != b
    assert b == c


def test_leaves_are_exchanged_where_both_inputs_allow_it() -> None:
    assert classes(["x", "x", "y", "x"], ["u", "u", "u", "v"]) == [0, 0, 1, 2]
    assert classes([], []) == []


def case(values: list[Linear], *literals: Literal) -> Expansion:
    return Expansion(literals, tuple(map(Affine, values)))


def test_names_of_draws_do_not_count() -> None:
    one = canonical(case([total(A)], positive(A, B), positive(A, C)))
    assert one is not None
    assert one == canonical(case([total(D)], positive(D, E), positive(D, A)))
    assert one != canonical(case([total(A)], positive(A, B)))
    assert one != canonical(case([total(A)], positive(A, B), positive(A, C, constant=1.0)))
    assert one != canonical(case([total(A)], positive(A, B), positive(A, WIDE)))
    assert one != canonical(case([total(A, constant=1.0)], positive(A, B), positive(A, C)))


def test_which_draw_a_condition_looks_at_counts() -> None:
    """Of two that are released, and of one that is not."""
    both = [total(A), total(B)]
    keys = [canonical(case(both, positive(A))), canonical(case(both, positive(B))), canonical(case(both, positive(C)))]
    assert len(set(keys)) == 3
    assert keys[0] == canonical(case([total(B), total(A)], positive(B)))


def test_a_draw_that_conditions_share_is_told_by_what_they_ask_of_it() -> None:
    one = canonical(case([total(A)], positive(A, C), positive(B, C)))
    assert one == canonical(case([total(B)], positive(B, D), positive(E, D)))
    assert one != canonical(case([total(A)], positive(A, C), positive(B, D)))
    assert one != canonical(case([total(A)], positive(A, C), positive(A, B)))
    assert one != canonical(case([total(A)], positive(A, WIDE), positive(B, WIDE)))
    assert one != canonical(case([total(A)], positive(A, C), positive(B, C), positive(B, C)))


def test_constants_count_unless_they_are_the_same_for_all() -> None:
    first, second = Expansion((), (Constant(1), Affine(total(A)))), Expansion((), (Affine(total(B)), Constant(2)))
    assert canonical(first, (0,)) == canonical(second, (1,)) == canonical(case([total(C)]))
    assert canonical(first) is None
    assert canonical(second, (0,)) is None


def test_a_shared_draw_is_numbered_and_private_ones_are_not() -> None:
    """A wide private draw beside C may come first or last: C is the one that two conditions share."""
    wide, plain, other = positive(WIDE, C), positive(A, C), positive(A, D)
    assert key(wide, plain) == key(plain, wide) == key(positive(B, D), positive(WIDE, D))
    assert key(wide, plain) != key(wide, other)


def key(*literals: Literal) -> object:
    return canonical(Expansion(literals, ()))


def test_values_of_one_class_come_in_order() -> None:
    """All rows of letters for five leaves of two classes: a value does not come before the one that its class had last."""
    for names in itertools.product((0, 1), repeat=5):
        for count in range(1, 6):
            for letters in itertools.product("ab", repeat=count):
                *earlier, newest = zip(letters, names[:count], strict=True)
                last = [letter for letter, name in earlier if name == newest[1]][-1:]
                values = tuple(Constant(letter) for letter in letters)
                assert _in_order(values, names) == (not last or last[0] <= newest[0])

"""Small parts of a trace, each against what Python or NumPy does, a count of points, or a closed form."""

from __future__ import annotations

import ast
import dis
import itertools
import math
import operator
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.lang.dist import RUN, Dist, unwrap
from dpest.lang.made_of import Steps
from dpest.lang.nodes import Compare, Draw, Linear, Relation, ancestors, draws_of
from dpest.lang.plain import evaluate
from dpest.laws.continuous import Laplace
from dpest.numerics.rationals import exact
from dpest.numerics.setting import Setting
from dpest.trace.calls import call
from dpest.trace.frames import in_while
from dpest.trace.images import _from_steps, _to_steps, has_images
from dpest.trace.literal import Literal
from dpest.trace.masked import put_at, taken_at
from dpest.trace.named_values import NamedValues
from dpest.trace.opened import _implied
from dpest.trace.outcomes import outcomes
from dpest.trace.replay import Replay, _same
from dpest.trace.sides import reads, sides_of
from dpest.trace.snapshot import Snapshot
from dpest.trace.stack import _HIDDEN, _after, _moved
from dpest.trace.together import _merged, climbed

HOLDS: dict[Relation, Callable[[Any, Any], bool]] = {Relation.GE: operator.ge, Relation.GT: operator.gt, Relation.EQ: operator.eq}


def bracket(mechanism: Callable[[Any], Any], truth: float, width: float) -> None:
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < width


# -- places in arrays --------------------------------------------------------------------------------------------------


PLACES: list[tuple[Any, Any]] = [
    (np.array([5, 6, 7]), np.array([2, 0, 1])),  # an order, not a mask
    (np.array([5, 6, 7], dtype=object), np.array([True, False, True])),
    (np.array([[5, 6], [7, 8]], dtype=object), np.array([True, False])),  # a mask of rows
    (np.array([5, 6, 7], dtype=object), 1),
]


@pytest.mark.parametrize(("items", "place"), PLACES)
def test_places_that_are_no_random_masks_are_read_and_written_as_numpy_does(items: Any, place: Any) -> None:
    assert np.array_equal(taken_at(items, place), items[place])
    ours, theirs = items.copy(), items.copy()
    put_at(9, ours, place)
    theirs[place] = 9
    assert np.array_equal(ours, theirs)


def test_places_in_lists_and_dicts_are_read_as_python_does() -> None:
    assert taken_at([5, 6, 7], 1) == 6
    assert taken_at({"a": 5}, "a") == 5


# -- what is read off code ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["x = 1", "if b:\n    y = 2", "x = 1\nif b:\n    y = 2\nelse:\n    z = 3", "x, y = 1, 2\nif b:\n    if c:\n        z = 3"],
)
def test_the_sides_of_an_if_hold_every_name_that_is_stored_in_them(text: str) -> None:
    node = ast.parse("if a:\n" + "\n".join(f"    {line}" for line in text.splitlines())).body[0]
    assert isinstance(node, ast.If)
    found = sides_of(node, frozenset())
    assert found is not None
    stored = {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    assert {p.name for p in found.places} == stored


@pytest.mark.parametrize("inner", ["if (y := b):\n    x = 1", "if b:\n    print(x)", "if b:\n    x = 1\nelse:\n    return x"])
def test_an_if_inside_a_side_that_does_more_than_give_values_is_left_alone(inner: str) -> None:
    node = ast.parse("if a:\n    x = 2\n" + "\n".join(f"    {line}" for line in inner.splitlines())).body[0]
    assert isinstance(node, ast.If)
    assert sides_of(node, frozenset()) is None


def drawn(x: int) -> int:
    return random.randrange(x) % 3


def drawn_many(x: int) -> Any:
    return np.random.default_rng().integers(0, 9, size=x) % 3


def between(x: int) -> int:
    return max(2, min(4, random.randint(a=0, b=x)))


@pytest.mark.parametrize(("function", "known"), [(drawn, {0, 1, 2}), (drawn_many, None), (between, {2, 3, 4})])
def test_whole_numbers_that_a_function_draws(function: Any, known: set[int] | None) -> None:
    assert outcomes(function, (5,)) == known


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_swap_on_the_stack_exchanges_two_values(depth: int) -> None:
    """SWAP(i) exchanges the top with the i-th value from the top (the documentation of `dis`)."""
    held = [f"={name}" for name in "abcde"]
    step = next(x for x in dis.get_instructions(compile("a, b = b, a", "", "exec")) if x.opname == "SWAP")
    wanted = held.copy()
    wanted[-1], wanted[-depth] = wanted[-depth], wanted[-1]
    assert _moved(step._replace(arg=depth, argval=depth), tuple(held), 0) == tuple(wanted)


class WithSlots:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


class WithoutSlots:
    def __init__(self, held: Any) -> None:
        self.held = held


def test_what_an_object_keeps_in_slots_is_not_taken_for_nothing() -> None:
    assert Snapshot({}).of(WithoutSlots(1)) != Snapshot({}).of(WithoutSlots(2))
    assert Snapshot({}).of(WithSlots(1)) != Snapshot({}).of(WithSlots(2))
    assert Snapshot({}).of(WithSlots(1)) == Snapshot({}).of(WithSlots(1))


# -- conditions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("factor", [2, -3, 0.5])
@pytest.mark.parametrize("bound", [-2, 0, 1.5, 3])
def test_a_condition_on_a_rounding_is_one_on_what_is_rounded(factor: float, bound: float, least: bool) -> None:
    draw = Draw(Laplace(1.0))
    found = _from_steps(Steps(draw, exact(factor), exact(0.25)), least, exact(bound), draw)
    ((node, c),) = found.terms
    assert node is draw
    compare = operator.ge if least else operator.le
    for k in range(-399, 400, 2):  # never where the rounding jumps
        x = k / 64
        assert (c * exact(x) + found.constant >= 0) == compare(math.floor(factor * x + 0.25), bound)


@pytest.mark.parametrize("earlier", Relation)
@pytest.mark.parametrize("later", Relation)
@pytest.mark.parametrize("outcome", [False, True])
@pytest.mark.parametrize("factor", [1, -1])
def test_what_one_comparison_with_zero_says_of_another(earlier: Relation, later: Relation, outcome: bool, factor: int) -> None:
    """Of a value and of its negative, at every sign that the first comparison leaves it."""
    draw = Draw(Laplace(1.0))
    one, other = (Compare(r, Linear(((draw, exact(c)),), exact(0))) for r, c in ((earlier, 1), (later, factor)))
    said = {HOLDS[later](factor * x, 0) for x in (-1, 0, 1) if HOLDS[earlier](x, 0) == outcome}
    assert _implied(one, outcome, other) == (said.pop() if len(said) == 1 else None)


def test_a_logarithm_of_a_rounded_value_is_compared() -> None:
    """P(ln(1 + x + floor(8 u)) > 1.5): 4 of 8 points against 5 of 8."""
    bracket(lambda x: np.log(1 + x + np.floor(dpest.uniform(0, 8))) > 1.5, math.log(4 / 3), 1e-9)


def test_a_value_that_a_path_leaves_few_numbers_has_a_text() -> None:
    """Two-sided geometric noise of scale 1: each text that occurs is one number, and the rest one more output."""

    def mechanism(x: int) -> Any:
        z = x + dpest.geometric(1.0)
        return {str(z): 1} if -3 <= z <= 3 else "far"

    bracket(mechanism, 1.0, 1e-9)


@pytest.mark.parametrize("factors", [(1, -1), (2, 3), (-4, 1)])
def test_the_quantile_function_of_laplace_noise_is_that_noise(factors: Sequence[int]) -> None:
    """sign(u) * ln(1 - 2 |u|) is Laplace noise of scale 1: its own law leaves no error of an integral."""
    a, b = factors

    def mechanism(x: float) -> Any:
        u = dpest.uniform(-0.5, 0.5)
        return x + (a * np.sign(u)) * (b * np.log(1 - 2 * np.abs(u)))

    bracket(mechanism, 1 / abs(a * b), 1e-14)


# -- code and its loops -------------------------------------------------------------------------------------------------


LOOPS = ["while a:\n    b = c\nd = e", "while a:\n    while b:\n        c = d\n    e = f\ng = h", "for a in b:\n    c = d"]


@pytest.mark.parametrize("text", LOOPS)
def test_an_instruction_is_in_a_while_loop_from_where_it_begins_to_its_jump_back(text: str) -> None:
    code = compile(text, "", "exec")
    steps = list(dis.get_instructions(code))
    spans = [(i.argval, i.offset) for i in steps if "BACKWARD" in i.opname]
    for step in steps:
        assert in_while(code, step.offset) == any(first <= step.offset <= last for first, last in spans)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("y = f(a) + b.c + g.h(d)", ("a", "d")),  # f, b and g are looked at where they are called or asked
        ("y = m.f(a).z + k[i]", ("a", "i", "k")),
        ("y = f(x)(w)", ("w", "x")),
        ("y[i] = [f(u) + v for u in p]", ("i", "p", "v", "y")),
        ("z = a\nz = z + b", ("a", "b")),
    ],
)
def test_the_names_that_a_side_computes_with(text: str, found: tuple[str, ...]) -> None:
    assert reads(ast.parse(text).body, {"z"}) == found


class OfAuthor:
    def drawn(self, x: int) -> Any:
        return "many" if x + dpest.laplace(1.0) > 0 else "few"


def test_a_method_of_the_author_is_called_as_its_function_is() -> None:
    """A method on a run on stand-ins is what its function is there, bound to the same object."""
    thing = OfAuthor()
    changed = call(OfAuthor.drawn)
    method = call(thing.drawn)
    assert method.__self__ is thing
    assert changed is not OfAuthor.drawn
    assert method.__func__.__code__.co_code == changed.__code__.co_code


@pytest.mark.parametrize("factor", [2, -3])
@pytest.mark.parametrize("least", [False, True])
def test_a_condition_on_a_draw_that_ends_between_two_steps_is_one_on_its_rounding(factor: int, least: bool) -> None:
    draw, target = Draw(Laplace(1.0)), Draw(Laplace(1.0))
    steps = Steps(draw, exact(factor), exact(1))
    for edge in range(-4, 5):
        bound = (exact(edge) - 1) / factor
        ((node, c),), constant = (found := _to_steps(steps, least, bound, target)).terms, found.constant
        assert node is target
        for k in range(-199, 200, 2):  # never at the bound itself, which has probability 0
            x = k / 64
            held = x >= bound if least else x <= bound
            assert (c * math.floor(factor * x + 1) + constant >= 0) == held
    with pytest.raises(dpest.errors.ExactRefused):
        _to_steps(steps, least, exact(1) / 7, target)


# -- two sides, two outputs ---------------------------------------------------------------------------------------------


def test_a_value_for_both_sides_is_that_of_the_side_that_is_taken() -> None:
    """At each sign of two draws; a truth value from one side may be plain on the other, or the condition itself."""
    one, other = Draw(Laplace(1.0)), Draw(Laplace(1.0))
    test, inner = (Compare(Relation.GE, Linear(((d, exact(1)),), exact(0))) for d in (one, other))
    sides: list[Any] = [True, False, 3, 2.5, Dist(test), Dist(inner), Dist(other)]
    for a, b in itertools.product(sides, repeat=2):
        merged = _merged(test, a, b)
        for x, y in itertools.product((-1.5, 1.5), repeat=2):
            known = {id(one): x, id(other): y}
            taken = a if x >= 0 else b
            wanted, found = (evaluate(unwrap(v), known) for v in (taken, merged))
            assert found == wanted
            if {type(unwrap(v)) for v in (a, b)} <= {bool, Compare}:
                assert type(found) is bool


@pytest.mark.parametrize(
    ("x", "y", "same"),
    [
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([1, 2]), np.array([[1, 2]]), False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (1, 1.0, True),
        ("a", "b", False),
    ],
)
def test_outputs_that_are_no_random_values_are_the_same_where_they_are_equal(x: Any, y: Any, same: bool) -> None:
    assert _same(x, y, {}) == same


def test_whether_a_function_of_a_draw_takes_part() -> None:
    plain = Draw(Laplace(1.0))
    rounded = next(d for d in ancestors(np.exp(dpest.Dist(plain)).node) if d is not plain)
    made = Draw(Laplace(1.0), origin=Steps(plain, exact(1), exact(0)))
    for draw, taken in ((plain, False), (made, True)):
        literal, value = Literal(((draw, exact(1)),), exact(0)), Linear(((draw, exact(1)),), exact(0))
        assert has_images([literal]) == has_images([], [value]) == taken
    assert not has_images([], [Linear(((rounded, exact(1)),), exact(0))])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("y = f(1) + f(2)", [2, 4]),
        ("y = f(1) + 1", []),
        ("y = f(f(3))", [6, 12]),
        ("y = p[0] + p[1]", [5, 7]),
        ("y = (1 if c else 2) + f(2)", [1, 4]),
        ("y = f(1)\nz = f(2) - p[1]", [4, 7]),
    ],
)
def test_values_of_a_statement_that_holds_several_get_names(text: str, named: list[int]) -> None:
    """Calls, items and choices, where there are two or more of them: what they are is found under a name, and nothing changes."""
    plain, ours = ({"f": lambda x: 2 * x, "p": [5, 7], "c": True} for _ in range(2))
    exec(text, plain)
    exec(compile(ast.fix_missing_locations(NamedValues().visit(ast.parse(text))), "", "exec"), ours)
    assert [ours.get(name) for name in "yz"] == [plain.get(name) for name in "yz"]
    assert sorted(v for k, v in ours.items() if k.startswith("_dpest")) == named


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("start", "step"), [(0, 1), (-2, 3)])
def test_a_climb_to_a_random_bound_is_taken_at_once_from_whole_numbers_alone(strict: bool, start: int, step: int) -> None:
    """Where `while k < bound: k += step` ends, or the same with <=."""
    with Setting(RUN, Replay([])):
        bound = dpest.geometric(1.0)
        found = climbed(bound, start, step, strict)
        assert climbed(bound, 0.5, step, strict) is None
        assert climbed(bound, True, step, strict) is None
        assert climbed(3, start, step, strict) is None
    (draw,) = draws_of(bound.node)
    for x in range(-4, 8):
        k = start
        while k < x if strict else k <= x:
            k += step
        assert evaluate(unwrap(found), {id(draw): x}) == k


@pytest.mark.parametrize(
    ("given_anew", "held"), [(None, "?"), (frozenset({"x"}), "?"), (frozenset({"y"}), "=x"), (frozenset(), "=x")]
)
def test_a_variable_of_a_function_around_is_known_where_nobody_gives_it_anew(given_anew: Any, held: str) -> None:
    """Without the source it may be given a new value by any function that sees it."""

    def around(x: int) -> Any:
        return lambda: x

    step = next(s for s in dis.get_instructions(around(1)) if s.opname == "LOAD_DEREF")
    found = _after(given_anew, step, ("before",), False)
    assert found == ("before", _HIDDEN if held == "?" else held)

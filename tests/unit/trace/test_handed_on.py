"""What the first statements of a mechanism hand on to the rest, and which of them keep to themselves."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpest.trace.beginning import HANDED_ON, RETURNED, beginnings
from dpest.trace.effects import Scope, assigned, keep_to_themselves, names_in, new_objects

HELD = [0.0]


class Box:
    total = 0.0

    def ask(self) -> float:
        return self.total


BOX = Box()


def plain(x, rng):
    y = x + rng.laplace()
    z = 2 * y
    return z + y


def given_anew(x, rng):
    y = x + rng.laplace()
    rng = 3 * x
    return y + rng


def made_inside(x):
    rng = np.random.default_rng()
    y = x + rng.normal()
    return y, rng.normal()


def another_object(x):
    rng = np.array([x]).copy()
    y = x + rng.sum()
    return y + rng.sum()


def seeded(x):
    rng = np.random.default_rng(int(x))
    y = x + rng.normal()
    return y, rng.normal()


def two_things(x):
    rng = np.random.default_rng()
    rng = [x]
    y = x
    return y, rng[0]


def added_to(x, n=1):
    n += x
    x = 2 * x
    return n + x


def data_go_on(x):
    y = x + 1
    return y + x


def data_change(x):
    x += 1
    return x


def kept_outside(x):
    HELD[0] = x
    y = x + 1
    return y


def clips_into(x, rng):
    np.clip(np.array([x]), 0, 1, HELD)
    y = x + rng.laplace()
    return y + HELD[0]


def asks_an_object(x, box=BOX):
    y = x + 1
    return y + box.ask()


def with_a_list(x, rng, start=HELD):
    start += [x]
    return x


def without_arguments():
    y = 1
    return y


def all_arguments(*x):
    y = 1
    return y


def named_arguments(x, **more):
    y = x
    return y


def with_a_loop(x):
    y = x
    z = 2 * y
    while z < 20:
        z += 1
    w = z
    return w


def yields(x):
    y = x
    yield y


def early(x):
    if x > 3:
        return
    y = x
    return y


class Noise:
    """Numbers 10, 20, ... in place of noise."""

    def __init__(self) -> None:
        self.made = 0

    def laplace(self) -> int:
        self.made += 10
        return self.made


# What the beginnings return for x = 5, the latest first; a generator is not handed on, since the rest draws anew.
TOLD: list[tuple[Callable[..., Any], list[Any]]] = [
    (plain, [(15, 30), (15,)]),
    (given_anew, [(15, 15)]),  # rng and y; after the first statement alone the data go on
    (another_object, [((5,), 10)]),
    (two_things, [((5,), 5)]),  # rng and y
    (added_to, [(6, 10)]),  # n and x
    (data_go_on, []),
    (data_change, [(6,)]),
    (kept_outside, []),
    (clips_into, []),
    (with_a_loop, [(10,), (5,), (20,), (20,)]),  # loops may be long: they come last
    (yields, []),
    (lambda x: x, []),
    (asks_an_object, []),
    (with_a_list, []),
    (without_arguments, []),
    (all_arguments, []),
    (named_arguments, []),
    (seeded, []),
]


@pytest.mark.parametrize(("mechanism", "told"), TOLD)
def test_what_is_handed_on(mechanism: Callable[..., Any], told: list[Any]) -> None:
    found = []
    for cut in beginnings(mechanism, {}):
        takes_noise = "rng" in mechanism.__code__.co_varnames[: mechanism.__code__.co_argcount]
        first, *values = cut(5, Noise()) if takes_noise else cut(5)
        assert first == HANDED_ON
        found.append(tuple(tuple(v) if isinstance(v, np.ndarray | list) else v for v in values))
    assert found == told


def test_what_returns_before_is_marked() -> None:
    assert [cut(5) for cut in beginnings(early, {})] == [(RETURNED, None)]
    assert [cut(2) for cut in beginnings(early, {})] == [(HANDED_ON, 2)]


def test_names_in_a_function() -> None:
    text = (
        "def f(a, *b, c=1, **d):\n  import os.path, numpy as n\n  from math import pi as p, tau\n  e = [g for g in a]\n  return h"
    )
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    assert names_in(node) == {"a", "b", "c", "d", "os", "n", "p", "tau", "e", "g"}


def test_a_generator_that_is_made_inside_is_not_handed_on() -> None:
    (cut,) = beginnings(made_inside, {})
    first, *values = cut(5)
    assert (first, len(values)) == (HANDED_ON, 1)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = 1", {"a": "1"}),
        ("a = b = 1", {"a": "1", "b": "1"}),
        ("a, b = 1, x", {"a": "1", "b": "x"}),
        ("[a, b] = [1, x]", {"a": "1", "b": "x"}),
        ("a, b = pair", {"a": None, "b": None}),
        ("a, *b = 1, 2, 3", {"a": None, "b": None}),
        ("a, (b, c) = 1, (2, x)", {"a": "1", "b": "2", "c": "x"}),
        ("a, (b, c) = 1, pair", {"a": "1", "b": None, "c": None}),
        ("a: int = 1", {"a": "1"}),
        ("a: int", {}),
        ("a += 1", {}),
        ("x[0] = x.b = 1", {}),
        ("for a in x: b = 1", {"a": None, "b": "1"}),
        ("[a for a in x]", {"a": None}),
        ("print(a := 1)", {"a": None}),
    ],
)
def test_names_that_get_values(text: str, names: dict[str, str | None]) -> None:
    """A value is told where the text gives it to the name as it stands."""
    found = {name: None if value is None else ast.unparse(value) for name, value in assigned(ast.parse(text).body)}
    assert found == names


def test_names_of_new_objects() -> None:
    text = "a = []\nb = x\nc, d = {}, y\ne = 1 + x\nf = []\nf = x\nfor g in x: pass\nh = 'a'\ni = x.copy()"
    assert new_objects(ast.parse(text).body) == {"a", "c", "e", "h"}
    assert new_objects(ast.parse("a = x\nb = 1").body, {"a", "b", "c"}) == {"b", "c"}


def adds(a, b):
    made = []
    made.append(a)
    return made[0] + b


def stores(a):
    HELD[0] = a
    return a


def stores_deep(a):
    return stores(a)


def draws(a, rng):
    return a + rng.normal()


def changes_its_argument(a):
    a[0] = 1
    return a


def refills(a):
    if len(a) > 2:
        a = []
    a.append(1)
    return a


def again(a):
    return again(a - 1)


def draws_by_name(a, *, rng):
    return a + rng.normal()


half = lambda a: a / 2  # noqa: E731
unread = eval("lambda a: a")
OUTSIDE = {
    "home": sys.modules[__name__], "refills": refills, "again": again, "draws_by_name": draws_by_name, "half": half,
    "unread": unread,
    "np": np, "BOX": BOX, "HELD": HELD, "adds": adds, "stores": stores, "stores_deep": stores_deep, "draws": draws,
    "changes_its_argument": changes_its_argument, "two": 2, "operator": operator, "generator": np.random.default_rng(1),
    "Box": Box,
}  # fmt: skip
KEPT = (
    "y = half(x)", "y = draws_by_name(x, rng=rng)", "y = (x + 1).sum()", "y = HELD.count(1)", "y = (x + 1).size",
    "y = x + two", "new[0] = x", "new.append(x)", "new += [x]", "y = rng.normal(2, 3)", "y = x.mean()", "y = x[0]",
    "y = new.size", "y = np.maximum(x, 1)", "y = np.clip(x, 0, 1)", "y = np.sum(x, 0)", "y = operator.sub(x, 1)",
    "y = adds(x, 1)", "y = draws(x, rng)", "y = sorted(x)", "y = generator.normal()", "y = np.pi", "y = [a for a in x]",
    "for a in x: y = a", "while x: y = 1", "if x: y = 1", "y = HELD", "y = 'a'.join(x)", "y = lambda: x", "y = max(x, key=len)",
    "np.random.normal(size=3)", "y = np.linalg.norm(x)",
)  # fmt: skip
CHANGED = (
    "y = x[0](1)", "y = unread(x)", "y = refills(x)", "y = again(x)", "y = np.max(x, 0, x)", "y = BOX.mean()",
    "y = home.BOX.mean()",
    "HELD[0] = x", "HELD.append(x)", "HELD += [x]", "x.append(1)", "x[0] = 1", "x += 1", "x.total = 1", "new.total = 1",
    "del x[0]", "rng.shuffle(x)", "generator.shuffle(x)", "np.random.shuffle(x)", "y = np.maximum(x, 1, x)",
    "y = np.clip(x, 0, 1, x)", "y = np.sum(x, 0, None, x)", "operator.setitem(HELD, 0, x)", "y = np.sum(x, out=x)",
    "y = np.sum(*x)", "y = np.sum(**x)", "stores(x)", "stores_deep(x)", "y = stores", "y = changes_its_argument(x)",
    "y = BOX.total", "y = BOX.ask()", "y = BOX", "y = x.ask()", "y = x.__dict__", "y = x.sort", "unknown(x)",
    "y = setattr(x, 'a', 1)", "y = open('a')", "global HELD", "def f(): pass", "try: y = 1\nfinally: pass", "with x: pass",
    "new[0].append(x)", "y = new.a.sort()", "np.pi = 3", "y = Box()", "y = BOX.ask",
)  # fmt: skip


@pytest.mark.parametrize("text", [*KEPT, *CHANGED])
def test_statements_that_keep_to_themselves(text: str) -> None:
    """What is listed as a change reaches an object that is known outside, or may: nothing says that it does not."""
    scope = Scope(OUTSIDE, frozenset({"x", "y", "a", "new", "rng"}), frozenset({"new", "y"}), frozenset({"rng"}))
    assert keep_to_themselves(ast.parse(text).body, scope) == (text in KEPT)

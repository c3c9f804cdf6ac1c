"""Values of libraries in a state: what their classes lead to is a tool, whatever environment the library is installed in."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import dpest
from dpest.trace.snapshot import Hidden, Snapshot

LIBRARY = '''
class Context:
    """Something that has thousands of parts."""

    def __init__(self):
        self.parts = [[i] for i in range(5000)]


class Number:
    """A value that is copied and written to a file by its class, as most are."""

    context = Context()

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return hash(self.x)
'''


def library(monkeypatch: pytest.MonkeyPatch, file: str) -> Any:
    module = ModuleType("numbers_of_another_library")
    module.__file__ = file
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(LIBRARY, vars(module))
    return module


def test_values_of_an_installed_library_are_told_apart_by_what_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = library(monkeypatch, "/elsewhere/lib/python3.12/site-packages/numbers_of_another_library.py")
    one, same, other = (Snapshot({}).of(numbers.Number(x)) for x in (1, 1, 2))
    assert one == same
    assert one != other


def test_the_authors_classes_are_part_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = library(monkeypatch, "/home/author/numbers_of_another_library.py")
    with pytest.raises(Hidden):
        Snapshot({}).of(numbers.Number(1))


def test_a_loop_beside_a_value_of_a_library_is_a_series(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = library(monkeypatch, "/usr/lib/python3/dist-packages/numbers_of_another_library.py")
    bound = numbers.Number(3)

    def rejected(x: float) -> bool:
        while abs(z := dpest.laplace(1)) > bound.x:
            pass
        return bool(x + z > 1.5)

    r = dpest.estimate(rejected, (0, 1), method="exact")
    assert r.epsilon == pytest.approx(1.16683197518, abs=1e-10)

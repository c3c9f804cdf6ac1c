"""What is told apart in a state: everything that the rest of a program may tell apart."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.trace.against_program import CHECKS
from dpest.trace.chained import FEW_STATES, chained
from dpest.trace.execute import execute
from dpest.trace.limits import LIMITS
from dpest.trace.pointwise import PointRun
from dpest.trace.snapshot import Hidden, Snapshot


@dataclass(frozen=True, slots=True)
class Row:
    value: object
    note: object = field(default=0, compare=False)


class Named(str):
    tag = 0


class Counted(int):
    tag = 0


class Kept:
    held: Any = None


class Slotted:
    __slots__ = ("n",)

    def __init__(self, n: int | None = None) -> None:
        if n is not None:
            self.n = n


def _tagged(x: Any, tag: int) -> Any:
    x.tag = tag
    return x


def _with(held: Any) -> Any:
    """A class of its own for each call, which holds a value."""
    return type("Own", (), {"held": held})


def _locked() -> Any:
    out = np.zeros(2)
    out.flags.writeable = False
    return out


def _emptied() -> set[int]:
    out = set(range(50))
    for x in range(50):
        out.discard(x)
    return out


_DAY = datetime.datetime(2020, 1, 1, 1, tzinfo=datetime.UTC)
_MADE: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "decimals": (lambda: Decimal("1.0"), lambda: Decimal("1.00")),
    "a field that is not compared": (lambda: Row(1, 2), lambda: Row(1, 3)),
    "1 and 1.0 in slots": (lambda: Row(1), lambda: Row(1.0)),
    "slots": (lambda: Slotted(1), lambda: Slotted(2)),
    "a slot without a value": (lambda: Slotted(1), Slotted),
    "zeros in slots": (lambda: Row(0.0), lambda: Row(-0.0)),
    "attributes of a text": (lambda: _tagged(Named("a"), 1), lambda: _tagged(Named("a"), 2)),
    "attributes of a number": (lambda: _tagged(Counted(3), 1), lambda: _tagged(Counted(3), 2)),
    "time zones": (lambda: _DAY, lambda: _DAY.astimezone(datetime.timezone(datetime.timedelta(hours=1)))),
    "ends of ranges": (lambda: range(0, 3, 2), lambda: range(0, 4, 2)),
    "layouts": (lambda: np.array([[1, 2], [3, 4]], order="C"), lambda: np.array([[1, 2], [3, 4]], order="F")),
    "views": (lambda: np.zeros(2)[::-1], lambda: np.zeros(2)[:]),
    "places of views": (lambda: np.zeros(3)[:1], lambda: np.zeros(3)[1:2]),
    "what may be written": (_locked, lambda: np.zeros(2)),
    "fillings of masked arrays": (
        lambda: np.ma.array([1], mask=[1], fill_value=5),
        lambda: np.ma.array([1], mask=[1], fill_value=6),
    ),
    "room in a set": (_emptied, set),
    "bound arguments": (lambda: partial(max, 1), lambda: partial(max, 2)),
}


@pytest.mark.parametrize("name", _MADE)
def test_values_that_a_program_can_tell_apart_are_apart(name: str) -> None:
    one, other = _MADE[name]
    assert Snapshot({}).of(one()) != Snapshot({}).of(other())
    assert Snapshot({}).of(one()) == Snapshot({}).of(one())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Fraction(1, 2), Fraction(1, 3)),
        (np.int64(1), np.int64(2)),
        (frozenset({1}), frozenset({2})),
        (b"a", b"b"),
        (1j, 2j),
        (max, min),
        (int, float),
        (range(2), range(3)),
        (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
    ],
)
def test_what_a_class_holds_is_content(one: Any, other: Any) -> None:
    def seen(held: Any) -> Any:
        Kept.held = held
        return Snapshot({}).of(Kept)

    assert seen(one) != seen(other)
    assert seen(one) == seen(one)


def test_what_c_code_keeps_is_hidden() -> None:
    for x in (iter(lambda: 1, 2), memoryview(b"a"), (n for n in (1, 2))):
        with pytest.raises(Hidden):
            Snapshot({}).of(x)


def _chance(x: int) -> float:
    return 0.003 if x else 0.001


def _keeps_a_fraction(x: int) -> Any:
    Kept.held = Fraction(random.random() < _chance(x), 2)
    walk = 0
    for _ in range(4):
        walk = (walk + random.randrange(2)) % 3
    return str(Kept.held), walk


def _keeps_a_row(x: int) -> Any:
    row = Row(1) if random.random() < _chance(x) else Row(True)
    walk = 0
    for _ in range(4):
        walk = (walk + random.randrange(2)) % 3
    return str(row.value), walk


def _keeps_a_view(x: int) -> Any:
    whole = np.zeros(2)
    part = whole[::-1] if random.random() < _chance(x) else whole[:]
    walk = 0
    for _ in range(4):
        walk = (walk + random.randrange(2)) % 3
    whole[0] = 1
    return float(part[1]), walk


@pytest.mark.parametrize("mechanism", [_keeps_a_fraction, _keeps_a_row, _keeps_a_view])
def test_a_rare_state_is_not_taken_for_another_one(mechanism: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Oracle: the first coin is independent of the walk, so that the loss is that of the coin, ln 3."""
    for x in (0, 1):
        found = chained(lambda run, x=x: execute(run, mechanism, x, {}), FEW_STATES, LIMITS, CHECKS, make=PointRun)
        assert len(found.outputs) == 6
        rare = sum(math.exp(p) for out, p in found.outputs if out.leaves[0] in ("1/2", "1", 1.0))
        assert rare == pytest.approx(_chance(x), rel=1e-12)
    assert dpest.estimate(mechanism, (0, 1), method="exact").epsilon == pytest.approx(math.log(3), rel=1e-12)

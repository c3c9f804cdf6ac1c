"""What a checkpoint holds: data, and nothing that runs."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest

from dpest.errors import CheckpointError
from dpest.run.storage import Storage


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any


STORE = Storage((Point, Colour))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**80,
        -1.5,
        float("inf"),
        "text",
        b"bytes",
        (1, (2, [3])),
        {("a", 1.0): {"b": None}},
        Point(Colour.RED, (Point(1, 2.0),)),
    ],
)
def test_values_come_back_as_they_were(value: Any) -> None:
    again = STORE.loads(STORE.dumps(value))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize("kind", ["bool", "int32", "uint64", "float32", "float64"])
def test_arrays_keep_their_bits(kind: str) -> None:
    array = np.arange(12).astype(kind).reshape(3, 4)
    again = STORE.loads(STORE.dumps([array, array[0], array.T]))
    assert [a.dtype for a in again] == [array.dtype] * 3
    assert all(np.array_equal(a, b) for a, b in zip(again, [array, array[0], array.T], strict=True))
    nan = np.array([0x7FF8_0000_0000_1234], dtype=np.uint64).view(np.float64)
    assert STORE.loads(STORE.dumps(nan)).view(np.uint64)[0] == 0x7FF8_0000_0000_1234


def test_what_is_not_known_is_refused_both_ways() -> None:
    with pytest.raises(CheckpointError, match="type object"):
        STORE.dumps(object())
    with pytest.raises(CheckpointError, match="no class 'Point'"):
        Storage().loads(STORE.dumps(Point(1, 2)))


def test_a_pickle_is_not_read() -> None:
    class Harm:
        def __reduce__(self) -> tuple[Any, ...]:
            return (pytest.fail, ("a pickle was run",))

    with pytest.raises(CheckpointError, match="cannot be read"):
        STORE.loads(pickle.dumps(Harm()))

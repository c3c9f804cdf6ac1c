"""Rows that lie in one piece of their domain: histograms and other values that several conditions on a row decide.

The oracle is the exact engine at plain inputs.
"""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

import dpest
from dpest.doors.prove import proved_bound
from dpest.exact.proof.certificate import Certificate
from dpest.exact.proof.pieces import _pieces_of
from dpest.exact.proof.symbols import UnknownInput
from dpest.lang.dist import Dist
from dpest.lang.nodes import Draw


def histogram(rows: Any) -> Any:
    return [sum(1 for x in rows if k <= x < k + 1) + dpest.laplace(1.0) for k in range(3)]


def large_bins(rows: Any) -> Any:
    out = []
    for k in range(3):
        count = sum(1 for x in rows if k <= x and x < k + 1) + dpest.laplace(1.0)
        out.append(count if count > 2 else 0)
    return out


def clipped_and_counted(rows: Any) -> Any:
    """The clipped value grows below 1 only, the count changes above 2 only."""
    return sum(min(x, 1) for x in rows) + dpest.laplace(1.0), sum(1 for x in rows if x > 2) + dpest.laplace(1.0)


@pytest.mark.parametrize("mechanism", [histogram, large_bins])
@pytest.mark.parametrize(("adjacency", "loss"), [("replace", 2.0), ("add_remove", 1.0)])
def test_a_row_lies_in_one_bin(mechanism: Any, adjacency: str, loss: float) -> None:
    for n in (2, 3):
        p = dpest.prove(mechanism, n=n, adjacency=adjacency, domain=(0, 3))
        assert p.upper == pytest.approx(loss)
        assert p.tight or (mechanism is large_bins and n == 2)  # no bin of two rows goes from 2 to 3, across the threshold
        assert isinstance(p.proof, Certificate)
        assert p.proof.check()
        assert p.proof.rerun(30) == []
        assert Certificate.from_json(p.proof.to_json()).check()


def test_many_rows() -> None:
    p = dpest.prove(histogram, n=40, adjacency="replace", domain=(0, 3))
    assert p.upper == pytest.approx(2.0)


def test_a_small_change_crosses_one_threshold_only() -> None:
    """By 1/2, a row cannot leave what `min(x, 1)` tells and reach what `x > 2` tells."""
    bound = proved_bound(clipped_and_counted, 3, adjacency="l1", sensitivity=0.5, domain=(0, 3))
    assert bound == pytest.approx(1.0)


@pytest.mark.parametrize("mechanism", [histogram, large_bins, clipped_and_counted])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove", "l1"])
def test_no_adjacent_pair_loses_more(mechanism: Any, adjacency: str) -> None:
    bound = proved_bound(mechanism, 2, adjacency=adjacency, domain=(0, 3))
    rng = random.Random(7)
    for _ in range(12):
        left = [rng.choice([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, rng.uniform(0, 3)]) for _ in range(2)]
        if adjacency == "add_remove":
            right = left[:1]
        else:
            other = rng.choice([0.0, 1.0, 2.0, 3.0, rng.uniform(0, 3)])
            right = [left[0], min(max(other, left[1] - 1), left[1] + 1) if adjacency == "l1" else other]
        assert dpest.estimate(mechanism, (left, right), method="exact").lower <= bound * (1 + 1e-9)


FORMS: list[Any] = [
    lambda x: dpest.maximum(2 * x, x + 1),
    lambda x: dpest.minimum(1 - x, 3 * x - 2),
    lambda x: x > 0.5,
    lambda x: dpest.where(x >= 2, 2 * x, -x),
    lambda x: 2 * (x > -1) - 3 * dpest.maximum(0.5 * x, 1),
]


@pytest.mark.parametrize("low", [-3.0, -math.inf])
@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(range(len(FORMS)), 2)))
def test_on_each_piece_a_value_is_the_line_that_stands_there(first: int, second: int, low: float) -> None:
    """The oracle is the program itself at plain numbers; where a value jumps, two pieces meet in a piece of that one number."""
    x = Draw(UnknownInput("x", low, 4.0))
    programs = {-2: FORMS[first], -3: FORMS[second]}
    pieces = _pieces_of(x, {v: program(Dist(x)).node for v, program in programs.items()})
    assert pieces is not None
    for at in (k / 8 for k in range(-24, 33)):
        own = [p for p in pieces if (p.within[0] is None or p.within[0] <= at) and (p.within[1] is None or at <= p.within[1])]
        for v, program in programs.items():
            told = [float(slope) * at + float(constant) for slope, constant in (dict(p.values)[v] for p in own)]
            assert program(at) in told
            assert len(set(told)) == 1 or len(own) > 1

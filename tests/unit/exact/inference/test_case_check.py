"""Cases are compared with the expressions that they came from: a wrong one is noticed, a right one is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import TraceMismatch
from dpest.exact.inference.case_check import _Numbers, check_cases
from dpest.exact.inference.cases import Affine, Constant, Expansion, Floor, Ratio, expand
from dpest.lang.nodes import Draw, Linear, is_node, linear
from dpest.laws.continuous import Laplace
from dpest.numerics.rationals import exact
from dpest.run.streams import stream
from dpest.trace.explore import Path, trace
from dpest.trace.plain_run import SEED, NumberSource
from dpest.trace.valuation import Value


def _path(mechanism: Callable[[Any], Any]) -> Path:
    (path,) = trace(mechanism, 0, {}).paths
    return path


def _cases(mechanism: Callable[[Any], Any]) -> tuple[Path, list[Expansion]]:
    path = _path(mechanism)
    return path, expand(path.output.leaves, path.conditions, list(range(len(path.output.leaves))))


def _largest(x: float) -> Any:
    return dpest.argmax([x + dpest.laplace(1), dpest.laplace(1), 0.5 + dpest.gaussian(1)])


def _clipped(x: float) -> Any:
    return dpest.clip(x + dpest.laplace(1), -1, 1)


def _rounded(x: float) -> Any:
    return dpest.floor(x + dpest.laplace(3))


def _pair(x: float) -> Any:
    z = dpest.laplace(1)
    return [x + z, z >= 0.25, np.maximum(z, dpest.logistic(1))]


def _whole(x: float) -> Any:
    return dpest.geometric(2) // 3 + x


@pytest.mark.parametrize("mechanism", [_largest, _clipped, _rounded, _pair, _whole])
def test_right_cases_pass(mechanism: Callable[[Any], Any]) -> None:
    path, cases = _cases(mechanism)
    assert any(map(is_node, path.output.leaves))
    check_cases(path.output.leaves, path.conditions, cases, complete=True)


@pytest.mark.parametrize("mechanism", [_largest, _clipped, _pair])
def test_missing_cases_are_noticed(mechanism: Callable[[Any], Any]) -> None:
    """With one likely case left out at a time, some draw of numbers has none."""
    path, cases = _cases(mechanism)
    noticed = 0
    for k in range(len(cases)):
        rest = [*cases[:k], *cases[k + 1 :]]
        check_cases(path.output.leaves, path.conditions, rest, complete=False)  # of exchangeable outputs not all are listed
        try:
            check_cases(path.output.leaves, path.conditions, rest, complete=True)
        except TraceMismatch as error:
            noticed += "no case holds" in str(error)
    assert noticed


def _changed(value: Any) -> Any:
    match value:
        case Constant(value=x):
            return Constant(not x if isinstance(x, bool) else x + 1)
        case Affine(value=x):
            return Affine(Linear(x.terms, x.constant + 1))
        case Floor(inner=inner, scale=scale, offset=offset):
            return Floor(inner, scale, offset + 1)


@pytest.mark.parametrize("mechanism", [_largest, _clipped, _rounded, _pair, _whole])
def test_wrong_values_are_noticed(mechanism: Callable[[Any], Any]) -> None:
    path, cases = _cases(mechanism)
    wrong = [replace(case, values=(*map(_changed, case.values[:1]), *case.values[1:])) for case in cases]
    with pytest.raises(TraceMismatch, match="a case says"):
        check_cases(path.output.leaves, path.conditions, wrong, complete=True)


def test_a_wrong_condition_is_noticed() -> None:
    path, cases = _cases(_largest)
    turned = [replace(case, literals=tuple(x.negated() for x in case.literals)) for case in cases]
    with pytest.raises(TraceMismatch, match="worked out the cases of an output wrongly"):
        check_cases(path.output.leaves, path.conditions, turned, complete=True)


def test_numbers_that_do_not_meet_the_path_say_nothing() -> None:
    """A path that is hardly ever taken is not compared: wrong cases pass there."""
    path, cases = _cases(_largest)
    never = tuple(x.negated() for x in cases[0].literals) + cases[0].literals
    wrong = [replace(case, values=(Constant(99),)) for case in cases]
    check_cases(path.output.leaves, never, wrong, complete=True)


@pytest.mark.parametrize("offset", [-7, 0, 7])
def test_the_size_of_a_quotient_is_that_of_its_parts(offset: int) -> None:
    """10 / 4 + offset, from numbers of sizes 12 and 5: the sum of two sizes, whatever its signs."""
    numbers = _Numbers(NumberSource(stream(SEED)))
    top, bottom = Draw(Laplace(1.0)), Draw(Laplace(1.0))
    numbers.valuation._draws.update({top: Value(exact(10), 12.0, True), bottom: Value(exact(-4), 5.0, True)})
    said = numbers.said(Ratio(linear(top), linear(bottom), exact(offset)))
    assert said == Value(exact(-2.5) + offset, 3.0 + abs(offset), True)

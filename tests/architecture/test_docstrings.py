"""Every public function says what each of its parameters is, and has an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest.audit import audit
from dpest.testing import assert_private

FUNCTIONS = {name: value for name in dpest.__all__ if inspect.isfunction(value := getattr(dpest, name))}
FUNCTIONS |= {"audit": audit, "testing.assert_private": assert_private}


def described(function: Callable[..., Any]) -> list[str]:
    """The parameters that the docstring speaks of, in its order."""
    part = re.search(r"^Args:\n(.*?)(?:\n\n|\Z)", inspect.getdoc(function) or "", re.DOTALL | re.MULTILINE)
    return re.findall(r"^    (\w+): ", part[1], re.MULTILINE) if part else []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_described(name: str) -> None:
    assert sorted(described(FUNCTIONS[name])) == sorted(inspect.signature(FUNCTIONS[name]).parameters)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_runs(name: str) -> None:
    doc = inspect.getdoc(FUNCTIONS[name]) or ""
    test = doctest.DocTestParser().get_doctest(doc, {}, name, None, None)
    assert test.examples, f"dpest.{name} has no example"
    report: list[str] = []
    runner = doctest.DocTestRunner()
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)

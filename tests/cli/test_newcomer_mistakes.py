"""The likeliest mistakes of somebody's first hour: each is answered with a sentence that says what to write."""

from __future__ import annotations

import math
import random
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.cli import main
from dpest.errors import DpestError

MINE = """
import dpest

def noisy(x, eps=0.1):
    return x + dpest.laplace(1 / eps)

def noisy_list(values, eps=0.1):
    return [v + dpest.laplace(1 / eps) for v in values]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)


COMMANDS = {
    "a typo in a built-in name": ("estimate STV1", "did you mean SVT1?"),
    "a typo in the function": ("estimate mine.py:nosy -n 2", "did you mean noisy?"),
    "a file without a function": ("estimate mine.py -n 2", "write mine.py:noisy"),
    "a file that is not there": ("estimate mime.py:noisy -n 2", "there is no file 'mime.py'; did you mean mine.py?"),
    "a command that is not there": ("estimte SVT1", "did you mean estimate?"),
    "no inputs": ("estimate mine.py:noisy", "write --pair '[1, 1]' '[2, 1]' or -n 5"),
    "two ways of giving inputs": ("estimate mine.py:noisy --pair 1 2 -n 2", "either --pair D D' or -n N"),
    "an input that does not close": ("estimate mine.py:noisy_list --pair '[1,1' '[2,1]'", "write a Python or JSON value"),
    "eps = 0": ("estimate SVT1 --param eps=0", "needs a finite eps > 0, got eps=0"),
    "eps = 0 in a mechanism of one's own": ("estimate mine.py:noisy --pair 1 2 --param eps=0", "ZeroDivisionError"),
    "a parameter that is not there": ("estimate mine.py:noisy --pair 1 2 --param epss=0.2", "called as noisy(data, epss=...)"),
    "a parameter without a value": ("estimate mine.py:noisy --pair 1 2 --param eps", "write --param eps=0.1"),
    "an adjacency that is not there": ("estimate SVT1 --adjacency l2", 'must be "l1" or "linf"'),
    "a claim without its number": ("check mine.py:noisy --pair 1 2", "write --epsilon 0.1"),
    "a claim below zero": ("check mine.py:noisy --pair 1 2 --epsilon -1", "must be a number >= 0, got -1"),
    "a negative number of queries": ("estimate mine.py:noisy_list -n -3", "n must be a whole number >= 1"),
    "a confidence in per cent": ("estimate mine.py:noisy --pair 1 2 --method sampling --confidence 95", "such as 0.95, got 95"),
    "no samples": ("estimate mine.py:noisy --pair 1 2 --method sampling --samples 0", "samples must be a whole number"),
    "a folder that is not there": ("report SVT1 --html nowhere/report.html", "there is no folder nowhere; make it first"),
    "a graph that cannot be written": ("graph SVT1 -o nowhere/graph.svg", "nowhere/graph.svg: No such file or directory"),
}


@pytest.mark.parametrize(("command", "words"), COMMANDS.values(), ids=COMMANDS)
def test_on_the_command_line(command: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    import shlex

    assert main(shlex.split(command)) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert "Traceback" not in output.err
    assert output.out == ""


def no_input() -> Any:
    return dpest.laplace(1)


def hidden_numpy(x: float) -> Any:
    return x + np.random.default_rng().laplace()


def hidden_random(x: float) -> Any:
    return x + random.random()


def hidden_bytes(x: float) -> Any:
    return x + uuid.uuid4().bytes[0]


def gamma_of_noise(x: float) -> Any:
    return math.gamma(x + dpest.laplace(1))  # type: ignore[arg-type]


def index_by_noise(x: float) -> Any:
    return [1, 2, 3][dpest.laplace(1.0)]


def negative_scale(x: float) -> Any:
    return x + dpest.laplace(-1)


def probability_of_two(x: float) -> Any:
    return dpest.bernoulli(2.0)


def returns_an_object(x: float) -> Any:
    return object()


def raises(x: float) -> Any:
    return list("ab")[3]


def needs_a_float(x: float) -> Any:
    return "%.2e" % (x + dpest.laplace(1))


MECHANISMS: dict[str, tuple[Callable[..., Any], str]] = {
    "takes no input": (no_input, "cannot be called as no_input(data): too many positional arguments"),
    "random bytes inside": (hidden_bytes, "draw with random, secrets, numpy.random or dpest"),
    "math.gamma of a random value": (gamma_of_noise, "wrap the function with dpest.apply(function, value)"),
    "an index that is random": (index_by_noise, "cannot be used as an index or a range"),
    "a negative scale": (negative_scale, "laplace(scale) needs a positive finite number, got -1"),
    "a probability outside [0, 1]": (probability_of_two, "needs a probability in [0, 1], got 2.0"),
    "returns an object": (returns_an_object, "returned object: return numbers"),
    "raises an error of its own": (raises, "raises raised IndexError"),
    "a format of a random value": (needs_a_float, "cannot be used as a plain float"),
}


@pytest.mark.parametrize(("mechanism", "words"), MECHANISMS.values(), ids=MECHANISMS)
def test_in_a_mechanism(mechanism: Callable[..., Any], words: str) -> None:
    with pytest.raises(DpestError) as caught:
        dpest.estimate(mechanism, (0.0, 1.0))
    assert words in str(caught.value)


def test_random_and_numpy_random_are_answered() -> None:
    assert dpest.estimate(hidden_random, (0.0, 1.0)).epsilon == math.inf
    assert dpest.estimate(hidden_numpy, (0.0, 1.0)).epsilon == pytest.approx(1.0, abs=1e-12)


def test_truth_of_a_draw_outside_a_mechanism() -> None:
    with pytest.raises(DpestError, match="write dpest.where\\(condition, a, b\\)"):
        bool(dpest.laplace(1) > 0)


def test_no_pairs() -> None:
    with pytest.raises(DpestError, match="the list of pairs is empty"):
        dpest.estimate(negative_scale, [])


def test_exact_answer_to_a_function_that_cannot_be_traced() -> None:
    with pytest.raises(DpestError, match="tanh is applied to a random value: such a function can be sampled"):
        dpest.estimate(lambda x: dpest.apply(np.tanh, x + dpest.laplace(1)), (0.0, 1.0), method="exact")


@pytest.mark.parametrize("module", ["matplotlib.figure", "jinja2"])
def test_missing_extra(module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "dpest.report.drawing", raising=False)
    assert main(["report", "LaplaceMechanism", "--html"]) == 2
    needed = {"jinja2": "pip install jinja2 matplotlib", "matplotlib.figure": "pip install matplotlib"}[module]
    assert needed in capsys.readouterr().err

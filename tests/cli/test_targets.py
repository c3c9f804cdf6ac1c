"""What a target names, and what is said when it names nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpest.algorithms import svt1
from dpest.cli.options import data, literal, parameter
from dpest.cli.targets import resolve
from dpest.errors import InvalidInput, UnknownName

SOURCE = """
import dpest

SCALE = 10.0

def noisy(x):
    return x + dpest.laplace(SCALE)

class Kept:
    @staticmethod
    def noisy(x):
        return noisy(x)
"""


@pytest.fixture(autouse=True)
def imports_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("my_mechanism", "broken", "raising"):
        sys.modules.pop(name, None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_mechanism.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_function_in_a_file(file: Path) -> None:
    target = resolve(f"{file}:noisy")
    assert (target.name, target.algorithm) == ("noisy", None)
    assert target.function.__name__ == "noisy"


def test_method_in_a_file(file: Path) -> None:
    assert resolve(f"{file}:Kept.noisy").function.__name__ == "noisy"


def test_function_in_a_package() -> None:
    assert resolve("dpest.algorithms.svt1:svt1").function is svt1


@pytest.mark.parametrize("name", ["SVT1", "svt1"])
def test_built_in_names_in_any_case(name: str) -> None:
    target = resolve(name)
    assert target.name == "SVT1"
    assert target.algorithm is not None


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("STV1", "did you mean SVT1?"),
        ("{file}", "which function of {file}? write {file}:noisy"),
        ("{file}:nosy", "has no function 'nosy' (did you mean noisy?)"),
        ("{folder}/my_mechanism2.py:noisy", "there is no file"),
        ("no_such_package.module:f", "there is no module 'no_such_package'"),
        ("{file}:SCALE", "is float, not a function"),
    ],
)
def test_wrong_targets_say_what_to_write(file: Path, target: str, words: str) -> None:
    places = {"file": file, "folder": file.parent}
    with pytest.raises(InvalidInput) as caught:
        resolve(target.format(**places))
    assert words.format(**places) in str(caught.value)


def test_file_that_is_not_python(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def f(x:\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="broken.py is not valid Python: line 1"):
        resolve(f"{path}:f")


def test_file_that_raises_on_import(tmp_path: Path) -> None:
    path = tmp_path / "raising.py"
    path.write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="raised ZeroDivisionError: division by zero"):
        resolve(f"{path}:f")


def test_values_are_json_or_python() -> None:
    assert [literal(t) for t in ("[1, null]", "(1, None)", "0.1", "linf")] == [[1, None], (1, None), 0.1, "linf"]
    assert parameter("eps=0.1") == ("eps", 0.1)
    assert data("abc") == "abc"


def test_parameter_without_a_value() -> None:
    with pytest.raises(InvalidInput, match="write --param eps=0.1"):
        parameter("eps")


def test_input_with_a_missing_bracket() -> None:
    with pytest.raises(InvalidInput, match="cannot read the input"):
        data("[1, 1")


def test_unknown_name_is_an_invalid_input() -> None:
    assert issubclass(UnknownName, InvalidInput)

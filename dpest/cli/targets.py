"""What a target on the command line names: a built-in algorithm, or a function in a file or module."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from dpest.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from dpest.algorithms import Algorithm

T = TypeVar("T")
HOW = "write FILE.py:FUNCTION or package.module:FUNCTION"


@dataclass(frozen=True)
class Target:
    """A mechanism, and what is known about it where it is built in."""

    name: str
    function: Callable[..., Any]
    algorithm: Algorithm | None = None


def resolve(text: str) -> Target:
    """The mechanism that a target names."""
    place, colon, attribute = text.rpartition(":")
    if colon and attribute and place:
        module = _from_file(place) if _is_path(place) else _from_package(place)
        return Target(attribute, _function(module, attribute, place))
    if _is_path(text.rstrip(":")):
        raise UnknownName(_which_function(text.rstrip(":")))
    return _built_in(text)


def _built_in(text: str) -> Target:
    from dpest.algorithms import find

    try:
        algorithm = find(text)
    except UnknownName as error:
        raise UnknownName(f"{error}\nFor a mechanism of your own, {HOW}") from None
    return Target(algorithm.name, algorithm.function, algorithm)


def _is_path(place: str) -> bool:
    return place.endswith(".py") or os.sep in place or "/" in place


def _from_file(place: str) -> ModuleType:
    path = Path(place)
    if path.is_dir():
        raise UnknownName(f"{place!r} is a folder, not a file; {HOW}")
    if not path.is_file():
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.py") if p.is_file()], 1, 0.7)
        raise UnknownName(f"there is no file {place!r}" + (f"; did you mean {path.with_name(near[0])!s}?" if near else ""))
    sys.path.insert(0, str(path.resolve().parent))
    name = path.stem if path.stem not in sys.modules else f"dpest_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _run(lambda: spec.loader.exec_module(module), place)  # type: ignore[union-attr]
    _pickle_by_value(module)
    return module


def _from_package(place: str) -> ModuleType:
    sys.path.insert(0, os.getcwd())
    return _run(lambda: importlib.import_module(place), place)


def _run(load: Callable[[], T], place: str) -> T:
    try:
        with redirect_stdout(sys.stderr):  # standard output is for the answer
            return load()
    except ModuleNotFoundError as error:
        raise InvalidInput(f"cannot import {place}: there is no module {error.name!r}; {HOW}") from error
    except SyntaxError as error:
        raise InvalidInput(f"{place} is not valid Python: line {error.lineno}: {error.msg}") from error
    except SystemExit as error:
        raise InvalidInput(
            f"importing {place} ends the program (SystemExit({error.code!r})): "
            'put what runs a script under `if __name__ == "__main__":`'
        ) from error
    except Exception as error:
        from dpest.inputs.shown import raised

        raise InvalidInput(f"importing {place} raised {raised(error)}") from error


def _pickle_by_value(module: ModuleType) -> None:
    """Worker processes cannot import a module that was loaded from a path: send its functions whole."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)


def _function(module: ModuleType, attribute: str, place: str) -> Callable[..., Any]:
    value: Any = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            near = _nearest(part, _callables(value))
            raise UnknownName(f"{place} has no function {attribute!r}{near}; it has {_listed(_callables(value))}")
        value = getattr(value, part)
    if not callable(value):
        raise InvalidInput(f"{place}:{attribute} is {type(value).__name__}, not a function that takes the data")
    function: Callable[..., Any] = value
    return function


def _which_function(place: str) -> str:
    names = _callables(_from_file(place))
    example = f"{place}:{names[0]}" if names else f"{place}:FUNCTION"
    return f"which function of {place}? write {example}; it has {_listed(names)}"


def _callables(module: Any) -> list[str]:
    own = getattr(module, "__name__", None)
    return [k for k, v in vars(module).items() if callable(v) and not k.startswith("_") and getattr(v, "__module__", own) == own]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "no functions"


def _nearest(text: str, names: Iterable[str]) -> str:
    folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(text.casefold(), folded, 1, cutoff=0.5)
    return f" (did you mean {folded[near[0]]}?)" if near else ""

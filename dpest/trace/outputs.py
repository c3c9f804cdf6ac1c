"""A mechanism's return value, taken apart into its structure and its leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import UnsupportedOutput
from dpest.lang.dist import Dist


@dataclass(frozen=True)
class Flat:
    """The containers as a hashable description, and what is in them: nodes and plain constants."""

    structure: Any
    leaves: tuple[Any, ...]


def flatten(output: Any) -> Flat:
    """The structure and leaves of an output; refuses what has no distribution here."""
    leaves: list[Any] = []
    return Flat(_describe(output, leaves), tuple(leaves))


def _describe(x: Any, leaves: list[Any]) -> Any:
    if isinstance(x, Dist):
        leaves.append(x.node)
        return None
    if x is None or isinstance(x, bool | int | float | str | bytes | np.generic):
        leaves.append(_constant(x))
        return None
    if isinstance(x, list | tuple):
        return (type(x).__name__ if type(x) in (list, tuple) else "tuple", *(_describe(v, leaves) for v in x))
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            return _describe(x.item(), leaves)
        return ("array", x.shape, *(_describe(v, leaves) for v in x.ravel()))
    if isinstance(x, dict):
        keys = tuple(sorted(x, key=repr))  # dicts are equal whatever order they were filled in
        return ("dict", keys, *(_describe(x[k], leaves) for k in keys))
    raise UnsupportedOutput(
        f"the mechanism returned {type(x).__name__}: return numbers, bools, None, strings, or tuples, lists, dicts and "
        "NumPy arrays of them"
    )


def _constant(x: Any) -> Any:
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, complex):
        raise UnsupportedOutput(f"the mechanism returned the complex number {x!r}: return its real and imaginary part")
    return x


def rebuild(structure: Any, leaves: list[Any]) -> Any:
    """The output that a structure and its leaves came from (arrays as lists of their elements' shape)."""
    left = list(leaves)
    return _rebuild(structure, left)


def _rebuild(structure: Any, left: list[Any]) -> Any:
    match structure:
        case None:
            return left.pop(0)
        case ("list", *parts):
            return [_rebuild(p, left) for p in parts]
        case ("array", shape, *parts):
            return np.array([_rebuild(p, left) for p in parts], dtype=object).reshape(shape).tolist()
        case ("dict", keys, *parts):
            return {k: _rebuild(p, left) for k, p in zip(keys, parts, strict=True)}
        case (_, *parts):
            return tuple(_rebuild(p, left) for p in parts)
    raise AssertionError(structure)

"""Pairs of adjacent inputs, and the seven patterns that the field tests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from dpest.errors import DpestError, InvalidInput, InvalidPair, UnknownName
from dpest.inputs.shown import brief, difference, is_long

L1_PATTERNS = ("one_above", "one_below")


@dataclass(frozen=True, eq=False)
class Pair:
    """Two adjacent inputs, with the pattern's name."""

    name: str
    left: Any
    right: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pair) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, repr(_plain(self.left)), repr(_plain(self.right))))

    def __str__(self) -> str:
        label = f"{self.name}: " if self.name else ""
        where = difference(self.left, self.right) if is_long(self.left) or is_long(self.right) else ""
        return f"{label}D = {brief(self.left)}, D' = {brief(self.right)}{where and '; '}{where}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; arrays become lists."""
        return {"name": self.name, "D": _plain(self.left), "D_prime": _plain(self.right)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Pair:
        """The inverse of `to_dict`."""
        return cls(data["name"], _unplain(data["D"]), _unplain(data["D_prime"]))


@contextmanager
def reading(kind: str) -> Iterator[None]:
    """What is wrong with stored data, in one sentence."""
    hint = f"{kind}.from_json reads what {kind}.to_json wrote"
    try:
        yield
    except DpestError:
        raise
    except KeyError as error:
        raise InvalidInput(f"this is not a stored {kind}: {error} is missing; {hint}") from error
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidInput(f"this is not a stored {kind} ({error}); {hint}") from error


def is_real(x: Any) -> bool:
    """Whether this is a plain real number (NaN and infinities included)."""
    return isinstance(x, Real) and not isinstance(x, bool)


def as_parameters(params: Any, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a mechanism, from `params={...}` and from keywords."""
    if params is not None and not isinstance(params, Mapping):
        raise InvalidInput(f'params must be a dict such as {{"eps": 0.1}}, got {params!r}')
    return {**(params or {}), **keywords}


def generate_patterns(n: int) -> dict[str, tuple[list[float], list[float]]]:
    """The seven input patterns: pairs in which every value changes by at most 1.

    Args:
        n: how many values the inputs have.

    Returns:
        A dict from the name of each pattern to (D, D').

    Example:
        >>> import dpest
        >>> dpest.generate_patterns(3)["one_above"]
        ([1.0, 1.0, 1.0], [2.0, 1.0, 1.0])
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidInput(f"the number of queries n must be a whole number >= 1, got {n!r}")
    n = int(n)
    ones = [1.0] * n
    down = math.ceil(n / 2)
    up = n // 2
    return {
        "one_above": (list(ones), [2.0] + [1.0] * (n - 1)),
        "one_below": (list(ones), [0.0] + [1.0] * (n - 1)),
        "one_above_rest_below": (list(ones), [2.0] + [0.0] * (n - 1)),
        "one_below_rest_above": (list(ones), [0.0] + [2.0] * (n - 1)),
        "half_half": (list(ones), [0.0] * down + [2.0] * (n - down)),
        "all_above_all_below": (list(ones), [2.0] * n),
        "x_shape": ([1.0] * up + [0.0] * (n - up), [0.0] * up + [1.0] * (n - up)),
    }


def pattern_pairs(n: int, adjacency: str = "linf") -> list[Pair]:
    """The patterns that are adjacent under "l1" (one coordinate by 1) or "linf" (every coordinate by at most 1)."""
    if adjacency not in ("l1", "linf"):
        raise UnknownName(f'adjacency must be "l1" or "linf", got {adjacency!r}')
    patterns = generate_patterns(n)
    names = L1_PATTERNS if adjacency == "l1" else tuple(patterns)
    return [Pair(name, *patterns[name]) for name in names]


def as_pairs(pairs: Any) -> list[Pair]:
    """One pair, or a list or generator of pairs, checked: the form in which callers give them."""
    if isinstance(pairs, Iterator):
        pairs = list(pairs)
    if isinstance(pairs, Pair):
        return [pairs]
    if isinstance(pairs, tuple) and len(pairs) == 2 and not any(isinstance(p, Pair) for p in pairs):
        return [_checked("", *pairs)]  # whatever is inside: several pairs come in a list
    if isinstance(pairs, Mapping):
        named = [(str(name), *_two(pair)) for name, pair in pairs.items()]
        return _nonempty([_checked(*p) for p in named])
    if isinstance(pairs, Sequence) and not isinstance(pairs, str):
        return _nonempty([p if isinstance(p, Pair) else _checked("", *_two(p)) for p in pairs])
    raise InvalidPair(f"pairs must be (D, D') or a list of such pairs, got {brief(pairs)}")


def _two(pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, Pair):
        return pair.left, pair.right
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise InvalidPair(f"a pair is two inputs (D, D'), got {brief(pair)}; one pair is a tuple, several come in a list")
    return pair[0], pair[1]


def _nonempty(pairs: list[Pair]) -> list[Pair]:
    if not pairs:
        raise InvalidPair("the list of pairs is empty: give at least one pair (D, D'), or n=... and adjacency=...")
    return pairs


def _checked(name: str, left: Any, right: Any) -> Pair:
    """A pair: any two inputs of one kind, of whatever length; None stands for a missing one."""
    kinds = [isinstance(x, list | tuple | np.ndarray) for x in (left, right)]
    if kinds[0] != kinds[1] and left is not None and right is not None:
        raise InvalidPair(f"D and D' must be inputs of one kind, got {brief(left)} and {brief(right)}")
    return Pair(name, left, right)


def _plain(data: Any) -> Any:
    if isinstance(data, np.ndarray):
        return _plain(data.tolist())
    if isinstance(data, list | tuple):
        return [_plain(x) for x in data]
    if isinstance(data, Mapping):
        return {str(k): _plain(v) for k, v in data.items()}
    if isinstance(data, np.generic):
        return _plain(data.item())
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    return data if isinstance(data, int | float | str | bool | None) else repr(data)


def _unplain(data: Any) -> Any:
    if isinstance(data, list):
        return [_unplain(x) for x in data]
    if isinstance(data, Mapping):
        return {k: _unplain(v) for k, v in data.items()}
    return float(data) if isinstance(data, str) and data in ("inf", "-inf", "nan") else data

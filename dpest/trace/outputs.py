"""A mechanism's return value, taken apart into its structure and its leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from dpest.errors import UnsupportedOutput
from dpest.lang.category import Category
from dpest.lang.dist import Dist
from dpest.lang.generators.counters import RandomCounter, UnorderedCounter
from dpest.lang.nodes import is_node
from dpest.lang.plain_numbers import bare
from dpest.lang.shuffled import Shuffled, released_orders
from dpest.lang.text import InText, InWord, Text
from dpest.trace.columns import constant_key

TEXT = "text"  # the name of a string with random values in it
COUNTS = "counts"  # the name of a returned counter of random texts: how often each came that may come
SHUFFLED = "shuffled"  # the name of an output whose values at some places come in a random order


@dataclass(frozen=True)
class Flat:
    """The containers as a hashable description, and what is in them: nodes and plain constants."""

    structure: Any
    leaves: tuple[Any, ...]


@dataclass(frozen=True)
class Members:
    """The members of a set, in an order of their own."""

    members: tuple[Any, ...]

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self.members)) + "}" if self.members else "set()"


@dataclass(frozen=True)
class Record:
    """The fields of a dataclass by name."""

    name: str
    fields: tuple[tuple[str, Any], ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.fields)})"


@dataclass(frozen=True)
class TextOf:
    """A string with values in it."""

    parts: tuple[str, ...]

    def __repr__(self) -> str:
        return repr("".join(self.parts))


@dataclass(frozen=True)
class EnumMember:
    """A member of an Enum."""

    name: str

    def __repr__(self) -> str:
        return self.name


def flatten(output: Any) -> Flat:
    """The structure and leaves of an output; refuses what has no distribution here."""
    leaves: list[Any] = []
    structure = _describe(output, leaves)
    values, orders = released_orders(leaves)
    if not orders:
        return Flat(structure, values)
    return Flat((SHUFFLED, orders, structure), tuple(x.node if isinstance(x, Dist) else _constant(x) for x in values))


_PLAIN = frozenset((bool, int, float, str, type(None)))


def _describe(x: Any, leaves: list[Any]) -> Any:
    if type(x) is Shuffled:
        leaves.append(x)
        return None
    if type(x) is Text:
        return _of_text(x, leaves)
    if isinstance(x, Dist):
        leaves.append(x.node)
        return None
    if x is None or isinstance(x, bool | int | float | str | bytes | np.generic):
        leaves.append(_constant(x))
        return None
    if isinstance(x, Fraction | Decimal):
        return _of_rational(x, leaves)
    if isinstance(x, list | tuple):
        name = type(x).__name__ if type(x) in (list, tuple) else "tuple"
        if all(type(v) in _PLAIN for v in x):  # what nearly every long output is, done without detours
            leaves.extend(x)
            return (name, *(None,) * len(x))
        return (name, *(_describe(v, leaves) for v in x))
    if isinstance(x, np.ndarray):
        if isinstance(x, np.ma.MaskedArray) or x.dtype.names:
            raise UnsupportedOutput(_ODD_ARRAY)
        if x.ndim == 0:
            return _describe(x.item(), leaves)
        return ("array", x.shape, *(_describe(v, leaves) for v in x.ravel()))
    if type(x) is RandomCounter:
        counts = [(key, x[key]) for key in x.possible()]
        return (COUNTS, tuple(key for key, _ in counts), *(_describe(n, leaves) for _, n in counts))
    if isinstance(x, dict):
        plain = {_plain_key(k): v for k, v in (dict.items(x) if type(x) is UnorderedCounter else x.items())}
        keys = tuple(sorted(plain, key=repr))  # dicts are equal whatever order they were filled in
        return ("dict", keys, *(_describe(plain[k], leaves) for k in keys))
    if isinstance(x, set | frozenset):
        return ("set", *_members(x, leaves))
    if isinstance(x, Category):
        return _describe(x.decided(), leaves)
    if isinstance(x, Enum):
        return ("enum", f"{type(x).__qualname__}.{x.name}")
    if is_dataclass(x) and not isinstance(x, type):
        named = [(f.name, getattr(x, f.name)) for f in fields(x) if f.compare]
        return ("record", type(x).__qualname__, tuple(k for k, _ in named), *(_describe(v, leaves) for _, v in named))
    if type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "to_numpy"):
        return _of_pandas(x, leaves)
    raise UnsupportedOutput(
        f"the mechanism returned {type(x).__name__}: return numbers, bools, None, strings, Enum members, or tuples, lists, "
        "sets, dicts, dataclasses, NumPy arrays and pandas tables of them"
    )


_ODD_ARRAY = (
    "the mechanism returned an array with a mask or with named fields: return what is behind them as plain arrays, such as "
    "`values.filled(-1)` and `values.mask`, or `{name: table[name] for name in table.dtype.names}`"
)


def _of_pandas(x: Any, leaves: list[Any]) -> Any:
    """A table, a column or an index of pandas: its labels are part of the output, as text where they are no plain values."""
    axes = {"rows": "index", "columns": "columns"} if hasattr(x, "index") else {}
    parts = {name: [_label(k) for k in getattr(x, axis)] for name, axis in axes.items() if hasattr(x, axis)}
    parts["values"] = x.to_numpy(dtype=object)
    return ("record", type(x).__name__, tuple(parts), *(_describe(v, leaves) for v in parts.values()))


def _label(k: Any) -> Any:
    """A label of a table as a plain value."""
    if isinstance(k, tuple):
        return tuple(map(_label, k))
    return k if k is None or isinstance(k, bool | int | float | str | np.generic) else str(k)


def _of_rational(x: Fraction | Decimal, leaves: list[Any]) -> Any:
    """A fraction or a decimal as the double that equals it, or else as its numerator and denominator."""
    double = float(x)
    if double == x or not math.isfinite(x):
        leaves.append(double)
        return None
    leaves += x.as_integer_ratio()
    return ("record", "Fraction", ("numerator", "denominator"), None, None)


def _of_text(x: Text, leaves: list[Any]) -> Any:
    """The fixed parts of a text and how values stand between them; the values are leaves."""
    values = [v for part in x.parts if type(part) is not str for v in part[1]]
    leaves.extend(values)
    return (TEXT, tuple(part if type(part) is str else part[0] for part in x.parts), *(None,) * len(values))


def _plain_key(k: Any) -> Any:
    """A key without random values: looking it up has forked the run on them."""
    if isinstance(k, tuple):
        return tuple(map(_plain_key, k))
    if isinstance(k, Category):
        return k.decided()
    return _listed(k.node) if isinstance(k, Dist) else bare(k)


def _members(x: set[Any] | frozenset[Any], leaves: list[Any]) -> list[Any]:
    """The members in an order that depends on nothing else; random ones with listed points fork the run."""
    found = []
    for member in x:
        inside: list[Any] = []
        structure = _describe(member, inside)
        plain = [_listed(leaf) if is_node(leaf) else bare(leaf) for leaf in inside]
        found.append((repr((structure, [constant_key(leaf) for leaf in plain])), structure, plain))
    found.sort(key=lambda each: each[0])
    for _, _, plain in found:
        leaves.extend(plain)
    return [structure for _, structure, _ in found]


def _listed(node: Any) -> Any:
    number = Dist(node)._point()
    if number is None:
        raise UnsupportedOutput(
            "the mechanism returned a set of random values with a density, whose order is not known: return a sorted list of them"
        )
    return number


def _constant(x: Any) -> Any:
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, complex):
        raise UnsupportedOutput(f"the mechanism returned the complex number {x!r}: return its real and imaginary part")
    return x


def _shown(kind: InText | InWord, values: list[Any]) -> str:
    """A value in a text, as a number where it is known and as a letter else."""
    first = values[0]
    if isinstance(kind, InWord) and isinstance(first, str):
        return first
    if isinstance(kind, InWord) or not isinstance(first, int | float):
        return f"{{{first}}}"
    if kind.digits is None or kind.digits < 0:
        return format(first if kind.digits is None else int(first), kind.spec)
    number = first / 10 ** (kind.digits + 2 * (kind.form == "%"))
    return format(-0.0 if not first and values[1] is True else number, kind.spec or f".{kind.digits}f")


def rebuild(structure: Any, leaves: list[Any]) -> Any:
    """The output that a structure and its leaves came from (arrays as lists of their elements' shape)."""
    left = list(leaves)
    return _rebuild(structure, left)


def _rebuild(structure: Any, left: list[Any]) -> Any:
    match structure:
        case None:
            return left.pop(0)
        case (str(name), tuple(), inner) if name == SHUFFLED:
            return _rebuild(inner, left)
        case ("list", *parts):
            return [_rebuild(p, left) for p in parts]
        case ("array", shape, *parts):
            return np.array([_rebuild(p, left) for p in parts], dtype=object).reshape(shape).tolist()
        case ("dict" | "counts", keys, *parts):
            return {k: _rebuild(p, left) for k, p in zip(keys, parts, strict=True)}
        case ("set", *parts):
            return Members(tuple(_rebuild(p, left) for p in parts))
        case ("enum", name):
            return EnumMember(name)
        case ("record", name, keys, *parts):
            return Record(name, tuple((k, _rebuild(p, left)) for k, p in zip(keys, parts, strict=True)))
        case (str(name), tuple(pieces), *_) if name == TEXT:
            return TextOf(tuple(x if isinstance(x, str) else _shown(x, [left.pop(0) for _ in range(x.leaves)]) for x in pieces))
        case (_, *parts):
            return tuple(_rebuild(p, left) for p in parts)
    raise AssertionError(structure)

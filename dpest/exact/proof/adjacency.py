"""Which inputs are adjacent: unknown inputs with their domains, and the boxes of differences between two of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import InvalidInput
from dpest.exact.proof.ranges import change_of
from dpest.exact.proof.symbols import Symbols, UnknownInput
from dpest.lang.category import Category
from dpest.lang.dist import Dist
from dpest.lang.nodes import Draw
from dpest.numerics.ranges import NOTHING, Range, ends

_MOST_VALUES = 1_000  # of a row of listed columns: two rows of them have half a million pairs, more than are looked at


@dataclass(frozen=True)
class Box:
    """Differences of two adjacent inputs: each listed input changes within its range, the others do not."""

    name: str
    moves: tuple[tuple[int, Range], ...]  # input variable (-1, -2, ...) -> range of its change
    within: tuple[tuple[int, Range], ...] = ()  # inputs that do not change -> range of their values

    def __contains__(self, variable: int) -> bool:
        return any(v == variable for v, _ in self.moves)


@dataclass(frozen=True)
class Field:
    """The numbers that one place of a row can hold."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    names: tuple[Any, ...] = ()  # of a column of categories: what the whole numbers stand for


@dataclass(frozen=True)
class Inputs:
    """Data made of unknown numbers."""

    data: Any
    draws: tuple[Draw, ...]
    fields: tuple[Field, ...]
    rows: tuple[tuple[int, ...], ...]  # which inputs make up each row
    fill: Callable[[Sequence[float]], Any]  # plain data from one number for each input


def finite_values(domain: Any) -> list[Any] | None:
    """The values of a finite domain: a list, set, range or array, or columns of such; None where the domain is not finite."""
    values = _values(domain)
    if values is not None and len(values) < 2:
        raise InvalidInput(f"domain={domain!r} needs at least two values, else no two inputs differ")
    return values


def _values(domain: Any) -> list[Any] | None:
    if isinstance(domain, list | set | frozenset | range | np.ndarray):
        values = sorted(domain) if isinstance(domain, set | frozenset) else list(domain)
        return [v.item() if isinstance(v, np.generic) else v for v in values]
    if not isinstance(domain, Mapping | tuple):
        return None
    columns = [_values(x) for x in (domain.values() if isinstance(domain, Mapping) else domain)]
    listed = [c for c in columns if c is not None]
    if len(listed) < len(columns):
        return None
    if math.prod(map(len, listed)) > _MOST_VALUES:
        raise InvalidInput(f"the columns of the domain have more than {_MOST_VALUES} combinations: name fewer values")
    rows = itertools.product(*listed)
    return [dict(zip(domain, row, strict=True)) for row in rows] if isinstance(domain, Mapping) else list(rows)


def unknown_inputs(n: int | None, domain: Any, adjacency: str) -> Inputs:
    """`n` rows (one bare row where n is None), each from the domain, as unknown numbers."""
    count = 1 if n is None else n
    template = _template(domain)
    fields: list[Field] = []
    rows = []
    for _ in range(count):
        own = list(_fields(template))
        rows.append(tuple(range(len(fields), len(fields) + len(own))))
        fields.extend(own)
    names = _names(n, template)
    if any(f.names for f in fields) and adjacency not in ("replace", "add_remove"):
        raise InvalidInput(f'adjacency="{adjacency}" compares numbers; for other values write adjacency="replace"')
    draws = tuple(Draw(UnknownInput(name, f.low, f.high, f.whole)) for name, f in zip(names, fields, strict=True))

    def fill(values: Sequence[Any]) -> Any:
        left = list(values)
        made = [_filled(template, left) for _ in range(count)]
        return made[0] if n is None else made

    return Inputs(fill([Dist(d) for d in draws]), draws, tuple(fields), tuple(rows), fill)


def _template(domain: Any) -> Any:
    """A domain as nested fields: a Field, a tuple of templates or a dict of templates."""
    if domain is None:
        return Field()
    if domain is int:
        return Field(whole=True)
    if domain is float:
        return Field()
    if isinstance(domain, Mapping):
        return {k: _template(v) for k, v in domain.items()}
    if isinstance(domain, tuple) and len(domain) == 2 and all(isinstance(x, int | float | np.number) for x in domain):
        low, high = float(domain[0]), float(domain[1])
        if not low < high:
            raise InvalidInput(f"domain=(low, high) needs low < high, got {domain!r}")
        return Field(low, high)
    if isinstance(domain, tuple) and domain and all(_is_column(x) for x in domain):
        return tuple(_template(x) for x in domain)
    if (listed := _consecutive(domain) or _categories(domain)) is not None:
        return listed
    raise InvalidInput(
        f"domain={domain!r} is not a domain: write (low, high) for numbers between two bounds, int for whole numbers, a list, "
        "set or range of values, or a tuple or dict of domains for rows with several columns; beside columns of numbers, a list "
        "must hold consecutive whole numbers, such as [0, 1], or text"
    )


def _is_column(domain: Any) -> bool:
    listed = isinstance(domain, tuple | Mapping | list | set | frozenset | range | np.ndarray)
    return listed or any(domain is kind for kind in (int, float, None))


def _consecutive(domain: Any) -> Field | None:
    """Listed whole numbers without a gap, as whole numbers between two bounds; None for any other domain."""
    values = _values(domain) or []
    if not values or not all(isinstance(v, int | float) and v == round(v) for v in values):
        return None
    low, high = min(values), max(values)
    return Field(float(low), float(high), True) if len(set(values)) == high - low + 1 else None


def _categories(domain: Any) -> Field | None:
    """Listed names as whole numbers that stand for them; None for any other domain."""
    values = _values(domain) if isinstance(domain, list | set | frozenset) else None
    named = values and len(values) > 1 and len(set(values)) == len(values) and all(isinstance(v, str) for v in values)
    return Field(0.0, float(len(values) - 1), True, tuple(values)) if named and values else None


def _fields(template: Any) -> Iterable[Field]:
    if isinstance(template, Field):
        yield template
    else:
        for part in template.values() if isinstance(template, dict) else template:
            yield from _fields(part)


def _names(n: int | None, template: Any) -> list[str]:
    inner = list(_field_names(template, ""))
    return [f"x{name}" for name in inner] if n is None else [f"x[{i}]{name}" for i in range(n) for name in inner]


def _field_names(template: Any, prefix: str) -> Iterable[str]:
    if isinstance(template, Field):
        yield prefix
    else:
        for key, part in template.items() if isinstance(template, dict) else enumerate(template):
            yield from _field_names(part, f"{prefix}[{key!r}]")


def _filled(template: Any, left: list[Any]) -> Any:
    if isinstance(template, Field):
        x = left.pop(0)
        if not template.names:
            return x
        return Category(x, template.names) if isinstance(x, Dist) else template.names[round(x)]
    if isinstance(template, dict):
        return {k: _filled(part, left) for k, part in template.items()}
    return tuple(_filled(part, left) for part in template)


def boxes(name: str, inputs: Inputs, sensitivity: float) -> list[dict[int, tuple[float, float]]]:
    """The differences of adjacent inputs as a union of boxes: input -> (least, most change)."""

    def limited(i: int, low: float, high: float) -> tuple[float, float]:
        f = inputs.fields[i]
        width = f.high - f.low
        low, high = max(low, -width), min(high, width)
        return (math.ceil(low), math.floor(high)) if f.whole and math.isfinite(width + high - low) else (low, high)

    every = range(len(inputs.fields))
    s = float(sensitivity)
    match name:
        case "linf":
            return [{i: limited(i, -s, s) for i in every}]
        case "l1":
            return [{i: limited(i, -s, s)} for i in every]
        case "monotone":
            return [{i: limited(i, 0.0, s) for i in every}, {i: limited(i, -s, 0.0) for i in every}]
        case _:
            return [{i: limited(i, -math.inf, math.inf) for i in row} for row in inputs.rows]


def whole_box(name: str, moves: Mapping[int, tuple[float, float]], symbols: Symbols) -> Box:
    """A box with the changes of derived unknowns added."""
    by_id = {id(symbols.inputs[i]): ends(*change) for i, change in moves.items()}
    listed = [(-1 - i, ends(*change)) for i, change in sorted(moves.items())]
    for k, node in enumerate(symbols.derived):
        change = change_of(node, by_id)
        # A derived unknown may refer to earlier ones.
        by_id[id(symbols.inputs[symbols.given + k])] = change
        if change != NOTHING:
            listed.append((-1 - symbols.given - k, change))
    return Box(name, tuple(listed))

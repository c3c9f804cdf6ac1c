"""Which inputs are adjacent: unknown inputs with their domains, and the boxes of differences between two of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import InvalidInput
from dpest.exact.proof.ranges import NOTHING, Range, change_of, ends
from dpest.exact.proof.symbols import Symbols, UnknownInput
from dpest.lang.dist import Dist
from dpest.lang.nodes import Draw


@dataclass(frozen=True)
class Box:
    """Differences of two adjacent inputs: each listed input changes within its range, the others do not."""

    name: str
    moves: tuple[tuple[int, Range], ...]  # input variable (-1, -2, ...) -> range of its change

    def __contains__(self, variable: int) -> bool:
        return any(v == variable for v, _ in self.moves)


@dataclass(frozen=True)
class Field:
    """The numbers that one place of a row can hold."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False


@dataclass(frozen=True)
class Inputs:
    """Data made of unknown numbers."""

    data: Any
    draws: tuple[Draw, ...]
    fields: tuple[Field, ...]
    rows: tuple[tuple[int, ...], ...]  # which inputs make up each row
    fill: Callable[[Sequence[float]], Any]  # plain data from one number for each input


def finite_values(domain: Any) -> list[Any] | None:
    """The values of a finite domain: a list, set, range or array; None where the domain is not finite."""
    if isinstance(domain, list | set | frozenset | range | np.ndarray):
        values = sorted(domain) if isinstance(domain, set | frozenset) else list(domain)
        if len(values) < 2:
            raise InvalidInput(f"domain={domain!r} needs at least two values, else no two inputs differ")
        return [v.item() if isinstance(v, np.generic) else v for v in values]
    return None


def unknown_inputs(n: int | None, domain: Any) -> Inputs:
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
    if isinstance(domain, tuple) and domain and all(isinstance(x, tuple | Mapping) or x in (int, float, None) for x in domain):
        return tuple(_template(x) for x in domain)
    raise InvalidInput(
        f"domain={domain!r} is not a domain: write (low, high) for numbers between two bounds, int for whole numbers, a list, "
        "set or range of values, or a tuple or dict of domains for rows with several columns"
    )


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
        return left.pop(0)
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

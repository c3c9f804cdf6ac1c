"""Outputs of any shape as rows of small whole numbers: the features from which events are learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.trace.columns import HOLE, NAN_KEY, Columns, Group, Shape, Values

Codes = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float64]
_Found = list[tuple[Any, int]]  # one feature of a sample: arrays of numbers or constants, each with its number of outputs

MOST_FEATURES = 64
_MOST_SHAPES = 128
_MOST_POINTS = 48
# A number is a value of its own when it makes up this share of the outputs; continuous ones hardly ever repeat.
_POINT_SHARE = 0.002


@dataclass(frozen=True)
class _Cuts:
    """The number of bins, the tails of each input beyond them, and how far apart edges are, as a share of the outputs."""

    bins: int
    tails: tuple[float, ...]
    apart: float


# One number alone, and one number among several: many weights cost time, and fit noise.
_FINE = _Cuts(200, (1 / 1600, 1 / 800, 1 / 400), 0.002)
_COARSE = _Cuts(12, (1 / 96, 1 / 24, 1 / 12), 0.004)
_BEYOND = 4  # outputs that a tail holds at least


@dataclass(frozen=True)
class Leaf:
    """How one number (or None, or a string) is coded: 0 unknown, then symbols, then frequent numbers, then bins."""

    symbols: tuple[Any, ...]
    points: Floats
    edges: Floats

    @property
    def unordered(self) -> int:
        """The codes before the bins."""
        return 1 + len(self.symbols) + len(self.points)

    @property
    def size(self) -> int:
        """The number of codes."""
        return self.unordered + len(self.edges) + 1

    def constant(self, key: Any) -> int:
        """The code of a constant leaf."""
        if isinstance(key, float):
            return int(self.numbers(np.array([key]))[0])
        return 1 + self.symbols.index(key) if key in self.symbols else 0

    def numbers(self, values: Values) -> Codes:
        """The codes of numbers."""
        x = np.asarray(values, float)
        codes = self.unordered + np.searchsorted(self.edges, x, side="right")
        if len(self.points):
            at = np.minimum(np.searchsorted(self.points, x), len(self.points) - 1)
            codes = np.where(self.points[at] == x, 1 + len(self.symbols) + at, codes)
        missing = np.isnan(x)
        if missing.any():
            codes = np.where(missing, self.constant(NAN_KEY), codes)
        return codes.astype(np.int16)

    def words(self, name: str, code: int) -> str:
        """What a code says of the number that has this name."""
        return self.all_words(name, [code])[0]

    def all_words(self, name: str, codes: Sequence[int]) -> list[str]:
        """What a set of codes says; bins that touch are one range."""
        special = [self._special(name, code) for code in codes if code < self.unordered]
        bins = [code - self.unordered for code in codes if code >= self.unordered]
        ends = (-np.inf, *self.edges, np.inf)
        starts = [k for k in bins if k - 1 not in bins]
        stops = [k + 1 for k in bins if k + 1 not in bins]
        return special + [_range_words(name, ends[a], ends[b]) for a, b in zip(starts, stops, strict=True)]

    def _special(self, name: str, code: int) -> str:
        if code == 0:
            return f"{name} is something else"
        if code <= len(self.symbols):
            symbol = self.symbols[code - 1]
            return f"{name} is {'NaN' if symbol == NAN_KEY else repr(symbol)}"
        return f"{name} == {self.points[code - 1 - len(self.symbols)]:.6g}"


def _range_words(name: str, low: float, high: float) -> str:
    if high == np.inf:
        return f"{name} >= {low:.6g}" if low > -np.inf else f"{name} is any other number"
    return f"{name} < {high:.6g}" if low == -np.inf else f"{low:.6g} <= {name} < {high:.6g}"


@dataclass(frozen=True)
class Coder:
    """The features of an output: its shape, each of its leaves, and the differences of neighbouring numbers."""

    shapes: tuple[Shape, ...]
    leaves: tuple[Leaf, ...]
    steps: tuple[Leaf, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each feature."""
        return (len(self.shapes) + 1, *(x.size for x in self.leaves), *(x.size for x in self.steps))

    @property
    def unordered(self) -> tuple[int, ...]:
        """How many codes of each feature stand for values without order."""
        return (len(self.shapes) + 1, *(x.unordered for x in self.leaves), *(x.unordered for x in self.steps))

    @cached_property
    def _places(self) -> dict[Shape, int]:
        return {shape: i for i, shape in enumerate(self.shapes, start=1)}

    def codes(self, columns: Columns) -> Codes:
        """One row of codes for each output."""
        out = np.zeros((len(self.sizes), columns.rows), dtype=np.int16)
        at = 0
        for group in columns.groups:
            self._fill(out[:, at : at + group.rows], group)
            at += group.rows
        return out

    def _fill(self, out: Codes, group: Group) -> None:
        out[0] = self._places.get(group.shape, 0)
        numbers = list(_numbers(group, len(self.leaves)))
        for i, (leaf, value) in enumerate(zip(self.leaves, numbers, strict=False), start=1):
            out[i] = leaf.numbers(value) if isinstance(value, np.ndarray) else leaf.constant(value)
        first = 1 + len(self.leaves)
        for i, step in enumerate(self.steps):
            difference = _difference(*numbers[i : i + 2])
            if difference is not None:
                out[first + i] = step.numbers(difference)

    @property
    def single(self) -> Leaf | None:
        """The only number of the output, where it is one and nothing else varies."""
        return self.leaves[0] if len(self.leaves) == 1 and len(self.shapes) == 1 else None

    def words(self, feature: int, code: int) -> str:
        """What a code of a feature says."""
        if feature == 0:
            return f"the output looks like {self.shapes[code - 1].leaves}" if code else "the output has another shape"
        if feature <= len(self.leaves):
            return self.leaves[feature - 1].words(_name(feature - 1, len(self.leaves)), code)
        i = feature - 1 - len(self.leaves)
        return self.steps[i].words(f"output[{i + 1}] - output[{i}]", code)


def learn_coder(samples: list[Columns]) -> Coder:
    """Features from pooled samples: frequent values as they are, the rest in bins of equal weight and finer tails."""
    shapes: Counter[Shape] = Counter()
    for group in _groups(samples):
        shapes[group.shape] += group.rows
    count = min(MOST_FEATURES, max(len(shape.leaves) for shape in shapes))
    cuts = _FINE if count == 1 else _COARSE
    rows = sum(shapes.values())
    leaves = tuple(_leaf([_values(columns, i) for columns in samples], rows, cuts) for i in range(count))
    pairs = range(count - 1 if count <= MOST_FEATURES // 2 else 0)
    steps = (_leaf([_steps(columns, i) for columns in samples], rows, cuts) for i in pairs)
    return Coder(tuple(s for s, _ in shapes.most_common(_MOST_SHAPES)), leaves, tuple(steps))


def _name(i: int, count: int) -> str:
    return "output" if count == 1 else f"output[{i}]"


def _groups(samples: list[Columns]) -> Iterator[Group]:
    return (group for columns in samples for group in columns.groups)


def _numbers(group: Group, most: int) -> Iterator[Any]:
    """The leaves of a group: arrays where they vary, keys where they are constant."""
    values = iter(group.values)
    for leaf in group.shape.leaves[:most]:
        yield next(values) if leaf is HOLE else leaf


def _at(group: Group, i: int) -> Iterator[Any]:
    for k, value in enumerate(_numbers(group, i + 1)):
        if k == i:
            yield value


def _difference(a: Any = None, b: Any = None) -> Values | None:
    """b - a where both are numbers and at least one of them varies."""
    numeric = all(isinstance(x, np.ndarray | float) for x in (a, b))
    varies = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    return np.asarray(b, float) - np.asarray(a, float) if numeric and varies else None


def _values(columns: Columns, i: int) -> _Found:
    return [(value, group.rows) for group in columns.groups for value in _at(group, i)]


def _steps(columns: Columns, i: int) -> _Found:
    neighbours = ((list(_numbers(g, i + 2))[i : i + 2], g.rows) for g in columns.groups)
    found = ((_difference(*pair), rows) for pair, rows in neighbours if len(pair) == 2)
    return [(step, rows) for step, rows in found if step is not None]


def _leaf(samples: list[_Found], rows: int, cuts: _Cuts) -> Leaf:
    symbols: Counter[Any] = Counter()
    for value, count in (pair for found in samples for pair in found):
        if _is_symbol(value):
            symbols[value] += count
        elif isinstance(value, np.ndarray):
            symbols[NAN_KEY] += int(np.isnan(np.asarray(value, float)).sum())
    kept = tuple(s for s, n in symbols.most_common(_MOST_POINTS) if n)
    return Leaf(kept, *_points_and_edges([_plain_numbers(found) for found in samples], rows, cuts))


def _plain_numbers(found: _Found) -> Floats:
    arrays = [np.asarray(v, float) if isinstance(v, np.ndarray) else np.full(n, v) for v, n in found if not _is_symbol(v)]
    numbers: Floats = np.concatenate([np.empty(0), *arrays])
    return np.asarray(numbers[~np.isnan(numbers)])


def _is_symbol(value: Any) -> bool:
    return not isinstance(value, np.ndarray | float)


def _points_and_edges(samples: list[Floats], rows: int, cuts: _Cuts) -> tuple[Floats, Floats]:
    values, counts = np.unique(np.concatenate(samples), return_counts=True)
    frequent = counts >= max(5.0, _POINT_SHARE * rows)
    often = values[frequent][np.argsort(-counts[frequent], kind="stable")][:_MOST_POINTS]
    points = np.sort(often)
    rest = [x[~np.isin(x, points)] for x in samples]
    return points, _edges([x for x in rest if x.size], cuts)


def _edges(samples: list[Floats], cuts: _Cuts) -> Floats:
    """The tails of each sample, the outermost first, and bins of equal weight; of edges that almost touch, the first.

    Where one sample ends, an edge just inside its end keeps the outputs that it shares apart from those that it lacks.
    """
    if not samples:
        return np.empty(0)
    pooled = np.sort(np.concatenate(samples))
    ends = [np.quantile(x, (t, 1 - t)) for t in cuts.tails for x in samples if t * x.size >= _BEYOND]
    wanted = np.concatenate([*ends, np.quantile(pooled, np.arange(1, cuts.bins) / cuts.bins)])
    places = np.searchsorted(pooled, wanted)
    kept = np.zeros(wanted.shape, dtype=bool)
    for i, place in enumerate(places):
        kept[i] = np.all(np.abs(places[:i][kept[:i]] - place) >= cuts.apart * pooled.size)
    return np.unique(wanted[kept])

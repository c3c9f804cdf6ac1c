"""Outputs as a matrix of doubles: numbers are themselves, everything else is a NaN that carries its name's digest."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engine.columns import HOLE, NAN_KEY, Columns
from dpest.errors import UnsupportedOutput

Matrix = NDArray[np.float64]
Keys = NDArray[np.uint64]

_QUIET_NAN = np.uint64(0x7FF8_0000_0000_0000)
_PAYLOAD = (1 << 48) - 1
MISSING = "(absent)"
LONGER = "(longer)"
NAN = "nan"


@dataclass(frozen=True)
class Batch:
    """Outputs of many runs, one row each, with the names of the symbols that occur in them."""

    values: Matrix
    names: Mapping[int, str] = field(default_factory=dict)
    single: bool = False  # the mechanism returned float32

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    def resized(self, width: int) -> Batch:
        """The same outputs in `width` columns: absent values are a symbol, and so is what does not fit."""
        if self.width == width:
            return self
        if self.width < width:
            filler = np.full((len(self), width - self.width), symbol(MISSING))
            names = {**self.names, digest(MISSING): MISSING}
            return Batch(np.hstack([self.values, filler]), names, self.single)
        kept = self.values[:, :width].copy()
        present = symbol_bits(self.values[:, width]) != np.uint64(digest(MISSING))
        kept[present, width - 1] = symbol(LONGER)
        return Batch(kept, {**self.names, digest(LONGER): LONGER}, self.single)


def joined(batches: Iterable[Batch]) -> Batch:
    """Batches one below the other, as wide as the widest."""
    parts = list(batches)
    width = max(b.width for b in parts)
    parts = [b.resized(width) for b in parts]
    names = {k: v for b in parts for k, v in b.names.items()}
    return Batch(np.concatenate([b.values for b in parts]), names, all(b.single for b in parts))


def digest(name: str) -> int:
    """48 bits that stand for a symbol, the same in every process; the plain NaN has 0."""
    if name == NAN:
        return 0
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=6).digest(), "big") or 1


def symbol(name: str) -> float:
    """The NaN that stands for a symbol."""
    return float((_QUIET_NAN | np.uint64(digest(name))).view(np.float64))


def symbol_bits(column: Matrix) -> Keys:
    """The digests of the symbols in a column (meaningless where it holds numbers)."""
    bits: Keys = np.ascontiguousarray(column).view(np.uint64) & np.uint64(_PAYLOAD)
    return bits


def encode_array(outputs: NDArray[Any], count: int) -> Batch:
    """What a vectorised mechanism returned: the first axis counts the runs."""
    if outputs.ndim == 0 or outputs.shape[0] != count:
        raise UnsupportedOutput(f"asked for {count} runs, the mechanism returned an array of shape {outputs.shape}")
    if outputs.dtype.kind not in "biuf":
        return encode_rows(outputs.tolist())
    single = outputs.dtype == np.float32
    # Adding zero makes -0.0 and 0.0 one value, and one NaN stands for all of them.
    values = np.add(outputs.reshape(count, -1), 0.0, dtype=np.float64)
    nan = np.isnan(values)
    if nan.any():
        np.putmask(values, nan, np.nan)
    return Batch(np.ascontiguousarray(values), {0: NAN}, single)


def encode_columns(outputs: tuple[Any, ...], count: int) -> Batch:
    """A tuple of arrays: columns side by side."""
    parts = [encode_array(np.asarray(part), count) for part in outputs]
    names = {k: v for p in parts for k, v in p.names.items()}
    return Batch(np.hstack([p.values for p in parts]), names, all(p.single for p in parts))


def encode_groups(columns: Columns, rng: np.random.Generator) -> Batch:
    """What the sampler of a traced mechanism gives: groups of rows of one shape, put back into random order."""
    names: dict[int, str] = {0: NAN}
    parts = []
    for group in columns.groups:
        values = iter(group.values)
        leaves = [
            next(values) if leaf is HOLE else _number(math.nan if leaf == NAN_KEY else leaf, names) for leaf in group.shape.leaves
        ]
        rows = np.column_stack([np.broadcast_to(np.asarray(leaf, dtype=np.float64), (group.rows,)) for leaf in leaves])
        rows[np.isnan(rows) & (symbol_bits(rows) == 0)] = np.nan
        parts.append(Batch(rows + 0.0 if not np.isnan(rows).any() else rows, names))
    whole = joined(parts)
    return Batch(whole.values[rng.permutation(len(whole))], whole.names)


def encode_rows(outputs: list[Any]) -> Batch:
    """One output per run, of any shape: leaves in order, shorter outputs filled up."""
    if all(isinstance(x, float | int) for x in outputs):
        return encode_array(np.array(outputs, dtype=np.float64), len(outputs))
    single = all(isinstance(x, np.float32) for x in outputs)
    names: dict[int, str] = {0: NAN}
    rows = [[_number(leaf, names) for leaf in _leaves(x)] for x in outputs]
    width = max(max(map(len, rows), default=1), 1)
    if any(len(row) != width for row in rows):
        names[digest(MISSING)] = MISSING
    filler = symbol(MISSING)
    values = np.array([row + [filler] * (width - len(row)) for row in rows], dtype=np.float64)
    return Batch(values.reshape(len(rows), width), names, single)


def _leaves(output: Any) -> Iterator[Any]:
    if isinstance(output, np.ndarray):
        yield from _leaves(output.tolist())
    elif isinstance(output, list | tuple):
        for part in output:
            yield from _leaves(part)
    elif isinstance(output, Mapping):
        for key in sorted(output, key=str):
            yield str(key)
            yield from _leaves(output[key])
    elif isinstance(output, complex | np.complexfloating):
        yield from (output.real, output.imag)
    else:
        yield output


def _number(leaf: Any, names: dict[int, str]) -> float:
    if isinstance(leaf, bool | int | float | np.generic) and not isinstance(leaf, np.str_ | np.bytes_):
        value = float(leaf)
        return math.nan if value != value else value + 0.0
    if leaf is None or isinstance(leaf, str | bytes | Raised):
        name = repr(leaf)
        names[digest(name)] = name
        return symbol(name)
    raise UnsupportedOutput(
        f"the mechanism returned {leaf!r} of type {type(leaf).__name__}: an output is a number, a bool, None, a string, "
        "or a tuple, list, dict or array of those"
    )


@dataclass(frozen=True)
class Raised:
    """A run that ended in an error: an output like any other."""

    error: str

    def __repr__(self) -> str:
        return f"raised {self.error}"

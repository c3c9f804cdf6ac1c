"""Outputs as a matrix of doubles: numbers are themselves, everything else is a NaN that carries its name's digest."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.errors import UnsupportedOutput
from dpest.trace.columns import HOLE, NAN_KEY, Columns, RowsOfShape

Matrix = NDArray[np.float64]
Keys = NDArray[np.uint64]

_QUIET_NAN = np.uint64(0x7FF8_0000_0000_0000)
_MINUS_ZERO = np.uint64(1 << 63)
# A NaN of another sign or payload than Python's: NaN like any other, unless bits are read.
_UNUSUAL = np.uint64(0x7FFC_0000_0000_0000)
_EXACT = 1 << 53  # whole numbers up to here are doubles
_HUGE = 1 << 1023
_LONG_TEXT, _TEXT_READ = 32, 64  # characters: longer texts are read letter by letter as well; and how many letters
_PAYLOAD = (1 << 48) - 1  # the bits of a NaN that carry a digest; the others say that it is a quiet NaN of ours
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

    def picked(self, rows: Any) -> Batch:
        """Some of the rows."""
        return Batch(self.values[rows], self.names, self.single)

    def taken(self, columns: NDArray[np.intp] | None) -> Batch:
        """Some of the columns; all of them for None."""
        if columns is None:
            return self
        # One column more than there may be stands for those that are absent in this batch.
        wide = self.resized(max(self.width, int(columns.max()) + 1))
        return Batch(np.ascontiguousarray(wide.values[:, columns]), wide.names, self.single)

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
    bits: Keys = np.ascontiguousarray(column).view(np.uint64)
    return np.where((bits & _UNUSUAL) == _UNUSUAL, np.uint64(0), bits & np.uint64(_PAYLOAD))


def nan_payload(column: Matrix) -> Matrix:
    """What tells a NaN from Python's own: 0 for that one and for all that is none."""
    bits = np.ascontiguousarray(column).view(np.uint64)
    return np.where((bits & _UNUSUAL) == _UNUSUAL, (bits & np.uint64(0xFFFFF)).astype(np.float64) + 1, 0.0)


def comparable(bits: Keys) -> Keys:
    """Bits that are equal where values are: one zero, one NaN."""
    same = np.where(bits == _MINUS_ZERO, np.uint64(0), bits)
    return np.where((same & _UNUSUAL) == _UNUSUAL, _QUIET_NAN, same)


def _marked_nans(values: Matrix) -> None:
    """Give each NaN its mark, in place: Python's own stays, others keep a digest of their sign and payload."""
    nan = np.isnan(values)
    if not nan.any():
        return
    bits = values[nan].view(np.uint64)
    digest_ = (bits ^ (bits >> np.uint64(20)) ^ (bits >> np.uint64(43))) & np.uint64(0xFFFFF)
    values[nan] = np.where(bits == _QUIET_NAN, _QUIET_NAN, _UNUSUAL | digest_).view(np.float64)


def encode_array(outputs: NDArray[Any], count: int) -> Batch:
    """What a vectorised mechanism returned: the first axis counts the runs."""
    if outputs.ndim == 0 or outputs.shape[0] != count:
        raise UnsupportedOutput(f"asked for {count} runs, the mechanism returned an array of shape {outputs.shape}")
    if outputs.dtype.kind not in "biuf":
        return encode_rows(outputs.tolist())
    if outputs.dtype.kind in "iu" and outputs.size and (int(outputs.max()) > _EXACT or int(outputs.min()) < -_EXACT):
        return encode_rows(outputs.reshape(count, -1).tolist())
    values = np.array(outputs.reshape(count, -1), dtype=np.float64, order="C")
    _marked_nans(values)
    return Batch(values, {0: NAN}, bool(outputs.dtype == np.float32))


def encode_columns(outputs: tuple[Any, ...], count: int) -> Batch:
    """A tuple of arrays: columns side by side."""
    parts = [encode_array(np.asarray(part), count) for part in outputs]
    names = {k: v for p in parts for k, v in p.names.items()}
    return Batch(np.hstack([p.values for p in parts]), names, all(p.single for p in parts))


def encode_groups(columns: Columns) -> Batch:
    """Groups of rows of one shape, as the sampler of a traced mechanism gives them, one below the other."""
    names: dict[int, str] = {0: NAN}
    leaves = [_group_leaves(group, names) for group in columns.groups]
    width = max([1, *map(len, leaves)])
    if any(len(row) < width for row in leaves):
        names[digest(MISSING)] = MISSING
    values = np.full((columns.rows, width), symbol(MISSING))
    start = 0
    for group, row in zip(columns.groups, leaves, strict=True):
        for j, leaf in enumerate(row):
            values[start : start + group.rows, j] = leaf
        start += group.rows
    return Batch(values, names)


def _group_leaves(group: RowsOfShape, names: dict[int, str]) -> list[Any]:
    """The leaves of a group as numbers or arrays of numbers, with the keys of dicts before their values."""
    varying = iter(group.values)
    filled = (next(varying) if leaf is HOLE else math.nan if leaf == NAN_KEY else leaf for leaf in group.shape.leaves)
    leaves = list(_in_structure(group.shape.structure, filled))
    row = [_one_nan_each(x) if isinstance(x, np.ndarray) else x if type(x) is float else _number(x, names) for x in leaves]
    lost = [None if isinstance(x, np.ndarray) else _lost(x, names) for x in leaves]
    return [*row, *(x or 0.0 for x in lost)] if any(x is not None for x in lost) else row


def _in_structure(structure: Any, leaves: Iterator[Any]) -> Iterator[Any]:
    match structure:
        case None:
            yield next(leaves)
        case ("dict", keys, *parts):
            for key, part in zip(keys, parts, strict=True):
                yield str(key)
                yield from _in_structure(part, leaves)
        case ("array", _, *parts) | (_, *parts):
            for part in parts:
                yield from _in_structure(part, leaves)


def _one_nan_each(values: NDArray[Any]) -> Matrix:
    numbers = np.asarray(values, dtype=np.float64)
    nan = np.isnan(numbers)
    return np.where(nan, np.nan, numbers) if nan.any() else numbers


def encode_rows(outputs: list[Any]) -> Batch:
    """One output per run, of any shape: leaves in order, shorter outputs filled up."""
    if all(isinstance(x, float) or (isinstance(x, int) and -_EXACT <= x <= _EXACT) for x in outputs):
        return encode_array(np.array(outputs, dtype=np.float64), len(outputs))
    if outputs and all(isinstance(x, np.ndarray) and x.dtype.kind in "biuf" and x.shape == outputs[0].shape for x in outputs):
        return encode_array(np.stack(outputs), len(outputs))
    single = all(isinstance(x, np.float32) for x in outputs)
    names: dict[int, str] = {0: NAN}
    rows = [_row(x, names) for x in outputs]
    width = max(max(map(len, rows), default=1), 1)
    if any(len(row) != width for row in rows):
        names[digest(MISSING)] = MISSING
    filler = symbol(MISSING)
    values = np.array([row + [filler] * (width - len(row)) for row in rows], dtype=np.float64)
    return Batch(values.reshape(len(rows), width), names, single)


def _row(output: Any, names: dict[int, str]) -> list[float]:
    """The numbers of one output; whole numbers that are no doubles have what rounding takes from them at the end."""
    leaves = list(_leaves(output))
    row = [_number(leaf, names) for leaf in leaves]
    lost = [_lost(leaf, names) for leaf in leaves]
    return [*row, *(x or 0.0 for x in lost)] if any(x is not None for x in lost) else row


def _lost(leaf: Any, names: dict[int, str]) -> float | None:
    """What rounding to a double takes from a whole number, exactly; None if nothing."""
    if not isinstance(leaf, int) or -_EXACT <= leaf <= _EXACT:
        return None
    rest = None if abs(leaf) > _HUGE else leaf - int(float(leaf))
    if rest is not None and int(float(rest)) == rest:
        return float(rest)
    name = hashlib.blake2b(str(leaf).encode(), digest_size=12).hexdigest()
    names[digest(name)] = name
    return symbol(name)


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
    elif isinstance(output, set | frozenset):
        yield from sorted(part if isinstance(part, str) else repr(part) for part in output)
    elif isinstance(output, complex | np.complexfloating):
        yield from (output.real, output.imag)
    elif isinstance(output, Enum):
        yield str(output)
    elif is_dataclass(output) and not isinstance(output, type | Raised):
        yield from _leaves([getattr(output, field_.name) for field_ in fields(output)])
    elif isinstance(output, str | bytes) and len(output) > _LONG_TEXT:
        # Long texts hardly ever repeat: their length and their first characters are looked at too.
        yield from (output, len(output))
        yield from (ord(x) if isinstance(x, str) else x for x in output[:_TEXT_READ])
    else:
        yield output


def _number(leaf: Any, names: dict[int, str]) -> float:
    if isinstance(leaf, bool | int | float | np.generic) and not isinstance(leaf, np.str_ | np.bytes_):
        if isinstance(leaf, int) and abs(leaf) > _HUGE:
            return math.inf if leaf > 0 else -math.inf
        value = float(leaf)
        return value if value == value else _one_nan(value)
    if leaf is None or isinstance(leaf, str | bytes | Raised):
        name = repr(leaf)
        names[digest(name)] = name
        return symbol(name)
    raise UnsupportedOutput(
        f"the mechanism returned {leaf!r} of type {type(leaf).__name__}: an output is a number, a bool, None, a string, "
        "or a tuple, list, dict, set or array of those"
    )


def _one_nan(value: float) -> float:
    marked = np.array([value])
    _marked_nans(marked)
    return float(marked[0])


@dataclass(frozen=True)
class Raised:
    """A run that ended in an error: an output like any other."""

    error: str

    def __repr__(self) -> str:
        return f"raised {self.error}"

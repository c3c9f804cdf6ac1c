"""What was found as bytes, and back: numbers, texts, containers, arrays, and the frozen data classes that the reader names.

Reading runs no code but the constructors of those classes, so that a file from elsewhere can be wrong but cannot do harm.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from dpest.errors import CheckpointError

_NUMBERS = "biuf"
_LENGTH = 8  # bytes of the number that says how long the head is


@dataclass(frozen=True)
class Storage:
    """Writes and reads values; `known` are the data classes and enumerations that may occur in them."""

    known: tuple[type, ...] = ()

    def dumps(self, value: Any) -> bytes:
        """The value as bytes."""
        arrays: list[bytes] = []
        head = json.dumps(self._written(value, arrays), allow_nan=False).encode()
        return b"".join([len(head).to_bytes(_LENGTH, "big"), head, *arrays])

    def loads(self, content: bytes) -> Any:
        """The inverse of `dumps`."""
        length = int.from_bytes(content[:_LENGTH], "big")
        try:
            return self._read(json.loads(content[_LENGTH : _LENGTH + length]), content[_LENGTH + length :])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise CheckpointError(f"a stored chunk cannot be read ({type(error).__name__}: {error})") from error

    def _written(self, value: Any, arrays: list[bytes]) -> Any:
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, list):
            return [self._written(x, arrays) for x in value]
        if type(value) is tuple:
            return {"tuple": [self._written(x, arrays) for x in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self._written(k, arrays), self._written(v, arrays)] for k, v in value.items()]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in _NUMBERS:
            return self._array(np.ascontiguousarray(value), isinstance(value, np.generic), arrays)
        return self._object(value, arrays)

    def _array(self, value: Any, single: bool, arrays: list[bytes]) -> dict[str, Any]:
        start = sum(map(len, arrays))
        arrays.append(value.tobytes())
        return {"array": [start, len(arrays[-1]), value.dtype.str, [] if single else list(value.shape)], "single": single}

    def _object(self, value: Any, arrays: list[bytes]) -> dict[str, Any]:
        kind = type(value)
        if kind not in self.known:
            raise CheckpointError(
                f"outputs of type {kind.__name__} cannot be kept in a checkpoint: numbers, bools, None, texts, and containers "
                "and arrays of those can; return one of them, or run without checkpoint="
            )
        if isinstance(value, Enum):
            return {"enum": kind.__name__, "value": self._written(value.value, arrays)}
        assert is_dataclass(value)
        return {"class": kind.__name__, "fields": {f.name: self._written(getattr(value, f.name), arrays) for f in fields(value)}}

    def _read(self, value: Any, arrays: bytes) -> Any:
        if isinstance(value, list):
            return [self._read(x, arrays) for x in value]
        if not isinstance(value, dict):
            return value
        match value:
            case {"float": text}:
                return float(text)
            case {"tuple": parts}:
                return tuple(self._read(x, arrays) for x in parts)
            case {"dict": pairs}:
                return {self._read(k, arrays): self._read(v, arrays) for k, v in pairs}
            case {"bytes": text}:
                return bytes.fromhex(text)
            case {"array": place, "single": single}:
                return _array_at(place, bool(single), arrays)
            case {"enum": name, "value": inner}:
                return self._class(name)(self._read(inner, arrays))
            case {"class": name, "fields": inside}:
                return self._class(name)(**{k: self._read(v, arrays) for k, v in inside.items()})
        raise ValueError(f"no value is written as {sorted(value)}")

    def _class(self, name: str) -> Any:
        for kind in self.known:
            if kind.__name__ == name:
                return kind
        raise ValueError(f"no class {name!r} is expected here")


def _array_at(place: Sequence[Any], single: bool, arrays: bytes) -> Any:
    start, length, text, shape = place
    kind = np.dtype(text)
    if kind.kind not in _NUMBERS:
        raise ValueError(f"arrays of {text!r} are not stored")
    found = np.frombuffer(arrays[start : start + length], dtype=kind).reshape(shape).copy()
    return found[()] if single else found

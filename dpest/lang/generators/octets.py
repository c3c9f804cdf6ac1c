"""Random bytes that are read as numbers: `int.from_bytes(os.urandom(4))`, `struct.unpack("<I", secrets.token_bytes(4))`."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

from dpest.errors import UnsupportedOperation
from dpest.lang.dist import RUN

_NUMBERS = re.compile(r"[@=<>!]?(\d*)([BHILQ])")  # one kind of number without a sign, and how many of them
_MOST = 64  # bytes that are read one by one
_UNPACK = struct.unpack


class RandomBytes:
    """Some random bytes: nothing is known of them but the number that they are read as."""

    __slots__ = ("_draw", "_read", "size")

    def __init__(self, size: int, draw: Callable[[int, int], Any]) -> None:
        self.size = size
        self._draw = draw  # a whole number from the first up to, but without, the second
        self._read: tuple[Any, Any] | None = None

    def __len__(self) -> int:
        return self.size

    def read(self, form: Any, count: int, size: int) -> list[Any]:
        """So many whole numbers of some bytes each; the same ones when they are read in the same form again."""
        if self._read is None:
            self._read = form, [self._draw(0, 256**size) for _ in range(count)]
        if self._read[0] != form:
            raise _refused()
        return list(self._read[1])

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, int) or self.size > _MOST:
            raise _refused()
        return self.read("B", self.size, 1)[place]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(self.size))

    def _other_use(self, *_: Any) -> Any:
        raise _refused()

    __eq__ = __add__ = __radd__ = __bytes__ = __getattr__ = __hash__ = __reduce__ = _other_use


def from_bytes(data: Any, byteorder: str = "big", *, signed: bool = False) -> Any:
    """`int.from_bytes`."""
    if not isinstance(data, RandomBytes):
        return int.from_bytes(data, byteorder, signed=signed)  # type: ignore[arg-type]
    (number,) = data.read((byteorder, signed), 1, data.size)
    return number - 256**data.size // 2 if signed else number


def unpack(form: Any, data: Any) -> Any:
    """`struct.unpack`."""
    if RUN.get() is None or not isinstance(data, RandomBytes):
        return _UNPACK(form, data)
    found = _NUMBERS.fullmatch(form) if type(form) is str else None
    if found is None:
        raise _refused()
    if struct.calcsize(form) != data.size:
        raise struct.error(f"unpack requires a buffer of {struct.calcsize(form)} bytes")
    count = int(found[1] or 1)
    return tuple(data.read(form, count, data.size // count))


def _refused() -> UnsupportedOperation:
    return UnsupportedOperation(
        "random bytes are followed where they are read in one way: as a number, int.from_bytes(secrets.token_bytes(4), 'big'), "
        "with struct.unpack, or one by one; else write secrets.randbits(32), which draws a number"
    )


OCTETS: dict[int, Any] = {id(_UNPACK): unpack}

"""Text that is put together piece by piece: `io.StringIO`, `print(..., file=...)` and the writers of the csv module.

A buffer keeps what is written to it as parts, and gives them back as one text; once a random value is among them, nothing else
can be asked of it. A row of a table is written by Python's own writer, with a mark in place of each random value.
"""

from __future__ import annotations

import builtins
import csv
import io
import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpest.errors import NoText
from dpest.lang.dist import Dist
from dpest.lang.not_plain import TEXT
from dpest.lang.run import RUN
from dpest.lang.text import Text, as_text, is_random, side_by_side, text

_PRINT, _BUFFER, _WRITER, _DICT_WRITER = builtins.print, io.StringIO, csv.writer, csv.DictWriter
_MARK = re.compile("\ue000([0-9]+)\ue001")  # of characters that are nobody's
_IN_NUMBERS = frozenset("0123456789+-.einfa")


class Buffer(io.StringIO):
    """A buffer that random values may be written to, one after another."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.parts: list[Any] = []  # what was written up to the last random value

    def write(self, part: Any) -> int:
        """Writes a text; how long a random one is, nobody knows."""
        if not is_random(part):
            return super().write(part)
        if super().tell() != len(super().getvalue()):
            raise NoText(TEXT)  # it would be written over what is there
        self.parts += [super().getvalue(), as_text(part)]
        super().seek(0)
        super().truncate()
        return 0

    def writelines(self, lines: Iterable[Any]) -> None:
        """Writes texts."""
        for line in lines:
            self.write(line)

    def getvalue(self) -> Any:
        """All that was written."""
        return side_by_side((*self.parts, super().getvalue())) if self.parts else super().getvalue()


def _only_without_random(name: str) -> Any:
    def method(self: Buffer, *args: Any) -> Any:
        if self.parts:
            raise NoText(TEXT)
        return getattr(_BUFFER, name)(self, *args)

    return method


for _name in ("read", "readline", "readlines", "seek", "tell", "truncate", "__iter__", "__next__"):
    setattr(Buffer, _name, _only_without_random(_name))


class _Rows:
    """A writer of tables."""

    def __init__(self, to: Any, *args: Any, **keywords: Any) -> None:
        self._to = to
        self._line = _BUFFER(newline="")
        self._plain = _WRITER(self._line, *args, **keywords)
        self.dialect = self._plain.dialect

    def writerow(self, row: Iterable[Any]) -> Any:
        """One row, its numbers as Python's own writer would write them."""
        held: list[Any] = []
        self._plain.writerow([self._marked(x, held) for x in row])
        line = self._line.getvalue()
        self._line.seek(0)
        self._line.truncate()
        return self._to.write(text(*((held[int(x)],) if k % 2 else x for k, x in enumerate(_MARK.split(line)))))

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Rows."""
        for row in rows:
            self.writerow(row)

    def _marked(self, x: Any, held: list[Any]) -> Any:
        if not is_random(x):
            return x
        own = {self.dialect.delimiter, self.dialect.quotechar, self.dialect.escapechar}
        # Without quotes only; what is text gets quotes where a letter of it wants them.
        if type(x) is Text or self.dialect.quoting not in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE) or own & _IN_NUMBERS:
            raise NoText(TEXT)
        held.append(x)
        return f"\ue000{len(held) - 1}\ue001"


def _named_rows(
    f: Any, fieldnames: Any, restval: Any = "", extrasaction: Any = "raise", dialect: Any = "excel", *args: Any, **keywords: Any
) -> Any:
    """A writer of tables whose rows are dicts."""
    out: Any = _DICT_WRITER(_BUFFER(), fieldnames, restval, extrasaction)
    out.writer = _Rows(f, dialect, *args, **keywords)
    return out


_SHOWN = (str, bytes, int, float, complex, type(None), np.generic, Dist)


def _is_shown_only(x: Any, depth: int = 6) -> bool:
    """Whether a value does nothing when its text is asked for: numbers, strings, random values, and containers of them."""
    if type(x) is Text or isinstance(x, _SHOWN):
        return True
    if depth == 0:
        return False
    inside = x.flat if type(x) is np.ndarray else [*x, *x.values()] if type(x) is dict else x
    return type(x) in (np.ndarray, dict, list, tuple, set) and all(_is_shown_only(v, depth - 1) for v in inside)


def _printed(*values: Any, **options: Any) -> None:
    """`print`: nothing is shown while a mechanism is traced, which runs it again and again, on stand-ins and on numbers."""
    to = options.get("file")
    if RUN.get() is not None and (to is None or to in (sys.stdout, sys.stderr)) and all(map(_is_shown_only, values)):
        return
    if isinstance(to, Buffer) and any(map(is_random, values)):
        between, end = (options.get(key) for key in ("sep", "end"))
        parts = [y for x in values for y in (" " if between is None else between, (x,) if is_random(x) else str(x))][1:]
        to.write(text(*parts, "\n" if end is None else end))
        return
    _PRINT(*values, **options)


# By what they replace.
BUFFERS: dict[int, Any] = {
    id(_PRINT): _printed,
    id(_BUFFER): Buffer,
    id(_WRITER): _Rows,
    id(_DICT_WRITER): _named_rows,
}

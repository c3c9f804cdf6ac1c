"""Methods of pandas that insist on plain numbers or compare them one by one, stood in for while a mechanism is traced."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dpest.lang.generators.open_arrays import is_random, opened
from dpest.lang.generators.places import Place
from dpest.lang.run import RUN


def pandas_places() -> Iterator[tuple[Place, Any]]:
    """The methods of pandas's columns and tables and what goes there, where pandas is loaded."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    for name, new in _METHODS.items():
        for kind in (pandas.Series,) if name in _OF_COLUMNS else (pandas.Series, pandas.DataFrame):
            cls = next((c for c in kind.__mro__ if name in vars(c)), None)
            if cls is not None:
                real = vars(cls)[name]
                yield Place((id(cls), name), real, functools.partial(setattr, cls, name)), _standing_for(real, new)


@functools.cache
def _standing_for(real: Any, new: Callable[..., Any]) -> Any:
    @functools.wraps(real)
    def method(self: Any, *args: Any, **options: Any) -> Any:
        inside = [self] if self.ndim == 1 else [column for _, column in self.items()]
        if RUN.get() is None or not _takes(new, args, options) or not any(is_random(x.to_numpy()) for x in inside):
            return real(self, *args, **options)
        if self.ndim == 1:
            return new(self, *args, **options)
        return self.apply(getattr(type(inside[0]), real.__name__), args=args, **options)

    return method


def _takes(new: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether a stand-in knows these options; a table gives those for each column (a dict) to the columns itself."""
    try:
        inspect.signature(new).bind(None, *args, **options)
    except TypeError:
        return False
    return not any(isinstance(x, Mapping) or np.ndim(x) for x in (*args, *options.values()))


def _like(column: Any, values: Any) -> Any:
    return type(column)(np.asarray(values, dtype=object), index=column.index, name=column.name)


def _reduced(name: str) -> Callable[..., Any]:
    return lambda column: getattr(np, name)(column.dropna().to_numpy())


def _spread(name: str) -> Callable[..., Any]:
    return lambda column, ddof=1: getattr(np, name)(column.dropna().to_numpy(), ddof=ddof)


def _astype(column: Any, dtype: Any, copy: Any = None, errors: str = "raise") -> Any:
    return _like(column, opened(column.to_numpy()).astype(dtype))


def _round(column: Any, decimals: int = 0) -> Any:
    return _like(column, np.round(column.to_numpy(), decimals))


def _clip(column: Any, lower: Any = None, upper: Any = None) -> Any:
    return _like(column, np.clip(column.to_numpy(), lower, upper))


def _first(sign: int) -> Callable[..., Any]:
    def first(column: Any, n: int = 5) -> Any:
        order = np.argsort(sign * column.to_numpy(), kind="stable")[:n]
        return column.iloc[[int(k) for k in order]]

    return first


def _label_of(name: str) -> Callable[..., Any]:
    return lambda column: column.index[int(getattr(np, name)(column.to_numpy()))]


_OF_COLUMNS = ("nlargest", "nsmallest")  # a table orders its rows by a column
_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _reduced(name) for name in ("mean", "median", "max", "min")},
    **{name: _spread(name) for name in ("std", "var")},
    "astype": _astype,
    "round": _round,  # a table leaves columns of objects as they are
    "clip": _clip,
    "nlargest": _first(-1),
    "nsmallest": _first(1),
    "idxmax": _label_of("argmax"),
    "idxmin": _label_of("argmin"),
}

"""Arrays that noise can be written into: `z = np.zeros(3); z[0] = rng.laplace()`, `counts += rng.laplace(size=3)`.

NumPy's arrays of floats hold plain numbers only, and a random value is none. Where a mechanism fails for that reason it is run
again with arrays of objects in their place. Without a random value among their elements these do what NumPy does with
the numbers; with one, they work element by element. Where places are wanted (`rows[rng.integers(0, n, size=2)]`,
`np.bincount`), random ones with listed points fork the run.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from dpest.errors import RandomTruth
from dpest.lang.dist import Dist
from dpest.lang.generators.conversions import CONVERSIONS
from dpest.lang.generators.counts import BINCOUNT, bincount
from dpest.lang.narrow import check_stored
from dpest.lang.nodes import All, Compare, Not, is_whole_as_written
from dpest.lang.plain_numbers import PlainNumber, Truth, bare, on_own_numbers
from dpest.lang.points import has_listed_points
from dpest.lang.run import RUN
from dpest.lang.shuffled import Shuffled
from dpest.lang.ufuncs import boxed
from dpest.numerics.setting import Setting

_ARRAY, _AS_ARRAY = np.array, np.asarray  # NumPy's own, whatever stands under their names during a run
_OPEN: ContextVar[bool] = ContextVar("dpest_open_arrays", default=False)


def open_arrays() -> AbstractContextManager[bool]:
    """Inside the block, the arrays of a mechanism can hold random values."""
    return Setting(_OPEN, True)


def in_force() -> bool:
    """Whether arrays are open now, inside a run."""
    return _OPEN.get() and RUN.get() is not None and not on_own_numbers()


class OpenArray(np.ndarray[Any, Any]):
    """An array of objects that is an array of numbers wherever all of its elements are."""

    whole: bool | None  # whether NumPy's array would hold whole numbers; None where that is not known
    narrow: Any  # the type of NumPy's array, where that is known

    def __array_finalize__(self, obj: Any) -> None:
        self.whole, self.narrow = getattr(obj, "whole", None), getattr(obj, "narrow", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "at":
            return _changed_at(ufunc, *inputs)
        out = options.pop("out", None)
        target = None if out is None else out[0]
        if target is not None and "where" in options:  # elsewhere the target stays as it is
            options["out"] = _objects(target).copy() if is_random([target, *inputs]) else native(target)
        found = self._applied(ufunc, method, inputs, options)
        if target is None:
            return opened(found)
        if isinstance(target, OpenArray) and target.whole is not False and not _all_whole(found):
            raise TypeError(f"Cannot cast ufunc {ufunc.__name__!r} output from float to int")  # as NumPy does
        target[...] = found  # a plain array of floats refuses noise, as before
        return target

    def _applied(self, ufunc: Any, method: str, inputs: Any, options: Any) -> Any:
        shown = _objects if any(map(is_random, (*inputs, options.get("out")))) else native
        return getattr(ufunc, method)(*map(shown, inputs), **options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if is_random([args, list(kwargs.values())]):
            found = func(*_mapped(args, _objects), **{k: _mapped(v, _objects) for k, v in kwargs.items()})
        else:
            with _numbers_of() as numbers:
                found = func(*_mapped(args, numbers), **{k: _mapped(v, numbers) for k, v in kwargs.items()})
        return tuple(map(opened, found)) if isinstance(found, tuple) else opened(found)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_index(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.whole and type(value) is not Shuffled:
            value = _each(CONVERSIONS[id(int)], boxed(_objects(value)))  # NumPy cuts off what is behind the point
        elif self.whole is None and type(value) is not Shuffled and not _all_whole(value) and _all_whole(self):
            raise TypeError("a number with a fraction is written into an array that may hold whole numbers only")
        if type(value) is not Shuffled:  # it was in the array before
            _check_stored(value, self.narrow)
        super().__setitem__(_index(key), value)

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """The elements rounded as Python's `round` does it, which is as NumPy does."""
        if not is_random(self):
            return opened(native(self).round(decimals, out=out))
        found = opened(_each(lambda x: round(x if has_noise(x) else float(x), decimals), _objects(self)))
        if out is None:
            return found
        out[...] = found
        return out

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """The elements as numbers of another kind; random ones as Python's `int` and `float` have them."""
        if not is_random(self):
            return opened(native(self).astype(dtype, *args, **options))
        kind = np.dtype(dtype).kind
        make = CONVERSIONS[id(int if kind in "iu" else float)] if kind in "iuf" else lambda x: x
        found = opened(_each(make, _objects(self)))
        _check_stored(found, np.dtype(dtype))
        if isinstance(found, OpenArray):
            found.whole, found.narrow = _WHOLE.get(kind), np.dtype(dtype)
        return found


def _check_stored(values: Any, dtype: Any) -> None:
    """Refuses random values that an array of few bits may change."""
    for x in np.ravel(boxed(_objects(values))) if dtype is not None else ():
        if isinstance(x, Dist):
            check_stored(x.node, dtype)


_WHOLE = {"i": True, "u": True, "f": False}  # by the kind of a type of NumPy's


@contextmanager
def _numbers_of() -> Iterator[Callable[[Any], Any]]:
    """Open arrays as arrays of numbers; what a function writes into these is written into the open ones afterwards."""
    shown: list[tuple[OpenArray, Any, Any]] = []

    def numbers(x: Any) -> Any:
        if not isinstance(x, OpenArray):
            return x
        shown.append((x, native(x), native(x)))
        return shown[-1][1]

    yield numbers
    for array, after, before in shown:
        if after.tobytes() != before.tobytes():  # np.copyto, np.put, `out=` and their like
            array[...] = after


def _changed_at(ufunc: Any, target: Any, places: Any, *values: Any) -> None:
    """numpy.add.at and its like, which change an array where it is."""
    if isinstance(target, OpenArray) and target.whole is not False and not all(map(_all_whole, values)):
        raise TypeError(f"Cannot cast ufunc {ufunc.__name__!r} output from float to int")  # as NumPy does
    if is_random([places]):
        places = _places(places)
    if is_random([target, *values]):
        flat = np.arange(target.size).reshape(target.shape)[native(places)]
        items = [np.broadcast_to(boxed(_objects(v)), flat.shape).ravel() for v in values]
        held = _objects(target).reshape(-1)
        for k, at in enumerate(flat.ravel()):  # ufunc.at itself leaves an error behind where elements are random
            held[at] = ufunc(held[at], *(v[k] for v in items))
        target[...] = held.reshape(target.shape)
        return
    with _numbers_of() as numbers:
        ufunc.at(numbers(target), native(places), *map(native, values))


def _each(change: Callable[[Any], Any], x: Any) -> Any:
    """A function of each element; what it does inside is no floating-point error of the array's."""
    with np.errstate(all="ignore"):
        return np.frompyfunc(change, 1, 1)(x)


def _all_whole(x: Any) -> bool:
    """Whether all elements are whole numbers as far as their kind tells."""
    items = _AS_ARRAY(_objects(x), dtype=object).ravel()
    return all(is_whole_as_written(v.node) if isinstance(v, Dist) else isinstance(v, int | np.integer) for v in items)


def has_noise(x: Any) -> bool:
    """Whether a value is random, or a plain number that stands for a random one."""
    return isinstance(x, Dist | PlainNumber)


def is_random(x: Any) -> bool:
    """Whether random values, or the plain ones that stand for them, are among the elements."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(map(has_noise, x.ravel().tolist()))
    return any(map(is_random, x)) if isinstance(x, list | tuple) else has_noise(x)


def _mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    return type(x)(_mapped(v, change) for v in x) if type(x) in (list, tuple) else change(x)


def native(x: Any) -> Any:
    """An open array as the array of numbers that it is; anything else as it is."""
    return _ARRAY(x.tolist()).reshape(x.shape) if isinstance(x, OpenArray) else x


def _objects(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, OpenArray) else x


def opened(x: Any) -> Any:
    """An array of numbers as one that can hold random values; anything else, masks among it, as it is."""
    if not isinstance(x, np.ndarray) or isinstance(x, OpenArray) or x.dtype.kind not in "iufO" or not x.ndim:
        return x
    out = x.astype(object).view(OpenArray)
    out.whole = _WHOLE.get(x.dtype.kind)
    out.narrow = x.dtype if out.whole is not None else None
    return out


def drawn(x: Any) -> Any:
    """An array of draws, open where arrays are: a random value may be rounded to whole numbers, or a number take its place."""
    if not in_force():
        return x
    out = opened(x)
    out.whole = _all_whole(x)
    return out


def opened_data(x: Any) -> Any:
    """The data of a mechanism with its arrays open, where they are."""
    if not _OPEN.get() or on_own_numbers():
        return x
    if type(x) in (list, tuple):
        return type(x)(map(opened_data, x))
    return {k: opened_data(v) for k, v in x.items()} if type(x) is dict else opened(x)


def _places(x: Any) -> Any:
    """Places as plain numbers: random ones fork the run."""
    if not is_random(x):
        return native(x)
    items = _AS_ARRAY(_objects(x), dtype=object)
    numbers = [bare(v) if isinstance(v, PlainNumber) else v.__index__() for v in items.ravel()]
    return _ARRAY(numbers, dtype=int).reshape(items.shape)


def _index(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_index, key))
    if not isinstance(key, np.ndarray) or key.dtype != object:
        return key
    truths = any(isinstance(v, Truth) or (isinstance(v, Dist) and isinstance(v.node, Compare | Not | All)) for v in key.ravel())
    return _ARRAY([bool(v) for v in key.ravel()]).reshape(key.shape) if truths else _places(key)


_INSIDE = ("dpest.lang.", "dpest.laws.", "numpy.", "scipy.")  # whose own arrays stay what they are


def _opening(real: Any) -> Any:
    """A function of NumPy that makes an array, which is open where arrays are."""

    def function(*args: Any, **options: Any) -> Any:
        if RUN.get() is None or sys._getframe(1).f_globals.get("__name__", "").startswith(_INSIDE):
            return real(*args, **options)
        if real in _OF_TYPE and len(args) <= 2 and _wants_numbers(args, options):
            if in_force():
                return _of_type(args[0], args[1] if len(args) == 2 else options["dtype"])
            if not all(map(_is_listed, boxed(args[0]).ravel())):
                raise RandomTruth("random values are put into an array of plain numbers")  # the door opens arrays then
        if not in_force():
            return real(*args, **options)
        found = real(*args, **options)
        return tuple(map(opened, found)) if isinstance(found, tuple) else opened(found)

    function.__name__ = function.__qualname__ = real.__name__
    return function


def _wants_numbers(args: tuple[Any, ...], options: Any) -> bool:
    """Whether an array of floats or of whole numbers is made of random values."""
    wanted = args[1] if len(args) == 2 else options.get("dtype")
    if wanted is None or set(options) - {"dtype"} or not isinstance(args[0], list | tuple | np.ndarray):
        return False
    return np.dtype(wanted).kind in "iuf" and is_random(args[0])


def _is_listed(x: Any) -> bool:
    return not isinstance(x, Dist) or has_listed_points(x.node)


def _of_type(values: Any, dtype: Any) -> Any:
    return opened(_ARRAY(_mapped(values, _objects), dtype=object)).astype(dtype)


def fromiter(values: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
    """numpy.fromiter: where arrays are open, the values may be random."""
    if not in_force():
        return _FROM_ITERATOR(values, dtype, count, **options)
    items = [*(values if count < 0 else itertools.islice(values, count))]
    return _of_type(items, dtype) if is_random(items) else opened(_FROM_ITERATOR(items, dtype, **options))


_FROM_ITERATOR = np.fromiter
_OF_TYPE = (np.array, np.asarray)
_MAKE = ("zeros", "ones", "full", "empty", "array", "asarray", "zeros_like", "ones_like", "full_like", "empty_like", "copy")
_MAKE_MORE = ("arange", "linspace", "histogram", "eye", "identity", "repeat", "tile", "concatenate", "stack")
OPENING: dict[int, Any] = {id(getattr(np, name)): _opening(getattr(np, name)) for name in (*_MAKE, *_MAKE_MORE)}
OPENING[id(BINCOUNT)] = _opening(bincount)
OPENING[id(_FROM_ITERATOR)] = fromiter

"""Text that random values are written into: `f"{n} people"` tells what n tells.

A value's digits are not known while a mechanism is traced, and a text that holds them is not one string. Where the text is only
handed on, put together with others and released, it is kept as its fixed parts and the values between them. Everything else
that can be asked of a string (its length, whether it equals another one) is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from string import Formatter
from typing import Any

from dpest.errors import NoText
from dpest.lang.bit import Bit
from dpest.lang.chosen import chosen, is_text
from dpest.lang.dist import Dist
from dpest.lang.nodes import TRUTHS, Draw, Extreme, Function, Linear, Product, ancestors, draws_of, is_node
from dpest.lang.not_plain import TEXT
from dpest.lang.one_text import left_random, text_at, texts_of
from dpest.lang.points import has_text, listed_points, of_whole_numbers
from dpest.lang.run import RUN

# How a number is aligned, its sign, zeros in front, its width, what stands between thousands, digits behind the point, its form.
_SPEC = re.compile(r"([<>=^]?)([+ -]?)(0?)(\d{0,2})([,_]?)(?:\.(\d{1,2}))?([fd%]?)")


@dataclass(frozen=True)
class InText:
    """How a value stands in a text: as a whole number, as a float with all its digits, or with some digits behind the point."""

    digits: int | None  # None for all of them; -1 for those of a whole number
    spec: str = ""  # the format
    form: str = "f"  # of digits behind the point: "f", "%" for hundred times as much, "round" for what `round(x, digits)` gives
    loose: bool = False  # whether there may be spaces around it, or commas in it
    point: bool | None = None  # whether it is written with a point or an exponent; None where it may or may not

    @property
    def leaves(self) -> int:
        """How many values tell what the text tells: minus zero is written in another way than zero."""
        return 2 if self.digits is not None and self.digits >= 0 else 1


@dataclass(frozen=True)
class InWord:
    """One of several texts of one length, as a part of a text."""

    length: int
    leaves = 1
    loose = False


def _refused(*_: Any, **__: Any) -> Any:
    raise NoText(TEXT)


class Text:
    """Fixed parts, and random values between them."""

    __slots__ = ("parts",)
    __class__ = property(_refused)  # isinstance(text, str) asks for it

    def __init__(self, parts: Iterable[Any]) -> None:
        joined: list[Any] = []
        for x in parts:
            if type(x) is str and joined and type(joined[-1]) is str:
                joined[-1] += x
            elif x != "" or type(x) is not str:
                joined.append(x)
        self.parts = tuple(joined)  # strings, and pairs (how it is written, values)

    def __add__(self, other: Any) -> Text:
        return side_by_side((self, other))

    def __radd__(self, other: Any) -> Text:
        return side_by_side((other, self))

    def __reduce__(self) -> Any:
        raise NoText(TEXT)


for _name in (
    *("eq", "ne", "lt", "le", "gt", "ge", "bool", "hash", "len", "iter", "contains", "getitem", "str", "repr", "format"),
    *("mul", "rmul", "mod", "rmod", "getattr", "float", "int", "index", "copy", "deepcopy"),
):
    setattr(Text, f"__{_name}__", _refused)


def _parts(x: Any) -> tuple[Any, ...]:
    if type(x) is Text:
        return x.parts
    return (x,) if type(x) is str else _word(x) if is_word(x) else _refused()


def side_by_side(parts: Iterable[Any]) -> Text:
    """Several texts as one."""
    return Text(y for x in parts for y in _parts(x))


def is_word(x: Any) -> bool:
    """Whether a value is one of several texts."""
    return type(x) is Dist and is_text(x.node)


def _word(x: Dist) -> tuple[Any, ...]:
    """A part that is one of several texts; refused where their lengths differ, so that nobody can tell where it ends."""
    lengths = {len(word) for word in texts_of(x.node)}
    return ((InWord(lengths.pop()), (x.node,)),) if len(lengths) == 1 else _refused()


def text(*parts: Any) -> Any:
    """An f-string: strings, and triples of a value, how it is converted and its format."""
    found = [x if type(x) is str else written(*x) for x in parts]
    if all(type(x) is str for x in found):
        return "".join(found)
    return side_by_side(found)


_CONVERTED: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def written(value: Any, conversion: str = "", spec: Any = "") -> Any:
    """One value as text."""
    if type(value) is Text:
        return value if not spec and conversion in ("", "s") else _refused()
    if is_word(value):
        return Text(_word(value)) if not spec and conversion in ("", "s") else _refused()
    if not spec and (found := _digit(value)) is not None:
        return Text(_word(found)) if is_word(found) else found
    if not isinstance(value, Dist) or has_text(value, on_path=False) or type(spec) is not str:
        return format(_CONVERTED[conversion](value) if conversion else value, spec)
    return Text([_piece(value, "" if conversion else spec, bool(spec) and bool(conversion))])


def _digit(value: Any) -> Any:
    """The text of a number that has one digit, as one of several texts; None for others, and where the run follows each."""
    if type(value) is Bit:
        return Dist(chosen(value.node, "1", "0")) if left_random() else None
    if type(value) is Text or not isinstance(value, Dist) or not has_text(value, on_path=False):
        return None
    points = sorted(listed_points(value.node) or ())
    if not 1 < len(points) <= 10 or points[0] < 0 or points[-1] > 9 or any(x.denominator != 1 for x in points):
        return None
    return text_at([str(k) for k in range(int(points[-1]) + 1)], value) if left_random() else None


def _piece(value: Dist, spec: str, odd: bool) -> tuple[InText, tuple[Any, ...]]:
    """How a random value stands in a text; refused where its type is not known, or two values may have one text."""
    if odd:
        _refused()
    found = _SPEC.fullmatch(spec) or _refused()
    align, sign, zeros, width, between, digits, form = found.groups()
    loose = bool(align or sign == " " or between or (width and not zeros))
    if _is_whole(value.node):
        return (InText(-1, spec, "d", loose, point=False), (value.node,)) if not digits and form in ("", "d") else _refused()
    rounded: Any = getattr(value.node, "written", None) or (None, ())
    as_it_is = not (digits or form or width or align)  # but for a sign, and what stands between thousands
    if rounded[0] is round and rounded[1][1] > 0 and _is_real(rounded[1][0]):
        inner = Dist(rounded[1][0])
        if as_it_is:
            return _with_digits(inner, InText(rounded[1][1], spec, "round", loose, _pointed(inner.node)))
        if form == "f" and digits and int(digits) == rounded[1][1]:  # the same digits once more
            return _with_digits(inner, InText(int(digits), spec, form, loose, point=True))
    if not _is_real(value.node):
        _refused()
    if digits and form in ("f", "%"):
        return _with_digits(value, InText(int(digits), spec, form, loose, point=int(digits) > 0))
    return (InText(None, spec, loose=loose, point=_pointed(value.node)), (value.node,)) if as_it_is else _refused()


def _with_digits(value: Dist, kind: InText) -> tuple[InText, tuple[Any, ...]]:
    """The digits of a value as a whole number, and whether a minus sign stands before them."""
    steps: Any = round(value * 10 ** ((kind.digits or 0) + 2 * (kind.form == "%")))
    below: Any = value < 0
    return kind, tuple(x.node if isinstance(x, Dist) else x for x in (steps, below))


def number_of(x: Text) -> Any:
    """The number that is written in a text, for `float(f"{x:.2f}")`: one value, and nothing around it."""
    if len(x.parts) != 1 or type(x.parts[0]) is str or x.parts[0][0].form == "%" or "," in x.parts[0][0].spec:
        return _refused()
    kind, values = x.parts[0]
    return Dist(values[0]) / 10**kind.digits if (kind.digits or 0) > 0 else Dist(values[0])


def _is_whole(node: Any) -> bool:
    """Whether a value is an int of Python's."""
    return not isinstance(node, TRUTHS) and of_whole_numbers(node, frozenset(getattr(RUN.get(), "ints", {})))


def _is_real(node: Any) -> bool:
    """Whether a value is a float with a density, or one that is cut off at a number: equal ones have one text."""
    match node:
        case Draw(law=law):
            return not law.discrete
        case Function(value=value):  # strictly monotone
            return _is_real(value)
        case Linear(terms=terms):
            return _any_is_real([n for n, _ in terms])
        case Product(left=left, right=right):
            signs = [x for x in (left, right) if isinstance(x, Draw) and 0 not in getattr(x.law, "points", (0,))]
            return bool(signs) and _any_is_real([left, right])
        case Extreme(values=values):
            plain = [x for x in values if not is_node(x)]
            return len(plain) <= 1 and all(_is_real(x) for x in values if is_node(x))
    return False


def _pointed(real: Any) -> bool | None:
    """Whether a float's text has a point or an exponent; None for what may be the 0 of `max(0, x)`, which is an int."""
    return None if any(isinstance(x, Extreme) for x in ancestors(real)) else True


def _any_is_real(parts: list[Any]) -> bool:
    """Whether one of several values is a float with a density, and the others do not depend on it."""
    draws = [set(map(id, draws_of(x))) for x in parts]
    apart = [sum(x in other for other in draws) == 1 for own in draws for x in own]
    return all(apart) and any(map(_is_real, parts))


def as_int(real: Any) -> Any:
    """`int`, `round` and their like, which give an int: the run remembers it."""

    def function(*args: Any, **keywords: Any) -> Any:
        found = real(*args, **keywords)
        known = getattr(RUN.get(), "ints", None)
        if known is not None and isinstance(found, Dist) and len(args) == 1 and not keywords and is_node(found.node):
            known[id(found.node)] = found.node
        return found

    return function


# -- functions of Python's ---------------------------------------------------------------------------------------------


def has_random(x: Any) -> bool:
    """Whether what JSON can hold has a random value in it."""
    if is_random(x):
        return True
    return isinstance(x, dict | list | tuple) and any(map(has_random, x.values() if isinstance(x, dict) else x))


def as_text(*args: Any, **keywords: Any) -> Any:
    """`str` of a value."""
    if len(args) == 1 and not keywords and is_random(args[0]):
        found = _digit(args[0])
        return written(args[0]) if found is None else found
    return str(*args, **keywords)


def formatted(value: Any, spec: str = "") -> Any:
    """`format` of a value."""
    return written(value, "", spec)


def joined(between: str) -> Any:
    """The method `join` of a string."""

    def join(items: Iterable[Any]) -> Any:
        found = [*items]
        if not any(type(x) is Text or is_word(x) for x in found):
            return between.join(found)
        out: list[Any] = []
        for k, x in enumerate(found):
            out += [between, *_parts(x)] if k else _parts(x)
        return Text(out)

    return join


def filled(template: str) -> Any:
    """The method `format` of a string."""

    def fill(*args: Any, **named: Any) -> Any:
        if not any(map(is_random, (*args, *named.values()))):
            return template.format(*args, **named)
        parts: list[Any] = []
        numbers = count()
        for fixed, name, spec, conversion in Formatter().parse(template):
            parts.append(fixed)
            if name is not None:
                key: Any = next(numbers) if name == "" else int(name) if name.isdigit() else name
                held: Any = args if isinstance(key, int) else named
                if (isinstance(key, str) and key not in named) or "{" in (spec or ""):
                    _refused()
                parts.append((held[key], conversion or "", spec or ""))
        return text(*parts)

    return fill


_PERCENT = re.compile(r"%(?:(%)|(s)|([di])|(\.\d{1,2})?f)")


def percent(template: Any, values: Any) -> Any:
    """`template % values`."""
    items = values if type(values) is tuple else (values,)
    if type(template) is not str or not any(map(is_random, items)):
        return template % values
    parts: list[Any] = []
    at, left = 0, iter(items)
    for found in _PERCENT.finditer(template):
        parts.append(template[at : found.start()])
        at = found.end()
        if found[1]:
            parts.append("%")
            continue
        value = next(left, None)
        if found[3] and isinstance(value, Dist) and not _is_whole(value.node):
            value = as_int(math.trunc)(value)
        elif found[3] and not isinstance(value, int | Dist):
            _refused()
        parts.append((value, "", "" if found[2] else "d" if found[3] else f"{found[4] or '.6'}f"))
    if "%" in _PERCENT.sub("", template) or next(left, None) is not None:
        _refused()
    return text(*parts, template[at:])


def is_random(x: Any) -> bool:
    """Whether a value is random, or a text with a random value in it."""
    return type(x) is Text or isinstance(x, Dist)


def dumped(value: Any, **options: Any) -> Any:
    """`json.dumps` of what holds random numbers: a mark is written at their places, and taken out again."""
    if RUN.get() is None or not has_random(value):
        return _DUMPS(value, **options)
    held: list[Dist] = []
    found = _MARK.split(_DUMPS(_marked(value, held), **options))
    return text(*((held[int(x)],) if k % 2 else x for k, x in enumerate(found)))


def _marked(x: Any, held: list[Dist]) -> Any:
    """What is to be written, with a string in place of each random value."""
    if isinstance(x, Dist):
        held.append(x)
        return f"{_NONCE}{len(held) - 1}"
    if is_random(x):
        _refused()
    if isinstance(x, dict):
        return {k: _marked(v, held) for k, v in x.items()}
    return [_marked(v, held) for v in x] if isinstance(x, list | tuple) else x


_NONCE = "a random value, 5f0c9a3e7b1d48, number "  # no text of the author's has this in it
_MARK = re.compile(f'"{_NONCE}(\\d+)"')
_DUMPS = json.dumps
# By what they replace.
TEXTS: dict[int, Any] = {id(_DUMPS): dumped}

"""Texts with random values in them, in outputs: read back from what the program returns, and told apart from each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.nodes import ancestors, children, is_node
from dpest.lang.text import InText, InWord
from dpest.trace.outputs import COUNTS, TEXT, Flat

_NUMBER = "0123456789+-.e"  # characters that the text of a number has, beside those of `inf` and `nan`
_RUN = re.compile(rf"[{re.escape(_NUMBER)}]+")
_WHOLE, _FLOAT = r"([-+]?\d+)", r"([-+]?\d+(?:\.\d*)?(?:e[+-]?\d+)?)"
_SPACED = r"([-+ ]?\d[\d,_]*(?:\.[\d,_]*)?(?:e[+-]?\d+)?)"
_BESIDE = str.maketrans("", "", ", _")  # what formats put around a number and into it
_MOST = 4_000_000  # pairs of outputs that are told apart, times their leaves


def has_text(structure: Any) -> bool:
    """Whether an output has a text with random values in it."""
    return _has(TEXT, structure)


def has_word(structure: Any) -> bool:
    """Whether a text of an output has parts that are one of several words."""
    return type(structure) is InWord or (type(structure) is tuple and any(map(has_word, structure)))


def _has(name: str, structure: Any) -> bool:
    return type(structure) is tuple and (structure[:1] == (name,) or any(_has(name, x) for x in structure))


def read_as(expected: Any, output: Flat) -> Flat:
    """An output of the program, its strings taken apart as the texts that are expected there, and counters with zeros as well."""
    if not has_text(expected) and not _has(COUNTS, expected):
        return output
    leaves: list[Any] = []
    structure = _read(expected, output.structure, iter(output.leaves), leaves)
    return Flat(structure, tuple(leaves))


def _read(expected: Any, structure: Any, left: Iterator[Any], leaves: list[Any]) -> Any:
    if structure is None:
        x = next(left)
        if type(expected) is tuple and expected[:1] == (TEXT,) and type(x) is str:
            found = _values(expected[1], x)
            if found is not None:
                leaves += found
                return expected
        leaves.append(x)
        return None
    if type(structure) is not tuple:
        return structure
    if type(expected) is tuple and expected[:1] == (COUNTS,) and structure[0] == "dict" and {*structure[1]} <= {*expected[1]}:
        counts = {key: next(left) for key in structure[1]}
        leaves += [counts.get(key, 0) for key in expected[1]]
        return expected
    others = expected if type(expected) is tuple and len(expected) == len(structure) else (None,) * len(structure)
    first = _first_part(structure)
    return (*structure[:first], *(_read(e, s, left, leaves) for e, s in zip(others[first:], structure[first:], strict=True)))


def _first_part(structure: tuple[Any, ...]) -> int:
    """Where the parts of a container begin in its description."""
    return {"array": 2, "dict": 2, COUNTS: 2, "enum": 2, "record": 3, TEXT: 2}.get(structure[0], 1)


def _values(parts: Sequence[Any], text: str) -> list[Any] | None:
    """The values in a text; None where it is not of this form."""
    forms = (re.escape(x) if type(x) is str else _form(x) for x in parts)
    found = re.fullmatch("".join(forms), text, re.DOTALL)
    if found is None:
        return None
    out: list[Any] = []
    for kind, shown in zip([x for x in parts if type(x) is not str], found.groups(), strict=True):
        digits = shown.translate(_BESIDE)
        if type(kind) is InWord:
            out.append(shown)
        elif kind.digits == -1:
            out.append(int(digits))
        elif kind.digits is None:
            out.append(float(digits))
        elif kind.form == "round":
            out += [round(float(digits) * 10**kind.digits), digits.startswith("-")]
        else:
            out += [int(digits.replace(".", "")), digits.startswith("-")]
    return out


def _form(kind: InText | InWord) -> str:
    if type(kind) is InWord:
        return f"(.{{{kind.length}}})"
    assert type(kind) is InText
    if kind.digits is None or kind.form == "round":
        return _SPACED if kind.loose else _FLOAT
    digits = rf"([-+]?\d+\.\d{{{kind.digits}}})" if (kind.digits or 0) > 0 else _WHOLE
    if kind.loose:
        digits = digits.replace(r"([-+]?\d+", r"( *[-+]? *\d[\d,_]*")[:-1] + ("" if kind.form == "%" else " *") + ")"
    return digits + ("%" if kind.form == "%" else "") + (" *" if kind.loose else "")


def check_apart(outputs: Sequence[Flat]) -> None:
    """Refuses outputs of different make that may be one and the same text."""
    kinds = {x.structure: x for x in outputs if has_text(x.structure)}
    if not kinds:
        return
    for x in kinds:
        _check_readable(x)
    others = {(x.structure, tuple(y if type(y) is str else _may_be_text(y) for y in x.leaves)): x for x in outputs}
    if len(kinds) * len(others) * max(len(x.leaves) + 1 for x in outputs) > _MOST:
        raise ExactRefused("many texts with random values in them, which are too many to be told apart")
    for x in kinds.values():
        for y in others.values():
            if x.structure != y.structure and not _differ(x.structure, iter(x.leaves), y.structure, iter(y.leaves)):
                raise ExactRefused("texts with random values in them that may be the same although they are written in two ways")


def _check_readable(structure: Any) -> None:
    """Refuses a text whose values cannot be told from it: `f"{a}{b}"` is 123 in two ways."""
    if type(structure) is not tuple:
        return
    if structure[:1] != (TEXT,):
        for x in structure:
            _check_readable(x)
        return
    if has_word(structure):
        if any(type(x) is InText for x in structure[1]):
            raise ExactRefused("a text with random numbers and random words in it, which may be read in two ways")
        return
    for a, b in zip(structure[1], structure[1][1:], strict=False):
        beside = a[-1] if type(a) is str else b[0] if type(b) is str else "0"
        loose = any(type(x) is not str and x.loose for x in (a, b))
        if beside in _NUMBER or (loose and beside in ",_"):
            raise ExactRefused("a text in which a random value stands beside digits or signs, so that it may be read in two ways")


def _differ(a: Any, left: Iterator[Any], b: Any, right: Iterator[Any]) -> bool:
    """Whether two outputs are never the same."""
    texts = [_runs(s, x) for s, x in ((a, left), (b, right))]
    if any(type(s) is tuple and s[:1] == (TEXT,) for s in (a, b)):
        if texts[0] is None or texts[1] is None:
            return "open" not in texts
        return _apart(texts[0], texts[1])
    if type(a) is not tuple or type(b) is not tuple:
        return False if a is None and b is None else a is None or b is None or a != b
    first = _first_part(a)
    if len(a) != len(b) or a[:first] != b[:first]:
        return True
    return any(_differ(x, left, y, right) for x, y in zip(a[first:], b[first:], strict=True))


def _runs(structure: Any, leaves: Iterator[Any]) -> Any:
    """A text as what stands between numbers, and the numbers; None for what is no text, "open" for what may be one."""
    if type(structure) is tuple and structure[:1] == (TEXT,):
        for kind in structure[1]:
            for _ in range(0 if type(kind) is str else kind.leaves):
                next(leaves)
        return "open" if has_word(structure) else _split(structure[1])
    if structure is not None:
        return None
    x = next(leaves)
    return "open" if _may_be_text(x) else _split((x,)) if type(x) is str else None


def _may_be_text(x: Any) -> bool:
    """Whether a random value may be one of several strings."""
    return is_node(x) and any(type(y) is str for node in ancestors(x) for y in children(node))


def _split(parts: Sequence[Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    between, numbers = [""], []
    for part in parts:
        if type(part) is not str:
            numbers.append(part)
            between.append("")
            continue
        at = 0
        for found in _RUN.finditer(part):
            between[-1] += part[at : found.start()]
            numbers.append(found[0])
            between.append("")
            at = found.end()
        between[-1] += part[at:]
    return tuple(between), tuple(numbers)


def _apart(a: Any, b: Any) -> bool:
    if "open" in (a, b):
        return False
    if any(type(x) is InText and x.loose for x in (*a[1], *b[1])):  # only what is no part of a number tells them apart
        return "".join(a[0]).translate(_BESIDE) != "".join(b[0]).translate(_BESIDE)
    return a[0] != b[0] or not all(map(_may_agree, a[1], b[1]))


def _may_agree(x: str | InText, y: str | InText) -> bool:
    """Whether two numbers of texts may be written with the same characters: `0` and a float with its point are not."""
    if type(x) is str and type(y) is str:
        return x == y
    if type(x) is InText and type(y) is InText:
        return x.point is None or y.point is None or x.point == y.point
    kind, number = (x, y) if type(x) is InText else (y, x)
    assert type(kind) is InText
    assert type(number) is str
    return kind.point is None or kind.point == any(c in number for c in ".e")

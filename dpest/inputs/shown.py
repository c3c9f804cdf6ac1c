"""Inputs and events as a person reads them: long ones by their ends, their length, and where two of them differ."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

LONG = 24  # values of an input that a person still reads; two such lists fill two lines of the text
MANY = 3  # letters of which an event asks nothing, that are still named
ENDS = (8, 4)  # how many are shown of a longer one, at its beginning and at its end
LONGEST = 600  # characters of one text, about six lines
_LETTER = re.compile(r"x\d+")
_LIST = re.compile(r"([\[(])([^\[\]()]*)([\])])")


def show(data: Any) -> str:
    """An input as a person writes it: whole floats without their point."""
    if isinstance(data, np.ndarray):
        return show(data.tolist())
    if isinstance(data, list | tuple):
        inner = ", ".join(show(x) for x in data)
        return f"[{inner}]" if isinstance(data, list) else f"({inner}{',' if len(data) == 1 else ''})"
    if isinstance(data, float | np.floating) and math.isfinite(data) and data == int(data):
        return str(int(data))
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{k!r}: {show(v)}" for k, v in data.items()) + "}"
    text = str(data) if isinstance(data, np.generic) else repr(data)
    return " ".join(text.split()) if "\n" in text else text  # data frames and such, in one line


def brief(data: Any) -> str:
    """An input as a person reads it: long ones by their ends and how many values they have."""
    if isinstance(data, np.ndarray):
        return brief(data.tolist())
    if isinstance(data, list | tuple) and is_long(data):
        first, last = (2, 1) if any(isinstance(x, list | tuple | np.ndarray | Mapping) for x in data) else ENDS
        parts = [*map(brief, data[:first]), "...", *map(brief, data[-last:])]
        inner = ", ".join(parts)
        return f"{f'[{inner}]' if isinstance(data, list) else f'({inner})'} ({len(data):,} values)"
    if isinstance(data, list | tuple):
        inner = ", ".join(map(brief, data))
        return f"[{inner}]" if isinstance(data, list) else f"({inner}{',' if len(data) == 1 else ''})"
    text = show(data)
    if len(text) <= LONGEST // 3:
        return text
    return f"{text[: LONGEST // 5]} ... {text[-LONGEST // 12 :]} ({len(text):,} characters)"


def difference(left: Any, right: Any) -> str:
    """Where two sequences differ, in words; places are counted from 0. Nothing for inputs that are no sequences."""
    if not all(isinstance(x, list | tuple | np.ndarray | str) for x in (left, right)):
        return ""
    places = [i for i, (x, y) in enumerate(zip(left, right, strict=False)) if show(x) != show(y)]
    if len(left) != len(right):
        first = places[0] if places else min(len(left), len(right))
        return f"D has {len(left):,} values and D' {len(right):,}, the first that differs is [{first}]"
    if not places:
        return "they are equal"
    if len(places) == len(left):
        return "they differ at every place"
    if len(places) == places[-1] - places[0] + 1 > 2:
        return f"they differ at [{places[0]}] to [{places[-1]}]"
    if len(places) > 4:
        return f"they differ at {len(places):,} places, the first [{places[0]}], the last [{places[-1]}]"
    return "they differ at " + ", ".join(f"[{i}]: {brief(left[i])} and {brief(right[i])}" for i in places)


def is_long(data: Any) -> bool:
    """Whether an input is shown by its ends only."""
    if isinstance(data, str):
        return len(data) > LONGEST // 3
    return isinstance(data, list | tuple | np.ndarray) and len(data) > LONG


def raised(error: BaseException) -> str:
    """An exception of the user's code in one line."""
    said = one_line(str(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def brief_event(words: str) -> str:
    """An event as a person reads it: long outputs by runs of equal values or by their ends, and only what is asked of some."""
    output, found, clauses = words.partition(" with ")
    output = _LIST.sub(_brief_list, output)
    every = clauses.split(", ")
    asked = [clause for clause in every if not clause.startswith("any ")]
    if len(every) - len(asked) > MANY:  # a letter of which nothing is asked may be anything
        every = asked or ["any values for the letters"]
    count = f" ({len(every):,} conditions)" if len(every) > sum(ENDS) else ""
    return _cut(output + found + ", ".join(_ends(every)) + count)


def signed_sum(parts: Iterable[tuple[Any, str]]) -> str:
    """Texts with the signs of their numbers as a sum: `a - 2 b + 1`."""
    text = ""
    for number, part in parts:
        text += ((" - " if number < 0 else " + ") if text else "-" if number < 0 else "") + part
    return text


def affine_text(terms: Iterable[tuple[Any, str]], constant: Any, times: str) -> str:
    """Texts with their coefficients and a constant as a sum, `times` between a coefficient and its text: `a - 2*b + 1`."""
    parts = [(c, text if abs(float(c)) == 1 else f"{abs(float(c)):g}{times}{text}") for c, text in terms]
    return signed_sum([*parts, (constant, f"{abs(float(constant)):g}")] if constant or not parts else parts)


def one_line(text: str) -> str:
    """A text of several lines or many words in one line, by its ends where it is long."""
    return _cut(" ".join(text.split()))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    head, tail = text[: LONGEST * 2 // 3].rsplit(" ", 1)[0], text[-LONGEST // 4 :].split(" ", 1)[-1]
    return f"{head} ... {tail} ({len(text):,} characters)"


def _brief_list(match: re.Match[str]) -> str:
    """A list in the text of an event, shortened where it is long."""
    items = match[2].split(", ")
    if len(items) <= LONG:
        return match[0]
    runs = [(item, len(list(same))) for item, same in itertools.groupby(items)]
    if len(runs) <= ENDS[0]:
        return f"{match[1]}{', '.join(item if k == 1 else f'{item} ({k:,} times)' for item, k in runs)}{match[3]}"
    return f"{match[1]}{', '.join(_ends(items))}{match[3]} ({len(items):,} values{_fixed(items)})"


def _fixed(items: Sequence[str]) -> str:
    """The values that an event fixes among the letters xK of a long output."""
    fixed = [(i, item) for i, item in enumerate(items) if not _LETTER.fullmatch(item)]
    if not fixed or len(fixed) == len(items):
        return ""
    if len(fixed) > ENDS[0]:
        return f", {len(fixed):,} of them fixed"
    return ", of them " + ", ".join(f"[{i}] = {item}" for i, item in fixed)


def _ends(items: Sequence[str]) -> list[str]:
    first, last = ENDS
    return list(items) if len(items) <= first + last else [*items[:first], "...", *items[-last:]]

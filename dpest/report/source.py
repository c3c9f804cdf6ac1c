"""The source text of a mechanism, with the functions beside it that it calls."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

HELPERS = 4  # functions shown after the mechanism itself
LINES = 120  # of source text in all


def source_text(mechanism: Callable[..., Any]) -> str:
    """The function as its author wrote it, then the functions of its own package that it calls; "" where there is none."""
    function = _plain(mechanism)
    if function is None:
        return ""
    shown = [text for f in [function, *list(_called(function))[:HELPERS]] if (text := _text(f))]
    lines = "\n\n\n".join(shown).splitlines()
    return "\n".join(lines if len(lines) <= LINES else [*lines[:LINES], f"# ... {len(lines) - LINES} more lines"])


def _plain(mechanism: Any) -> FunctionType | None:
    found = inspect.unwrap(mechanism) if callable(mechanism) else None
    if isinstance(found, FunctionType):
        return found
    call = vars(type(found)).get("__call__")
    return call if isinstance(call, FunctionType) else None


def _text(function: FunctionType) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function)).rstrip()
    except (OSError, TypeError):  # typed in at a prompt, or made by exec
        return ""


def _called(function: FunctionType) -> Iterator[FunctionType]:
    """Functions that it names and that live in the same file or in the same folder of a package."""
    seen = {function}
    waiting = [function]
    while waiting:
        current = waiting.pop(0)
        for name in _names(current.__code__):
            found = _plain(current.__globals__.get(name))
            if found is not None and found not in seen and _home(found) == _home(function):
                seen.add(found)
                waiting.append(found)
                yield found


def _names(code: CodeType) -> list[str]:
    """Global names in the order of their use, those of inner functions included."""
    inner = [name for c in code.co_consts if isinstance(c, CodeType) for name in _names(c)]
    return [*code.co_names, *inner]


def _home(function: FunctionType) -> str:
    module = function.__module__ or ""
    return module.rpartition(".")[0] or module

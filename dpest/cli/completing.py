"""What the Tab key offers for a target: built-in algorithms, Python files and folders, and the functions of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Everything that the letters so far can become."""
    return [*_algorithms(incomplete), *_functions(incomplete), *_files(incomplete)]


def _algorithms(start: str) -> Iterator[CompletionItem]:
    from dpest.algorithms import gallery

    yield from (CompletionItem(a.name, help=a.title) for a in gallery() if a.name.casefold().startswith(start.casefold()))


def _functions(start: str) -> Iterator[CompletionItem]:
    """`mine.py:no` becomes `mine.py:noisy_max`; the file is read, not run."""
    place, colon, name = start.partition(":")
    if not colon or not place.endswith(".py") or not Path(place).is_file():
        return
    try:
        tree = ast.parse(Path(place).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return
    for found in tree.body:
        if isinstance(found, ast.FunctionDef) and found.name.startswith(name) and not found.name.startswith("_"):
            yield CompletionItem(f"{place}:{found.name}")


def _files(start: str) -> Iterator[CompletionItem]:
    """Python files, with the colon that comes after them, and folders."""
    folder, _, name = start.rpartition("/")
    place = Path(folder or ("/" if start.startswith("/") else "."))
    if ":" in start or not place.is_dir():
        return
    before = f"{folder}/" if "/" in start else ""
    for path in sorted(place.iterdir()):
        if not path.name.startswith(name) or path.name.startswith("."):
            continue
        if path.is_dir():
            yield CompletionItem(f"{before}{path.name}/")
        elif path.suffix == ".py":
            yield CompletionItem(f"{before}{path.name}:")

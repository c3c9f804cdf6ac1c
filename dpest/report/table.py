"""Rows of text as a plain or a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned with spaces, two between them."""
    every = [list(header), *map(list, rows)]
    widths = [max(len(row[i]) for row in every) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in every]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A GitHub-flavoured table; bars inside cells are escaped."""
    lines = [_markdown_row(header), _markdown_row(["---"] * len(header))]
    return "\n".join([*lines, *map(_markdown_row, rows)])


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

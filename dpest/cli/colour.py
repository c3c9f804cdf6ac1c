"""Colour for people: click leaves it out where nobody sees it, in a pipe or with NO_COLOR set."""

from __future__ import annotations

import click

COLOURS = {"holds": "green", "violated": "red", "not refuted": "yellow"}


def tinted(text: str, outcome: str) -> str:
    """The first line in the colour of a verdict; the words say it all without."""
    first, newline, rest = text.partition("\n")
    return click.style(first, fg=COLOURS[outcome], bold=True) + newline + rest if outcome in COLOURS else text


def first_line_bold(text: str) -> str:
    """The first line in bold."""
    first, newline, rest = text.partition("\n")
    return click.style(first, bold=True) + newline + rest

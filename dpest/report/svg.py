"""A figure as inline SVG: text stays text, and the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "dpest", "font.family": "sans-serif"}


def figure_svg(figure: Figure, title: str, key: str) -> str:
    """An `<svg>` element with an accessible title; `key` keeps its ids apart from other pictures in one page."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context(SETTINGS):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return label_svg(buffer.getvalue(), title, key)


def label_svg(text: str, title: str, key: str) -> str:
    """The `<svg>` element of a document, with its own ids and a title that a screen reader speaks."""
    body = text[text.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<title>.*?</title>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]*)"', rf'id="{key}-\1"', body)
    body = re.sub(r'href="#([^"]*)"', rf'href="#{key}-\1"', body)
    body = re.sub(r"url\(#([^)]*)\)", rf"url(#{key}-\1)", body)
    head, rest = body.split(">", 1)
    label = escape(title, quote=True)
    return f'{head} role="img" aria-label="{label}"><title>{label}</title>{rest}'

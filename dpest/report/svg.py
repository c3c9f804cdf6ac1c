"""A figure as inline SVG: text stays text, and the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The ink of figures and graphs, as they write it, and the CSS variable that stands for it in a page.
INKS = {
    "#000000": "ink",
    "black": "ink",
    "#333333": "ink",
    "#444444": "soft",
    "#ffffff": "paper",
    "white": "paper",
    "#dddddd": "band",
    "#cccccc": "band",
    "#8c8c8c": "soft",
    "#1b4965": "left",
    "#c1440e": "right",
}
LIGHT = {"ink": "#000000", "soft": "#56626e", "paper": "#ffffff", "band": "#d5dadf", "left": "#1b4965", "right": "#c1440e"}
DARK = {"ink": "#e8edf2", "soft": "#9aa7b4", "paper": "#15191e", "band": "#3a434d", "left": "#6cb6de", "right": "#f2935c"}
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


def ink_css(scope: str) -> str:
    """Rules that let pictures below a selector follow the page's colours, which it keeps in the variables of `LIGHT`."""
    rules = [f"{scope} svg text {{ fill: var(--ink); }}"]
    for colour, name in INKS.items():
        for use in ("fill", "stroke"):
            selectors = f'{scope} svg [{use}="{colour}"], {scope} svg [style*="{use}: {colour}"]'
            rules.append(f"{selectors} {{ {use}: var(--{name}) !important; }}")
    return "\n".join(rules)


def variables(colours: Mapping[str, str]) -> str:
    """The colours as CSS variables."""
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())

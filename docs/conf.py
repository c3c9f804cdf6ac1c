"""Sphinx: `make docs`."""

from __future__ import annotations

from typing import Any

import dpest

project = "dpest"
author = "dpest contributors"
copyright = "2026, dpest contributors"
version = release = dpest.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
default_role = "code"
html_theme = "furo"
html_title = f"dpest {dpest.__version__}"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
suppress_warnings = ["myst.xref_missing"]


def setup(app: Any) -> None:
    """Docstrings are plain text: bars are not substitutions, and an indented tree is shown as it stands."""
    app.connect("autodoc-process-docstring", _plain)


def _plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if any(line.lstrip("| ").startswith("+--") for line in lines):
        lines[:] = [lines[0], "", "::", "", *(f"    {line}" for line in lines[1:])]
    else:
        lines[:] = [line.replace("|", r"\|") for line in lines]

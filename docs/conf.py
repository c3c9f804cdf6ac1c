"""Sphinx: `make docs`."""

from __future__ import annotations

import dpest

project = "dpest"
author = "dpest contributors"
copyright = "2026, dpest contributors"
version = release = dpest.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dpest {dpest.__version__}"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
suppress_warnings = ["myst.xref_missing"]

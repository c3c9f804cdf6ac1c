"""Writes the badges of the README from pyproject.toml: `python docs/make_badges.py`. No network, no service."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
CHARACTER = 6.6  # the width of a character of 11 px, on average
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {text}">
<title>{label}: {text}</title>
<rect width="{split}" height="20" rx="3" fill="#4a5560"/>
<rect x="{split}" width="{rest}" height="20" rx="3" fill="#1f6f8b"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{left}" y="14">{label}</text>
<text x="{right}" y="14">{text}</text>
</g>
</svg>
"""


def facts() -> dict[str, str]:
    """What the badges say, read from pyproject.toml."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [m[1] for c in project["classifiers"] if (m := re.search(r":: (3\.\d+)$", c))]
    return {"version": project["version"], "python": " | ".join(versions), "license": project["license"]}


def badge(label: str, text: str) -> str:
    """One badge as SVG."""
    split, rest = (round(len(part) * CHARACTER) + 12 for part in (label, text))
    return SVG.format(label=label, text=text, split=split, rest=rest, width=split + rest, left=split / 2, right=split + rest / 2)


def badges() -> dict[str, str]:
    """The files and what they hold."""
    return {f"badge-{label}.svg": badge(label, text) for label, text in facts().items()}


if __name__ == "__main__":
    for name, svg in badges().items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
        print(PICTURES / name)

"""Draws the pictures of the pages: `make pictures`. Each comes from a run: the page's own examples, pytest, or a browser.

A page's example that saves a PNG is executed, and what it saved is the picture beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import dpest  # noqa: E402
from tests.docs.browser import EXECUTABLE, Browser  # noqa: E402
from tests.docs.test_examples import blocks, run_python, run_session  # noqa: E402

DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
PAGES = ("howto_estimate", "howto_prove", "howto_compose", "howto_blackbox", "howto_calibrate")
CARD = """<!DOCTYPE html><html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body style="margin: 0; font: 14px sans-serif"><main style="padding: 12px">{card}</main></body></html>"""


def saved_by(page: Path, folder: Path) -> list[Path]:
    """The pictures that the examples of a page save."""
    names: dict[str, Any] = {"__name__": "example"}
    for block in blocks(page):
        if block.kind == "python":
            run_python(block, folder, names)
        elif block.kind == "pycon":
            run_session(block, page, names)
    return sorted(folder.glob("*.png"))


def from_pages() -> None:
    """Execute the examples of each page in a folder of its own, and keep the pictures."""
    here = Path.cwd()
    for name in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for picture in saved_by(DOCS / f"{name}.md", Path(folder)):
                    (PICTURES / picture.name).write_bytes(picture.read_bytes())
                    print(PICTURES / picture.name)
            finally:
                os.chdir(here)


def terminal(text: str, path: Path) -> None:
    """Text as a terminal shows it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = text.rstrip().splitlines()
    width, height = 0.083 * max(map(len, lines)) + 0.4, 0.19 * len(lines) + 0.4
    figure = Figure(figsize=(width, height), facecolor="#16202a")
    FigureCanvasAgg(figure)
    style = {"family": "monospace", "fontsize": 10, "color": "#e3e8ed", "va": "top", "linespacing": 1.35}
    figure.text(0.2 / width, 1 - 0.2 / height, "\n".join(lines), **style)
    figure.savefig(path, dpi=110)
    print(path)


def pytest_run() -> None:
    """The tests of the page about CI as pytest prints them, one of them with a claim that is wrong."""
    page = DOCS / "howto_ci.md"
    files = [b.text for b in blocks(page) if b.kind == "python" and b.text.startswith("# test_")]
    with tempfile.TemporaryDirectory() as folder:
        for text in files:
            wrong = text.replace("noisy_count(count, eps=0.5)", "noisy_count(count, eps=1)")
            (Path(folder) / text.split()[1]).write_text(wrong, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "--tb=short"]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "100"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    terminal("$ pytest -q --tb=short\n" + "\n".join(_wrapped(line) for line in done.stdout.splitlines()), PICTURES / "pytest.png")


def _wrapped(line: str, width: int = 118) -> str:
    return "\n".join(line[i : i + width] for i in range(0, max(len(line), 1), width))


def cards() -> None:
    """A result, a curve and an audit as a notebook shows them, light and dark."""
    result = dpest.estimate(lambda x: x + dpest.laplace(2), (0, 1))
    curve = dpest.estimate(lambda x: x + dpest.gaussian(2), (0, 1)).compose(10)
    both = result._repr_html_() + curve._repr_html_()
    with tempfile.TemporaryDirectory() as folder, Browser(900, 900) as browser:
        page = Path(folder) / "cards.html"
        page.write_text(CARD.format(card=both), encoding="utf-8")
        browser.open(page)
        for scheme in ("light", "dark"):
            browser.look(760, scheme)
            path = PICTURES / f"notebook-{scheme}.png"
            browser.screenshot(path, "main")
            print(path)


def main() -> None:
    """All of them; the cards where there is a Chromium."""
    from_pages()
    pytest_run()
    if EXECUTABLE is not None:
        cards()


if __name__ == "__main__":
    main()
